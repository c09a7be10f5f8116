# Asks about builds. Parameters: sixes of prefix, name, build directory, source, compiler and CUDA
# directory; where the last three are empty only the prefix is of interest.
provision_dir
memory=$d/digests
# Prints what a directory is made of: its files with what `$1` prints of each, and its links.
listing() {
    found=$(find . -name .git -prune -o -type f -exec "$@" {} + -o -type l -exec stat -c '%s %N' {} +) || return
    [ -z "$found" ] || printf '%s\n' "$found" | sort
}
# Sets $digest to that of what it reads from $1, or of text $2.
digest_of() {
    if [ -n "$1" ]; then
        digest=$(sha256sum <"$1") || exit
    else
        digest=$(printf '%s' "$2" | sha256sum) || exit
    fi
    digest=${digest%% *}
}
# Prints the digest of source $1. It is taken again only when the listing of its files, with their
# times, is another: this costs a hundredth of reading them.
source_digest() {
    digest_of '' "source $1"
    name=$memory/$digest
    if [ -d "$1" ]; then
        listed=$(cd "$1" && listing stat -c '%n %s %i %z') || exit
    else
        listed=$(stat -c '%s %i %z' "$1") || exit
    fi
    digest_of '' "$listed${listed:+$newline}"
    stamp=$digest
    old='' digest=''
    [ ! -r "$name" ] || read -r old digest <"$name"
    if [ "$old" != "$stamp" ] || [ -z "$digest" ]; then
        if [ -d "$1" ]; then
            listed=$(cd "$1" && listing sha256sum) || exit
            digest_of '' "$listed${listed:+$newline}"
        else
            digest_of "$1"
        fi
        (umask 077 && mkdir -p "$memory" && printf '%s %s\n' "$stamp" "$digest" >"$name") 2>/dev/null
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
    # Read, not run: it is text of whoever can write it.
    while IFS='=' read -r key value; do
        value=${value#[\"\']}
        case $key in
        ID) ID=${value%[\"\']} ;;
        VERSION_ID) VERSION_ID=${value%[\"\']} ;;
        esac
    done 2>/dev/null </etc/os-release
    machine=$(uname -m) || exit
    printf 'platform %s %s %s %s\n' "$ID" "$VERSION_ID" "$machine" "$(getconf GNU_LIBC_VERSION 2>/dev/null)"
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
    elif [ -f "$prefix/.provision/stamp" ] && [ -s "$prefix/.provision/stamp" ]; then
        printf 'prefix ours\n'
        text "$prefix/.provision/stamp" ''
        # A line that is only in the list of the build is there once: a file is gone or changed.
        there=$(cd "$prefix" && find . -path ./.provision -prune -o -type f -exec stat -c '%s %n' {} +) || exit
        built=''
        if [ -f "$prefix/.provision/sizes" ]; then
            built=$(cat "$prefix/.provision/sizes") || exit
        fi
        sizes=$(printf '%s\n%s\n%s\n' "$there" "$there" "$built" | sort) || exit
        damaged=$(printf '%s\n' "$sizes" | uniq -u) || exit
        # An empty list is a line here.
        damaged=${damaged#"$newline"}
        damaged=${damaged%%"$newline"*}
        [ -z "$damaged" ] || printf 'damaged %s\n' "${damaged#* ./}"
    else
        entries=.
        if [ -d "$prefix" ]; then
            entries=$(ls -A "$prefix") || exit
        fi
        if [ -z "$entries" ]; then
            printf 'prefix empty\n'
        else
            printf 'prefix foreign\n'
        fi
    fi
    [ -n "$source" ] || continue
    (platform) || exit
    if [ -d "$source" ] || [ -r "$source" ]; then
        source_digest "$source"
    fi
    # Programs of somebody else are not run, and without their versions nothing is known of the build.
    refused=''
    for program in "$compiler" "${cuda:+$cuda/bin/nvcc}"; do
        case $program in /*) ;; *) continue ;; esac
        rooted_may "$program" && continue
        refused=1
        printf 'refused %s is not run: %s\n' "$program" "$rooted_why"
    done
    [ -z "$refused" ] || continue
    if command -v "$compiler" >/dev/null 2>&1; then
        version=$("$compiler" -dumpfullversion 2>/dev/null) || version=$("$compiler" -dumpversion 2>/dev/null) || exit
        machine=$("$compiler" -dumpmachine 2>/dev/null) || exit
        printf 'compiler %s %s %s\n' "$compiler" "$version" "$machine"
    fi
    if [ -n "$cuda" ] && [ -x "$cuda/bin/nvcc" ]; then
        version=$("$cuda/bin/nvcc" --version 2>/dev/null) || exit
        version=$(printf '%s\n' "$version" | sed -n 's/.*release .*, V//p') || exit
        printf 'cuda %s %s\n' "$cuda" "${version:-unknown}"
    fi
    printf 'free %s %s\n' "$(free "$directory")" "$(free "${prefix%/*}")"
done
