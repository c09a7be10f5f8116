# Functions that frames with changes share; the state directory is documented in engine/state.rs.
# Sets $p, where is kept what has to outlive a boot: notifications, and which detached tasks were started.
# shellcheck disable=SC2034 # for scripts that keep something there
provision_kept() {
	p=$d
	if [ "$d" = /run/provision ] && [ -w /var/lib ]; then
		p=/var/lib/provision
	fi
}
# Sets $birth to the start time of process $1 in clock ticks, so that a pid used again is noticed.
provision_birth() {
	birth=
	read -r stat 2>/dev/null <"/proc/$1/stat" || return 1
	# shellcheck disable=SC2086 # the fields are wanted as words
	set -- ${stat##*) }
	birth=${20}
}
# Sets $boot to what this boot is called. A container that was restarted has the boot id of its machine
# and another first process.
provision_boot() {
	boot=
	read -r boot 2>/dev/null </proc/sys/kernel/random/boot_id
	provision_birth 1
	boot="$boot $birth"
}
# Adds process $1 and its descendants to $tree as `PID.START`; with $2 `same` only those of its
# session.
provision_tree() {
	stat=
	read -r stat 2>/dev/null <"/proc/$1/stat" || return 0
	# shellcheck disable=SC2086 # the fields are wanted as words
	set -- "$1" "$2" "${3-}" ${stat##*) }
	[ "$2" = any ] || [ "${3:-$7}" = "$7" ] || return 0
	tree="$tree $1.${23}"
	# Not by a tool: one that is broken would hide some, or name others.
	for list in "/proc/$1/task/"*/children; do
		children=
		{ read -r children <"$list"; } 2>/dev/null
		for member in $children; do
			provision_tree "$member" "$2" "$7"
		done
	done
}
# Sends signal $1 to the processes of $tree that are still the same.
provision_signal() {
	for member in $tree; do
		if provision_birth "${member%.*}" && [ "$birth" = "${member#*.}" ]; then
			kill "-$1" "${member%.*}" 2>/dev/null
		fi
	done
}
# Sets $s to where the entry of a change with key $1 is: a directory of its own, else `row.KEY/NUMBER` for one of
# several that were sent together (see batch.sh). Such a directory is none where there is neither.
provision_find() {
	s=$d/spool/$1
	[ ! -d "$s" ] || return 0
	for row in "$d"/spool/row.*; do
		row_keys=
		{ read -r line && read -r row_keys; } 2>/dev/null <"$row/tasks"
		case " $row_keys " in *" $1 "*) ;; *) continue ;; esac
		member=0
		for row_key in $row_keys; do
			member=$((member + 1))
			[ "$row_key" = "$1" ] || continue
			provision_status "$row/$member"
			[ "$mark" != ! ] || continue
			s=$row/$member
			return
		done
	done
}
# Calls $1 for each change of row $2 that was not forgotten, with $s, $key, $name, $run, $spool and $status.
provision_members() {
	member=0
	{
		read -r run && read -r keys || return 0
		while read -r line && [ -n "$line" ]; do :; done
		for key in $keys; do read -r line; done
		for key in $keys; do
			member=$((member + 1)) s=$2/$member mark='' status=''
			read -r name
			read -r mark out status printed <&3
			case $mark:$status in
			!:*) continue ;;
			*:[0-9]*) spool=ended ;;
			*) provision_spool "$s" ;;
			esac
			"$1"
		done
	} 2>/dev/null <"$2/tasks" 3<"$2/status"
}
# Calls $1 for each change in the spool.
# shellcheck disable=SC2034 # for what is called
provision_all() {
	for entry in "$d"/spool/*; do
		[ -d "$entry" ] || continue
		case ${entry##*/} in
		row.*)
			provision_members "$1" "$entry"
			continue
			;;
		esac
		s=$entry key=${entry##*/} run='' name=''
		provision_spool "$s"
		read -r run 2>/dev/null <"$s/run"
		read -r name 2>/dev/null <"$s/name"
		"$1"
	done
}
# Takes away entry $1: the directory, or its record in a row, and the row with the last of them. Fails where it runs.
provision_forget() {
	provision_entry "$1"
	if [ "$entry" = "$1" ]; then
		rm -rf "$1"
		return
	fi
	# A runner that was slow to start does not take it any more.
	(set -C && printf '0 0\n' >"$entry/pid") 2>/dev/null
	provision_spool "$1"
	[ "$spool" != running ] || return
	member=0 records='' left=''
	{
		while read -r record; do
			member=$((member + 1))
			[ "$member" != "${1##*/}" ] || record="!${record#?}"
			case $record in !*) ;; *) left=1 ;; esac
			records="$records$record
