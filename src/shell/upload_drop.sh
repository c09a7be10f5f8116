# Takes away large files that nobody waits for any more, finished or not.
# key...
case ${provision_locked-} in
held | shared | none) ;;
*) exit 0 ;;
esac
provision_shelf
for key; do
	for file in "${d:?}/upload/$key" ${shelf:+"$shelf/$key"}; do
		provision_end_writer "$file"
		provision_drop "$file"
	done
done
[ -z "$shelf" ] || rmdir "$shelf" 2>/dev/null || :
