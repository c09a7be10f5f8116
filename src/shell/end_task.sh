# Ends the process group of a spool entry. key
provision_dir
provision_spool "$d/spool/$1"
[ "$spool" = running ] || exit 0
kill -TERM -- "-$pid" 2>/dev/null
tries=0
while [ $tries -lt 20 ] && provision_birth "$pid"; do
	sleep 0.1 2>/dev/null || sleep 1
	tries=$((tries + 1))
done
kill -KILL -- "-$pid" 2>/dev/null
exit 0
