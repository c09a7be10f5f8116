# Enters a user's ~/.ssh, which is made when it is not there. The directory belongs to the user: we go
# into it and look where we are before anything is written. Parameters: directory, uid, gid.
ssh_directory() {
    umask 077
    if [ -L "$1" ]; then
        printf '%s is a symbolic link\n' "$1" >&2
        return 1
    fi
    if [ ! -d "$1" ]; then
        mkdir -m 0700 "$1" && chown -h "$2:$3" "$1" || return
    fi
    cd -P "$1" || return
    ssh_owner=$(stat -c %u .) || return
    if [ "$ssh_owner" != "$2" ]; then
        printf '%s belongs to user %s, not to %s\n' "$1" "$ssh_owner" "$2" >&2
        return 1
    fi
    chmod 0700 .
}
