# Ends the processes of a spool entry. Prints `unit yes` where all of them are known, because it is a unit
# of its own, else `unit no`; then `left PID NAME` for each that still runs. key
provision_dir
provision_find "$1"
provision_spool "$s"
[ "$spool" = running ] || exit 0
runner=$pid
tag=PROVISION_TASK=${entry##*/}.$pid.$began
members=
unit=no
group=
while IFS=: read -r _ controllers path; do
	case $controllers:$path in
	:*/"provision-$1.service") group=/sys/fs/cgroup$path unit=yes ;;
	name=systemd:*/"provision-$1.service") group=/sys/fs/cgroup/systemd$path unit=yes ;;
	esac
done <"/proc/$pid/cgroup"
# Adds what runs of the task to $tree: descendants, the unit, and what left both but has its mark.
find_all() {
	provision_tree "$runner" any
	members=$(
		[ -z "$group" ] || cat "$group/cgroup.procs"
		grep -ls "$tag" /proc/[0-9]*/environ
	) 2>/dev/null
	for member in $members; do
		member=${member#/proc/}
		member=${member%/environ}
		if provision_birth "$member"; then
			tree="$tree $member.$birth"
		fi
	done
}
# Keeps those of $tree that still run, once each.
keep_living() {
	living=
	for member in $tree; do
		case " $living " in *" $member "*) continue ;; esac
		read -r stat 2>/dev/null <"/proc/${member%.*}/stat" || continue
		case ${stat##*) } in [ZX]*) continue ;; esac
		if provision_birth "${member%.*}" && [ "$birth" = "${member#*.}" ]; then
			living="$living $member"
		fi
	done
	tree=$living
}
tree=
find_all
kill -TERM -- "-$runner" 2>/dev/null
provision_signal TERM
tries=0
while keep_living && [ -n "$tree" ] && [ $tries -lt 20 ]; do
	sleep 0.1 2>/dev/null || sleep 1
	tries=$((tries + 1))
done
# What was started meanwhile is found by the next look.
tries=0
while find_all && keep_living && [ -n "$tree" ] && [ $tries -lt 20 ]; do
	provision_signal KILL
	sleep 0.1 2>/dev/null || sleep 1
	tries=$((tries + 1))
done
printf 'unit %s\n' "$unit"
for member in $tree; do
	name=
	read -r name 2>/dev/null <"/proc/${member%.*}/comm"
	printf 'left %s %s\n' "${member%.*}" "$name"
done
exit 0
