# Asks about builds. Parameters: sixes of prefix, name, build directory, source, compiler and CUDA
# directory; where the last three are empty only the prefix is of interest.
provision_dir
memory=$d/digests
# Prints what a directory is made of: its files with what `$1` prints of each, and its links.
listing() {
    find . -name .git -prune -o -type f -exec "$@" {} + -o -type l -exec stat -c '%s %N' {} + | sort
}
# Prints the digest of source $1. It is taken again only when the listing of its files, with their
# times, is another: this costs a hundredth of reading them.
source_digest() {
    name=$(printf 'source %s' "$1" | sha256sum)
    name=$memory/${name%% *}
    if [ -d "$1" ]; then
        stamp=$(cd "$1" && listing stat -c '%n %s %i %z' | sha256sum)
    else
        stamp=$(stat -c '%s %i %z' "$1" | sha256sum)
    fi
    old='' digest=''
    [ ! -r "$name" ] || read -r old digest <"$name"
    if [ "$old" != "${stamp%% *}" ] || [ -z "$digest" ]; then
        if [ -d "$1" ]; then
            digest=$(cd "$1" && listing sha256sum | sha256sum)
        else
            digest=$(sha256sum <"$1")
        fi
        digest=${digest%% *}
        (umask 077 && mkdir -p "$memory" && printf '%s %s\n' "${stamp%% *}" "$digest" >"$name") 2>/dev/null
    fi
    printf 'source %s\n' "$digest"
}
# Prints the free space in KiB where path $1 is or will be.
free() {
    path=$1
    while [ ! -d "$path" ]; do
        path=${path%/*}
        path=${path:-/}
    done
    df -Pk "$path" 2>/dev/null | {
        read -r _
        read -r _ _ _ kib _
        printf '%s' "$kib"
    }
}
# Prints what decides where a result runs: system, version, machine, C library.
platform() {
    ID='' VERSION_ID=''
    # shellcheck source=/dev/null
    [ ! -r /etc/os-release ] || . /etc/os-release
    printf 'platform %s %s %s %s\n' "$ID" "$VERSION_ID" "$(uname -m)" "$(getconf GNU_LIBC_VERSION 2>/dev/null)"
}
number=0
while [ $# -ge 6 ]; do
    printf 'build %s\n' "$number"
    number=$((number + 1))
    prefix=$1 source=$4 compiler=$5 cuda=$6
    directory=$(build_directory "$2" "$3")
    shift 6
    if [ -L "$prefix" ]; then
        printf 'prefix link\n'
    elif [ ! -e "$prefix" ]; then
        printf 'prefix absent\n'
    elif [ -s "$prefix/.provision/stamp" ]; then
        printf 'prefix ours\n'
        text "$prefix/.provision/stamp" ''
        # A line that is only in the list of the build is there once: a file is gone or changed.
        damaged=$(cd "$prefix" && {
            find . -path ./.provision -prune -o -type f -exec stat -c '%s %n' {} + | sed p
            cat .provision/sizes
        } | sort | uniq -u | head -n 1)
        [ -z "$damaged" ] || printf 'damaged %s\n' "${damaged#* ./}"
    elif [ -d "$prefix" ] && [ -z "$(ls -A "$prefix")" ]; then
        printf 'prefix empty\n'
    else
        printf 'prefix foreign\n'
    fi
    [ -n "$source" ] || continue
    (platform)
    if [ -d "$source" ] || [ -r "$source" ]; then
        source_digest "$source"
    fi
    if command -v "$compiler" >/dev/null 2>&1; then
        version=$("$compiler" -dumpfullversion 2>/dev/null) || version=$("$compiler" -dumpversion 2>/dev/null)
        printf 'compiler %s %s %s\n' "$compiler" "$version" "$("$compiler" -dumpmachine 2>/dev/null)"
    fi
    if [ -n "$cuda" ] && [ -x "$cuda/bin/nvcc" ]; then
        version=$("$cuda/bin/nvcc" --version 2>/dev/null | sed -n 's/.*release .*, V//p')
        printf 'cuda %s %s\n' "$cuda" "${version:-unknown}"
    fi
    printf 'free %s %s\n' "$(free "$directory")" "$(free "${prefix%/*}")"
done
