# Gives a host back by a command, then forgets that it was out of service.
# Parameters: host, words...
host=$1
shift
exec 2>&1
env "$@" </dev/null && rm -f "$d/$host"
