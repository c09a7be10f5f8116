# Asks what the cache of the dynamic loader has of the libraries in directories. Parameters: directories.
cache=''
has=''
if command -v ldconfig >/dev/null 2>&1; then
    has=1
    cache=$(ldconfig -p 2>/dev/null) || exit 1
fi
# Without these nobody is found who may change a directory.
ls -d / >/dev/null && find / -prune >/dev/null || exit 1
for directory; do
    printf 'loader\n'
    [ -z "$has" ] || printf 'has ldconfig\n'
    [ ! -d "$directory" ] || rooted_below "$directory" || printf 'refused %s\n' "$rooted_why"
    set --
    for file in "$directory"/lib*.so.*; do
        name=${file##*/}
        # libnccl.so.2 is what programs ask for, libnccl.so.2.30.7 is not.
        case ${name##*.so.} in *[!0-9]* | '') continue ;; esac
        # Of somebody's own directory: it would be several lines.
        case $name in *[[:cntrl:]]*) continue ;; esac
        [ -e "$file" ] || continue
        printf 'library %s\n' "$name"
        set -- "$@" -e "	$name ("
    done
    [ $# -eq 0 ] || printf '%s\n' "$cache" | grep -F "$@" || [ $? = 1 ] || exit 1
done
printf 'end\n'
