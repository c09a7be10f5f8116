# Runs one change so that neither a cut connection nor a dead controller ends or repeats it.
# key name run mode user cluster script [handler-key handler-id]...
provision_dir
case ${provision_locked-} in
held | shared | none) ;;
*)
	printf 'refused %s\n' "${provision_locked-}"
	exit 0
	;;
esac
key=$1
name=$2
run=$3
mode=$4
user=$5
cluster=$6
script=$7
shift 7
provision_find "$key"
provision_entry "$s"
if [ -d "$entry" ]; then
	provision_begun "$s"
	provision_spool "$s"
	# What began, and may have ended, while it was waited for is what is asked for here.
	if [ "$spool" = running ] || { [ "$spool" = ended ] && [ "$tries" -gt 0 ]; }; then
		provision_follow "$s"
		exit 0
	fi
	# What an earlier one left would be taken for the end of this one.
	errors=$(provision_forget "$s" 2>&1) || {
		printf 'unwritable %s: %s\n' "$s" "$errors"
		exit 0
	}
fi
s=$d/spool/$key
umask 077
provision_kept
provision_identity
# Writes entry $2 of $1 so that it outlives a power failure, where `sync` knows files.
keep() {
	mkdir -p "$1" && provision_write "$1/$2" "$3
$4
$current" || return
	sync -d "$1/$2" 2>/dev/null
	return 0
}
errors=$(
	exec 2>&1
	while [ $# -ge 2 ]; do
		keep "$p/notify" "$1" "$2" "$cluster" || keep "$d/notify" "$1" "$2" "$cluster" || exit 1
		shift 2
	done
	[ "$mode" != detach ] || keep "$p/detached" "$key" "$name" "$run"
	mkdir -p "$s" && provision_write "$s/name" "$name" && provision_write "$s/run" "$run" &&
		provision_write "$s/status" '-   ' &&
		text=$(unpack "$script") && provision_write "$s/cmd" "$text" && mkfifo "$s/pipe" "$s/kept"
) || {
	printf 'unwritable %s: %s\n' "$s" "$errors"
	rm -rf "$s"
	exit 0
}
# The runner: constant text; $1 is the entry, $2 the user. A relay copies what the command writes to what
# keeps the first 512 KiB and the last of it. A background process of the command may hold the pipe for
# ever, so the end of the command is not the end of the pipe. Then the runner writes NUL bytes, more than
# a pipe and the relay hold: when they went through, so did all that the command wrote, and the relay is
# ended. provision_result takes them out. A command gets the pipe for reading too: what writes into it
# later is not killed by that, and waits when the pipe is full. Whole blocks from the relay: the `head` of
# busybox reads 4096 bytes at once and would take some that are for `tail`. Blocks that are read in pieces, not blocks of
# several reads: `dd` of uutils (0.0.30) fills up the latter with bytes of its own. Its `tail -c` keeps to the number
# where it reads a file, not a pipe.
# shellcheck disable=SC2016 # expands in the runner
runner='
s=$1
# Copies $1 without NUL bytes to $2. The `tr` of uutils does not say what found no room.
strip() {
	tr -d "\\000" <"$s/$1" >"$s/$2" && [ "$(tr -d "\\000" <"$s/$1" | wc -c)" -eq "$(wc -c <"$s/$2")" ]
}
read -r stat <"/proc/$$/stat"
user=$2 watched=$3
set -- ${stat##*) }
# Nobody takes an entry that somebody has: one that was slow to start may have been given up.
set -C
: >"$s/pid" || exit
set +C
printf "%s %s\n" $$ "${20}" >"$s/pid"
export PROVISION_TASK="${s##*/}.$$.${20}"
{
	head -c 524288 >"$s/out" || : >"$s/unread"
	exec tail -c 2293760 >"$s/tail"
} <"$s/kept" 9>&- &
keeper=$!
watcher=
if [ "$watched" = 1 ] && command -v tee >/dev/null 2>&1 && mkfifo "$s/flow" "$s/watch"; then
	# A block of the relay is told when it is full. Here what comes is at once in a file as well, and in another one
	# after 16 reads.
	while dd bs=4096 count=16 of="$s/live" && [ -s "$s/live" ]; do mv -f "$s/live" "$s/lived"; done <"$s/watch" >/dev/null 2>&1 9>&- &
	watcher=$!
	dd bs=65536 iflag=fullblock >"$s/kept" <"$s/flow" 2>/dev/null 9>&- &
	# The names go away below, so it opens them before the pipe for which the command waits. One who watches no more
	# is no reason to end.
	(trap "" PIPE && exec 7>"$s/watch" >"$s/flow" <"$s/pipe" && exec tee /proc/self/fd/7) 2>/dev/null 9>&- &
else
	dd bs=65536 iflag=fullblock >"$s/kept" <"$s/pipe" 2>/dev/null 9>&- &
fi
relay=$!
# The first open waits for the relay, which has the other pipe open by then.
exec 3<"$s/cmd" 5>"$s/pipe" 4<>"$s/pipe" 5>&-
rm -f "$s/cmd" "$s/kept" "$s/flow" "$s/watch"
umask 022
cd /
case ${PATH-} in */dev/null) ;; *) PATH=${PATH:+$PATH:}/usr/sbin:/usr/bin:/sbin:/bin ;; esac
export LC_ALL=C HOME="${HOME:-/root}" PATH
if [ -n "$user" ]; then
	PATH=$PATH:/usr/local/sbin:/usr/local/bin
	su -s /bin/sh "$user" -c "exec sh -s" <&3 >&4 2>&1 3<&- 4>&- 9>&-
