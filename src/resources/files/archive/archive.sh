# Unpacks an archive beside its place and puts it there as a whole. So many leading names as `strip`
# says are left out of the names in it.
# Parameters: path digest url strip stamp stamp_path
path=$1
fetch "$3" "$2" && reach "$path" '' || exit 1
new=$spot.provision-new old=$spot.provision-old
rm -rf "$new" "$old" || exit 1
umask 022
# The cached file is called by its digest, which tells a small tar nothing.
case $3 in
*.gz | *.tgz) packed=-z ;;
*.bz2 | *.tbz2) packed=-j ;;
*.xz | *.txz) packed=-J ;;
*.zst | *.tzst) packed=--zstd ;;
*) packed='' ;;
esac
(
    # Modes in the archive, those of its own top among them, let nobody else in before it is in its place.
    spot_make 077 "$new" && mkdir tree && cd tree || exit
    case $3 in
    *.zip) unzip -q "$fetched" -d . ;;
    *) tar -x $packed -o -f "$fetched" --strip-components "$4" ;;
    esac && chmod 0755 . && printf '%s\n' "$5" >".${6#"$path"}"
) || {
    rm -rf "$new"
    exit 1
}
if [ "$spot_kind" != none ]; then
    spot_rename "$spot" "$old" || exit 1
fi
spot_rename "$new/tree" "$spot" || exit 1
rm -rf "$new" "$old" || exit 1
if command -v restorecon >/dev/null 2>&1; then
    restorecon -R "$path" 2>/dev/null || :
fi
