#!/usr/bin/env bash
# The contestants. Each `leg_NAME SET` brings all hosts to the state of one set of tasks; after
# that, and outside of its time, `changed_NAME` prints how many tasks it changed, summed over
# hosts. Sourced by scripts/bench.sh, which sets
#   HOSTS SSH_CONFIG TASKS WORK PROVISION INVENTORY KEX
# shellcheck disable=SC2154  # set by the caller

# What only looks: a login per host, at once.
leg_bare() {
    local host pids=()
    for host in "${HOSTS[@]}"; do
        ssh -F "$SSH_CONFIG" "$host" true &
        pids+=($!)
    done
    wait_all "${pids[@]}"
}
changed_bare() { echo 0; }

# A lean script, one login per host, at once. What stands behind the dot of a set is how hosts are reached.
leg_script() {
    local host pids=()
    for host in "${HOSTS[@]}"; do
        ssh -F "$SSH_CONFIG" "$host" sh -s <"$TASKS/${1%%.*}.script.sh" >"$WORK/script.$host" &
        pids+=($!)
    done
    wait_all "${pids[@]}"
}
changed_script() {
    cat "${HOSTS[@]/#/$WORK/script.}" | awk -F= '/^changed=/ { n += $2 } END { print n + 0 }'
}

# The set `-` is all that the lab's own inventory says.
leg_provision() {
    local file=$WORK/$1.yaml
    [ "$1" != - ] || file=$INVENTORY
    "$PROVISION" apply "$file" --yes --no-progress --json "$WORK/provision.json" >"$WORK/provision.log" 2>&1 ||
        fail "$WORK/provision.log"
}
changed_provision() {
    jq .summary.tasks.changed "$WORK/provision.json"
}

