# Fetches the key, or the keys in one file, that a repository is signed with. What apt is told to accept are the
# fingerprints, so there it may be unchecked; rpm takes whatever is in the file.
# Parameters: path url fingerprint...
key_path=$1 key_url=$2
shift 2
reach "$key_path" '' make && spot_alone sticky && spot_plain || exit 1
get_into=$key_path.provision-new
rm -f "$get_into"
# No key has a MiB.
get "$key_url" "$get_into" 1024 || {
    printf 'cannot get %s\n' "$key_url" >&2
    exit 1
}
if command -v gpg >/dev/null 2>&1; then
    home=$(mktemp -d) || exit 1
    found=$(gpg --homedir "$home" --batch --with-colons --show-keys "$get_into" 2>/dev/null |
        awk -F: '$1 == "pub" { primary = 1 } $1 == "fpr" && primary { print $10; primary = 0 }')
    other=${found:+none}
    for key in $found; do
        case " $* " in
        *" $key "*) ;;
        *) other=$key ;;
        esac
    done
    if [ "$other" != none ]; then
        printf '%s holds the key %s, not %s\n' "$key_url" "${other:-of nobody}" "$*" >&2
        rm -rf "$home"
        rm -f "$get_into"
        exit 1
    fi
    case $key_path in
    */RPM-GPG-KEY-*)
        # rpm reads a key as text alone.
        if ! grep -q -e '-----BEGIN PGP' "$get_into"; then
            gpg --homedir "$home" --batch --enarmor <"$get_into" 2>/dev/null |
                sed 's/PGP ARMORED FILE/PGP PUBLIC KEY BLOCK/' >"$home/text"
            cat "$home/text" >"$get_into" || exit 1
        fi
        ;;
    esac
    rm -rf "$home"
elif ! command -v apt-get >/dev/null 2>&1; then
    printf 'gpg is not here to look at the key from %s: install gnupg2 first\n' "$key_url" >&2
    rm -f "$get_into"
    exit 1
fi
chmod 0644 "$get_into" && spot_rename "$get_into" "$spot" || exit 1
after "$key_path"
