# Prints the entries of apt for some repositories, with the keys that each takes: what two files say of one repository
# must not differ. Parameters: URLs without a `/` at their end.
command -v apt-get >/dev/null 2>&1 || {
    printf 'no apt\n'
    exit
}
# One line for each entry that holds: file|suites|what signs it.
entries() {
    for file in /etc/apt/sources.list /etc/apt/sources.list.d/*; do
        [ -r "$file" ] || continue
        case $file in
        *.list)
            awk -v url="$1" -v file="$file" '
                $1 == "deb" {
                    line = $0; signed = ""
                    sub(/#.*/, "", line)
                    if (match(line, /\[[^]]*\]/)) {
                        count = split(substr(line, RSTART + 1, RLENGTH - 2), options, " ")
                        for (i = 1; i <= count; i++)
                            if (tolower(substr(options[i], 1, 10)) == "signed-by=") signed = substr(options[i], 11)
                        sub(/\[[^]]*\]/, "", line)
                    }
                    split(line, words, " ")
                    sub(/\/+$/, "", words[2])
                    gsub(/,/, " ", signed)
                    if (words[2] == url) print file "|" words[3] "|" signed
                }' "$file" || exit 1
            ;;
        *.sources)
            awk -v url="$1" -v file="$file" '
                BEGIN { RS = ""; FS = "\n" }
                {
                    key = ""; on = 1
                    split("", field)
                    for (i = 1; i <= NF; i++) {
                        if ($i ~ /^#/) continue
                        value = $i
                        if ($i !~ /^[ \t]/) {
                            key = tolower(substr($i, 1, index($i, ":") - 1))
                            value = substr($i, index($i, ":") + 1)
                        }
                        field[key] = field[key] " " value
                    }
                    if (field["enabled"] ~ /no|false|without|off|disable|0/ || field["types"] " " !~ /deb /) on = 0
                    count = split(field["uris"], words, " ")
                    for (i = 1; i <= count; i++) {
                        sub(/\/+$/, "", words[i])
                        if (on && words[i] == url) print file "|" field["suites"] "|" field["signed-by"]
                    }
                }' "$file" || exit 1
            ;;
        esac
    done
}
# Prints the fingerprints in a file, in a home that is made for it.
ended=''
keys() {
    [ -r "$1" ] && command -v gpg >/dev/null 2>&1 || return 0
    home=$(mktemp -d) || exit 1
    found=$(gpg --homedir "$home" --batch --with-colons --show-keys "$1" 2>/dev/null) || ended=1
    rm -rf "$home"
    [ -z "$ended" ] || exit 1
    printf '%s\n' "$found" |
        awk -F: '$1 == "pub" { primary = 1 } $1 == "fpr" && primary { print "key " $10; primary = 0 }' || exit 1
}
for url; do
    printf 'url %s\n' "$url"
    found=$(entries "$url") || exit 1
    [ -n "$found" ] || continue
    while IFS='|' read -r file suites signed; do
        printf 'entry %s\nsuites %s\nsigned %s\n' "$file" "$suites" "$signed"
        for word in $signed; do
            case $word in
            # Of a file with several keys, those that are named count.
            /*) case $signed in
                *' '*[0-9A-Fa-f]) ;;
                *) keys "$word" ;;
                esac ;;
            # A key as text is left unread.
            *[!0-9A-Fa-f!]*) ;;
            *) [ "${#word}" -lt 40 ] || printf 'key %s\n' "$word" ;;
            esac
        done
    done <<END
$found
END
done
printf 'end\n'