"
		done <"$entry/status"
	} 2>/dev/null
	if [ -n "$left" ]; then
		printf %s "$records" 1<>"$entry/status"
	else
		rm -rf "$entry"
	fi
}
# Sets $entry to the directory of entry $1: that of a row is shared.
provision_entry() {
	entry=$1
	case ${1##*/spool/} in row.*/*) entry=${1%/*} ;; esac
}
# Sets $status to that of entry $1; fails where it has none yet, which is `-`: the status is written over it, which
# needs no room. Of one in a row also $mark (`-` before it begins, `>` after, `!` forgotten), $out, which numbers the
# file of its output, and $printed (`+` where there is any).
provision_status() {
	status='' mark='' out='' printed=''
	provision_entry "$1"
	if [ "$entry" = "$1" ]; then
		{ read -r status <"$1/status"; } 2>/dev/null
	else
		{
			turn=0
			while [ "$turn" -lt "${1##*/}" ] && read -r mark out status printed; do
				turn=$((turn + 1))
			done <"$entry/status"
			[ "$turn" = "${1##*/}" ] || mark='' status=''
		} 2>/dev/null
	fi
	case $status in - | '') status='' ;; *) return 0 ;; esac
	return 1
}
# Whether entry $1, which is lost, never began.
provision_idle() {
	provision_entry "$1"
	if [ "$entry" = "$1" ]; then
		[ ! -e "$1/out" ]
	else
		[ "$mark" != '>' ]
	fi
}
# Sets $spool to running, ended or lost for entry $1, and $status when ended.
provision_spool() {
	pid=
	began=
	if provision_status "$1"; then
		spool=ended
	elif read -r pid began 2>/dev/null <"$entry/pid" && provision_birth "$pid" && [ "$birth" = "$began" ]; then
		spool=running
	elif provision_status "$1"; then
		# It ended between the two looks.
		spool=ended
	else
		spool=lost
	fi
}
# Stands for output that was lost, or is too long.
provision_left_out() { printf '\n[... output left out ...]\n'; }
# Prints the result line and the output of entry $1, without NUL bytes: see spool.sh.
provision_result() {
	printf '%s %s\n' "$spool" "${status:-0}"
	provision_entry "$1"
	if [ "$entry" != "$1" ]; then
		# One that did not end has no sign of what it printed.
		case $spool:$printed in
		ended:-) ;;
		*) provision_text "$entry/out.$out" ;;
		esac
		return
	fi
	provision_text "$1/out"
	if [ -s "$1/tail" ]; then
		# It has been trimmed to one byte more than is shown, where there was more.
		if ! kept=$(tr -d '\000' <"$1/tail" | wc -c) || [ "$kept" -gt 65536 ]; then
			provision_left_out
		fi
		{ tail -c 65536 "$1/tail" || provision_left_out; } | tr -d '\000' || provision_left_out
	fi
	[ ! -e "$1/unread" ] || provision_left_out
}
# Prints file $1, if there is anything in it.
provision_text() {
	[ ! -s "$1" ] || tr -d '\000' <"$1" || provision_left_out
}
# Waits until the runner of entry $1, which may have been started just now, has said who it is.
# One that takes too long will find that somebody else has it.
provision_begun() {
	tries=0
	provision_entry "$1"
	while [ -e "$entry/cmd" ] && [ ! -s "$entry/pid" ] && [ "$tries" -lt 50 ] && ! provision_status "$1"; do
		tries=$((tries + 1))
		sleep 0.1 2>/dev/null || {
			sleep 1
			tries=$((tries + 9))
		}
	done
	[ "$tries" -lt 50 ] || (set -C && printf '0 0\n' >"$entry/pid") 2>/dev/null
}
# Tells with $provision_nonce what entry $1 printed last, where that is something new: a line of the
# transport, see wire.rs.
provision_watch() {
	# Between two files the last one holds it.
	live=$1/live
	[ -s "$live" ] || live=$1/lived
	now=$(tail -c 512 "$live" 2>/dev/null | tr '\n\000' '\r ')
	if [ -n "$now" ] && [ "$now" != "$told" ]; then
		told=$now
		printf '\n%s said %s\n' "${provision_nonce-}" "$now"
	fi
}
# Waits for the end of entry $1 that is no child of this shell. Who watches, which is
# $provision_watched, is told about once a second what it printed last.
provision_follow() {
	provision_begun "$1"
	provision_spool "$1"
	polls=0
	told=
	while [ "$spool" = running ]; do
		polls=$((polls + 1))
		sleep 0.1 2>/dev/null || {
			sleep 1
			polls=$((polls + 9))
		}
		if [ "${provision_watched:-0}" = 1 ] && [ "$polls" -ge 10 ]; then
			polls=0
			provision_watch "$1"
		fi
		provision_spool "$1"
	done
	provision_result "$1"
}
# Writes text $2 into file $1. Why it fails, a builtin of dash does not tell.
provision_write() {
	printf '%s\n' "$2" 2>/dev/null >"$1" || printf '%s\n' "$2" | cat >"$1"
}
# Ends host shell $1 that started at $2, with what it waits for. Tasks have sessions of their own and go on.
provision_end_shell() {
	provision_birth "$1" && [ "$birth" = "$2" ] || return 0
	tree=
	provision_tree "$1" same
	provision_signal KILL
	tries=0
	for member in $tree; do
		while [ "$tries" -lt 20 ] && provision_birth "${member%.*}" && [ "$birth" = "${member#*.}" ]; do
			case ${stat##*) } in Z*) break ;; esac
			sleep 0.1 2>/dev/null || sleep 1
			tries=$((tries + 1))
		done
	done
}
# Prints since when the owner has the lock, in UTC; nothing where `date` cannot tell.
provision_since() { date -u -r "$d/owner" +%Y-%m-%dT%H:%MZ 2>/dev/null; }
# Takes the lock of this host for run $1 of controller $2; the host shell keeps it as descriptor 9. $4 counts
# the shells of host $3 of the run: one of a lost connection lives on until sshd notices, and is ended here.
# With $5 `again` the run had the lock before, and goes on only where nobody else had it since.
# Sets $provision_locked to held, shared (what this run started holds it), none (no flock here, or none on this
# file system, which $provision_why says), or to what is in the way: `busy`, `late` (a newer shell of this run
# took over) or `lost`, with the owner.
provision_lock() {
	provision_dir
	owner=
	{ read -r owner <"$d/owner"; } 2>/dev/null
	# shellcheck disable=SC2086 # the fields are wanted as words
	set -- "$1" "$2" "${3:-0}" "${4:-0}" "${5-}" $owner
	older=
	if [ "${6-} ${10:-0}" = "$1 $3" ]; then
		if [ "${11:-0}" -gt "$4" ]; then
			provision_locked="late $owner"
			return
		fi
		[ "${11:-0}" -eq "$4" ] || older=$8
	fi
	case ${provision_locked-} in
	none) return ;;
	held)
		[ "${6-$1}" = "$1" ] || provision_locked="busy $owner $(provision_since)"
		return
		;;
	esac
	provision_why=$(
		exec 2>&1
		umask 077
		[ -d "$d/spool" ] && [ -d "$d/upload" ] || mkdir -p "$d/spool" "$d/upload" && : >>"$d/lock"
	) || {
		provision_unwritable
		return
	}
	[ -z "$older" ] || provision_end_shell "$older" "$9"
	if ! command -v flock >/dev/null 2>&1; then
		provision_locked=none
	else
		exec 9>>"$d/lock"
		if provision_why=$(flock -n 9 2>&1); then
			provision_locked=held
		else
			exec 9>&-
			if [ -n "$provision_why" ]; then
				# Not another run: a file system of a network without locks, or a broken flock.
				provision_locked=none
				provision_why="$d/lock cannot be locked: ${provision_why%%"
