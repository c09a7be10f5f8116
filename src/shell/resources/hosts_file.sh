# Writes a hosts file. Parameters: the path, the content as for `put`.
if [ -L "$1" ] || { [ -e "$1" ] && [ ! -f "$1" ]; }; then
    printf '%s is not a regular file any more\n' "$1" >&2
    exit 1
fi
mounted=''
while read -r _ _ _ _ point _; do
    [ "$point" != "$1" ] || mounted=1
done </proc/self/mountinfo
if [ -z "$mounted" ]; then
    put "$1" 0644 '' '' "$2" || exit 1
    after "$1"
    exit
fi
# In a container the file is a mount of its own, which cannot be replaced, only written.
scratch=$(mktemp) || exit 1
trap 'rm -f "$scratch"' EXIT
trap 'exit 1' HUP INT TERM
put "$scratch" 0644 '' '' "$2" || exit 1
cat "$scratch" >"$1"
status=$?
rm -f "$scratch"
exit "$status"
