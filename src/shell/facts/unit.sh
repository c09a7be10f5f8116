# Asks systemd about all units at once. Parameters: unit names.
if ! command -v systemctl >/dev/null 2>&1; then
    printf 'no systemctl\n'
elif [ ! -d /run/systemd/system ]; then
    printf 'not booted\n'
else
    systemctl show --no-pager \
        -p Id,Names,LoadState,ActiveState,SubState,UnitFileState,NeedDaemonReload,CanReload,Type,RemainAfterExit,Result,ExecMainExitTimestampMonotonic \
        -- "$@" 2>&1
    printf '\nend\n'
fi
