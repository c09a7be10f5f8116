# Fetches a file into place. Parameters: path, mode, ownership, digest, URL.
if [ -L "$1" ] || { [ -e "$1" ] && [ ! -f "$1" ]; }; then
    printf '%s is not a regular file any more\n' "$1" >&2
    exit 1
fi
fetch "$5" "$4" && put "$1" "$2" "$3" "$4" "$fetched" || exit 1
after "$1"
