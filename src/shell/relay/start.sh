# Has Slurm carry a run to some nodes, and does not wait for its end. DIRECTORY has `program` and `bundle`. It gets
# `out` with the events, `error` with what Slurm says, `job` with the number of the job, and `ended` with its status.
# A job has no GPU that it did not ask for by number, so all nodes have as many.
# Parameters: DIRECTORY NUMBER NODES SECRETS TARGET EXCLUSIVE GPUS PARTITION WORD...
cd "$1" || exit 1
number=$2
nodes=$3
secrets=$4
target=$5
exclusive=$6
gpus=$7
partition=$8
shift 8
for tool in salloc sbcast srun setsid; do
    command -v "$tool" >/dev/null 2>&1 || {
        echo "this host has no $tool"
        exit 1
    }
done
# The end of an earlier one would be taken for that of this one.
rm -f ended job || exit 1
: >out
: >error
# The files are taken away by each node when it is done.
# shellcheck disable=SC2016  # both texts are for other shells
on_node='target=$1
shift
said=$(mktemp) || exit 1
# A signal is for all processes of the step. The program knows what it asks for, this shell cleans up after it.
trap : TERM
exec 3<&0
"$target.program" "$@" --bundle "$target.bundle" --here --as "$SLURMD_NODENAME" --secrets - --events <&3 3<&- 2>"$said" &
program=$!
wait "$program"
status=$?
while kill -0 "$program" 2>/dev/null; do
    wait "$program"
    status=$?
done
[ "$status" = 0 ] || tail -n 3 "$said" | sed "s/^/provision-said $SLURMD_NODENAME /"
rm -f "$said" "${target%.*}".*
# What runs that were killed left, more than a day ago.
find /var/tmp/provision-* -prune -user 0 -mtime +0 -exec rm -f {} +
exit "$status"'
# shellcheck disable=SC2016
in_job='echo "$SLURM_JOB_ID" >job
on_node=$1
target=$2
gres=$3
shift 3
set -- "$target" "$@"
for file in program bundle; do
    sbcast "$file" "$target.$file" </dev/null || exit 1
done
# shellcheck disable=SC2086  # one word or none
srun --chdir=/ --no-kill --wait=0 --kill-on-bad-exit=0 --ntasks-per-node=1 --cpu-bind=none $gres --export=PATH,HOME,LC_ALL=C \
    sh -c "$on_node" node "$@"'
options='--cpus-per-task=1 --mem=512'
[ "$exclusive" != yes ] || options='--exclusive --mem=0'
gres=''
[ "$gpus" = 0 ] || gres=--gres=gpu:$gpus
{
    # shellcheck disable=SC2086  # words of our own
    printf '%s' "$secrets" | setsid salloc --job-name=provision --nodes="$number" --nodelist="$nodes" --ntasks-per-node=1 \
        --no-kill --immediate=60 ${partition:+"--partition=$partition"} $options $gres sh -c "$in_job" job "$on_node" "$target" "$gres" "$@" >out 2>error
    # Who reads it before it has a number looks again.
    echo $? >ended
} >/dev/null 2>&1 &
