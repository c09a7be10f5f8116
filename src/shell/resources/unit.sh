# Changes a unit, or systemd itself.
# Parameters: action [unit]
property() { systemctl show -p "$2" -- "$1" 2>/dev/null | sed -n "s/^$2=//p"; }
# Whether a service still runs a moment after its start: one of type simple counts as started before it has read
# its files. What ended well is for the plan to judge.
stays() {
    case $1 in *.service) ;; *) return 0 ;; esac
    restarts=$(property "$1" NRestarts)
    for _ in 1 2 3 4; do
        state=$(property "$1" ActiveState)/$(property "$1" SubState)
        case $state in
        failed/*) return 1 ;;
        */auto-restart*) [ "$(property "$1" Result)" = success ] || return 1 ;;
        esac
        [ "$(property "$1" NRestarts)" = "$restarts" ] || return 1
        case $(property "$1" Type) in simple | exec | idle) ;; *) return 0 ;; esac
        case $state in active/*) ;; *) return 0 ;; esac
        sleep 0.2 2>/dev/null || sleep 1
    done
}
why=''
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
case $1 in
start | restart)
    if [ "$status" = 0 ] && ! stays "$2"; then
        status=1
        why="$2 ended right after its start ($(property "$2" Result), status $(property "$2" ExecMainStatus))"
    fi
    ;;
esac
if [ "$status" -ne 0 ]; then
    systemctl status --no-pager --lines=20 -- "$2" >&2 || :
    # Then systemd cannot note what it starts, and says nothing of it.
    df -Pk /run 2>/dev/null | while read -r _ _ _ free _ place; do
        [ "$free" != 0 ] || printf 'no space left on %s\n' "$place" >&2
    done
    [ -z "$why" ] || printf '%s\n' "$why" >&2
fi
exit "$status"
