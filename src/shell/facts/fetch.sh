# Sends whole files. Parameters: the most bytes that one may have, then paths. What is larger, or is no regular
# file, is told and not sent; a link is followed.
most=$1
shift
for path; do
    if [ ! -e "$path" ]; then
        parent=${path%/*}
        while [ -n "$parent" ] && [ ! -e "$parent" ]; do parent=${parent%/*}; done
        if [ -d "${parent:-/}" ] && [ ! -x "${parent:-/}" ]; then
            printf 'unreadable %s\n' "$path"
        else
            printf 'absent %s\n' "$path"
        fi
    elif [ ! -f "$path" ]; then
        printf 'other %s\n' "$path"
    elif [ ! -r "$path" ]; then
        printf 'unreadable %s\n' "$path"
    else
        size=$(stat -L -c %s "$path" 2>/dev/null)
        if [ "${size:-0}" -gt "$most" ]; then
            printf 'large %s %s\n' "$size" "$path"
        else
            text "$path" "$size" "$((most + 1))"
        fi
    fi
done
