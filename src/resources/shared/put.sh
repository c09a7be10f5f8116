# Writes a file by a temporary one beside it. The temporary file is only ever touched through its
# descriptor and never opened through a link (`set -C` is O_EXCL), so that a directory that
# belongs to somebody else cannot lead us away.
# Parameters of `put`: `./` and a name where `reach` went, mode, ownership (`owner:group` or empty), digest of an uploaded copy
# (or empty), content (`=` and text, or base64) or the path of that copy.
put() {
    umask 077
    beside=
    [ -z "$4" ] || [ "$spot_held" != closed ] || beside=$(readlink "$5")
    if [ -n "$beside" ] && [ "$beside" = "$spot_way/.provision.upload.${5##*/}" ]; then
        # It was sent to where it belongs, and nobody else can change what is here.
        beside=./${beside##*/}
        put_proven "$4" "$5" <"$beside" && { [ -z "$3" ] || chown "$3" "$beside"; } && chmod "$2" "$beside" || return
        if [ -z "${put_words-}" ] || put_passes "$beside" "$1"; then
            spot_rename "$beside" "$1" && put_forget "$5"
            return
        fi
        put_forget "$5"
        return 1
    fi
    # What a fetch has just brought is such a file as well.
    case $5 in ./.provision.*) ;; *) spot_sweep ;; esac
    temporary=
    { read -r temporary </proc/sys/kernel/random/uuid; } 2>/dev/null
    temporary=./.provision.${temporary:-$$}
    # A tool may go by how a name ends.
    [ -z "${put_words-}" ] || temporary=$temporary.${1#./}
    set -C
    exec 3>"$temporary" || return
    set +C
    trap 'rm -f "$temporary"; exit 1' HUP INT TERM
    open=/proc/self/fd/3
    # Only a chroot that nobody else is in has no /proc.
    [ -e "$open" ] || open=$temporary
    if put_content "$4" "$5" && { [ -z "$3" ] || spot_mine "$3" "$open" || chown "$3" "$open"; } && chmod "$2" "$open" && exec 3>&- && { [ -z "${put_words-}" ] || put_passes "$temporary" "$1"; } && spot_rename "$temporary" "$1"; then
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
        decode >&3 <<END || return
$2
END
        # The `base64` of uutils does not say what found no room.
        [ "$(say "$2" | decode | wc -c)" -eq "$(wc -c <"$open")" ] && return
        printf 'cannot write all of %s\n' "$spot_way/${spot#./}" >&2
        return 1
    fi
    # Onto the target's file system first, so that the last step is a rename.
    words=$(cat "$2" 2>&1 >&3) || {
        put_forget "$2"
        printf 'cannot write %s: %s\n' "$spot_way/${spot#./}" "${words##*: }" >&2
        return 1
    }
    put_proven "$1" "$2" <"$open" && put_forget "$2"
}
# Whether what is read has digest $1; else copy $2 is of no use.
put_proven() {
    found=$(sha256sum) || return
    [ "${found%% *}" != "$1" ] || return 0
    put_forget "$2"
    printf 'the copy arrived with another digest\n' >&2
    return 1
}
# Takes away copy $1, with what it is a link to and what says who wrote it.
put_forget() {
    led=$(readlink "$1")
    case $led in */.provision.upload."${1##*/}") rm -f "$led" ;; esac
    rm -f "$1" "$1.writer"
    case $1 in /var/tmp/*) rmdir "${1%/*}" 2>/dev/null || : ;; esac
}
