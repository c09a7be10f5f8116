# Starts the tests of a host, which go on whatever becomes of this login, or says why it does not.
# Parameters: ID SECONDS ROUNDS USER TESTS MILLISECONDS TOTAL, then texts: who uses this host, the tests, and the program
# that loads a GPU.
#
#   going ID          they were started, by this or by an earlier call
#   ended ID          they are over
#   other ID          those of another run go on
#   busy TEXT         somebody works here: nothing was started
id=$1 seconds=$2 rounds=$3 user=$4 tests=$5 each=$6 total=$7 users=$8 text=$9
shift 9
source=$1
umask 077
mkdir -p /var/lib/provision-accept && cd -P /var/lib/provision-accept || exit 1
# As the kernel names it, whatever links lead here.
place=$(pwd -P)
# Of two that start at once one waits for the next time; what was killed here left its lock.
find . -maxdepth 1 -name starting -mmin +10 -exec rmdir {} + 2>/dev/null
mkdir starting 2>/dev/null || {
    printf 'another run starts its tests here\n'
    exit 1
}
trap 'rmdir "$place/starting"' EXIT
trap 'exit 1' HUP INT TERM
other=''
{ read -r other <current; } 2>/dev/null
# A number that was given again belongs to somebody else: the first process of a run has its directory as its own.
goes() {
    leader=''
    { read -r leader <"$place/$1/leader"; } 2>/dev/null
    [ -n "$leader" ] && [ "$(readlink "/proc/$leader/cwd")" = "$place/$1" ]
}
if [ -n "$other" ] && [ "$other" != "$id" ] && goes "$other"; then
    printf 'other %s\n' "$other"
    exit 1
fi
if [ -e "$id/ended" ]; then
    printf 'ended %s\n' "$id"
    exit
fi
if goes "$id"; then
    printf 'going %s\n' "$id"
    exit
fi
for tool in setsid timeout; do
    command -v "$tool" >/dev/null 2>&1 || {
        printf '%s is not installed\n' "$tool"
        exit 1
    }
done
# What is left where the first process of a run was killed: it would be taken for somebody else's.
for directory in /proc/[0-9]*; do
    case $(readlink "$directory/exe" 2>/dev/null) in
    "$place"/*/gpu | "$place/"*'/gpu (deleted)') kill -KILL "${directory#/proc/}" ;;
    esac
done
seen=$(sh -c "$users" sh) || exit 1
case $seen in *end) ;; *)
    printf 'who uses this host cannot be seen\n'
    exit 1
    ;;
esac
apps=' '
if command -v nvidia-smi >/dev/null 2>&1; then
    apps=" $(timeout 20 nvidia-smi --query-compute-apps=pid --format=csv,noheader 2>/dev/null | tr '\n' ' ') "
fi
tab=$(printf '\t')
refused=$(
    printf '%s\n' "$seen" | while IFS="$tab" read -r kind pid name _; do
        case $kind in
        # A GPU that shows its user is left out by itself.
        gpu) case $apps in *" $pid "*) ;; *) printf 'busy process %s (%s) holds the driver\n' "$pid" "$name" ;; esac ;;
        rdma) printf 'busy process %s (%s) uses RDMA\n' "$pid" "$name" ;;
        slurm) printf 'busy job %s of Slurm runs here\n' "$name" ;;
        lacks) printf 'busy who works here is not known: %s is missing or fails\n' "$pid" ;;
        esac
    done
)
if [ -n "$refused" ]; then
    printf '%s\n' "$refused"
    exit 1
fi
# What earlier runs left. Nobody else may change it while it is removed.
for old in *; do
    case $old in "$id" | current | starting) continue ;; esac
    [ ! -d "$old/work" ] || { chown "$(id -u)" "$old/work" && chmod 700 "$old/work"; }
    rm -rf -- "$old"
done
mkdir -p "$id" && cd "$id" && rm -f leader || exit 1
printf '%s\n' "$source" >gpu.cu && printf '%s\n' "$id" >../current || exit 1
setsid sh -c "$text" sh "$seconds" "$rounds" "$user" "$tests" "$each" "$total" </dev/null >>out 2>>error &
# It has written who it is when this is over.
tries=0
until goes "$id" || [ "$tries" -ge 50 ]; do
    sleep 0.1 2>/dev/null || sleep 1
    tries=$((tries + 1))
done
printf 'going %s\n' "$id"
