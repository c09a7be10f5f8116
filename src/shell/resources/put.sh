# Writes a file by a temporary one beside it. The temporary file is only ever touched through its
# descriptor and never opened through a link (`set -C` is O_EXCL), so that a directory that
# belongs to somebody else cannot lead us away.
# Parameters of `put`: path, mode, ownership (`owner:group` or empty), digest of an uploaded copy
# (or empty), content in base64 or the path of that copy.
put() {
    umask 077
    temporary=$(mktemp -u "${1%/*}/.provision.XXXXXX") || return
    set -C
    exec 3>"$temporary" || return
    set +C
    trap 'rm -f "$temporary"; exit 1' HUP INT TERM
    open=/proc/self/fd/3
    # Only a chroot that nobody else is in has no /proc.
    [ -e "$open" ] || open=$temporary
    if put_content "$4" "$5" && { [ -z "$3" ] || chown "$3" "$open"; } && chmod "$2" "$open" && exec 3>&- && mv -f "$temporary" "$1"; then
        trap - HUP INT TERM
        return 0
    fi
    rm -f "$temporary"
    return 1
}
put_content() {
    if [ -z "$1" ]; then
        base64 -d >&3 <<END
$2
END
        return
    fi
    # Onto the target's file system first, so that the last step is a rename.
    cat "$2" >&3 || return
    found=$(sha256sum <"$temporary") || return
    if [ "${found%% *}" != "$1" ]; then
        printf 'the copy arrived with another digest\n' >&2
        return 1
    fi
    rm -f "$2"
}
