# Sends whole files. Parameters: the most bytes that one may have, then paths. What is larger, or is no regular
# file, is told and not sent; a link is followed.
held_or_end=1
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
        # Others can put something else there.
        if ! held "$path"; then
            printf 'refused %s\n%s\n' "$path" "$held_why"
            continue
        fi
        size=${held#* } size=${size%% *}
        if [ "${size:-0}" -gt "$most" ]; then
            printf 'large %s %s\n' "$size" "$path"
        else
            held_text "$path" "$((most + 1))"
        fi
    fi
done
