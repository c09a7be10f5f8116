#!/bin/sh
# host-profile check|apply GOVERNOR LATENCY THP: the governor of all CPUs, states of idle CPUs that take at most LATENCY
# microseconds to leave, and transparent huge pages. `keep` leaves one as it is. `check` ends with 1 where something
# differs, and says what. Written by provision.
set -u
mode=$1 governor=$2 latency=$3 thp=$4
differs=0
# set_to FILE VALUE FOUND: FILE gets VALUE where it has something else.
set_to() {
    [ "$3" != "$2" ] || return 0
    if [ "$mode" = apply ]; then
        printf '%s\n' "$2" >"$1" || differs=1
    else
        [ "$differs" = 1 ] || printf '%s is %s, not %s\n' "$1" "$3" "$2"
        differs=1
    fi
}
if [ "$governor" != keep ]; then
    # A virtual machine has no such files.
    for file in /sys/devices/system/cpu/cpu[0-9]*/cpufreq/scaling_governor; do
        found=''
        { read -r found <"$file"; } 2>/dev/null || continue
        set_to "$file" "$governor" "$found"
    done
fi
if [ "$latency" != keep ]; then
    for state in /sys/devices/system/cpu/cpu[0-9]*/cpuidle/state[0-9]*; do
        takes='' found=''
        { read -r takes <"$state/latency" && read -r found <"$state/disable"; } 2>/dev/null || continue
        off=0
        [ "$takes" -le "$latency" ] || off=1
        set_to "$state/disable" "$off" "$found"
    done
fi
file=/sys/kernel/mm/transparent_hugepage/enabled
if [ "$thp" != keep ] && read -r words 2>/dev/null <"$file"; then
    # always [madvise] never
    found=${words#*\[}
    set_to "$file" "$thp" "${found%%\]*}"
fi
exit "$differs"
