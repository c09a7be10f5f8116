# Fetches into the cache of the host, where an interrupted transfer is continued and what is there is
# not fetched again. Parameters of `fetch`: the URL, the digest. Sets $fetched to the file.
fetch() {
    cache=/var/cache/provision
    [ -w /var/cache ] || cache=${XDG_CACHE_HOME:-${HOME:-/tmp}/.cache}/provision/fetched
    (umask 077 && mkdir -p "$cache") || return
    fetched=$cache/$2
    fetch_is "$fetched" "$2" && return
    part=$fetched.part
    if ! fetch_is "$part" "$2"; then
        continued=no
        [ ! -s "$part" ] || continued=yes
        get "$1" "$part"
        got=$?
        # A part of something else, or a server that sends whole files only.
        if [ "$continued" = yes ] && { [ "$got" = 91 ] || { [ "$got" = 0 ] && ! fetch_is "$part" "$2"; }; }; then
            rm -f "$part"
            get "$1" "$part"
            got=$?
        fi
        if [ "$got" != 0 ]; then
            printf 'cannot get %s\n' "$1" >&2
            return 1
        fi
        if ! fetch_is "$part" "$2"; then
            printf '%s has the SHA-256 %s, not %s\n' "$1" "$digest" "$2" >&2
            rm -f "$part"
            return 1
        fi
    fi
    mv -f "$part" "$fetched"
}
# Whether file $1 has digest $2.
fetch_is() {
    [ -f "$1" ] && digest=$(sha256sum <"$1") || return
    digest=${digest%% *}
    [ "$digest" = "$2" ]
}
