# The system around GPUs and cards: clock, space, names, units, Slurm. Nothing is changed and no
# job is started.
begin system
for file in /sys/devices/system/cpu/cpu*/cpufreq/scaling_governor; do
    line=''
    { read -r line <"$file"; } 2>/dev/null || continue
    printf 'governor=%s\n' "$line"
done | sort | uniq -c | while read -r count line; do
    printf '%s %s\n' "$line" "$count"
done
[ ! -d /run/systemd/system ] || printf 'systemd=1\n'
while read -r name _; do
    printf 'process=%s\n' "$name"
done <<END
$(cat /proc/[0-9]*/comm 2>/dev/null | grep -E '^(slurmd|chronyd|ntpd|systemd-timesyn)$' | sort -u)
END
for directory in /proc/[0-9]*; do
    name=''
    { read -r name <"$directory/comm"; } 2>/dev/null || continue
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
if command -v sinfo >/dev/null 2>&1; then
    sift "^${host%%.*} " 8 sinfo -N -h -o '%N %T %G'
fi
:
