# Forgets spool entries whose end was seen and notifications whose handlers ran.
# notification-key... -- spool-key...
provision_dir
case ${provision_locked-} in
held | shared | none) ;;
*)
	# What is here may be of a run that comes back for it.
	printf 'refused %s\n' "${provision_locked-}"
	exit 1
	;;
esac
provision_kept
kind=notify
failed=0
for key; do
	if [ "$key" = -- ]; then
		kind=spool
	elif [ $kind = notify ]; then
		rm -f "$p/notify/$key" "$d/notify/$key" || failed=1
	else
		rm -rf "${d:?}/spool/$key" "$p/detached/$key" || failed=1
	fi
done
[ "$p" = "$d" ] || rmdir "$p/notify" "$p/detached" "$p" 2>/dev/null
exit $failed
