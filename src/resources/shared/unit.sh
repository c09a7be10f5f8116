# Changes a unit, or systemd itself.
# Parameters: action [unit]
# Whether a service still runs a moment after its start: one of type simple counts as started before it has read
# its files. What ended well is for the plan to judge.
stays() {
    case $1 in *.service) ;; *) return 0 ;; esac
    before='-'
    for _ in 1 2 3; do
        active='' sub='' type='' restarts='' result='' status=''
        while IFS='=' read -r key value; do
            case $key in
            ActiveState) active=$value ;;
            SubState) sub=$value ;;
            Type) type=$value ;;
            NRestarts) restarts=$value ;;
            Result) result=$value ;;
            ExecMainStatus) status=$value ;;
            esac
        done <<END
$(systemctl show -p ActiveState -p SubState -p Type -p NRestarts -p Result -p ExecMainStatus -- "$1" 2>/dev/null)
END
        why="$1 ended right after its start ($result, status $status)"
        [ "$before" != - ] || before=$restarts
        case $active/$sub in
        failed/*) return 1 ;;
        */auto-restart*) [ "$result" = success ] || return 1 ;;
        esac
        [ "$restarts" = "$before" ] || return 1
        case $type in simple | exec | idle) ;; *) return 0 ;; esac
        [ "$active" = active ] || return 0
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
ended=$?
case $1 in
start | restart)
    if [ "$ended" = 0 ] && ! stays "$2"; then
        ended=1
    else
        why=''
    fi
    ;;
esac
if [ "$ended" -ne 0 ]; then
    systemctl status --no-pager --lines=20 -- "$2" >&2 || :
    # Then systemd cannot note what it starts, and says nothing of it.
    df -Pk /run 2>/dev/null | while read -r _ _ _ free _ place; do
        [ "$free" != 0 ] || printf 'no space left on %s\n' "$place" >&2
    done
    [ -z "$why" ] || printf '%s\n' "$why" >&2
fi
exit "$ended"
