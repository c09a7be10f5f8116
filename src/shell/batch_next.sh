# Waits for the end of one change of a batch: told by the pipe of the frame that started it, else by looking.
# key
provision_dir
s=$d/spool/$1
while [ -n "${provision_pipe-}" ]; do
	provision_status "$s" && break
	read -r said <&8 || break
	if [ "$said" = over ]; then
		# The next part wants to know it too.
		printf 'over\n' >&8
		break
	fi
done
provision_spool "$s"
while [ "$spool" = running ]; do
	sleep 0.1 2>/dev/null || sleep 1
	provision_spool "$s"
done
if [ "$spool" = lost ] && [ ! -e "$s/out" ]; then
	printf 'unstarted\n'
else
	provision_result "$s"
fi
