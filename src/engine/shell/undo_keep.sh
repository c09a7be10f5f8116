# Keeps what a change may break and, when it is in force at once, starts the timer that puts it back
# unless a new login confirms it. name seconds save restore path...
# Below undo/NAME: kept/N.path and kept/N.old (missing: there was nothing), kept/* of `save`,
# restore/N, deadline (in seconds of uptime), armed/ until it is confirmed or fires, undone/ after that.
provision_dir
u=$d/undo/$1
seconds=$2
save=$3
restore=$4
shift 4
umask 077
failed() {
	printf 'failed: %s\n' "$1"
	exit 0
}
# Runs what must succeed; its output is why it did not.
must() {
	errors=$("$@" 2>&1) || failed "$errors"
}
if [ -d "$u/undone" ]; then
	must rm -rf "$u"
fi
must mkdir -p "$u/kept" "$u/restore"
for path; do
	# The oldest copy is what was confirmed last.
	n=0
	known=
	while [ -e "$u/kept/$n.path" ]; do
		read -r kept <"$u/kept/$n.path"
		[ "$kept" != "$path" ] || known=1
		n=$((n + 1))
	done
	[ -z "$known" ] || continue
	if [ -e "$path" ] || [ -L "$path" ]; then
		must cp -a "$path" "$u/kept/$n.old"
	fi
	must provision_write "$u/kept/$n.path" "$path"
done
if [ -n "$save" ] && [ ! -e "$u/saved" ]; then
	text=$(unpack "$save" 2>&1) || failed "$text"
	errors=$(cd "$u/kept" && say "$text" | sh -s 2>&1) || failed "$errors"
	must provision_write "$u/saved" ''
fi
if [ -n "$restore" ]; then
	n=0
	while [ -e "$u/restore/$n" ]; do n=$((n + 1)); done
	text=$(unpack "$restore" 2>&1) || failed "$text"
	must provision_write "$u/restore/$n" "$text"
fi
if [ "$seconds" -eq 0 ]; then
	printf 'kept\n'
	exit 0
fi
read -r up _ </proc/uptime
must provision_write "$u/deadline" "$((${up%%.*} + seconds))"
[ ! -d "$u/armed" ] || {
	# Its timer runs already and sees the new time.
	printf 'armed\n'
	exit 0
}
# Constant text; $1 is the directory, with $2 it does not wait. Taking `armed` away decides: only one
# of confirming and undoing can do it. It stands in the directory and names nothing by its whole path: the next change
# of the same name has a directory of its own there, which a timer that comes late must not take for this one.
# shellcheck disable=SC2016 # expands in the timer
timer='
cd "$1" || exit 0
[ -n "${2-}" ] || : >started
while [ -z "${2-}" ] && [ -d armed ]; do
	read -r up _ </proc/uptime
	read -r end <deadline
	[ "${up%%.*}" -lt "$end" ] || break
	sleep 1
done
mv armed undone 2>/dev/null || exit 0
case ${PATH-} in */dev/null) ;; *) PATH=${PATH:+$PATH:}/usr/sbin:/usr/bin:/sbin:/bin ;; esac
export LC_ALL=C PATH
exec >>log 2>&1
bad=0
for p in kept/*.path; do
	[ -e "$p" ] || continue
	read -r path <"$p"
	old=${p%.path}.old
	if [ -d "$old" ] && [ ! -L "$old" ]; then
		rm -rf "$path.undo"
		cp -a "$old" "$path.undo" && rm -rf "$path" && mv "$path.undo" "$path" || bad=1
	elif [ -e "$old" ] || [ -L "$old" ]; then
		cp -a "$old" "$path.undo" && mv -f "$path.undo" "$path" || bad=1
	else
		rm -rf "$path" || bad=1
	fi
	! command -v restorecon >/dev/null || restorecon -R "$path"
done
cd ./kept || exit
for r in ../restore/*; do
	[ ! -e "$r" ] || sh "$r" || bad=1
done
echo $bad >../ended && mv ../ended ../done
'
must provision_write "$u/timer" "$timer"
# By what the timer needs, too.
must rm -f "$u/started"
must mkdir -p "$u/arming"
must mv "$u/arming" "$u/armed"
if [ -d /run/systemd/system ] && [ -w /run ] && command -v systemd-run >/dev/null 2>&1 &&
	systemd-run --quiet --collect --setenv="PATH=$PATH" --unit="provision-undo-${u##*/}-$$" /bin/sh "$u/timer" "$u" </dev/null >/dev/null 2>&1; then
	:
else
	setsid sh "$u/timer" "$u" </dev/null >/dev/null 2>&1 9>&- &
fi
tries=0
while [ ! -e "$u/started" ]; do
	if [ $tries -ge 100 ]; then
		rm -rf "$u/armed"
		failed "the timer that would take it back did not start: setsid and sh are needed"
	fi
	sleep 0.1 2>/dev/null || sleep 1
	tries=$((tries + 1))
done
printf 'armed\n'