"*}"
			else
				provision_locked=shared
			fi
		fi
	fi
	owner=
	{ read -r owner <"$d/owner"; } 2>/dev/null
	if [ "${owner%% *}" != "$1" ]; then
		# Who comes back learns that its lock was taken, though a task of its own still holds it.
		if [ "$provision_locked" = shared ] && [ "$5 ${owner%% *}" != 'again unlock' ]; then
			provision_locked="busy $owner $(provision_since)"
			return
		elif [ "$5" = again ]; then
			exec 9>&-
			provision_locked="lost $owner"
			return
		fi
	fi
	provision_identity
	provision_note=$(
		exec 2>&1
		provision_claim "$1" "$2" "$3" "$4"
	) || {
		exec 9>&-
		provision_why=$provision_note
		provision_unwritable
	}
}
# Writes whose state this is, with $1 to $4 as above; state of another machine or boot is taken away.
provision_claim() {
	if [ -e "$d/identity" ] && read -r identity <"$d/identity" && [ "$identity" != "$current" ]; then
		# State of another boot, or of the machine that this one was cloned from.
		rm -rf "$d/spool" "$d/upload" "$d/undo" || return
		(umask 077 && mkdir -p "$d/spool" "$d/upload") || return
	fi
	provision_write "$d/identity" "$current" && provision_write "$d/version" 1 || return
	[ "$provision_locked$older" != shared ] || return 0
	provision_birth $$
	provision_write "$d/owner.new" "$1 $2 $$ $birth $3 $4" && mv -f "$d/owner.new" "$d/owner"
}
# Sets $provision_locked to what keeps the state directory from being written.
provision_unwritable() {
	provision_locked="unwritable $d: ${provision_why%%"
"*}"
}
# Sets $shelf to our directory below /var/tmp for large files, if there is one.
provision_shelf() {
	shelf=
	me=$(id -u)
	for it in "/var/tmp/provision-upload-$me" "/var/tmp/provision-upload-$me".*; do
		[ -z "$shelf" ] || return 0
		# Others may have put any number of names there: no program is asked about theirs.
		if [ -O "$it" ] && [ -d "$it" ] && [ ! -L "$it" ] && [ "$(stat -c '%u %a' "$it")" = "$me 700" ]; then
			shelf=$it
		fi
	done
}
# Ends whoever still writes the large file $1 over an earlier connection; fails when that one stays.
provision_end_writer() {
	pid=
	read -r pid began started 2>/dev/null <"$1.writer" || return 0
	provision_identity
	case $current in *" $started "*) ;; *) return 0 ;; esac
	provision_birth "$pid" && [ "$birth" = "$began" ] || return 0
	tree=
	provision_tree "$pid" same
	provision_signal KILL
	tries=0
	while provision_birth "$pid" && [ "$birth" = "$began" ]; do
		case $stat in *') Z '*) return 0 ;; esac
		[ "$tries" -lt 50 ] || return 1
		tries=$((tries + 1))
		sleep 0.1 2>/dev/null || sleep 1
	done
}
# Takes away the large file $1, and what it is a link to. The link stays as long as that does: nothing else leads to it.
provision_drop() {
	if [ -L "$1" ]; then
		led=$(readlink "$1") || return
		case $led in */.provision.upload."${1##*/}") rm -f "$led" || return ;; esac
	fi
	rm -f "$1" "$1.writer"
}
# Makes a pipe between the parts of this frame, as descriptor 8, and sets $provision_pipe to its name.
provision_pipe() {
	provision_dir
	provision_pipe=$d/spool/.pipe.$$
	(umask 077 && { mkfifo "$provision_pipe" || { rm -f "$provision_pipe" && mkfifo "$provision_pipe"; }; }) 2>/dev/null || provision_pipe=
	[ -z "$provision_pipe" ] || exec 8<>"$provision_pipe"
}
# Waits for the end of the change with key $1 of a row, and prints it: told by the pipe of the frame that started it, else
# by looking. Without a process: a row has many.
provision_next() {
	provision_dir
	while [ -n "${provision_pipe-}" ]; do
		said=
		# What the runner wrote into the record.
		read -r said status printed <&8 || break
		case $said in
		"$1")
			# What it printed is found in the spool.
			[ "$printed" = - ] || break
			printf 'ended %s\n' "$status"
			return
			;;
		over)
			# The next part wants to know it too.
			printf 'over\n' >&8
			break
			;;
		esac
	done
	provision_find "$1"
	provision_spool "$s"
	while [ "$spool" = running ]; do
		sleep 0.1 2>/dev/null || sleep 1
		provision_spool "$s"
	done
	if [ "$spool" = lost ] && provision_idle "$s"; then
		printf 'unstarted\n'
	else
		provision_result "$s"
	fi
}
