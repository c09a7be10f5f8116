#!/bin/sh
# Prolog and epilog of jobs: the checks of `provision verify` that only look, by the node alone. A node that fails one
# is drained with the finding as its reason; its job starts elsewhere. What gets no answer drains nothing; why there
# was none is in the system's log.
PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
HOME=/root
export PATH HOME
unchecked() {
    logger -t slurm-health "no check was made: $1"
    exit 0
}
read -r provision bundle </etc/provision/slurm-health || unchecked 'cannot read /etc/provision/slurm-health'
# Records of these runs are for nobody. A job can fill /tmp.
private=$(mktemp -d /run/slurm-health.XXXXXX) || unchecked 'cannot make a directory in /run'
trap 'rm -rf "$private"' EXIT
error=$private/error
# Nothing of the job's variables.
said=$(timeout 60 env -i PATH="$PATH" HOME="$HOME" XDG_STATE_HOME="$private" XDG_CACHE_HOME="$private" \
    SLURM_SCRIPT_CONTEXT="${SLURM_SCRIPT_CONTEXT-}" SLURM_JOB_ID="${SLURM_JOB_ID-}" ${SLURM_CONF:+SLURM_CONF="$SLURM_CONF"} \
    "$provision" verify --bundle "$bundle" --here --as "$SLURMD_NODENAME" 2>"$error")
status=$?
finding=$(printf '%s\n' "$said" | sed -n 's/^ *fail  *\([a-z_.]*\)  *[^ ]*  */\1: /p' | head -n 1)
if [ -z "$finding" ]; then
    # 5, 6 and 7: all was asked, and a task cannot be planned, is to be done, or waits for a reboot.
    case $status in
    0 | 5 | 6 | 7) ;;
    *) logger -t slurm-health "no check was made: verify ended with status $status: $(tail -n 3 "$error" | tr '\n' ' ')" ;;
    esac
    exit 0
fi
node=$(scontrol -o show node "$SLURMD_NODENAME")
state=${node#* State=}
case ${state%% *} in
*DRAIN*)
    case $node in
    *" Reason=provision: "*) ;;
    # What an operator said of the node stays.
    *) exit 1 ;;
    esac
    ;;
esac
scontrol update "nodename=$SLURMD_NODENAME" state=drain "reason=provision: health: $finding"
# In a prolog this has the job wait for another node.
exit 1
