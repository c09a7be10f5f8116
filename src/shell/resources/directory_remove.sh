# Removes a directory with all that is in it, but nothing of another file system that is mounted
# below: then it fails and says where. Parameters: path.
if [ -L "$1" ]; then
    printf '%s is a symbolic link now\n' "$1" >&2
    exit 1
fi
# Not every busybox has `-delete`.
find "$1" -xdev ! -type d -exec rm -f {} + || exit 1
find "$1" -xdev -depth -type d -exec rmdir {} +
