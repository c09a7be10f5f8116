# Enters a user's ~/.ssh, which is made when it is not there. Parameters of
# `ssh_directory`: directory, uid, gid.
ssh_directory() {
    umask 077
    reach "$1" "$2" || return
    case $spot_kind in
    none) spot_make 077 "$spot" && chown "$2:$3" . ;;
    directory)
        spot_enter || return
        if [ "$spot_owner" != "$2" ]; then
            printf '%s belongs to user %s, not to %s\n' "$1" "$spot_owner" "$2" >&2
            return 1
        fi
        chmod 0700 .
        ;;
    *)
        printf '%s is a symbolic link or no directory\n' "$1" >&2
        return 1
        ;;
    esac
}
