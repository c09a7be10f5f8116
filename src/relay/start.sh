# Has Slurm carry a run to some nodes, and does not wait for its end. DIRECTORY has `program` and `bundle`. It gets
# `out` with the events, `error` with what Slurm says, `job` with the number of the job, and `ended` with its status.
# A job has no GPU that it did not ask for by number, so all nodes have as many. Task N of srun is on the node in line
# N of ORDER, counted from 0: with its label srun says whose a line is.
# Parameters: DIRECTORY NUMBER NODES ORDER SECRETS TARGET EXCLUSIVE GPUS PARTITION MOST WORD...
cd "$1" || exit 1
number=$2
nodes=$3
order=$4
secrets=$5
target=$6
exclusive=$7
gpus=$8
partition=$9
most=${10}
shift 10
for tool in salloc sbcast srun setsid; do
    command -v "$tool" >/dev/null 2>&1 || {
        echo "this host has no $tool"
        exit 1
    }
done
# It keeps what nodes say, so much of each.
./program carried-output 0 0 </dev/null || {
    echo "this host cannot run the program that nodes get"
    exit 1
}
# The end of an earlier one would be taken for that of this one.
rm -f ended job code || exit 1
: >out
: >error
printf '%s\n' "$order" >order || exit 1
# The files are taken away by each node when it is done. They are where only root can make any: in a directory for
# all, an account could take their names.
# shellcheck disable=SC2016  # both texts are for other shells
on_node='target=$1
old=$2
shift 2
said=$target.said
{ true >"$said"; } 2>/dev/null || said=/dev/null
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
[ "$status" = 0 ] || tail -n 3 "$said"
rm -f "${target%.*}".*
# What runs left that were killed before they came so far. Beside another job one may begin just now; one that goes on
# needs its files no more.
find /var/lib/.provision-* -prune -type f $old -exec rm -f {} + 2>/dev/null
exit "$status"'
# shellcheck disable=SC2016
in_job='echo "$SLURM_JOB_ID" >job
on_node=$1
target=$2
number=$3
gres=$4
old=$5
shift 5
set -- "$target" "$old" "$@"
for file in program bundle; do
    sbcast "$file" "$target.$file" </dev/null || exit 1
done
# Root does not look for programs where the account that has started this does.
path=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
export SLURM_HOSTFILE="$PWD/order"
# All nodes are in the file; srun of 24.11 refuses their number beside it.
# shellcheck disable=SC2086  # one word or none
srun --label --distribution=arbitrary --ntasks="$number" --ntasks-per-node=1 --input=all --output=all --error=all \
    --chdir=/ --no-kill --wait=0 --kill-on-bad-exit=0 --cpu-bind=none $gres --export="PATH=$path,HOME,LC_ALL=C" \
    /bin/sh -c "exec 2>&1
$on_node" node "$@"'
options='--cpus-per-task=1 --mem=512'
old='-mmin +60'
[ "$exclusive" != yes ] || {
    options='--exclusive --mem=0'
    old=
}
gres=''
[ "$gpus" = 0 ] || gres=--gres=gpu:$gpus
{
    {
        {
            # shellcheck disable=SC2086  # words of our own
            printf '%s' "$secrets" | setsid salloc --job-name=provision --nodes="$number" --nodelist="$nodes" --ntasks-per-node=1 \
                --no-kill --immediate=60 ${partition:+"--partition=$partition"} $options $gres \
                sh -c "$in_job" job "$on_node" "$target" "$number" "$gres" "$old" "$@"
            echo $? >code
        } 2>&1 >&4 | ./program carried-output "$number" 4096 4>&- >error
    } 4>&1 | ./program carried-output "$number" "$most" >out
    # Who reads it before it has a number looks again, and all that was said is there by then.
    read -r status <code
    echo "$status" >ended
} >/dev/null 2>&1 &
