# Starts several short changes in the spool, with one entry for all of them: a row. One runner in a session of its own
# makes them in their order, up to the first that fails; `provision_next` waits for each. What cannot be started
# stays undone, and is said by nothing here. Below spool/row.KEY, with the key of the first:
#   tasks     run, keys, directories to look at, an empty line; then for each change what it does to directories, and its name
#   status    a record of each: whether it began (`>`), number of its output, status, and `+` where it printed anything
#   out.N     what is printed, by the Nth and by those before it that print nothing
#   notify.N  what the Nth notifies; pid of the runner
# run cluster keys scripts directories [name notifications way]...
provision_dir
run=$1
cluster=$2
keys=$3
scripts=$4
looks=$5
shift 5
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
runner_row=row.${runner_keys%% *} runner_number=0 runner_out=1 spot_closed=
runner_line="
"
read -r runner_stat <"/proc/$$/stat"
set -- ${runner_stat##*) }
runner_me="$$ ${20}"
export PROVISION_TASK="$runner_row.$$.${20}"
cd "$runner_state/spool/$runner_row" || exit
# Nobody takes an entry that somebody has.
set -C
printf "%s\n" "$runner_me" >pid || exit
set +C
exec 4<tasks 6>out.1 7<>status || exit
runner_row=$runner_state/spool/$runner_row
set --
umask 022
cd /
case ${PATH-} in */dev/null) ;; *) PATH=${PATH:+$PATH:}/usr/sbin:/usr/bin:/sbin:/bin ;; esac
export LC_ALL=C HOME="${HOME:-/root}" PATH
note() {
	mkdir -p "$1/notify" && printf "%s\n%s\n%s\n" "$runner_id" "$runner_cluster" "$runner_boot" >"$1/notify/$runner_key" || return
	sync -d "$1/notify/$runner_key" 2>/dev/null
	return 0
}
task() {
	runner_number=$((runner_number + 1))
	# Somebody else may have taken it meanwhile.
	runner_stat=
	read -r runner_stat <"$runner_row/pid"
	[ "$runner_stat" = "$runner_me" ] || exit
	if [ -e "$runner_row/notify.$runner_number" ]; then
		while read -r runner_key runner_id; do
			note "$runner_kept" || note "$runner_state" || exit
		done <"$runner_row/notify.$runner_number"
	fi
	if [ -s "$runner_row/out.$runner_out" ]; then
		runner_out=$runner_number
		exec 6>"$runner_row/out.$runner_out" || exit
	fi
	printf "> %-4s" "$runner_out" >&7
	"$@" >&6 2>&1 4<&- 6>&- 7>&- 8>&-
	runner_status=$? runner_printed=-
	[ ! -s "$runner_row/out.$runner_out" ] || runner_printed=+
	printf "%-4s%s\n" "$runner_status" "$runner_printed" >&7
	printf "%s %s %s\n" "${runner_keys%% *}" "$runner_status" "$runner_printed" >&8
	runner_keys=${runner_keys#* }
	runner_closed
	return $runner_status
}
# Notes what a change did to directories: nothing, made one that nobody else can change, or anything.
runner_closed() {
	read -r runner_way <&4
	case $runner_way in
	-) ;;
	/*)
		runner_up=${runner_way%/*}
		case $spot_closed in *"$runner_line${runner_up:-/}$runner_line"*) spot_closed=$spot_closed$runner_way$runner_line ;; esac
		;;
	*) spot_closed= ;;
	esac
}
# Looks once at all directories on the ways of a row, as spot_look does for one way.
runner_look() {
	set --
	while read -r runner_way && [ -n "$runner_way" ]; do set -- "$@" "$runner_way"; done <&4
	[ $# != 0 ] || return
	runner_found=$(stat -c "%u %g %f %n" /proc/self/. "$@" 2>/dev/null 4<&- 6>&- 7>&- 8>&-)
	runner_sticky=$runner_line runner_user=none runner_group=none
	spot_closed=$runner_line
	while read -r runner_id runner_gid runner_mode runner_way; do
		runner_up=${runner_way%/*}
		case $runner_way in
		/proc/self/.)
			runner_user=$runner_id runner_group=$runner_gid
			continue
			;;
		/) ;;
		*) case $runner_sticky$spot_closed in *"$runner_line${runner_up:-/}$runner_line"*) ;; *) continue ;; esac ;;
		esac
		case $runner_id:$runner_mode in "$runner_user":4* | 0:4*) ;; *) continue ;; esac
		if [ $((0x$runner_mode & 18)) = 0 ]; then
			spot_closed=$spot_closed$runner_way$runner_line
		elif [ $((0x$runner_mode & 512)) != 0 ]; then
			runner_sticky=$runner_sticky$runner_way$runner_line
		fi
	done <<END
$runner_found
END
}
read -r runner_way <&4
read -r runner_way <&4
runner_look
# Where they are is found once, not by the shell of each change.
hash mkdir chmod chown mv stat 2>/dev/null
runner_labels=
command -v restorecon >/dev/null 2>&1 || runner_labels=none
'
umask 077
provision_kept
provision_identity
# An entry that is there is somebody's to look at, but for one that never began.
taken=
for row in row.*; do
	row_keys=
	{ read -r line && read -r row_keys; } 2>/dev/null <"$row/tasks"
	for key in $row_keys; do
		case " $keys " in *" $key "*) taken="$taken $key" ;; esac
	done
done
for key in $keys; do
	[ ! -d "$key" ] || taken="$taken $key"
done
for key in $taken; do
	provision_find "$key"
	provision_entry "$s"
	[ -d "$entry" ] || continue
	provision_spool "$s"
	if [ "$spool" != lost ] || ! provision_idle "$s" || ! provision_forget "$s"; then
		give_up
	fi
done
row=row.${keys%% *}
# One without its tasks was not made to its end.
[ ! -d "$row" ] || [ -s "$row/tasks" ] || rm -rf "$row"
mkdir "$row" 2>/dev/null || give_up
line='
'
ways='' names='' records='' number=0
write() {
	for key in $keys; do
		number=$((number + 1))
		names=$names$1$line
		[ -z "$2" ] || printf '%s' "$2" >"$row/notify.$number" || return
		ways=$ways$3$line
		records="$records- -   -   -$line"
		shift 3
	done
	printf %s "$records" >"$row/status" && printf '%s\n%s\n%s\n%s%s' "$run" "$keys" "$looks" "$ways" "$names" >"$row/tasks" &&
		{
			printf '%s\n' "$runner" &&
				unpack "$scripts"
		} >"$row/cmd"
}
write "$@" || {
	rm -rf "$row"
	give_up
}
exec 3<"$row/cmd"
rm -f "$row/cmd" "$provision_pipe"
{
	setsid sh -s "$d" "$cluster" "$keys" "$p" "$current" <&3 3<&-
	printf 'over\n' >&8
} >/dev/null 2>&1 9>&- &
