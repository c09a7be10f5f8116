# Makes a directory and those above it. The ownership may be empty.
# Parameters: path mode ownership
reach "$1" "$3" make || exit 1
if [ -n "$spot_held" ]; then
    mkdir -m "$2" "$spot" || exit 1
    if [ -n "$3" ] && ! spot_mine "$3" "$spot"; then
        chown -h "$3" "$spot" || exit 1
    fi
    # mkdir of uutils 0.12 (sid of 2026-11-29) leaves the bits for the user and the group out.
    case $2 in
    [!0]???) chmod "$2" "$spot" || exit 1 ;;
    esac
else
    spot_make 077 "$spot" || exit 1
    if [ -n "$3" ] && ! spot_mine "$3" .; then
        chown "$3" . || exit 1
    fi
    chmod "$2" . || exit 1
fi
after "$1"
