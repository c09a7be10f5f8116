#!/usr/bin/env bash
# Two virtual machines from nothing to RDMA between them (Soft-RoCE), one reboot included; then the
# proof that a second run changes nothing and that a loss of power loses nothing.
#   demo-vm.sh PROVISION INVENTORY [--json FILE]
# With --json the figures go to FILE (`-`: stdout) and everything else to stderr. KEEP=1 leaves the
# machines up. RELEASE=trixie or sid takes machines of that release of Debian: the inventory is copied for it, since the
# machines are those of an inventory. Needs jq, and what `scripts/setup.sh --vm` installs.
set -euo pipefail
provision=$1 inventory=$2 json=
if [ "${3-}" = --json ]; then json=$4; fi
exec 3>&1
[ -z "$json" ] || exec 1>&2

if [ -n "${RELEASE-}" ]; then
    copy=target/$(basename "$inventory" .yaml)-$RELEASE.yaml
    mkdir -p target
    sed "s/^  kind: vm\$/&\n  release: $RELEASE/" "$inventory" >"$copy"
    inventory=$copy
fi
result=$(mktemp)
finish() {
    rm -f "$result"
    [ -n "${KEEP-}" ] || "$provision" lab down "$inventory" || :
    [ -z "${RELEASE-}" ] || [ -n "${KEEP-}" ] || rm -f "$inventory"
}
trap finish EXIT
trap 'exit 130' INT TERM

step() { printf '\n\033[1m$ %s\033[0m\n' "$*"; "$@"; }
die() {
    printf '\n%s\n' "$*" >&2
    exit 1
}
# Logs in as any user would: not as root.
on() {
    local host=$1
    shift
    ssh -n -F "$config" -o BatchMode=yes "$host" "$@"
}
boots() { on "$1" cat /proc/sys/kernel/random/boot_id; }
# An orderly reboot, waited for.
reboot() {
    local before
    before=$(boots "$1")
    on "$1" sudo systemctl reboot || :
    for _ in $(seq 150); do
        sleep 2
        [ "$(boots "$1" 2>/dev/null || echo "$before")" = "$before" ] || return 0
    done
    die "$1 did not come back"
}
changes() {
    step "$provision" apply "$inventory" --yes --json "$result"
    changed=$(jq .summary.tasks.changed "$result")
}
listens() { # HOST PORT
    for _ in $(seq 60); do
        [ -z "$(on "$1" ss -Hltn "sport = :$2")" ] || return 0
        sleep 0.5
    done
    die "nothing listens on port $2 of $1"
}

# Sets active_mtu and bandwidth, and sees rping through.
measure() {
    active_mtu=$(on "$client" ibv_devinfo -d rxe0 | awk '$1 == "active_mtu:" { print $2 }')
    [ "$active_mtu" = 4096 ] || die "the active MTU of $client is $active_mtu, not 4096"
    local server_log="" process="" tries=0
    server_log=$(mktemp)
    # A machine answers logins before the network between the two is up.
    until on "$client" ping -q -c 1 -W 2 "$server" >/dev/null; do
        tries=$((tries + 1))
        [ $tries -lt 30 ] || die "$client does not reach $server"
        sleep 1
    done
    # Frames between emulated machines get lost when this one is busy, and Soft-RoCE may end a connection by that.
    for tries in 1 2 3; do
        printf '\n\033[1m%s$ ib_write_bw -d rxe0 -F --report_gbits -n 2000 %s\033[0m\n' "$client" "$server"
        on "$server" timeout 120 ib_write_bw -d rxe0 -F --report_gbits -n 2000 >"$server_log" 2>&1 &
        process=$!
        listens "$server" 18515
        if on "$client" timeout 120 ib_write_bw -d rxe0 -F --report_gbits -n 2000 "$server" | tee "$result"; then
            wait "$process" && break
        fi
        on "$server" pkill -x ib_write_bw || :
        wait "$process" || :
        cat "$server_log" >&2
        [ $tries -lt 3 ] || die "ib_write_bw does not pass"
    done
    bandwidth=$(awk '$1 == 65536 && NF >= 5 { print $4 }' "$result")
    [ -n "$bandwidth" ] || die "ib_write_bw told no bandwidth"

    printf '\n\033[1m%s$ rping -c -a %s -v -C 3\033[0m\n' "$client" "$server"
    on "$server" timeout 60 rping -s -a 0.0.0.0 -C 3 >"$server_log" 2>&1 &
    process=$!
    # rdma_cm has no port that `ss` shows.
    tries=0
    until on "$client" timeout 60 rping -c -a "$server" -v -C 3; do
        tries=$((tries + 1))
        [ $tries -lt 10 ] || die "rping does not pass"
        sleep 1
    done
    wait "$process" || :
    rm -f "$server_log"
}

step "$provision" lab up "$inventory"
config=$("$provision" lab status "$inventory" --json - | jq -r .ssh_config)
mapfile -t hosts < <("$provision" lab status "$inventory" --json - | jq -r '.hosts[].name')
server=${hosts[0]} client=${hosts[1]}
first=("$(boots "$server")" "$(boots "$client")")

changes
made=$changed
# What the module was loaded with needs no boot; that all of it is there after one is seen now.
for host in "$server" "$client"; do
    reboot "$host"
done
second=("$(boots "$server")" "$(boots "$client")")
[ "${first[0]}" != "${second[0]}" ] || die "$server was not rebooted"
[ "${first[1]}" != "${second[1]}" ] || die "$client was not rebooted"
printf '\nThe first apply changed %s tasks; both machines were rebooted since. RDMA between them:\n' "$made"
measure
before=$bandwidth

changes
[ "$changed" = 0 ] || die "the second apply changed $changed tasks; it must change none"

printf '\nNow the power goes.\n'
step "$provision" lab restart "$inventory"
third=("$(boots "$server")" "$(boots "$client")")
[ "${second[0]}" != "${third[0]}" ] || die "$server kept its power"
changes
[ "$changed" = 0 ] || die "the boot lost something: apply changed $changed tasks"
measure

cat <<END

After a reboot and a loss of power, with kernel $(on "$server" uname -r): active MTU $active_mtu, ib_write_bw $before and $bandwidth Gb/s, rping passes;
applying again changed 0 tasks, twice.
END
[ -z "$json" ] || jq -n \
    --arg server "$server" --arg client "$client" \
    --arg kernel "$(on "$server" uname -r)" --argjson mtu "$active_mtu" --argjson before "$before" --argjson after "$bandwidth" --argjson made "$made" \
    '{kernel: $kernel, active_mtu: $mtu, bandwidth_gbps: {after_reboot: $before, after_power_cycle: $after}, rping: true,
      changed: {first: $made, second: 0, after_power_cycle: 0},
      boots: {($server): $ARGS.positional[0:3], ($client): $ARGS.positional[3:6]}}' \
    --args "${first[0]}" "${second[0]}" "${third[0]}" "${first[1]}" "${second[1]}" "${third[1]}" |
    { if [ "$json" = - ]; then cat >&3; else cat >"$json"; fi; }
