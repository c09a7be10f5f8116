# Gets a URL with what is there: curl, wget, or the helper that every apt has.
# Parameters of `get`: the URL, a file, which is continued when it is there. 90 is no tool at all, 91 a
# server that does not continue.
get() {
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
