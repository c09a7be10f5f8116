# Asks what small files of the kernel hold. Parameters: paths. One process reads all of them, in
# whole blocks: dash reads byte by byte, and of a number in /proc/sys only the first byte can be had
# that way.
for path; do
    shift
    if [ ! -e "$path" ]; then
        printf 'absent %s\n' "$path"
        continue
    fi
    if [ -w "$path" ]; then
        printf 'rw %s\n' "$path"
    else
        printf 'ro %s\n' "$path"
    fi
    if [ -r "$path" ]; then
        printf 'read %s\n' "$path"
        set -- "$@" "$path"
    fi
done
printf 'values\n'
[ $# -eq 0 ] || grep '' /dev/null "$@" 2>/dev/null
printf 'end %s\n' "$?"
