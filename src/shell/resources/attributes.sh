# Sets mode and owner. Parameters: path, mode or empty, ownership or empty, wanted owner.
reach "$1" "$4" || exit 1
case $spot_kind in
file | directory) spot_dress "$3" "$2" || exit 1 ;;
*)
    printf '%s is no file and no directory any more\n' "$1" >&2
    exit 1
    ;;
esac
