# Ends what undo_keep.sh began: `confirm` keeps the change, `undo` takes it back now, `forget` drops
# what is known of a change that was taken back. act name
provision_dir
u=$d/undo/$2
case $1 in
confirm)
	if mv "$u/armed" "$u/confirmed" 2>/dev/null; then
		# Where a timer holds files of it (NFS), the directory would stay and be that of the next change.
		mv "$u" "$u.gone.$$" 2>/dev/null
		rm -rf "$u" "$u.gone.$$"
		printf 'confirmed\n'
		exit 0
	fi
	if [ -d "$u/armed" ]; then
		errors=$(mv "$u/armed" "$u/confirmed" 2>&1)
		printf 'failed: %s\n' "$errors"
		exit 1
	fi
	;;
undo)
	[ ! -d "$u/armed" ] || sh "$u/timer" "$u" now
	;;
forget)
	rm -rf "$u"
	exit
	;;
esac
if [ ! -d "$u" ]; then
	printf 'unknown\n'
	exit 0
fi
tries=0
while [ ! -e "$u/done" ] && [ $tries -lt 100 ]; do
	sleep 0.1 2>/dev/null || sleep 1
	tries=$((tries + 1))
done
if [ -d "$u/armed" ]; then
	printf 'failed: it was not taken back\n'
	exit 1
fi
bad=1
[ ! -e "$u/done" ] || read -r bad <"$u/done" || bad=0
if [ "$bad" = 0 ]; then
	printf 'undone\n'
else
	printf 'failed: not all of it could be taken back\n'
fi
[ ! -s "$u/log" ] || tail -n 20 "$u/log"
exit "$bad"
