# Removes a directory with all that is in it, but nothing of another file system that is mounted
# below: then it fails and says where.
# Parameters: path
reach "$1" '*' || exit 1
if [ "$spot_kind" != directory ]; then
    printf '%s is not a directory any more\n' "$1" >&2
    exit 1
fi
# Holds on to the directories that it is in, whatever is put in their place.
if find /dev/null ! -name null -delete 2>/dev/null; then
    find "$spot" -xdev -delete
    exit
fi
# Not every busybox has `-delete`, and names may be led elsewhere by who owns a directory of them.
others=$(find "$spot" -xdev -type d ! -user "$spot_me" ! -user 0) || exit 1
if [ -n "$others" ]; then
    printf 'find has no -delete here, without which %s and what is below cannot be removed safely: give it to root first\n' \
        "${others%%"
"*}" >&2
    exit 1
fi
find "$spot" -xdev ! -type d -exec rm -f {} + || exit 1
find "$spot" -xdev -depth -type d -exec rmdir {} +
