newline='
'
tab='	'
# Prints the text of file $1, which has $2 bytes: short printable text as it is, each line behind
# `|`, read by the shell itself, which takes a microsecond for each byte and for a process a thousand;
# other text in base64, and of a long or unknown size at most $3 bytes (64 KiB and one). With $4 it is read from there.
text() {
    set -- "$1" "$2" "${3:-65537}" "${4:-$1}"
    case $2 in
    [0-9] | [0-9][0-9] | [0-9][0-9][0-9])
        count=0 printable=''
        while IFS= read -r line; do
            case $line in *[!' '-~"$tab"]*) break ;; esac
            count=$((count + ${#line} + 1))
            printable="$printable|$line$newline"
        done <"$4"
        if [ "$count" = "$2" ]; then
            printf 'text %s\n%s.\n' "$1" "$printable"
            return
        fi
        ;;
    esac
    printf 'text %s\n' "$1"
    case $2 in
    '' | *[!0-9]* | [6-9][0-9][0-9][0-9][0-9] | ??????*) encoded=$({ { head -c "$3" "$4" || printf '!' >&4; } | encode; } 4>&1) ;;
    *) encoded=$(encode <"$4") ;;
    esac || encoded='!'
    # No base64: an empty text would be taken for that of the file.
    [ -n "$encoded" ] || [ ! -s "$4" ] || encoded='!'
    printf '%s\n.\n' "$encoded"
}
