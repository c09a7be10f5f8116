# Writes a file. Parameters: those of `put`.
if [ -L "$1" ] || { [ -e "$1" ] && [ ! -f "$1" ]; }; then
    printf '%s is not a regular file any more\n' "$1" >&2
    exit 1
fi
put "$@" || exit 1
after "$1"
