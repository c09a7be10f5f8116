# Ends the host shell of a run whose controller is dead, which frees the lock. pid start
provision_birth "$1" || exit 0
[ "$birth" = "$2" ] || exit 0
# What it waits for holds the lock as well; its tasks have sessions of their own and go on.
tree=
provision_tree "$1" same
provision_signal KILL
provision_dir
tries=0
while [ $tries -lt 50 ] && ! flock -n "$d/lock" true; do
	sleep 0.1 2>/dev/null || sleep 1
	tries=$((tries + 1))
done
exit 0
