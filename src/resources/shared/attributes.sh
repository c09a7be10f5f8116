# Sets mode and owner; mode and ownership may be empty, the wanted owner may not.
# Parameters: path mode ownership owner
reach "$1" "$4" || exit 1
case $spot_kind in
file | directory) spot_dress "$3" "$2" || exit 1 ;;
*)
    printf '%s is no file and no directory any more\n' "$1" >&2
    exit 1
    ;;
esac
