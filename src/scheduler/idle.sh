# Prints what is still on a host, nothing where it is idle.
# Parameters: until, words...
until=$1
shift
said=$(env "$@" </dev/null 2>&1)
status=$?
case $status in
126 | 127)
	printf '%s\n' "$said"
	exit "$status"
	;;
0) [ "$until" != empty ] || [ -z "$said" ] || printf '%s\n' "$said" ;;
# Whoever fails does not know that the host is idle.
*) printf '%s\n' "${said:-status $status}" ;;
esac
