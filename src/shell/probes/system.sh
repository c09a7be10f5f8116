# The system around GPUs and cards: clock, space, names, units, Slurm. Nothing is changed and no
# job is started.
begin system
governor='' count=0
for file in /sys/devices/system/cpu/cpu*/cpufreq/scaling_governor; do
    line=''
    { read -r line <"$file"; } 2>/dev/null || continue
    if [ "$line" != "$governor" ]; then
        [ "$count" = 0 ] || printf 'governor=%s %s\n' "$governor" "$count"
        governor=$line count=0
    fi
    count=$((count + 1))
done
[ "$count" = 0 ] || printf 'governor=%s %s\n' "$governor" "$count"
[ ! -d /run/systemd/system ] || printf 'systemd=1\n'
processes=''
for directory in /proc/[0-9]*; do
    name=''
    { read -r name <"$directory/comm"; } 2>/dev/null || continue
    case $name in slurmd | chronyd | ntpd | systemd-timesyn) ;; *) continue ;; esac
    case " $processes " in *" $name "*) ;; *) printf 'process=%s\n' "$name" ;; esac
    processes="$processes $name"
    [ "$name" = slurmd ] || continue
    while read -r word rest; do
        case "$word $rest" in 'Max locked memory'*)
            # shellcheck disable=SC2086 # words of a table
            set -- $rest
            printf 'slurmd_memlock=%s\n' "$3"
            ;;
        esac
    done <"$directory/limits" 2>/dev/null
done
for file in /etc/ssh/ssh_host_*_key.pub; do
    value host_key "$file"
done
finish 0
host=''
read -r host </proc/sys/kernel/hostname
ask 5 getent hosts "$host"
ask 5 df -Pk / /var /tmp /boot /dev/shm
if command -v chronyc >/dev/null 2>&1; then
    ask 5 chronyc tracking
elif [ -d /run/systemd/timesync ]; then
    # timedatectl would start a service to answer.
    ask 5 ls /run/systemd/timesync
fi
[ ! -d /run/systemd/system ] || ask 8 systemctl list-units --state=failed --no-legend --plain --no-pager
case ${SLURM_SCRIPT_CONTEXT-} in
# Prologs and epilogs of a large job come all at once: slurmctld is not asked by each.
prolog* | epilog*) ;;
*)
    if command -v sinfo >/dev/null 2>&1; then
        sift "^${host%%.*} " 8 sinfo -N -h -o '%N %T %G'
    fi
    ;;
esac
:
