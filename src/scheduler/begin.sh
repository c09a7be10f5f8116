# Keeps that a host is out of service, then takes it out by a command, where one is given.
# Parameters: host, reason, words...
# A word such as `jobs` is the program, not what the shell has of this name: hence env.
host=$1
reason=$2
shift 2
exec 2>&1
new=
[ -e "$d/$host" ] || new=1
mkdir -p "$d" && printf '%s\n' "$reason" >"$d/.new.$host" && mv -f "$d/.new.$host" "$d/$host" || exit
[ $# -eq 0 ] || env "$@" </dev/null || {
	status=$?
	# It refused, so there is nothing to take back, but where an earlier try was cut off.
	[ -z "$new" ] || rm -f "$d/$host"
	exit "$status"
}
