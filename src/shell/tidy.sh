# Forgets spool entries whose end was seen and notifications whose handlers ran.
# notification-key... -- spool-key...
provision_dir
case ${provision_locked-} in
held | shared | none) ;;
*)
	# What is here may be of a run that comes back for it.
	printf 'refused %s\n' "${provision_locked-}"
	exit 0
	;;
esac
kind=notify
failed=0
for key; do
	if [ "$key" = -- ]; then
		kind=spool
	else
		rm -rf "${d:?}/$kind/$key" || failed=1
	fi
done
exit $failed
