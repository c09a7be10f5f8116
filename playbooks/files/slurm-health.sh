#!/bin/sh
# Prolog and epilog of jobs: the checks of `provision verify` that only look, by the node alone. A node that fails one
# is drained with the finding as its reason; its job starts elsewhere. What gets no answer drains nothing.
PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
HOME=/root
export PATH HOME
read -r provision bundle </etc/provision/slurm-health || exit 0
# Records of these runs are for nobody.
XDG_STATE_HOME=$(mktemp -d) || exit 0
export XDG_STATE_HOME
trap 'rm -rf "$XDG_STATE_HOME"' EXIT
said=$(timeout 60 "$provision" verify --bundle "$bundle" --here --as "$SLURMD_NODENAME" 2>/dev/null)
finding=$(printf '%s\n' "$said" | sed -n 's/^ *fail  *\([a-z_.]*\)  *[^ ]*  */\1: /p' | head -n 1)
[ -n "$finding" ] || exit 0
scontrol update "nodename=$SLURMD_NODENAME" state=drain "reason=provision: health: $finding"
# In a prolog this has the job wait for another node.
exit 1
