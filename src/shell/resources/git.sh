# Checks a revision out. Parameters: path, URL, kind (`commit`, `tag` or `branch`), its name, the commit
# that a tag must be (or empty), `force` or empty.
path=$1 url=$2 kind=$3 name=$4 commit=$5 force=$6
export GIT_TERMINAL_PROMPT=0 GIT_CONFIG_NOSYSTEM=1
here() { git -C "$path" "$@"; }
if [ ! -e "$path/.git" ]; then
    # A clone that was cut is not taken for one: HEAD is the last thing that is written.
    mkdir -p "$path" && here init -q || exit 1
fi
if ! here config remote.origin.url "$url"; then
    here remote add origin "$url" || exit 1
fi
case $kind in
commit) wanted=$name from=$name ;;
tag) wanted="refs/tags/$name^{commit}" from="+refs/tags/$name:refs/tags/$name" ;;
branch) wanted="refs/remotes/origin/$name" from="+refs/heads/$name:refs/remotes/origin/$name" ;;
*) exit 2 ;;
esac
has() { here rev-parse -q --verify "$wanted^{commit}" >/dev/null 2>&1; }
if [ "$kind" = branch ] || ! has; then
    # Only that revision; a server that cannot do so (plain files over http) gives all of them.
    here fetch -q --no-tags --depth 1 origin "$from" 2>/dev/null || {
        case $kind in
        commit) here fetch -q --tags origin '+refs/heads/*:refs/remotes/origin/*' ;;
        *) here fetch -q --no-tags origin "$from" ;;
        esac
    } || exit 1
fi
if ! has; then
    printf '%s has no %s %s\n' "$url" "$kind" "$name" >&2
    exit 1
fi
found=$(here rev-parse "$wanted^{commit}") || exit 1
if [ -n "$commit" ] && [ "$found" != "$commit" ]; then
    printf '%s: the tag %s is commit %s, not %s\n' "$url" "$name" "$found" "$commit" >&2
    exit 1
fi
if [ "$force" = force ]; then
    here checkout -q --detach --force "$found"
else
    here checkout -q --detach "$found"
fi
