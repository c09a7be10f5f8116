# Starts several short changes in the spool, each with an entry of its own. One runner in a session of its own
# makes them in their order, up to the first that fails; `batch_next.sh` waits for each. What cannot be started
# stays undone, and is said by nothing here.
# run cluster keys scripts [name notifications]...
provision_dir
run=$1
cluster=$2
keys=$3
scripts=$4
shift 4
give_up() {
	if [ -n "${provision_pipe-}" ]; then
		printf 'over\n' >&8
		rm -f "$provision_pipe"
	fi
	exit 0
}
case ${provision_locked-} in
held | shared | none) ;;
*) give_up ;;
esac
[ -n "${provision_pipe-}" ] || give_up
cd "$d/spool" || give_up
# The runner: constant text, the scripts follow it. Its names begin with `runner_`, because the scripts see them.
# A script is a function with a subshell. No reader bounds what it prints, so only scripts of our own come here.
# shellcheck disable=SC2016 # expands in the runner
runner='
runner_state=$1 runner_cluster=$2 runner_keys=$3 runner_kept=$4 runner_boot=$5
read -r runner_stat <"/proc/$$/stat"
set -- ${runner_stat##*) }
runner_me="$$ ${20}"
export PROVISION_TASK="${runner_keys##* }.$$.${20}"
# Nobody takes an entry that somebody has.
set -C
for runner_key in $runner_keys; do
	printf "%s\n" "$runner_me" >"$runner_state/spool/$runner_key/pid" || exit
done
set +C
set --
umask 022
cd /
export LC_ALL=C HOME="${HOME:-/root}" PATH="${PATH:+$PATH:}/usr/sbin:/usr/bin:/sbin:/bin"
note() {
	mkdir -p "$1/notify" && printf "%s\n%s\n%s\n" "$runner_id" "$runner_cluster" "$runner_boot" >"$1/notify/$runner_key" || return
	sync -d "$1/notify/$runner_key" 2>/dev/null
	return 0
}
task() {
	runner_entry=$runner_state/spool/${runner_keys%% *}
	runner_keys=${runner_keys#* }
	# Somebody else may have taken it meanwhile.
	runner_stat=
	read -r runner_stat <"$runner_entry/pid"
	[ "$runner_stat" = "$runner_me" ] || exit
	if [ -e "$runner_entry/notify" ]; then
		while read -r runner_key runner_id; do
			note "$runner_kept" || note "$runner_state" || exit
		done <"$runner_entry/notify"
	fi
	"$@" >"$runner_entry/out" 2>&1 8>&-
	runner_status=$?
	printf "%s\n" $runner_status 1<>"$runner_entry/status"
	echo >&8
	return $runner_status
}
'
umask 077
provision_kept
provision_identity
commands=${keys%% *}/cmd
# An entry that is there is somebody's to look at, but for one that never began.
for key in $keys; do
	[ -d "$key" ] || continue
	provision_spool "$key"
	if [ "$spool" = lost ] && [ ! -e "$key/out" ]; then
		rm -rf "$key"
	fi
done
# shellcheck disable=SC2086 # the keys are wanted as words
mkdir $keys 2>/dev/null || give_up
for key in $keys; do
	printf '%s\n' "$1" >"$key/name" || give_up
	printf '%s\n' "$run" >"$key/run" || give_up
	printf '%s\n' '-   ' >"$key/status" || give_up
	[ -z "$2" ] || printf '%s' "$2" >"$key/notify" || give_up
	shift 2
done
{
	printf '%s\n' "$runner" &&
		unpack "$scripts"
} >"$commands" || {
	rm -f "$commands"
	give_up
}
exec 3<"$commands"
rm -f "$commands" "$provision_pipe"
{
	setsid sh -s "$d" "$cluster" "$keys" "$p" "$current" <&3 3<&-
	printf 'over\n' >&8
} >/dev/null 2>&1 9>&- &
