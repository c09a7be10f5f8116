# Asks systemd about all units at once, and about itself. Parameters: unit names, and `=PROPERTY` for
# properties of the manager.
if ! command -v systemctl >/dev/null 2>&1; then
    printf 'no systemctl\n'
elif [ ! -d /run/systemd/system ]; then
    printf 'not booted\n'
else
    properties=''
    for word; do
        shift
        case $word in
        =*) properties=$properties,${word#=} ;;
        *) set -- "$@" "$word" ;;
        esac
    done
    [ $# -eq 0 ] || systemctl show --no-pager \
        -p Id,Names,LoadState,ActiveState,SubState,UnitFileState,NeedDaemonReload,CanReload,Type,RemainAfterExit,Result,ExecMainExitTimestampMonotonic \
        -- "$@" 2>&1
    if [ -n "$properties" ]; then
        printf '\nmanager\n'
        systemctl show --no-pager -p "${properties#,}" 2>&1
    fi
    printf '\nend\n'
fi
