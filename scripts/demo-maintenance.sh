#!/usr/bin/env bash
# A change of the classes gpu and network rolls through a live Slurm cluster; Slurm's own records say what became of the jobs.
#   demo-maintenance.sh PROVISION INVENTORY
# Commands in single quotes are for the shell of the controller of Slurm.
# shellcheck disable=SC2016
set -euo pipefail
provision=$1 given=$2
# The lab of an inventory goes by its path: one that stays, so that it can be taken down.
place=target/demo-maintenance
inventory=$place/$(basename "$given")
kept=$(mktemp -d)
trap 'rm -rf "$kept"' EXIT

step() { printf '\n\033[1m$ %s\033[0m\n' "$*"; "$@"; }
# A command on the controller of Slurm.
login() { "$provision" exec "$inventory" --hosts login0 --json - -- sh -c "$1" | jq -r '.hosts.login0.output'; }
# The MTU that hosts have, each once.
mtu() { "$provision" exec "$inventory" --hosts "$1" --json - -- cat /sys/class/net/fabric0/mtu | jq -r '[.hosts[].output] | unique | join(" ")'; }
must() { if ! "${@:2}"; then printf '\n%s\n' "$1" >&2; exit 1; fi; }
none() { [ "$(login "$1")" = "" ]; }

mkdir -p "$place"
cp -r "$(dirname "$given")/lab-maintenance" "$place"
sed '/^# ---- a live cluster/,/^# ----$/d' "$given" >"$inventory"
step "$provision" lab up "$inventory"
printf '\nThe cluster is brought up without `maintenance:`, because there is no Slurm yet.\n'
step "$provision" apply "$inventory" --yes --set mtu=9000
cp "$given" "$inventory"
# States of all nodes, once a second, as Slurm has them.
login 'nohup sh -c "while :; do sinfo -h -N -o \"%N %T\" | sort -u | tr \"\\n\" \";\"; echo; sleep 1; done" >/var/tmp/states 2>/dev/null </dev/null & echo $! >/var/tmp/sampler'
printf '\nJobs: two that hold half of the nodes for 40 s, and six short ones that come after them.\n'
login 'cd /tmp && for n in gpu0 gpu2; do sbatch -Q -w $n --exclusive --wrap "sleep 40"; done; for i in 1 2 3 4 5 6; do sbatch -Q -N1 --exclusive --wrap "sleep 8"; done; sleep 2; squeue'
step "$provision" plan "$inventory" --set mtu=8000 --set persistence=two
step "$provision" apply "$inventory" --yes --set mtu=8000 --set persistence=two --json "$kept/first"

