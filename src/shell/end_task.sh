# Ends the processes of a spool entry. key
provision_dir
provision_spool "$d/spool/$1"
[ "$spool" = running ] || exit 0
# `su` gives its command a session of its own, which a signal to the group does not reach.
tree=
provision_tree "$pid" any
runner=$pid
kill -TERM -- "-$runner" 2>/dev/null
provision_signal TERM
tries=0
while [ $tries -lt 20 ] && provision_birth "$runner"; do
	sleep 0.1 2>/dev/null || sleep 1
	tries=$((tries + 1))
done
kill -KILL -- "-$runner" 2>/dev/null
provision_signal KILL
exit 0
