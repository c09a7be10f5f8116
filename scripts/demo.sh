#!/usr/bin/env bash
# Four real hosts from nothing to a declared state, and the proof that a second run changes
# nothing.
#   demo.sh PROVISION INVENTORY
set -euo pipefail
provision=$1 inventory=$2
result=$(mktemp)
trap 'rm -f "$result"' EXIT

step() { printf '\n\033[1m$ %s\033[0m\n' "$*"; "$@"; }
count() { jq -r ".summary.tasks.$1" "$result"; }

step "$provision" lab up "$inventory"
step "$provision" apply "$inventory" --yes --json "$result"
printf '\nThe first apply changed %s of the hosts'\'' tasks. Now the same again:\n' "$(count changed)"

step "$provision" apply "$inventory" --yes --json "$result"
changed=$(count changed)
if [ "$changed" != 0 ]; then
    printf '\nThe second apply changed %s tasks; it must change none.\n' "$changed" >&2
    exit 1
fi
cat <<END

The second apply changed 0 tasks; $(count unchanged) were as declared.

  look at a host     $provision exec $inventory -- uptime
  break something    $provision exec $inventory --hosts gpu1 -- rm /etc/nccl.conf
  see it             $provision plan $inventory
  mend it            $provision apply $inventory --yes
  take it all down   $provision lab down $inventory
END
