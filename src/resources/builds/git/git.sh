# Checks a revision out: a `commit`, `tag` or `branch` by its name. A tag must be the commit, where that is
# not empty; `force` or empty.
# Parameters: path url kind name commit force
path=$1 url=$2 kind=$3 name=$4 commit=$5 force=$6
export GIT_TERMINAL_PROMPT=0 GIT_CONFIG_NOSYSTEM=1
reach "$path" '' make || exit 1
case $spot_kind in
none) spot_make 022 "$spot" || exit 1 ;;
directory) spot_enter || exit 1 ;;
*)
    printf '%s is no directory: take it away, or name where it leads to\n' "$path" >&2
    exit 1
    ;;
esac
case $spot_owner in
0 | "$spot_me") ;;
*)
    # Its hooks and its configuration would run as us.
    printf '%s belongs to user %s: git works as root in a checkout of root only\n' "$path" "$spot_owner" >&2
    exit 1
    ;;
esac
refused() {
    printf 'git is not run here: %s\n' "$rooted_why" >&2
    exit 1
}
# Where others may add a name, `.git` could become a link while it is made.
rooted "$path" || refused
if git_cut .git; then
    rooted_below "$path/.git" || refused
    # An empty one would be kept.
    rm -f .git/HEAD
fi
if git_cut .git || ! { [ -e .git ] || [ -L .git ]; }; then
    git -c core.hooksPath=/dev/null init -q --template= || exit 1
fi
git_rooted "$path/.git" || refused
if ! our_git config remote.origin.url "$url"; then
    our_git remote add origin "$url" || exit 1
fi
# Which files git has settings from can depend on the URL.
git_settings "$path/.git" || refused
case $kind in
commit) wanted=$name from=$name ;;
tag) wanted="refs/tags/$name^{commit}" from="+refs/tags/$name:refs/tags/$name" ;;
branch) wanted="refs/remotes/origin/$name" from="+refs/heads/$name:refs/remotes/origin/$name" ;;
*) exit 2 ;;
esac
# A submodule may be a repository of somebody else, whose configuration names programs: git is kept out of them.
has() { our_git rev-parse -q --verify "$wanted^{commit}" >/dev/null 2>&1; }
if [ "$kind" = branch ] || ! has; then
    # Only that revision; a server that cannot do so (plain files over http) gives all of them.
    our_git fetch -q --no-recurse-submodules --no-tags --depth 1 origin "$from" 2>/dev/null || {
        case $kind in
        commit) our_git fetch -q --no-recurse-submodules --tags origin '+refs/heads/*:refs/remotes/origin/*' ;;
        *) our_git fetch -q --no-recurse-submodules --no-tags origin "$from" ;;
        esac
    } || exit 1
fi
if ! has; then
    printf '%s has no %s %s\n' "$url" "$kind" "$name" >&2
    exit 1
fi
found=$(our_git rev-parse "$wanted^{commit}") || exit 1
if [ -n "$commit" ] && [ "$found" != "$commit" ]; then
    printf '%s: the tag %s is commit %s, not %s\n' "$url" "$name" "$found" "$commit" >&2
    exit 1
fi
# A directory of somebody else can become a link while files are written into it, or taken away from it.
their_files() {
    [ "$spot_me" = 0 ] || return 0
    # A name with a line feed is told as a slash.
    entries=$(find . -name .git -prune -o -type d -name '*
*' -prune -exec echo / ';' -o -type d '(' ! -user 0 -o -perm -2 -o -perm -20 ! -group 0 ')' -prune -print -o \
        -type d -perm -20 -exec ls -ldn -- '{}' +) || return
    while IFS= read -r place; do
        case $place in
        . | ./*) ;;
        /)
            printf 'a directory in %s has a line feed in its name\n' "$path" >&2
            return 1
            ;;
        # With an access list the bits of the group are its mask.
        d?????????+*) place=.${place#* .} ;;
        *) continue ;;
        esac
        ! their_place || {
            printf 'others than root may change %s%s, and the checkout has files in it\n' "$path" "${place#.}" >&2
            return 1
        }
    done <<END
$entries
END
}
# Whether git would work in $place: it has files there, will have some, or will have one in the place of what it is in.
their_place() {
    [ "$place" != . ] || return 0
    # A submodule has none.
    our_git --literal-pathspecs ls-files -s -- "$place" | grep -v '^160000' >/dev/null && return
    up=$place
    until [ "$up" = . ]; do
        case $(our_git cat-file -t "$found:${up#./}" 2>/dev/null) in
        blob) return 0 ;;
        tree) [ "$up" != "$place" ] || return 0 ;;
        esac
        up=${up%/*}
    done
    return 1
}
their_files || exit 1
if [ "$force" = force ]; then
    our_git checkout -q --no-recurse-submodules --detach --force "$found"
else
    our_git checkout -q --no-recurse-submodules --detach "$found"
fi
