# Prints where build $1 is made: where $2 says, or below the system's cache.
build_directory() {
    if [ -n "$2" ]; then
        printf '%s' "$2"
    elif [ -w /var/cache ]; then
        printf '/var/cache/provision/build/%s' "$1"
    else
        printf '%s/provision/build/%s' "${XDG_CACHE_HOME:-${HOME:-/root}/.cache}" "$1"
    fi
}
