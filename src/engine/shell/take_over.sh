# Ends the host shell of a run whose controller is dead, which frees the lock. pid start
provision_end_shell "$1" "$2"
provision_dir
tries=0
while [ $tries -lt 50 ] && ! flock -n "$d/lock" true; do
	sleep 0.1 2>/dev/null || sleep 1
	tries=$((tries + 1))
done
exit 0
