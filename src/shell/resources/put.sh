# Writes a file by a temporary one beside it. The temporary file is only ever touched through its
# descriptor and never opened through a link (`set -C` is O_EXCL), so that a directory that
# belongs to somebody else cannot lead us away.
# Parameters of `put`: `./` and a name where `reach` went, mode, ownership (`owner:group` or empty), digest of an uploaded copy
# (or empty), content (`=` and text, or base64) or the path of that copy.
put() {
    umask 077
    temporary=
    { read -r temporary </proc/sys/kernel/random/uuid; } 2>/dev/null
    temporary=./.provision.${temporary:-$$}
    set -C
    exec 3>"$temporary" || return
    set +C
    trap 'rm -f "$temporary"; exit 1' HUP INT TERM
    open=/proc/self/fd/3
    # Only a chroot that nobody else is in has no /proc.
    [ -e "$open" ] || open=$temporary
    if put_content "$4" "$5" && { [ -z "$3" ] || chown "$3" "$open"; } && chmod "$2" "$open" && exec 3>&- && spot_rename "$temporary" "$1"; then
        trap - HUP INT TERM
        return 0
    fi
    rm -f "$temporary"
    return 1
}
put_content() {
    case $1$2 in =*)
        say "${2#=}" >&3 2>/dev/null && return
        # Why it failed, a shell only tells as a number.
        say "${2#=}" | cat >&3
        return 1
        ;;
    esac
    if [ -z "$1" ]; then
        decode >&3 <<END
$2
END
        return
    fi
    # Onto the target's file system first, so that the last step is a rename.
    cat "$2" >&3 || return
    found=$(sha256sum <"$open") || return
    if [ "${found%% *}" != "$1" ]; then
        printf 'the copy arrived with another digest\n' >&2
        return 1
    fi
    rm -f "$2"
}
