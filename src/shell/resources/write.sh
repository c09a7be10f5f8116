# Writes a file: a temporary one beside it gets content, owner and mode, then takes its name.
# Parameters: path, mode, ownership (`owner:group` or empty), digest of an uploaded copy (or
# empty), content in base64 or the path of that copy.
path=$1 mode=$2 ownership=$3 digest=$4
directory=${path%/*}
if [ -L "$path" ] || { [ -e "$path" ] && [ ! -f "$path" ]; }; then
    printf '%s is not a regular file any more\n' "$path" >&2
    exit 1
fi
umask 077
temporary=$(mktemp "$directory/.provision.XXXXXX") || exit 1
give_up() {
    rm -f "$temporary"
    exit 1
}
trap 'rm -f "$temporary"; exit 1' HUP INT TERM
if [ -n "$digest" ]; then
    # Onto the target's file system first, so that the last step is a rename.
    cat "$5" >"$temporary" || give_up
    found=$(sha256sum <"$temporary") || give_up
    if [ "${found%% *}" != "$digest" ]; then
        printf '%s: the copy arrived with another digest\n' "$path" >&2
        give_up
    fi
    rm -f "$5"
else
    base64 -d >"$temporary" <<END || give_up
$5
END
fi
if [ -n "$ownership" ]; then
    chown "$ownership" "$temporary" || give_up
fi
chmod "$mode" "$temporary" || give_up
mv -f "$temporary" "$path" || give_up
after "$path"
