# Writes a file of a user's ~/.ssh, which is the directory. The content is as for `put`.
# Parameters: directory uid gid name content
ssh_directory "$1" "$2" "$3" || exit 1
if [ -L "./$4" ]; then
    printf '%s/%s is a symbolic link\n' "$1" "$4" >&2
    exit 1
fi
put "./$4" 0600 "$2:$3" '' "$5" || exit 1
if command -v restorecon >/dev/null 2>&1; then
    restorecon . "./$4" 2>/dev/null || :
fi
