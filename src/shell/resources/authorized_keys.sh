# Writes authorized_keys. Parameters: path, uid, gid, content as for `put`. The directory belongs to
# the user: we go into it and look where we are before anything is written.
path=$1 uid=$2 gid=$3
directory=${path%/*}
umask 077
if [ ! -d "$directory" ] && [ ! -L "$directory" ]; then
    mkdir -m 0700 "$directory" && chown -h "$uid:$gid" "$directory" || exit 1
fi
if [ -L "$directory" ] || [ -L "$path" ]; then
    printf '%s or its directory is a symbolic link\n' "$path" >&2
    exit 1
fi
cd -P "$directory" || exit 1
owner=$(stat -c %u .) || exit 1
if [ "$owner" != "$uid" ]; then
    printf '%s belongs to user %s, not to %s\n' "$directory" "$owner" "$uid" >&2
    exit 1
fi
chmod 0700 . || exit 1
put ./authorized_keys 0600 "$uid:$gid" '' "$4" || exit 1
if command -v restorecon >/dev/null 2>&1; then
    restorecon . ./authorized_keys 2>/dev/null || :
fi
