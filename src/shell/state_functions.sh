# Functions that frames with changes share; the state directory is documented in engine/state.rs.
# Sets $d. /run is writable for root only; without root the cache of the login is taken.
provision_dir() {
	if [ -w /run ]; then
		d=/run/provision
	else
		d=${XDG_CACHE_HOME:-$HOME/.cache}/provision
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
# Adds process $1 and its descendants to $tree as `PID.START`; with $2 `same` only those of its
# session.
provision_tree() {
	stat=
	read -r stat 2>/dev/null <"/proc/$1/stat" || return 0
	# shellcheck disable=SC2086 # the fields are wanted as words
	set -- "$1" "$2" "${3-}" ${stat##*) }
	[ "$2" = any ] || [ "${3:-$7}" = "$7" ] || return 0
	tree="$tree $1.${23}"
	# shellcheck disable=SC2013 # numbers, not lines
	for member in $(cat "/proc/$1/task/"*/children 2>/dev/null); do
		provision_tree "$member" "$2" "$7"
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
# Sets $spool to running, ended or lost for the entry in directory $1, and $status when ended.
provision_spool() {
	status=
	pid=
	began=
	if read -r status 2>/dev/null <"$1/status"; then
		spool=ended
	elif read -r pid began 2>/dev/null <"$1/pid" && provision_birth "$pid" && [ "$birth" = "$began" ]; then
		spool=running
	elif read -r status 2>/dev/null <"$1/status"; then
		# It ended between the two looks.
		spool=ended
	else
		spool=lost
	fi
}
# Prints the result line and the output of the entry in directory $1, without NUL bytes: see spool.sh.
provision_result() {
	printf '%s %s\n' "$spool" "${status:-0}"
	[ ! -s "$1/out" ] || tr -d '\000' <"$1/out"
	if [ -s "$1/tail" ]; then
		if [ "$(tr -d '\000' <"$1/tail" | wc -c)" -gt 65536 ]; then
			printf '\n[... output left out ...]\n'
		fi
		tr -d '\000' <"$1/tail" | tail -c 65536
	fi
}
# Waits for the end of the entry in directory $1 that is no child of this shell.
provision_follow() {
	provision_spool "$1"
	while [ "$spool" = running ]; do
		sleep 0.1 2>/dev/null || sleep 1
		provision_spool "$1"
	done
	provision_result "$1"
}
# Takes the lock of this host for run $1 of controller $2; the host shell keeps it as descriptor 9.
# Sets $provision_locked to held, shared (this run holds it already), none (no flock here),
# or to what is in the way.
provision_lock() {
	case ${provision_locked-} in held | shared | none) return ;; esac
	provision_dir
	(umask 077 && mkdir -p "$d/notify" "$d/spool" "$d/upload" && : >>"$d/lock") 2>/dev/null || {
		provision_locked="unwritable $d"
		return
	}
	if ! command -v flock >/dev/null 2>&1; then
		provision_locked=none
	else
		exec 9>>"$d/lock"
		if flock -n 9; then
			provision_locked=held
		else
			exec 9>&-
			owner=
			read -r owner 2>/dev/null <"$d/owner"
			if [ "${owner%% *}" = "$1" ]; then
				provision_locked=shared
			else
				provision_locked="busy $owner"
				return
			fi
		fi
	fi
	provision_identity
	if [ -e "$d/identity" ] && read -r identity <"$d/identity" && [ "$identity" != "$current" ]; then
		# State of another boot, or of the machine that this one was cloned from.
		rm -rf "$d/notify" "$d/spool" "$d/upload" "$d/undo"
		(umask 077 && mkdir -p "$d/notify" "$d/spool" "$d/upload")
	fi
	printf '%s\n' "$current" >"$d/identity"
	printf '1\n' >"$d/version"
	[ "$provision_locked" = shared ] || {
		provision_birth $$
		printf '%s %s %s %s\n' "$1" "$2" $$ "$birth" >"$d/owner"
	}
}
# Sets $current to what this machine and boot are called.
provision_identity() {
	machine=
	boot=
	read -r machine 2>/dev/null </etc/machine-id
	read -r boot 2>/dev/null </proc/sys/kernel/random/boot_id
	product=
	read -r product 2>/dev/null </sys/class/dmi/id/product_uuid
	current="${machine:-none} ${boot:-none} ${product:-none}"
}
