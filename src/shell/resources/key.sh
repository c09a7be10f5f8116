# Fetches the key that a repository is signed with. What apt is told to accept is the fingerprint, so
# there it may be unchecked; rpm takes whatever is in the file.
# Parameters: path url fingerprint
reach "$1" '' make && spot_alone sticky && spot_plain || exit 1
get_into=$1.provision-new
rm -f "$get_into"
# No key has a MiB.
get "$2" "$get_into" 1024 || {
    printf 'cannot get %s\n' "$2" >&2
    exit 1
}
if command -v gpg >/dev/null 2>&1; then
    home=$(mktemp -d) || exit 1
    found=$(gpg --homedir "$home" --batch --with-colons --show-keys "$get_into" 2>/dev/null |
        awk -F: '$1 == "pub" { primary = 1 } $1 == "fpr" && primary { print $10; primary = 0 }')
    rm -rf "$home"
    if [ "$found" != "$3" ]; then
        printf '%s holds the key %s, not %s\n' "$2" "${found:-of nobody}" "$3" >&2
        rm -f "$get_into"
        exit 1
    fi
elif ! command -v apt-get >/dev/null 2>&1; then
    printf 'gpg is not here to look at the key from %s: install gnupg2 first\n' "$2" >&2
    rm -f "$get_into"
    exit 1
fi
chmod 0644 "$get_into" && spot_rename "$get_into" "$spot" || exit 1
after "$1"
