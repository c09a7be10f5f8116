# What building and receiving a prefix have in common.
# Makes a fresh directory $stage for build $1 beside its prefix $2, on its file system. Nobody else sees what is in it.
stage() {
    name=$1 prefix=$2
    parent=${prefix%/*}
    stage=$parent/.provision-$name-new
    (reach "$prefix" '' make && spot_alone sticky) && rm -rf "$stage" && mkdir -m 700 "$stage"
}
# Takes from others the right to change what is here: modes in archives and makefiles know no umask. With the sticky bit a
# directory is meant for all.
close_modes() {
    find . ! -type l ! '(' -type d -perm -1000 ')' '(' -perm -20 -o -perm -2 ')' -exec chmod go-w '{}' +
}
# Prints the digests of all files of the directory we are in.
files() {
    found=$(find . -path ./.provision -prune -o -type f -exec sha256sum {} +) || return
    [ -z "$found" ] || printf '%s\n' "$found" | sort -k 2
}
# Prints its links and where they point.
links() {
    # shellcheck disable=SC2016 # expands in the inner shell
    found=$(find . -path ./.provision -prune -o -type l \
        -exec sh -c 'for link; do to=$(readlink "$link") || exit; printf "%s -> %s\n" "$link" "$to"; done' sh {} +) || return
    [ -z "$found" ] || printf '%s\n' "$found" | sort
}
# Puts directory $1 in the place of the prefix.
switch() {
    old=$parent/.provision-$name-old
    rm -rf "$old" || return
    if [ -e "$prefix" ]; then
        mv -T "$prefix" "$old" || return
    fi
    if ! mv -T "$1" "$prefix"; then
        [ ! -e "$old" ] || mv -T "$old" "$prefix"
        return 1
    fi
    rm -rf "$old" "$stage"
    if command -v restorecon >/dev/null 2>&1; then
        restorecon -R "$prefix" 2>/dev/null || :
    fi
}
