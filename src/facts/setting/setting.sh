# Asks what small files of the kernel hold. Parameters: paths. One process reads all of them, in
# whole blocks: dash reads byte by byte, and of a number in /proc/sys only the first byte can be had
# that way.
newline='
'
told=''
for path; do
    shift
    if [ ! -e "$path" ]; then
        told="${told}absent $path$newline"
        continue
    fi
    if [ -w "$path" ]; then
        told="${told}rw $path$newline"
    else
        told="${told}ro $path$newline"
    fi
    if [ -r "$path" ]; then
        told="${told}read $path$newline"
        set -- "$@" "$path"
    fi
done
# Told at once: each piece would be a packet.
printf '%svalues\n' "$told"
[ $# -eq 0 ] || grep '' /dev/null "$@" 2>/dev/null
printf 'end %s\n' "$?"
