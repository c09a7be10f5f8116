# Makes or turns a symbolic link. Parameters: path, target.
if [ -e "$1" ] && [ ! -L "$1" ]; then
    printf '%s is not a symbolic link any more\n' "$1" >&2
    exit 1
fi
ln -sfn "$2" "$1" || exit 1
after "$1"
