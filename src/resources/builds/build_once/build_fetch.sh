# Fetches what another host built: the MiB of `space` at most, and files, directories and links alone. The packed stamp
# is without its result, the user is that of the mesh.
# Parameters: name prefix stamp space user host
name=$1 prefix=$2
fail() {
    rm -rf "$stage"
    printf '%s\n' "$1" >&2
    exit 1
}
umask 022
stage "$name" "$prefix" || fail "cannot write beside $prefix"
mkdir -p "$stage$prefix" || fail "cannot write $stage"
cd "$stage$prefix" || fail "cannot enter $stage$prefix"
# A transfer that was cut shows in the digests below.
over_mesh "$5" "$6" "exec tar -C $prefix -cf - ." | head -c "$(($4 * 1048576))" | tar -xof -
[ -s .provision/stamp ] || fail "no whole copy from $6: does the mesh of $5 stand, and are the $4 MiB of \`space\` enough?"
other=$(find . ! -type f ! -type d ! -type l) || fail 'cannot list what came'
[ -z "$other" ] || fail "what came from $6 has devices or pipes, which no build makes"
wanted=$(unpack "$3") || fail 'cannot read what is wanted'
found=$(sed '/^result /,$d' .provision/stamp) || fail 'cannot read what came'
[ "$found" = "$wanted" ] || fail "what $6 has was built from something else"
if ! files | cmp -s - .provision/sha256 || ! links | cmp -s - .provision/links; then
    fail "what came from $6 is not what was built there"
fi
close_modes || fail 'cannot take from others the right to change what came'
cd / || exit
switch "$stage$prefix" || fail "cannot put it in the place of $prefix: is it a mount point?"
