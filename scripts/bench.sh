#!/usr/bin/env bash
# Compares provision with bare ssh, a hand-written script, Ansible (with and without Mitogen) and
# pyinfra on four lab hosts, with the script and bare logins on a long way, with a login that stays and on 100
# new hosts, and with bare logins on up to 1000 hosts, of which 45 are bad at last, and times `validate` of 10 000;
# writes docs/evidence/benchmarks.md.
#
#   scripts/bench.sh [converged] [kex] [first] [firstdisk] [packages] [delay] [warm] [mixed] [first100] [scale] [bad] [validate]
#       default: all
#   ROUNDS=5 TURNS=5 LEGS="bare script provision ansible mitogen pyinfra" HOST_COUNTS="10 100 300 1000"
#
# Contestants take turns (A B C A B C); every run is cold but those of the scene warm; what is written are medians.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

ROUNDS=${ROUNDS:-5}
# A run of half a second varies by a fifth: what is that short takes so many turns in a round.
TURNS=${TURNS:-5}
read -ra LEGS <<<"${LEGS:-bare script provision ansible mitogen pyinfra}"
PROVISION=${PROVISION:-$PWD/target/release/provision}
INVENTORY=inventories/bench.yaml
# A key exchange that costs a login a tenth of the processor time that OpenSSH 9's own choice does. Every
# tool runs with what it takes by itself, as its users have it; the scenes kex, first100 and scale take this one.
KEX=curve25519-sha256
WORK=$PWD/target/bench
TASKS=$WORK/tasks
RESULTS=$WORK/results.tsv
parts=("$@")
[ ${#parts[@]} -gt 0 ] || parts=(converged kex first firstdisk packages delay warm mixed first100 scale bad validate)
# Ansible refuses any other encoding.
export LC_ALL=C.UTF-8

# shellcheck source=bench/legs.sh
. bench/legs.sh
# shellcheck source=bench/scale.sh
. bench/scale.sh

say() { printf '%s\n' "$*" >&2; }
state_folder() {
    local hash
    hash=$(printf %s "$(realpath "$1")" | sha256sum | cut -c1-12)
    echo "${XDG_STATE_HOME:-$HOME/.local/state}/provision/lab/$hash"
}
everywhere() {
    local host pids=()
    for host in "${HOSTS[@]}"; do
        ssh -F "$SSH_CONFIG" "$host" "$@" >/dev/null &
        pids+=($!)
    done
    wait_all "${pids[@]}"
}
now() { echo "${EPOCHREALTIME/./}"; }

# run SCENE LEG SET EXPECTED: one cold run; records its time and checks what it changed.
run() {
    cold
    timed "$@"
}
# The same as things are.
timed() {
    local scene=$1 leg=$2 set=$3 expected=$4 start end changed
    start=$(now)
    "leg_$leg" "$set"
    end=$(now)
    changed=$("changed_$leg")
    printf '%s\t%s\t%s\t%s\n' "$scene" "$leg" "$((end - start))" "$changed" >>"$RESULTS"
    printf '  %-10s %-10s %8d ms  %3s changed\n' "$scene" "$leg" "$(((end - start) / 1000))" "$changed" >&2
    [ "$leg" = bare ] || [ "$changed" = "$expected" ] || {
        say "  $leg changed $changed tasks; $expected were expected"
        return 1
    }
}
has_leg() { [[ " ${LEGS[*]} " == *" $1 "* ]]; }

# A converged cluster stays as it is.
converged() {
    local leg
    for leg in "${LEGS[@]}"; do
        [ "$leg" = bare ] || { cold && "leg_$leg" forty >/dev/null; }
    done
    for _ in $(seq "$ROUNDS"); do
        for leg in "${LEGS[@]}"; do run converged "$leg" forty 0; done
        for _ in $(seq 2 "$TURNS"); do
            for leg in bare script provision; do
                ! has_leg "$leg" || run converged "$leg" forty 0
            done
        done
    done
    # Being fast by not looking does not count: each must see and mend one changed file.
    for leg in "${LEGS[@]}"; do
        [ "$leg" != bare ] || continue
        ssh -F "$SSH_CONFIG" "${HOSTS[1]}" 'echo junk | tee -a /srv/forty/d03/f03.conf >/dev/null'
        run drift "$leg" forty 1
    done
}

# The same with the other key exchange, for provision and what it is compared with.
kex() {
    local SSH_CONFIG=$WORK/ssh_config
    has_leg provision || return 0
    cold && leg_provision forty.kex >/dev/null
    for _ in $(seq $((ROUNDS * TURNS))); do
        run kex bare - 0
        run kex provision forty.kex 0
    done
}

# Hosts that have nothing yet; no packages.
first() {
    local leg
    for _ in $(seq "$ROUNDS"); do
        for leg in "${LEGS[@]}"; do
            [ "$leg" = bare ] || anew first "$leg"
        done
        for _ in $(seq 2 "$TURNS"); do
            for leg in script provision; do anew first "$leg"; done
        done
    done
}
# The same where the state of a run is on the disk of the host, as it is where /run is no tmpfs.
firstdisk() {
    local leg
    everywhere 'mountpoint -q /run/provision || {
        mkdir -p /var/lib/bench-run /run/provision && mount --bind /var/lib/bench-run /run/provision
    }'
    for _ in $(seq $((ROUNDS * TURNS))); do
        for leg in script provision; do anew firstdisk "$leg"; done
    done
    everywhere 'umount /run/provision && rm -rf /var/lib/bench-run'
}
anew() {
    has_leg "$2" || return 0
    everywhere rm -rf /srv/free
    run "$1" "$2" free $((40 * ${#HOSTS[@]}))
}

# The same with packages to install. They lie in apt's cache already, so that nobody's time
# depends on the mirror.
packages() {
    local leg names='tree rsync jq pv zstd libjq1 libonig5'
    everywhere "DEBIAN_FRONTEND=noninteractive apt-get -qq -y --download-only --reinstall --no-install-recommends install $names"
    for _ in $(seq "$ROUNDS"); do
        for leg in script provision; do
            has_leg "$leg" || continue
            everywhere "rm -rf /srv/forty; dpkg --purge $names 2>&1"
            run packages "$leg" forty $((40 * ${#HOSTS[@]}))
        done
    done
}

# A round trip of 50 ms: hosts that have nothing yet, then the same hosts as they are.
delay() {
    local SSH_CONFIG=$SSH_CONFIG targets proxy leg
    mapfile -t targets < <(jq -r '.hosts[] | "\(.address):\(.port)"' "$folder/state.json")
    scripts/delay-proxy.py 50 "${targets[@]}" >"$WORK/delay.ports" &
    proxy=$!
    # shellcheck disable=SC2064  # this process, now
    trap "kill $proxy" EXIT
    until [ "$(wc -l <"$WORK/delay.ports")" = "${#targets[@]}" ]; do
        kill -0 "$proxy" && sleep 0.05
    done
    write_delayed "$folder/state.json" "$WORK/delay.ports"
    for _ in $(seq "$ROUNDS"); do
        for leg in bare script provision; do
            has_leg "$leg" || continue
            everywhere rm -rf /srv/free
            SSH_CONFIG=$WORK/delay.ssh_config run delayfirst "$leg" free.delay $((40 * ${#HOSTS[@]}))
        done
    done
    cold && leg_provision free.delay >/dev/null
    for _ in $(seq $((ROUNDS * TURNS))); do
        for leg in bare script provision; do
            ! has_leg "$leg" || SSH_CONFIG=$WORK/delay.ssh_config run delay "$leg" free.delay 0
        done
    done
    kill "$proxy"
    trap - EXIT
}

# A login of the run before is there still, against bare logins that are cold.
warm() {
    local XDG_RUNTIME_DIR names
    has_leg provision || return 0
    names=$(IFS=, && echo "${HOSTS[*]}")
    # Logins that the user has are not for us to end.
    XDG_RUNTIME_DIR=$(mktemp -d /tmp/provision-bench.XXXXXX)
    export XDG_RUNTIME_DIR
    for _ in $(seq $((ROUNDS * TURNS))); do
        run warm bare - 0
        leg_provision forty.warm >/dev/null
        timed warm provision forty.warm 0
        [ "$("$PROVISION" logins --hosts "$names" --json - | jq '.logins | length')" = "${#HOSTS[@]}" ] || {
            say "  not every login stayed"
            return 1
        }
        "$PROVISION" logins --hosts "$names" --end 2>>"$WORK/provision.log"
    done
    rm -rf "$XDG_RUNTIME_DIR"
}

# The lab's own inventory: services, users, templates and more, against bare logins.
mixed() {
    has_leg provision || return 0
    local INVENTORY=inventories/lab.yaml SSH_CONFIG HOSTS
    "$PROVISION" lab up "$INVENTORY" >"$WORK/lab.log" 2>&1 || fail "$WORK/lab.log"
    SSH_CONFIG=$(state_folder "$INVENTORY")/ssh_config
    mapfile -t HOSTS < <(jq -r '.hosts[].name' "$(state_folder "$INVENTORY")/state.json")
    cold && leg_provision - >/dev/null
    # These hosts have only just booted and been set up, and for some seconds what systemd is asked
    # costs a fifth more. The hosts of the other scenes have long settled when their turn comes.
    sync
    for _ in $(seq $((TURNS * 2))); do
        cold && leg_bare - >/dev/null
        cold && leg_provision - >/dev/null
    done
    for _ in $(seq $((ROUNDS * TURNS))); do
        run mixed bare - 0
        run mixed provision - 0
    done
}

# A large inventory is read and every text filled in for every host; nothing is connected to.
validate() {
    has_leg provision || return 0
    local dir=$WORK/validate start end
    mkdir -p "$dir"
    bench/generate.py --many >"$dir/many.playbook.yaml"
    printf '%s\n' 'cluster: many' 'groups: { gpu: { hosts: "n[0-9999]" } }' 'playbooks: [./many.playbook.yaml]' >"$dir/many.yaml"
    for _ in $(seq "$ROUNDS"); do
        start=$(now)
        /usr/bin/time -f %M -o "$dir/memory" "$PROVISION" validate "$dir/many.yaml" >"$WORK/validate.log" 2>&1 || fail "$WORK/validate.log"
        end=$(now)
        printf 'validate\tprovision\t%s\t%s\n' "$((end - start))" "$(cat "$dir/memory")" >>"$RESULTS"
        printf '  validate   provision  %8d ms  %s KiB\n' "$(((end - start) / 1000))" "$(cat "$dir/memory")" >&2
    done
}

mkdir -p "$WORK" docs
SSH_BEFORE=$(ssh_orphans)
: >"$RESULTS"
if has_leg ansible || has_leg mitogen || has_leg pyinfra; then
    [ -x .venv-bench/bin/pyinfra ] || {
        say "installing Ansible, Mitogen and pyinfra into .venv-bench"
        python3 -m venv .venv-bench
        .venv-bench/bin/pip install -q 'ansible-core>=2.18,<2.19' 'mitogen<0.4' 'pyinfra<4'
    }
fi
bench/generate.py "$TASKS"

if [[ " ${parts[*]} " =~ \ (converged|kex|first|firstdisk|packages|delay|warm)\  ]]; then
    say "starting the hosts of $INVENTORY"
    # BENCH_LAB_READY=1: somebody else has started them.
    [ -n "${BENCH_LAB_READY:-}" ] || "$PROVISION" lab up "$INVENTORY" >"$WORK/lab.log" 2>&1 || fail "$WORK/lab.log"
    folder=$(state_folder "$INVENTORY")
    SSH_CONFIG=$folder/ssh_config
    {
        echo "KexAlgorithms $KEX"
        cat "$SSH_CONFIG"
    } >"$WORK/ssh_config"
    mapfile -t HOSTS < <(jq -r '.hosts[].name' "$folder/state.json")
    write_inventories "$folder/state.json"
fi
for part in "${parts[@]}"; do
    say "$part"
    "$part"
done
python3 bench/report.py "$RESULTS" "ROUNDS=$ROUNDS scripts/bench.sh $*" >docs/evidence/benchmarks.md
say "written: docs/evidence/benchmarks.md"
