# Asks systemd about all units at once, and about itself. Parameters: unit names, and `=PROPERTY` for
# properties of the manager.
newline='
'
# Whether systemd can know unit $1. Most kinds it makes up itself; of these it has a file in one of
# the directories of systemd.unit(5), also when it is masked, an alias, generated or transient. For
# a name without one it searches all of them and then tells 200 properties, more than a millisecond
# for each of the names that other distributions have.
known() {
    case $1 in
    *@* | *\\*) return 0 ;;
    *.service | *.timer) ;;
    *) return 0 ;;
    esac
    # What runs has this, also when its file was deleted since.
    if [ -L "/run/systemd/units/invocation:$1" ]; then return 0; fi
    for directory in /etc/systemd/system /usr/lib/systemd/system /lib/systemd/system \
        /usr/local/lib/systemd/system /etc/systemd/system.* /run/systemd/system /run/systemd/system.* \
        /run/systemd/generator /run/systemd/generator.* /run/systemd/transient; do
        if [ -e "$directory/$1" ] || [ -L "$directory/$1" ]; then return 0; fi
    done
    return 1
}
if ! command -v systemctl >/dev/null 2>&1; then
    printf 'no systemctl\n'
elif [ ! -d /run/systemd/system ]; then
    printf 'not booted\n'
else
    properties='' told=''
    for word; do
        shift
        case $word in
        =*) properties=$properties,${word#=} ;;
        *)
            if known "$word"; then
                set -- "$@" "$word"
                script=${word%.service}
                # A unit is made of every script of SysV; whether it is started at boot is in its links.
                if [ -e "/run/systemd/generator.late/$word" ] && [ -e "/etc/init.d/$script" ]; then
                    started=disabled
                    for link in /etc/rc[2-5].d/S[0-9][0-9]"$script"; do
                        [ ! -e "$link" ] || started=enabled
                    done
                    told="${told}sysv $word $started$newline"
                fi
            else
                told="${told}Id=$word${newline}LoadState=not-found${newline}ActiveState=inactive$newline$newline"
            fi
            ;;
        esac
    done
    printf '%s' "$told"
    [ $# -eq 0 ] || systemctl show --no-pager \
        -p Id,Names,LoadState,ActiveState,SubState,UnitFileState,NeedDaemonReload,CanReload,Type,RemainAfterExit,Result,ExecMainExitTimestampMonotonic,ConditionResult,ConditionTimestampMonotonic \
        -- "$@" 2>&1
    if [ -n "$properties" ]; then
        printf '\nmanager\n'
        systemctl show --no-pager -p "${properties#,}" 2>&1
    fi
    printf '\nend\n'
fi
