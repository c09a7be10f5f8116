# Makes the cache of the dynamic loader anew. What names these directories is told: the loader takes
# their libraries first though it should not.
# Parameters: path directory...
path=$1
shift
[ -z "$path" ] || rooted_below "$path" || {
    printf '%s: every program would load its libraries\n' "$rooted_why" >&2
    exit 1
}
ldconfig || exit
for directory; do
    for file in /etc/ld.so.conf /etc/ld.so.conf.d/*.conf; do
        [ -r "$file" ] || continue
        grep -qxF -- "$directory" "$file"
        case $? in
        0) printf '%s is named by %s\n' "$directory" "$file" ;;
        1) ;;
        *) exit 1 ;;
        esac
    done
done
