# Removes a file or a link.
# Parameters: path
reach "$1" '*' || exit 1
if [ "$spot_kind" = directory ]; then
    printf '%s is a directory now\n' "$1" >&2
    exit 1
fi
words=$(rm -f "$spot" 2>&1) || {
    spot_mounted "$spot" || printf '%s\n' "$words" >&2
    exit 1
}
after "$1"
