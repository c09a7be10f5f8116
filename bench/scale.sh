#!/usr/bin/env bash
# Many hosts on one machine: one sshd answers on all of 127.0.0.0/8. A converged apply to N of
# them against N bare logins with the same options, as many at a time, and the controller's
# memory; and a first apply to 100 of them. Sourced by scripts/bench.sh.
# shellcheck disable=SC2154  # WORK PROVISION RESULTS ROUNDS KEX are set by the caller

SCALE_PARALLEL=${SCALE_PARALLEL:-64}
SCALE_PORT=${SCALE_PORT:-19022}

scale_start() {
    local dir=$1 name=$2 sshd
    sshd=$(PATH=$PATH:/usr/sbin command -v sshd) || { say "sshd is missing: scripts/setup.sh"; return 1; }
    rm -f "$dir"/key "$dir"/key.pub "$dir"/host "$dir"/host.pub
    ssh-keygen -q -t ed25519 -N '' -f "$dir/key"
    ssh-keygen -q -t ed25519 -N '' -f "$dir/host"
    cat >"$dir/sshd_config" <<END
Port $SCALE_PORT
ListenAddress 0.0.0.0
HostKey $dir/host
PidFile $dir/sshd.pid
AuthorizedKeysFile $dir/key.pub
AllowUsers $name
StrictModes no
UsePAM no
PasswordAuthentication no
MaxStartups 10000
MaxSessions 1000
PrintMotd no
${SCALE_MORE:-}
END
    # Privilege separation wants this folder, which only a service manager makes.
    [ "$(id -u)" != 0 ] || mkdir -p /run/sshd
    "$sshd" -f "$dir/sshd_config" -E "$dir/sshd.log"
    printf '[127.0.*]:%s %s\n' "$SCALE_PORT" "$(cut -d' ' -f1,2 "$dir/host.pub")" >"$dir/known_hosts"
}

scale_stop() {
    [ ! -s "$1/sshd.pid" ] || kill "$(cat "$1/sshd.pid")" 2>/dev/null || true
    [ "$2" = "$(id -un)" ] || userdel "$2" 2>/dev/null || true
    rm -rf "${1:?}/home"
}

scale_address() { echo "127.0.$(($1 / 250)).$(($1 % 250 + 2))"; }

# scale_inventory COUNT USER DIR
scale_inventory() {
    local index
    cat <<END
cluster: scale$1
ssh:
  user: $2
  port: $SCALE_PORT
  identity_file: $3/key
  known_hosts: $3/known_hosts
  kex: $KEX
playbooks: [./scale.playbook.yaml]
rollout: { parallel: $SCALE_PARALLEL }
hosts:
END
    for ((index = 0; index < $1; index++)); do
        printf '  n%04d: { address: %s }\n' "$index" "$(scale_address "$index")"
    done
}

scale_row() { printf 'scale%s\t%s\t%s\t%s\n' "$@" >>"$RESULTS"; }

# Sets $dir and $user and makes the hosts.
scale_begin() {
    dir=/tmp/provision-scale.$$
    # World-readable, because another user logs in with keys from here.
    mkdir -m 755 "$dir"
    user=$(id -un)
    if [ "$(id -u)" = 0 ]; then
        # root's shell may read long profiles; every host's login shell is plain sh.
        user=provision-bench
        userdel "$user" 2>/dev/null || true
        useradd --shell /bin/sh --home-dir "$dir/home" --create-home "$user"
        usermod -p '*' "$user"
    else
        mkdir "$dir/home"
    fi
    # shellcheck disable=SC2064  # these values, now
    trap "scale_stop '$dir' '$user'; rm -rf '$dir'" EXIT
    scale_start "$dir" "$user"
}

scale_converge() {
    bench/generate.py --scale "$dir/home" >"$dir/scale.playbook.yaml"
    # All "hosts" are this one: one of them is made converged, then all are.
    scale_inventory 1 "$user" "$dir" >"$dir/one.yaml"
    if has_leg provision; then
        "$PROVISION" apply "$dir/one.yaml" --yes --no-progress >"$WORK/scale.log" 2>&1 || fail "$WORK/scale.log"
    fi
}

scale() {
    local dir user count round start end index
    scale_begin
    scale_converge
    local options=(-o BatchMode=yes -o StrictHostKeyChecking=yes -o UserKnownHostsFile="$dir/known_hosts"
        -o KexAlgorithms="$KEX" -o IdentitiesOnly=yes -o ClearAllForwardings=yes
        -i "$dir/key" -p "$SCALE_PORT" -l "$user")
    for count in ${HOST_COUNTS:-10 100 300 1000}; do
        scale_inventory "$count" "$user" "$dir" >"$dir/$count.yaml"
        for ((index = 0; index < count; index++)); do scale_address "$index"; done >"$dir/$count.addresses"
        for round in $(seq "${SCALE_ROUNDS:-3}"); do
            start=$(now)
            xargs -P "$SCALE_PARALLEL" -I{} ssh "${options[@]}" {} true <"$dir/$count.addresses"
            end=$(now)
            scale_row "$count" bare $((end - start)) 0
            printf '  %5d hosts  bare       %8d ms\n' "$count" $(((end - start) / 1000)) >&2
            has_leg provision || continue
            start=$(now)
            /usr/bin/time -f %M -o "$dir/memory" "$PROVISION" apply "$dir/$count.yaml" --yes --no-progress \
                --parallel "$SCALE_PARALLEL" --json "$dir/result.json" >"$WORK/scale.log" 2>&1 || fail "$WORK/scale.log"
            end=$(now)
            [ "$(jq .summary.ok "$dir/result.json")/$(jq .summary.tasks.changed "$dir/result.json")" = "$count/0" ] || {
                say "round $round: not all $count hosts are well and unchanged"
                return 1
            }
            # The greatest resident set of it and of the ssh clients it waited for, whichever is more.
            scale_row "$count" provision $((end - start)) "$(tail -n 1 "$dir/memory")"
            printf '  %5d hosts  provision  %8d ms  %s KiB\n' "$count" $(((end - start) / 1000)) "$(tail -n 1 "$dir/memory")" >&2
        done
    done
    scale_stop "$dir" "$user"
    rm -rf "$dir"
}

# A first apply to 100 hosts, each with a home of its own on this machine: bare logins, the script, provision.
first100() {
    local dir=/tmp/provision-scale.$$ user count=100 leg start end changed index SCALE_MORE=
    for ((index = 0; index < count; index++)); do
        SCALE_MORE+="Match LocalAddress $(scale_address "$index")"$'\n'
        SCALE_MORE+="SetEnv HOME=$dir/home/$(printf 'n%04d' "$index")"$'\n'
    done
    scale_begin
    bench/generate.py --first "$dir/home" "$dir"
    scale_inventory "$count" "$user" "$dir" | sed 's/scale.playbook/first.playbook/' >"$dir/first.yaml"
    for ((index = 0; index < count; index++)); do scale_address "$index"; done >"$dir/addresses"
    local options=(-o BatchMode=yes -o StrictHostKeyChecking=yes -o UserKnownHostsFile="$dir/known_hosts"
        -o KexAlgorithms="$KEX" -o IdentitiesOnly=yes -o ClearAllForwardings=yes
        -i "$dir/key" -p "$SCALE_PORT" -l "$user")
    for _ in $(seq "${SCALE_ROUNDS:-3}"); do
        for leg in bare script provision; do
            has_leg "$leg" || continue
            rm -rf "$dir"/home/n*
            for ((index = 0; index < count; index++)); do
                install -d -m 755 -o "$user" "$dir/home/$(printf 'n%04d' "$index")"
            done
            start=$(now)
            "first100_$leg"
            end=$(now)
            case $leg in
            bare) changed=0 ;;
            script) changed=$(awk -F= '/^changed=/ { n += $2 } END { print n + 0 }' "$dir/script.out") ;;
            provision) changed=$(jq .summary.tasks.changed "$dir/result.json") ;;
            esac
            [ "$leg" = bare ] || [ "$changed" = $((count * 40)) ] || {
                say "$leg changed $changed tasks; $((count * 40)) were expected"
                return 1
            }
            printf 'first100\t%s\t%s\t%s\n' "$leg" $((end - start)) "$changed" >>"$RESULTS"
            printf '  %5d hosts  %-10s %8d ms\n' "$count" "$leg" $(((end - start) / 1000)) >&2
        done
    done
    scale_stop "$dir" "$user"
    rm -rf "$dir"
}
# These see the variables of who calls them.
first100_bare() { xargs -P "$SCALE_PARALLEL" -I{} ssh "${options[@]}" {} true <"$dir/addresses"; }
first100_script() {
    # shellcheck disable=SC2016  # for the inner shell
    xargs -P "$SCALE_PARALLEL" -I{} sh -c 'script=$1; shift; exec ssh "$@" sh -s <"$script"' - \
        "$dir/first.script.sh" "${options[@]}" {} <"$dir/addresses" >"$dir/script.out"
}
first100_provision() {
    "$PROVISION" apply "$dir/first.yaml" --yes --no-progress --parallel "$SCALE_PARALLEL" \
        --json "$dir/result.json" >"$WORK/scale.log" 2>&1 || fail "$WORK/scale.log"
}

