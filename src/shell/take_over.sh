# Ends the host shell of a run whose controller is dead, which frees the lock. pid start
provision_birth "$1" || exit 0
[ "$birth" = "$2" ] || exit 0
kill -KILL "$1"
tries=0
while [ $tries -lt 20 ] && provision_birth "$1"; do
	sleep 0.1 2>/dev/null || sleep 1
	tries=$((tries + 1))
done
exit 0
