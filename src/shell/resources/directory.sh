# Makes a directory and those above it. Parameters: path, mode, ownership or empty.
path=$1
parent=${path%/*}
if [ -n "$parent" ] && [ ! -d "$parent" ]; then
    (umask 022 && mkdir -p "$parent") || exit 1
fi
mkdir -m "$2" "$path" || exit 1
if [ -n "$3" ]; then
    chown -h "$3" "$path" || exit 1
fi
after "$path"
