# Says who has the lock of this host, since when, and which tasks run; nothing where it is free. See
# engine/state.rs for the lines.
provision_dir
command -v flock >/dev/null 2>&1 && [ -e "$d/lock" ] || exit 0
! flock -n "$d/lock" true || exit 0
owner=
read -r owner 2>/dev/null <"$d/owner"
printf 'owner\t%s\t%s\n' "$owner" "$(provision_since)"
tell() { [ "$spool" != running ] || printf 'task\t%s\n' "$name"; }
provision_all tell
