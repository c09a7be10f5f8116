# Makes the cache of the dynamic loader anew. Parameters: directories whose libraries the loader takes
# first though it should not; what names them is told.
PATH=$PATH:/usr/sbin:/sbin
ldconfig || exit
for directory; do
    for file in /etc/ld.so.conf /etc/ld.so.conf.d/*.conf; do
        ! grep -qxF -- "$directory" "$file" 2>/dev/null || printf '%s is named by %s\n' "$directory" "$file"
    done
done
