# Writes a hosts file. The content is as for `put`.
# Parameters: path content
reach "$1" '' && spot_plain || exit 1
mounted=''
while read -r _ _ _ _ point _; do
    [ "$point" != "$1" ] || mounted=1
done </proc/self/mountinfo
if [ -z "$mounted" ]; then
    put "$spot" 0644 '' '' "$2" || exit 1
    after "$1"
    exit
fi
# In a container the file is a mount of its own, which cannot be replaced, only written.
scratch=$(mktemp) || exit 1
trap 'rm -f "$scratch"' EXIT
trap 'exit 1' HUP INT TERM
exec 3>"$scratch" || exit 1
put_content '' "$2" || exit 1
exec 3>&-
cat "$scratch" >"$spot"
