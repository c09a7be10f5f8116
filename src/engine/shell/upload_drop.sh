# Takes away large files that nobody waits for any more, finished or not.
# key...
case ${provision_locked-} in
held | shared | none) ;;
*)
	printf 'refused %s\n' "${provision_locked-}"
	exit 1
	;;
esac
provision_shelf
: "${me:?}"
failed=0
for key; do
	for file in "${d:?}/upload/$key" ${shelf:+"$shelf/$key"}; do
		provision_end_writer "$file"
		provision_drop "$file" || failed=1
	done
done
[ -z "$shelf" ] || rmdir "$shelf" 2>/dev/null || :
exit $failed