else
	sh -s <&3 >&4 2>&1 3<&- 4>&- 9>&-
fi
status=$?
exec 3<&- 4>&-
tries=0
while [ $tries -lt 2003 ] && [ -e "/proc/$relay/fd/0" ]; do
	tries=$((tries + 1))
	# It may still copy; the other way needs room for what it writes.
	[ $tries -le 2000 ] || sleep 0.1 2>/dev/null 9>&-
done
if [ -e "/proc/$relay/fd/0" ]; then
	# An open for reading as well does not wait where the relay is gone; a write then fails.
	exec 4<>"$s/pipe" 5>"$s/pipe" 4>&-
	dd if=/dev/zero bs=65536 count=33 >&5 2>/dev/null 9>&- || : >"$s/unread"
	kill $relay
	wait $relay
	# One read empties the pipe, so that there is room again. It waits for a byte, and another reader may take that one.
	exec 4<>"$s/pipe" 5>&-
	dd bs=1048576 count=1 <"$s/pipe" >/dev/null 2>&1 4>&- 9>&- &
	drain=$! more=none
	# Not by a file of theirs: a shell that starts one may close that for a moment.
	while [ -e "/proc/$drain/exe" ]; do
		[ -e "/proc/$more/exe" ] || {
			printf "\n" >&4 9>&- &
			more=$!
		}
	done
	kill $more 2>/dev/null
	wait $drain $more
	exec 4>&-
else
	# What it did not copy is lost, and that is said.
	wait $relay || : >"$s/unread"
	relay=
fi
wait $keeper || : >"$s/unread"
[ -z "$watcher" ] || {
	wait $watcher
	rm -f "$s/live" "$s/lived"
}
# Behind NUL bytes nothing of the command is missing, whatever had no room after them.
ends=out
[ ! -s "$s/tail" ] || ends=tail
[ -z "$relay" ] || [ "$(tail -c 1 "$s/$ends" | tr -c "\\000" y | tr "\\000" x)" != x ] || rm -f "$s/unread"
# Entries stay until their run ends, so what nobody will read goes now. One byte more than is shown of the end
# says that there was more.
if [ -s "$s/tail" ] || [ -n "$relay" ]; then
	strip tail whole || : >"$s/unread"
	tail -c 65537 "$s/whole" >"$s/trimmed" && mv "$s/trimmed" "$s/tail"
	rm -f "$s/whole"
	[ -z "$relay" ] || { strip out trimmed && mv "$s/trimmed" "$s/out"; }
fi 2>/dev/null 9>&-
printf "%s\n" $status 1<>"$s/status"
'
if [ "$mode" = detach ] && [ -d /run/systemd/system ] && [ -w /run ] && command -v systemd-run >/dev/null 2>&1; then
	# From a file: systemd expands `$$` and `${...}` in the words of a command itself. Its PATH begins below /usr/local.
	errors=$(provision_write "$s/runner" "$runner" 2>&1) || {
		printf 'unwritable %s: %s\n' "$s" "$errors"
		rm -rf "$s"
		exit 0
	}
	systemd-run --quiet --collect --setenv="PATH=$PATH" --unit="provision-$key" /bin/sh "$s/runner" "$s" "$user" "${provision_watched:-0}" \
		</dev/null >"$s/start" 2>&1 || {
		printf 'failed %s\n' "$(cat "$s/start")"
		exit 0
	}
	tries=0
	# It is made a moment before it is written.
	while [ ! -s "$s/pid" ] && [ $tries -lt 100 ]; do
		sleep 0.1 2>/dev/null || sleep 1
		tries=$((tries + 1))
	done
else
	setsid sh -c "$runner" provision-task "$s" "$user" "${provision_watched:-0}" </dev/null >/dev/null 2>&1 &
	started=$!
	if [ "${provision_watched:-0}" = 1 ]; then
		(
			told=
			while sleep 1 >/dev/null 2>&1; do provision_watch "$s"; done
		) 9>&- &
		watching=$!
		wait $started
		kill $watching
		wait $watching 2>/dev/null
	else
		wait $started
	fi
	# The runner begins with its pid, and goes on by taking its command away, which may fail.
	if [ -e "$s/cmd" ] && [ ! -s "$s/pid" ] && ! provision_status "$s"; then
		command -v setsid >/dev/null 2>&1 || errors='setsid is needed, and it is not here'
		printf 'failed %s\n' "${errors:-the runner of $s did not start}"
		rm -rf "$s"
		exit 0
	fi
fi
provision_follow "$s"