printf '\nWhat Slurm recorded:\n'
login 'while [ -n "$(squeue -h)" ]; do sleep 1; done; sleep 2; kill "$(cat /var/tmp/sampler)"'
login 'sacct -a -X --format=JobID,NodeList,State,Start,End'
must 'a job did not end by itself' none 'sacct -a -X -n --format=State | grep -v COMPLETED'
must 'a node is still drained' none 'sinfo -h -N -t drain,drng -o %N'
must 'a node was not drained' [ "$(login 'tr ";" "\n" </var/tmp/states | sed -n "s/ drain[a-z]*$//p" | sort -u | tr "\n" " "')" = 'gpu0 gpu1 gpu2 gpu3 ' ]
must 'a daemon was not restarted' [ "$("$provision" exec "$inventory" --hosts gpu --json - -- sh -c 'systemctl show -P Description nvidia-persistenced; systemctl is-active nvidia-persistenced' | jq -r '[.hosts[].output] | unique | join(" ")')" = "$(printf 'stands for the persistence daemon, two\nactive\n')" ]
least=$(login 'while read -r line; do echo "$line" | tr ";" "\n" | grep -c -E " (idle|mixed|allocated|completing)$"; done </var/tmp/states | sort -n | head -1')
printf '\nNodes in service, at least: %s of 4; keep_up is 50%%.\n' "$least"
must 'fewer nodes were in service than keep_up wants' [ "$least" -ge 2 ]
# A job that starts on a node which is drained would be seen as "draining" there after "drained".
must 'a job started on a node under change' none 'tr ";" "\n" </var/tmp/states | awk "{ if (before[\$1] == \"drained\" && \$2 == \"draining\") print; before[\$1] = \$2 }"'
step "$provision" apply "$inventory" --yes --set mtu=8000 --set persistence=two --json "$kept/second"
must 'the second apply changed something' [ "$(jq .summary.tasks.changed "$kept/second")" = 0 ]

printf '\nNow a GPU of one node has errors in its memory: the node fails its gate and stays drained, and the rollout stops.\n'
step "$provision" lab fault "$inventory" gpu1 ecc-uncorrectable
if step "$provision" apply "$inventory" --yes --set mtu=7000 --json "$kept/broken"; then
    must 'a failure must not end with 0' false
fi
login "sinfo -R -o '%E %N'"
must 'gpu1 is not drained with our reason' [ "$(login 'sinfo -h -n gpu1 -o %T,%E | grep -c "^drained,provision:.*gpu.ecc_errors"')" = 1 ]
must 'others were left drained' [ "$(login 'sinfo -h -N -t drain,drng -o %N | sort -u')" = gpu1 ]
must 'the batch behind it was begun' [ "$(mtu 'gpu[2-3]')" = 8000 ]
printf '\nIt is mended, and the same apply goes on from there.\n'
step "$provision" lab fault "$inventory" gpu1 none
step "$provision" apply "$inventory" --yes --set mtu=7000 --json "$kept/mended"
must 'a node is still drained' none 'sinfo -h -N -t drain,drng -o %N'
must 'a host that was done was changed again' [ "$(jq '[.hosts.gpu0.tasks[] | select(.outcome == "changed")] | length' "$kept/mended")" = 0 ]

printf '\nAn operator has drained a node: it is left alone.\n'
login 'scontrol update nodename=gpu3 state=drain reason="bad fan"'
if step "$provision" apply "$inventory" --yes --set mtu=6500; then must 'a host that was left must not end with 0' false; fi
must 'the drain of the operator is not as it was' [ "$(login 'sinfo -h -n gpu3 -o %T,%E')" = 'drained,bad fan' ]
must 'the others have another MTU' [ "$(mtu 'gpu[0-2]')" = 6500 ]
must 'a node of the operator was changed' [ "$(mtu gpu3)" = 7000 ]
login 'scontrol update nodename=gpu3 state=resume'

printf '\nWithout `maintenance:` a host with a job is left, and the job is named.\n'
sed '/^# ---- a live cluster/,/^# ----$/d' "$given" >"$inventory"
login 'cd /tmp && sbatch -Q -w gpu1 --exclusive --wrap "sleep 30"; while squeue -h -t PD | grep -q .; do sleep 0.2; done'
step "$provision" apply "$inventory" --yes --set mtu=6400 --hosts gpu1 2>&1 | tee "$kept/busy" || true
must 'the job and its user are not named' grep -Eq 'Slurm job: [0-9]+ \(root\)' "$kept/busy"
must 'a host with a job was changed' [ "$(mtu gpu1)" = 6500 ]
cp "$given" "$inventory"

printf '\nThe controller is killed in each phase, and the next apply goes on from there.\n'
runs=${XDG_STATE_HOME:-$HOME/.local/state}/provision/lab-maintenance
newest() { find "$runs" -mindepth 1 -maxdepth 1 -name '[0-9]*' -printf '%f\n' | sort | tail -n 1; }
# killed_in PHASE MTU
killed_in() {
    local before run pid
    login 'for n in gpu0 gpu2; do sbatch -Q -w $n --exclusive --wrap "sleep 10"; done; while squeue -h -t PD | grep -q .; do sleep 0.2; done'
    before=$(newest)
    setsid "$provision" apply "$inventory" --yes --set "mtu=$2" >"$kept/killed" 2>&1 &
    pid=$!
    until run=$(newest) && [ "$run" != "$before" ] &&
        grep -q "\"host_maintenance\":{[^}]*\"phase\":\"$1\"" "$runs/$run/events.jsonl" 2>/dev/null; do
        kill -0 "$pid" 2>/dev/null || { cat "$kept/killed" && must "it ended before a host was $1" false; }
        sleep 0.02
    done
    kill -9 "$pid"
    wait "$pid" 2>/dev/null || true
    printf '\nkill -9 while a host is %s, and what Slurm says then:\n' "$1"
    login 'sinfo -h -N -o "%N %T %E" | sort -u'
    step "$provision" apply "$inventory" --yes --set "mtu=$2" --json "$kept/after"
    must 'a node is still drained' none 'sinfo -h -N -t drain,drng -o %N'
    must 'a host has another MTU' [ "$(mtu gpu)" = "$2" ]
}
killed_in waiting 6000
killed_in draining 5000
killed_in changing 4000
killed_in verifying 3000
login 'while [ -n "$(squeue -h)" ]; do sleep 1; done'
must 'a job did not end by itself' none 'sacct -a -X -n --format=State | grep -v COMPLETED'

cat <<END

All jobs ended by themselves, none started on a node under change, and all nodes are back.

  take it all down   $provision lab down $inventory
END
