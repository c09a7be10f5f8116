# Sets mode and owner. Parameters: path, mode or empty, ownership or empty.
if [ -L "$1" ]; then
    printf '%s is a symbolic link now\n' "$1" >&2
    exit 1
fi
# The owner first: it takes setuid and setgid away.
if [ -n "$3" ]; then
    chown -h "$3" "$1" || exit 1
fi
if [ -n "$2" ]; then
    chmod "$2" "$1" || exit 1
fi
