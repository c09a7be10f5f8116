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
# sets_clock CMDLINE: whether this ptp4l sets the clock of the system itself: it takes software time stamps.
sets_clock() {
    command -v grep >/dev/null 2>&1 || lost grep
    before=''
    words=$(tr '\0' '\n' <"$1" 2>/dev/null) || lost tr
    # shellcheck disable=SC2086 # a word each
    for word in $words; do
        case "$before $word" in
        *' -S' | *' --time_stamping=software' | '--time_stamping software') return 0 ;;
        '-f '*) ! grep -Eq '^[[:space:]]*time_stamping[[:space:]]+software' "$word" 2>/dev/null || return 0 ;;
        esac
        before=$word
    done
    return 1
}
processes=''
for directory in /proc/[0-9]*; do
    name=''
    { read -r name <"$directory/comm"; } 2>/dev/null || continue
    case $name in
    slurmd | chronyd | ntpd | ntp-daemon | systemd-timesyn | ptp4l | phc2sys | ts2phc | timemaster | ptpd | ptpd2 | sfptpd) ;;
    *) continue ;;
    esac
    # Accounts of people are none of the system's daemons.
    owner_of "$directory"
    [ "${owner:-1000}" -lt 1000 ] || continue
    [ "$name" != slurmd ] || [ "$owner" = 0 ] || continue
    case " $processes " in *" $name "*) ;; *) printf 'process=%s\n' "$name" ;; esac
    processes="$processes $name"
    [ "$name" != ptp4l ] || ! sets_clock "$directory/cmdline" || printf 'ptp_software=1\n'
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
# Errors that memory controllers counted since their driver was loaded: corrected and not.
for controller in /sys/devices/system/edac/mc/mc*; do
    corrected='' lost_bits=''
    { read -r corrected <"$controller/ce_count" && read -r lost_bits <"$controller/ue_count"; } 2>/dev/null || continue
    printf 'edac=%s %s %s\n' "${controller##*/}" "$corrected" "$lost_bits"
done
# Units that somebody made for this machine; links are units of packages that are enabled.
for file in /etc/systemd/system/*.*; do
    [ -L "$file" ] || [ ! -f "$file" ] || printf 'own_unit=%s\n' "${file##*/}"
done
now=$(date +%s) || lost date
printf 'now=%s\n' "${now:-}"
finish 0
host=''
read -r host </proc/sys/kernel/hostname
ask 5 getent hosts "$host"
ask 5 df -Pk / /var /tmp /boot /dev/shm
# All that may keep the clock is asked: a tool is often installed where another program does the work.
if command -v chronyc >/dev/null 2>&1; then
    ask 5 chronyc tracking
fi
if [ -d /run/systemd/timesync ]; then
    # timedatectl would start a service to answer. The directory belongs to an account: no other name of it is told.
    begin ls /run/systemd/timesync
    [ ! -e /run/systemd/timesync/synchronized ] || printf 'synchronized\n'
    finish 0
fi
case " $processes " in *' ntpd '*)
    # NTPsec and the reference implementation have the one, OpenNTPD the other.
    if command -v ntpctl >/dev/null 2>&1; then ask 5 ntpctl -s status; fi
    if command -v ntpq >/dev/null 2>&1; then ask 5 ntpq -c rv; fi
    ;;
esac
case " $processes " in *' ptp4l '* | *' phc2sys '*)
    if command -v pmc >/dev/null 2>&1; then ask 5 pmc -u -b 0 'GET TIME_STATUS_NP'; fi
    # phc2sys tells nobody but the log how far the clock of the system is off. Anybody can write there in its name.
    if command -v journalctl >/dev/null 2>&1; then
        sift 'CLOCK_REALTIME.*(offset|rms)|master offset|[]] rms |Waiting for ptp4l' 5 \
            journalctl -b -n 60 -o cat --no-pager -t phc2sys -t ptp4l _UID=0
    fi
    ;;
esac
[ ! -d /run/systemd/system ] || ask 8 systemctl list-units --state=failed --no-legend --plain --no-pager
case ${SLURM_SCRIPT_CONTEXT-} in
# Prologs and epilogs of a large job come all at once: slurmctld is not asked by each.
prolog* | epilog*) ;;
*)
    if command -v sinfo >/dev/null 2>&1; then
        # A reason may have spaces, so it is last.
        sift "^${host%%.*}(\\.[^ ]*)? " 8 sinfo -N -h -o '%N %T %G %E'
    fi
    ;;
esac
:
