#!/usr/bin/env bash
# What an SSH mesh of N hosts costs: time of a first and a second apply, CPU time of provision, bytes over
# the hosts' network, and the size of what each host holds; then every host is reached from every other.
#   mesh.sh PROVISION N...          a lab of N containers for each number
#   MPI=1 mesh.sh PROVISION 8       with Open MPI: mpirun prints the name of each host
set -euo pipefail
provision=$(realpath "$1")
shift
folder=$(mktemp -d)
inventory=
down() { [ -z "$inventory" ] || "$provision" lab down "$inventory" >/dev/null 2>&1 || true; }
trap 'down; rm -rf "$folder"' EXIT

packages='[]'
[ -z "${MPI-}" ] || packages='[openmpi-bin]'
printf 'hosts  first s  second s  cpu s  KiB/host first  KiB/host second  known_hosts B  authorized_keys B  pairs ok\n'
for number in "$@"; do
    mkdir -p "$folder/$number"
    inventory=$folder/$number/inventory.yaml
    cat >"$folder/$number/play.yaml" <<'END'
name: mesh
tasks:
  - name: account of jobs
    user: { name: mpi, shell: /bin/bash }
  - include: ssh-mesh
    with: { users: [mpi] }
  - name: host file
    hostfile: { slots: 1 }
END
    cat >"$inventory" <<END
cluster: mesh$number
lab: { packages: $packages }
playbooks: [./play.yaml]
groups: { nodes: { hosts: "n[1-$number]" } }
END
    "$provision" lab up "$inventory" >/dev/null 2>&1
    containers=$("$provision" lab status "$inventory" --json - | jq -r '.hosts[].container')
    bytes() {
        local sum=0 container value
        for container in $containers; do
            value=$(docker exec "$container" sh -c 'cat /sys/class/net/eth0/statistics/rx_bytes /sys/class/net/eth0/statistics/tx_bytes' | awk '{ sum += $1 } END { printf "%.0f", sum }')
            sum=$((sum + value))
        done
        echo "$sum"
    }
    TIMEFORMAT='%R %U %S'
    zero=$(bytes)
    first=$({ time "$provision" apply "$inventory" --yes --json "$folder/first.json" >/dev/null 2>"$folder/first.log"; } 2>&1) || { cat "$folder/first.log"; exit 1; }
    one=$(bytes)
    second=$({ time "$provision" apply "$inventory" --yes --json "$folder/second.json" >/dev/null 2>"$folder/second.log"; } 2>&1) || { cat "$folder/second.log"; exit 1; }
    two=$(bytes)
    changed=$(jq .summary.tasks.changed "$folder/second.json")
    [ "$changed" = 0 ] || { echo "the second apply changed $changed tasks" >&2; exit 1; }
    names=$(seq -f 'n%.0f' 1 "$number")
    # Four hosts at a time go round all; the key exchange is a cheap one, for there are N x N of them.
    # shellcheck disable=SC2016,SC2086
    good=$(echo "$containers" | xargs -P 4 -I{} docker exec {} su - mpi -c '
        for host; do ssh -n -o BatchMode=yes -o StrictHostKeyChecking=yes -o KexAlgorithms=curve25519-sha256 "$host" hostname; done | sort -u | wc -l
    ' sh $names | awk '{ sum += $1 } END { print sum }')
    container=$(echo "$containers" | head -n 1)
    read -r known authorized < <(docker exec "$container" sh -c 'cd ~mpi/.ssh; cat provision-*.known_hosts | wc -c; wc -c <authorized_keys' | paste -sd' ')
    read -r real user system <<<"$first"
    read -r again _ _ <<<"$second"
    printf '%5s  %7s  %8s  %5s  %14s  %15s  %13s  %17s  %s/%s\n' "$number" "$real" "$again" "$(awk "BEGIN { print $user + $system }")" \
        $(((one - zero) / 1024 / number)) $(((two - one) / 1024 / number)) "$known" "$authorized" "$good" $((number * number))
    if [ -n "${MPI-}" ]; then
        docker exec "$container" su - mpi -c "mpirun -np $number --hostfile /etc/provision/hostfile hostname" | sort
    fi
    down
    inventory=
done
