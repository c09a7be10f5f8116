# Forgets spool entries whose end was seen and notifications whose handlers ran. A row is forgotten at once by its name.
# notification-key... -- spool-key...
provision_dir
provision_kept
kind=notify
failed=0
for key; do
	shift
	if [ "$key" = -- ]; then
		kind=spool
	elif [ $kind = notify ]; then
		set -- "$@" "${p:?}/notify/$key" "${d:?}/notify/$key"
	else
		set -- "$@" "${d:?}/spool/$key" "${p:?}/detached/$key"
		provision_find "$key"
		provision_entry "$s"
		[ "$entry" = "$s" ] || provision_forget "$s" || failed=1
	fi
done
[ $# = 0 ] || rm -rf "$@" || failed=1
# Scripts whose shell was killed. Others may have put any number of names there: no program is asked about theirs.
for file in "${TMPDIR:-/tmp}"/provision-script.*; do
	if [ -L "$file" ] || [ ! -O "$file" ]; then continue; fi
	pid=${file##*/provision-script.}
	pid=${pid%%.*}
	[ -e "/proc/${pid:-1}" ] || rm -rf "$file" 2>/dev/null
done
[ "$p" = "$d" ] || [ ! -d "$p" ] || rmdir "$p/notify" "$p/detached" "$p" 2>/dev/null
exit $failed
