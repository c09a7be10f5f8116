newline='
'
tab='	'
# Prints the text of file $1, which has $2 bytes: short printable text as it is, each line behind
# `|`, read by the shell itself, since each process is a millisecond; other text in base64, and of
# a long or unknown size at most $3 bytes (64 KiB and one).
text() {
    printf 'text %s\n' "$1"
    case $2 in
    [0-9] | [0-9][0-9] | [0-9][0-9][0-9] | [1-3][0-9][0-9][0-9])
        count=0 printable=''
        while IFS= read -r line; do
            case $line in *[!' '-~"$tab"]*) break ;; esac
            count=$((count + ${#line} + 1))
            printable="$printable|$line$newline"
        done <"$1"
        if [ "$count" = "$2" ]; then
            printf '%s' "$printable"
        else
            base64 "$1"
        fi
        ;;
    [0-9][0-9][0-9][0-9] | [1-5][0-9][0-9][0-9][0-9]) base64 "$1" ;;
    *) head -c "${3:-65537}" "$1" | base64 ;;
    esac
    printf '.\n'
}
