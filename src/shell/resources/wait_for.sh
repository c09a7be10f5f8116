# Looks once whether something is there. Variables: WANT (port, file, gone, unit), WHAT, WHERE (host of a
# port; empty: this one). Status 0: it is; 9: it cannot be told, with the reason; other: it is not.
case $WANT in
file) [ -e "$WHAT" ] ;;
gone) [ ! -e "$WHAT" ] && [ ! -L "$WHAT" ] ;;
unit)
    command -v systemctl >/dev/null 2>&1 || { echo 'no systemctl on the host'; exit 9; }
    systemctl is-active --quiet -- "$WHAT"
    ;;
port)
    if [ -z "$WHERE" ]; then
        # State 0A is LISTEN; the port stands in hex behind the address.
        wanted=$(printf '%04X' "$WHAT")
        for table in /proc/net/tcp /proc/net/tcp6; do
            [ -r "$table" ] || continue
            while read -r _ local _ state _; do
                [ "$state" != 0A ] || [ "${local##*:}" != "$wanted" ] || exit 0
            done <"$table"
        done
        exit 1
    elif command -v bash >/dev/null 2>&1 && command -v timeout >/dev/null 2>&1; then
        # shellcheck disable=SC2016 # bash fills them in
        timeout 3 bash -c 'exec 3<>"/dev/tcp/$1/$2"' bash "$WHERE" "$WHAT" </dev/null >/dev/null 2>&1
    elif command -v nc >/dev/null 2>&1; then
        # That of busybox knows no -z.
        nc -z -w 3 "$WHERE" "$WHAT" </dev/null >/dev/null 2>&1 || nc -w 3 "$WHERE" "$WHAT" </dev/null >/dev/null 2>&1
    else
        echo 'neither nc nor bash with timeout is on the host'
        exit 9
    fi
    ;;
*) exit 9 ;;
esac
