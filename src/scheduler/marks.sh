# Prints the hosts that are out of service, `NAME|REASON`.
[ -d "$d" ] || exit 0
cd "$d" 2>&1 || exit
for name in *; do
	[ -f "$name" ] || continue
	reason=
	read -r reason <"$name" || [ -n "$reason" ] || continue
	printf '%s|%s\n' "$name" "$reason"
done
