# Unpacks an archive beside its place and puts it there as a whole. Parameters: path, digest, URL, how
# many leading names are left out of the names in it, text of the stamp, path of the stamp.
path=$1
new=$path.provision-new old=$path.provision-old
fetch "$3" "$2" || exit 1
rm -rf "$new" "$old" && mkdir -p "$new" || exit 1
umask 022
# The cached file is called by its digest, which tells a small tar nothing.
case $3 in
*.gz | *.tgz) packed=-z ;;
*.bz2 | *.tbz2) packed=-j ;;
*.xz | *.txz) packed=-J ;;
*.zst | *.tzst) packed=--zstd ;;
*) packed='' ;;
esac
case $3 in
*.zip) unzip -q "$fetched" -d "$new" ;;
*) tar -x $packed -o -f "$fetched" -C "$new" --strip-components "$4" ;;
esac || {
    rm -rf "$new"
    exit 1
}
chmod 0755 "$new" && printf '%s\n' "$5" >"$new${6#"$path"}" || exit 1
if [ -e "$path" ] || [ -L "$path" ]; then
    mv -T "$path" "$old" 2>/dev/null || mv "$path" "$old" || exit 1
fi
mv "$new" "$path" || exit 1
rm -rf "$old"
if command -v restorecon >/dev/null 2>&1; then
    restorecon -R "$path" 2>/dev/null || :
fi
