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
unpack() {
	case $1 in
	=*) printf '%s' "${1#=}" ;;
	*) printf '%s' "$1" | base64 -d ;;
	esac
}
failed() {
	printf 'failed: %s\n' "$1"
	exit 0
}
if [ -d "$u/undone" ]; then
	rm -rf "$u"
fi
errors=$(mkdir -p "$u/kept" "$u/restore" 2>&1) || failed "$errors"
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
		errors=$(cp -a "$path" "$u/kept/$n.old" 2>&1) || failed "$errors"
	fi
	printf '%s\n' "$path" >"$u/kept/$n.path"
done
if [ -n "$save" ] && [ ! -e "$u/saved" ]; then
	errors=$(cd "$u/kept" && unpack "$save" | sh -s 2>&1) || failed "$errors"
	: >"$u/saved"
fi
if [ -n "$restore" ]; then
	n=0
	while [ -e "$u/restore/$n" ]; do n=$((n + 1)); done
	unpack "$restore" >"$u/restore/$n"
fi
if [ "$seconds" -eq 0 ]; then
	printf 'kept\n'
	exit 0
fi
read -r up _ </proc/uptime
printf '%s\n' "$((${up%%.*} + seconds))" >"$u/deadline"
[ ! -d "$u/armed" ] || {
	# Its timer runs already and sees the new time.
	printf 'armed\n'
	exit 0
}
# Constant text; $1 is the directory, with $2 it does not wait. Taking `armed` away decides: only one
# of confirming and undoing can do it.
# shellcheck disable=SC2016 # expands in the timer
printf '%s' '
u=$1
while [ -z "${2-}" ] && [ -d "$u/armed" ]; do
	read -r up _ </proc/uptime
	read -r end <"$u/deadline"
	[ "${up%%.*}" -lt "$end" ] || break
	sleep 1
done
mv "$u/armed" "$u/undone" 2>/dev/null || exit 0
PATH=${PATH:+$PATH:}/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
export LC_ALL=C PATH
exec >>"$u/log" 2>&1
for p in "$u"/kept/*.path; do
	[ -e "$p" ] || continue
	read -r path <"$p"
	old=${p%.path}.old
	if [ -d "$old" ] && [ ! -L "$old" ]; then
		rm -rf "$path"
		cp -a "$old" "$path"
	elif [ -e "$old" ] || [ -L "$old" ]; then
		cp -a "$old" "$path.undo" && mv -f "$path.undo" "$path"
	else
		rm -rf "$path"
	fi
	! command -v restorecon >/dev/null || restorecon -R "$path"
done
cd "$u/kept" || exit
for r in "$u"/restore/*; do
	[ ! -e "$r" ] || sh "$r"
done
: >"$u/done"
' >"$u/timer"
mkdir "$u/armed" || failed "there is no room in $u"
if [ -d /run/systemd/system ] && [ -w /run ] && command -v systemd-run >/dev/null 2>&1 &&
	systemd-run --quiet --collect --unit="provision-undo-${u##*/}-$$" /bin/sh "$u/timer" "$u" </dev/null >/dev/null 2>&1; then
	:
else
	setsid sh "$u/timer" "$u" </dev/null >/dev/null 2>&1 9>&- &
fi
printf 'armed\n'
