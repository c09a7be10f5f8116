# Changes a unit, or systemd itself.
# Parameters: action [unit]
case $1 in
daemon-reload | daemon-reexec) systemctl "$1" ;;
start)
    # A unit that failed too often is not started before it is forgiven.
    systemctl reset-failed -- "$2" 2>/dev/null || :
    systemctl start -- "$2"
    ;;
*) systemctl "$1" -- "$2" ;;
esac
status=$?
if [ "$status" -ne 0 ]; then
    systemctl status --no-pager --lines=20 -- "$2" >&2 || :
    # Then systemd cannot note what it starts, and says nothing of it.
    df -Pk /run 2>/dev/null | while read -r _ _ _ free _ place; do
        [ "$free" != 0 ] || printf 'no space left on %s\n' "$place" >&2
    done
fi
exit "$status"
