# Prints what is still on a host, nothing where it is idle.
# Parameters: until, words...
until=$1
shift
env >/dev/null || exit 126
said=$(env "$@" </dev/null 2>&1)
status=$?
case $status in
126 | 127)
	printf '%s\n' "$said"
	exit "$status"
	;;
esac
case $until.$status in
# Who looks for lines and finds none ends with 1, as grep and pgrep do.
empty.[01]) [ -z "$said" ] || printf '%s\n' "$said" ;;
success.0) ;;
*) printf '%s\n' "${said:-status $status}" ;;
esac