# Pipelining, as many forks as hosts, no search for Python; connections are kept within a run,
# which is Ansible's default, and never between runs.
leg_ansible() {
    ANSIBLE_PIPELINING=1 ANSIBLE_FORKS=${#HOSTS[@]} ANSIBLE_SSH_CONTROL_PATH_DIR="$WORK/cp" \
        ANSIBLE_HOME="$WORK/ansible" ANSIBLE_NOCOLOR=1 ANSIBLE_DEPRECATION_WARNINGS=0 ANSIBLE_CONFIG="$WORK/ansible.cfg" \
        PYTHONWARNINGS=ignore .venv-bench/bin/ansible-playbook -i "$WORK/hosts.ini" "$TASKS/$1.ansible.yaml" \
        >"$WORK/ansible.log" 2>&1 || fail "$WORK/ansible.log"
}
changed_ansible() {
    awk '/ changed=/ { sub(/.* changed=/, ""); n += $1 } END { print n + 0 }' "$WORK/ansible.log"
}

leg_mitogen() {
    local plugins
    plugins=$(echo .venv-bench/lib/python3*/site-packages/ansible_mitogen/plugins/strategy)
    ANSIBLE_STRATEGY_PLUGINS=$plugins ANSIBLE_STRATEGY=mitogen_linear leg_ansible "$1"
}
changed_mitogen() { changed_ansible; }

leg_pyinfra() {
    .venv-bench/bin/pyinfra -y --parallel ${#HOSTS[@]} "$WORK/hosts.py" "$TASKS/$1.pyinfra.py" \
        >"$WORK/pyinfra.log" 2>&1 || fail "$WORK/pyinfra.log"
}
changed_pyinfra() {
    # Last row of its table: Grand total, hosts, success (that is changed), error, no change.
    sed 's/\x1b\[[0-9;]*m//g' "$WORK/pyinfra.log" | awk '/Grand total/ { print ($4 == "-") ? 0 : $4 }'
}

wait_all() {
    local pid status=0
    for pid in "$@"; do
        wait "$pid" || status=$?
    done
    return "$status"
}

fail() {
    echo "failed; the end of $1:" >&2
    tail -n 30 "$1" >&2
    return 1
}

# Inventories of the tools, from the lab's state: one for each set of tasks where a tool names them there.
write_inventories() {
    local state=$1 set
    for set in forty free; do
        jq -r --arg playbook "$PWD/bench/$set.yaml" '
            {
                cluster: "bench",
                ssh: { user, identity_file, known_hosts },
                playbooks: [$playbook],
                hosts: (.hosts | map({ (.name): { address, ssh: { port } } }) | add)
            }' "$state" >"$WORK/$set.yaml"
    done
    jq --arg kex "$KEX" '.ssh.kex = $kex' "$WORK/forty.yaml" >"$WORK/forty.kex.yaml"
    jq '.ssh.persist = "10m"' "$WORK/forty.yaml" >"$WORK/forty.warm.yaml"
    # Nothing of the user's own configuration.
    : >"$WORK/ansible.cfg"
    {
        echo '[all]'
        jq -r '.hosts[] | "\(.name) ansible_host=\(.name)"' "$state"
        echo '[all:vars]'
        echo "ansible_ssh_common_args=-F $SSH_CONFIG"
        echo 'ansible_python_interpreter=/usr/bin/python3'
    } >"$WORK/hosts.ini"
    jq -r '
        . as $lab | "hosts = [" + ([.hosts[] |
            "(\(.name | tojson), {\"ssh_hostname\": \(.address | tojson), \"ssh_port\": \(.port), "
            + "\"ssh_user\": \($lab.user | tojson), \"ssh_key\": \($lab.identity_file | tojson), "
            + "\"ssh_known_hosts_file\": \($lab.known_hosts | tojson), \"ssh_strict_host_key_checking\": \"yes\"})"
        ] | join(", ")) + "]"' "$state" >"$WORK/hosts.py"
}

# The inventory and the ssh_config of hosts that are reached through scripts/delay-proxy.py, from what it printed.
write_delayed() {
    local state=$1 ports=$2 port target
    : >"$WORK/delay.known_hosts"
    while read -r port target; do
        ssh-keygen -F "[${target%:*}]:${target##*:}" -f "$(jq -r .known_hosts "$state")" |
            awk -v name="[127.0.0.1]:$port" '!/^#/ { $1 = name; print }' >>"$WORK/delay.known_hosts"
    done <"$ports"
    jq --arg known_hosts "$WORK/delay.known_hosts" --rawfile ports "$ports" '
        ($ports | split("\n") | map(split(" ") | select(length == 2) | { (.[1]): (.[0] | tonumber) }) | add) as $port
        | .ssh.known_hosts = $known_hosts
        | .hosts |= map_values({ address: "127.0.0.1", ssh: { port: $port["\(.address):\(.ssh.port)"] } })' \
        "$WORK/free.yaml" >"$WORK/free.delay.yaml"
    {
        # The first value counts.
        jq -r '.ssh.known_hosts as $known_hosts | .hosts | to_entries[]
            | "Host \(.key)\n    HostName \(.value.address)\n    Port \(.value.ssh.port)\n    UserKnownHostsFile \"\($known_hosts)\""' \
            "$WORK/free.delay.yaml"
        cat "$SSH_CONFIG"
    } >"$WORK/delay.ssh_config"
}

# Before every run: no connection and no cache of the run before.
cold() {
    local socket
    for socket in "$WORK"/cp/*; do
        [ -S "$socket" ] || continue
        ssh -o ControlPath="$socket" -O exit any >/dev/null 2>&1 || rm -f "$socket"
    done
    rm -rf "$WORK/cp" "$WORK/ansible"
    local tries=0
    while [ -n "$(orphans)" ]; do
        tries=$((tries + 1))
        [ "$tries" -lt 100 ] || {
            echo "ssh processes of the run before are still there:" >&2
            ps -o pid,args -p "$(orphans | paste -sd,)" >&2
            return 1
        }
        sleep 0.05
    done
}

# ssh processes that have lost their parent since the start: what a contestant left behind.
orphans() {
    comm -13 <(printf '%s\n' "${SSH_BEFORE:-}") <(ssh_orphans)
}
ssh_orphans() {
    { ps -C ssh -o ppid=,pid= || true; } | awk '$1 == 1 { print $2 }' | sort
}
