# Makes the cache of the dynamic loader anew. What names these directories is told: the loader takes
# their libraries first though it should not.
# Parameters: directory...
PATH=$PATH:/usr/sbin:/sbin
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
