# Gets a URL with what is there: curl, wget, or the helper that every apt has.
# Parameters of `get`: the URL, a file, which is continued when it is there, and the most KiB that it may have; else
# it may fill nine tenths of what is free. 90 is no tool at all, 91 a server that does not continue, 92 too much: the
# file is removed then.
get() {
    get_most=${3-}
    if [ -z "$get_most" ]; then
        get_most=$(get_room "$2") || return
    fi
    # Of bash, where it is not called sh, a block has 1024 bytes; of all others 512.
    get_blocks=$((get_most * 2))
    # shellcheck disable=SC3028
    [ -z "${BASH_VERSION-}" ] || case :${SHELLOPTS-}: in *:posix:*) ;; *) get_blocks=$get_most ;; esac
    # Servers need not say how much they send: the system ends whoever writes more.
    (
        ulimit -f "$get_blocks" || exit
        get_by "$1" "$2"
    )
    got=$?
    case $got in 0 | 90 | 91) return "$got" ;; esac
    [ -f "$2" ] && get_had=$(stat -c %s "$2") && [ "$((get_had / 1024))" -ge "$get_most" ] || return "$got"
    rm -f "$2"
    printf 'there is more of it than %s MiB, which is as much as it may have here\n' "$((get_most / 1024))" >&2
    return 92
}
# Prints nine tenths of the KiB that are free for file $1, what it has already aside.
get_room() {
    get_free=$(df -Pk "${1%/*}") || return
    get_free=${get_free##*
}
    get_file=$1
    # Before the share that is used stands what is free; names of file systems and of places may have blanks.
    # shellcheck disable=SC2086
    set -- ${get_free%%\%*}
    while [ $# -gt 2 ]; do
        shift
    done
    get_free=$1
    get_had=0
    [ ! -f "$get_file" ] || get_had=$(stat -c %s "$get_file") || return
    printf '%s\n' "$((get_free * 9 / 10 + get_had / 1024))"
}
get_by() {
    case $1 in
    file://*)
        rm -f "$2"
        cp "${1#file://}" "$2"
        return
        ;;
    esac
    if command -v curl >/dev/null 2>&1; then
        # A transfer that stands still for a minute has ended.
        curl -fsSL --connect-timeout 20 --speed-limit 1 --speed-time 60 --retry 3 -C - -o "$2" -- "$1"
        got=$?
        case $got in 22 | 33 | 36) [ ! -s "$2" ] || return 91 ;; esac
        return "$got"
    fi
    if command -v wget >/dev/null 2>&1; then
        # `-q` would not say why it failed.
        errors=$(wget -c -T 60 -O "$2" -- "$1" 2>&1)
        got=$?
        [ "$got" = 0 ] || printf '%s\n' "$errors" | tail -n 3 >&2
        case $got in 1 | 8) [ ! -s "$2" ] || return 91 ;; esac
        return "$got"
    fi
    if [ -x /usr/lib/apt/apt-helper ]; then
        # It unpacks nothing and checks nothing: it is given no digest.
        /usr/lib/apt/apt-helper -q -o Acquire::Retries=3 -o APT::Sandbox::User=root download-file "$1" "$2" >&2
        return
    fi
    printf 'neither curl nor wget is here to get %s: install one of them first\n' "$1" >&2
    return 90
}
