# The InfiniBand fabric that a host is part of: nodes, links, managers, partitions and counters. Nothing is changed, and
# no counter is cleared.
# Each part begins with its name; its lines stand behind `|`, and a last one with `!` has the status of what failed. What
# a program complained of has `?` before it.
# Parameters: seconds between the two readings of counters, seconds that a program may take, and the device whose fabric
# it is; where that is empty, the programs choose the first one that is up.
window=$1
limit=$2
device=${3:-}
for tool in timeout sed sort tail sleep ibnetdiscover iblinkinfo ibqueryerrors sminfo saquery smpquery; do
    command -v "$tool" >/dev/null 2>&1 || {
        printf '%s is not installed\n' "$tool" >&2
        exit 1
    }
done
# Prints what function of_$1 prints, as part $1.
part() {
    printf '=== %s\n' "$1"
    { "of_$1" </dev/null 2>/dev/null || printf '\n!%s\n' "$?"; } | sed 's/^/|/'
}
# Runs program $1 with a limit. Complaints come behind its output, so that they break no line of it.
asked() {
    tool=$1
    shift
    { complaints=$(timeout "$limit" "$tool" ${device:+-C "$device"} "$@" 2>&1 1>&3 3>&-); } 3>&1
    status=$?
    [ -z "$complaints" ] || printf '%s\n' "$complaints" | tail -n 20 | sed 's/^/?/'
    return "$status"
}
of_nodes() {
    printf '%s\n' "$nodes"
    return "$nodes_status"
}
of_links() {
    asked iblinkinfo --line
}
# The manager that this host's port names comes first, then each port on which one may run. Where the administration of
# the subnet does not answer, each port is asked itself whether it has one.
of_managers() {
    printf 'named\n'
    asked sminfo
    first=$?
    printf 'others\n'
    ports=$(timeout "$limit" saquery ${device:+-C "$device"} -s | sed -n 's/^.*EndPortLid\.*\([0-9][0-9]*\).*$/\1/p')
    [ -n "$ports" ] || ports=$(each has_manager "$adapters $switches")
    for lid in $ports; do
        asked sminfo "$lid" || :
    done
    return "$first"
}
has_manager() {
    case $(timeout 10 smpquery ${device:+-C "$device"} portinfo "$1" 2>/dev/null) in
    *IsSM[!a-zA-Z]*) printf '%s\n' "$1" ;;
    esac
}
# Keys of each adapter's port: its local identifier, then those of a row that are not all zero.
of_keys() {
    each keys_of "$adapters" | sort -n
}
keys_of() {
    rows=$(timeout 10 smpquery ${device:+-C "$device"} pkeys "$1" 2>/dev/null) || {
        printf '%s !%s\n' "$1" "$?"
        return
    }
    while read -r _ keys; do
        case $keys in
        0x*[1-9a-f]*) printf '%s %s\n' "$1" "$keys" ;;
        esac
    done <<END
$rows
END
}
# Calls function $1 with each word of $2, six at a time.
each() {
    count=0
    for word in $2; do
        "$1" "$word" &
        count=$((count + 1))
        [ $((count % 6)) != 0 ] || wait
    done
    wait
}
# It ends with 1 where it found errors. Where it broke down, it is asked once more.
of_counters() {
    counted
    first=$?
    case $first in
    0 | 1) return "$first" ;;
    esac
    counted
}
# Without a master nobody knows service levels, and counters can be read all the same.
counted() {
    read -r up _ </proc/uptime && printf 'at %s\n' "$up"
    asked ibqueryerrors --threshold-file /dev/null --data $levels
}
of_counters_later() {
    of_counters
}

nodes=$(asked ibnetdiscover)
nodes_status=$?
adapters=$(printf '%s\n' "$nodes" | sed -n 's/^\[[0-9]*\](.*# lid \([1-9][0-9]*\) lmc .*$/\1/p' | sort -n -u)
switches=$(printf '%s\n' "$nodes" | sed -n 's/^Switch.* port 0 lid \([1-9][0-9]*\) lmc .*$/\1/p' | sort -n -u)
part nodes
part links
managers=$(part managers)
printf '%s\n' "$managers"
levels=
case $managers in
*SMINFO_MASTER*) ;;
*) levels=--skip-sl ;;
esac
part keys
part counters
sleep "$window"
part counters_later
printf '=== end\n'
