# Removes a file or a link. Parameters: path.
if [ -d "$1" ] && [ ! -L "$1" ]; then
    printf '%s is a directory now\n' "$1" >&2
    exit 1
fi
rm -f "$1" || exit 1
after "$1"