# 1000 hosts of which 20 refuse, 20 accept and say nothing, and 5 have another key than the one recorded: the
# others are done, and nobody waits for these longer than a login may take.
bad() {
    has_leg provision || return 0
    local dir user count=1000 round start end status silent index lines
    scale_begin
    scale_converge
    ssh-keygen -q -t ed25519 -N '' -f "$dir/other"
    printf '[127.0.*]:%s %s\n' "$SCALE_PORT" "$(cut -d' ' -f1,2 "$dir/other.pub")" >"$dir/other_hosts"
    python3 -c 'import socket, time
s = socket.socket()
s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
s.bind(("0.0.0.0", '"$((SCALE_PORT + 1))"'))
s.listen(100)
time.sleep(3600)' &
    silent=$!
    scale_inventory "$count" "$user" "$dir" | awk -v dead=$((SCALE_PORT + 2)) -v hung=$((SCALE_PORT + 1)) -v other="$dir/other_hosts" '
        /^  n[0-9]+:/ {
            number = substr($1, 2) + 0
            if (number % 50 == 1) sub(/ }$/, ", ssh: { port: " dead " } }")
            if (number % 50 == 2) sub(/ }$/, ", ssh: { port: " hung " } }")
            if (number % 200 == 3) sub(/ }$/, ", ssh: { known_hosts: " other " } }")
        }
        { print }' >"$dir/bad.yaml"
    for round in 1 2; do
        status=0
        start=$(now)
        "$PROVISION" apply "$dir/bad.yaml" --yes --no-progress --parallel "$SCALE_PARALLEL" \
            --json "$dir/result.json" >"$WORK/bad.log" 2>&1 || status=$?
        end=$(now)
        lines=$(wc -l <"$WORK/bad.log")
        printf '  %5d hosts, 45 bad: round %d, %d ms, exit code %d, %s, %d lines\n' "$count" "$round" \
            $(((end - start) / 1000)) "$status" "$(jq -c '.summary | [.ok, .unreachable]' "$dir/result.json")" "$lines" >&2
        printf 'bad\tprovision\t%s\t%s\n' "$((end - start))" "$lines" >>"$RESULTS"
        [ "$status $(jq -c '.summary | [.ok, .unreachable]' "$dir/result.json")" = "4 [955,45]" ] || {
            kill "$silent"
            fail "$WORK/bad.log"
        }
    done
    kill "$silent"
    cat "$WORK/bad.log" >&2
    scale_stop "$dir" "$user"
    rm -rf "$dir"
}
