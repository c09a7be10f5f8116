#!/bin/sh
# A stand-in of the lab for a tool whose hardware is not there: it plays what a real one printed, as
# the hardware profile of this lab host has it, and refuses what was not recorded.
tool=${0##*/}
folder=/lab-profile/tools/$tool
play() {
    [ "$2" != hangs ] || exec sleep 100000
    cat "$folder/$1"
    exit "$2"
}
# Any fields of a recorded table: the columns that are asked for, by the names in its first line.
query() {
    fields=${1#*=}
    format=$2
    while read -r number status arguments; do
        case $arguments in "${1%%=*}=*"*) ;; *) continue ;; esac
        [ "$status" = 0 ] || play "$number" "$status"
        awk -F ', ' -v fields="$fields" -v format="$format" '
            BEGIN { OFS = ", "; count = split(fields, want, ",") }
            NR == 1 {
                for (i = 1; i <= NF; i++) { name = $i; sub(/ \[.*/, "", name); column[name] = i }
                for (i = 1; i <= count; i++) if (!(want[i] in column)) {
                    printf "Field \"%s\" is not a valid field to query.\n", want[i]; exit 2
                }
            }
            NR > 1 || format !~ /noheader/ {
                line = ""
                for (i = 1; i <= count; i++) {
                    value = $(column[want[i]])
                    if (NR > 1 && format ~ /nounits/) sub(/ (MiB|W|%|MHz)$/, "", value)
                    line = line (i > 1 ? OFS : "") value
                }
                print line
            }' "$folder/$number"
        exit
    done <"$folder/index"
}
while read -r number status arguments; do
    [ "$arguments" != "$*" ] || play "$number" "$status"
done <"$folder/index"
case $1 in --query-*=*) query "$1" "$2" ;; esac
if [ -e "$folder/real" ]; then
    for real in /usr/sbin /usr/bin /sbin /bin; do
        [ ! -x "$real/$tool" ] || exec "$real/$tool" "$@"
    done
    exit 127
fi
echo "$tool of the lab: \`$tool $*\` was not recorded for this hardware profile" >&2
exit 97
