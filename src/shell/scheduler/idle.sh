# Prints what is still on a host, nothing where it is idle.
# Parameters: until, words...
until=$1
shift
if [ "$until" = empty ]; then
	env "$@" </dev/null 2>&1
	exit
fi
said=$(env "$@" </dev/null 2>&1)
status=$?
case $status in
0) ;;
126 | 127)
	printf '%s\n' "$said"
	exit "$status"
	;;
*) printf '%s\n' "${said:-status $status}" ;;
esac
