# What earlier runs left on this host: see engine/state.rs for the lines.
# Sets $when to `now` or `before` for an identity $1 of this boot (or of none) or of an earlier one of this
# machine. Fails for another machine: this one was cloned from it.
when() {
	provision_identity
	case $1 in
	"$current" | "") when=now ;;
	"${current%% *} "*" ${current##* }") when=before ;;
	*) return 1 ;;
	esac
}
provision_boot
printf 'boot\t%s\n' "$boot"
# Without these nothing is changed safely; what a single task needs beside them it says itself.
for tool in cat chmod chown cp dd grep head id mkdir mkfifo mktemp mv rm setsid sha256sum sleep stat tail tr; do
	command -v "$tool" >/dev/null 2>&1 || printf 'missing\t%s\n' "$tool"
done
decodes=
for tool in base64 openssl python3 perl busybox; do
	! command -v "$tool" >/dev/null 2>&1 || decodes=$tool
done
[ -n "$decodes" ] || printf 'missing\tbase64 (or openssl, python3, perl or busybox)\n'
provision_dir
set --
for it in /var/tmp/provision-upload-*; do
	[ -O "$it" ] || continue
	provision_shelf
	[ -z "$shelf" ] || set -- "$shelf"/*
	break
done
for f in "$d/upload"/* "$@"; do
	case $f in *'*' | *.writer) ;; *) printf 'upload\t%s\n' "${f##*/}" ;; esac
done
provision_kept
# Where the disk was full it is in the other one.
for f in "$p"/notify/* "$d"/notify/*; do
	[ -f "$f" ] || continue
	id=
	cluster=
	noted=
	{
		read -r id
		read -r cluster
		read -r noted
	} <"$f"
	[ -n "$id" ] || continue
	when "$noted" || continue
	age=new
	[ -z "$(find "$f" -mtime +6 2>/dev/null)" ] || age=old
	printf 'notify\t%s\t%s\t%s\t%s\t%s\n' "$id" "$cluster" "$age" "${f##*/}" "$when"
done
for f in "$p"/detached/*; do
	[ -f "$f" ] || continue
	name=
	run=
	noted=
	{
		read -r name
		read -r run
		read -r noted
	} <"$f"
	when "$noted" || continue
	if [ "$when" = before ] || [ ! -d "$d/spool/${f##*/}" ]; then
		printf 'interrupted\t%s\t%s\t%s\n' "${f##*/}" "$run" "$name"
	fi
done
[ -d "$d" ] || exit 0
version=
read -r version 2>/dev/null <"$d/version"
printf 'version\t%s\n' "$version"
provision_identity
identity=
read -r identity 2>/dev/null <"$d/identity"
[ "$identity" = "$current" ] || exit 0
# The run whose host shell lives has the lock. Where that is gone a task of it may still hold it, and is followed.
owner=
read -r owner 2>/dev/null <"$d/owner"
# shellcheck disable=SC2086 # the fields are wanted as words
set -- $owner
if provision_birth "${3:-0}" && [ "$birth" = "${4-}" ]; then
	printf 'holder\t%s %s\n' "$owner" "$(provision_since)"
fi
tell() { printf 'spool\t%s\t%s\t%s\t%s\t%s\n' "$key" "$spool" "$status" "$run" "$name"; }
provision_all tell
for u in "$d"/undo/*; do
	if [ -d "$u/undone" ]; then
		printf 'undone\t%s\n' "${u##*/}"
	elif [ -d "$u/armed" ]; then
		printf 'armed\t%s\n' "${u##*/}"
	fi
done
