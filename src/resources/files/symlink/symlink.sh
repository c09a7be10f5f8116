# Makes or turns a symbolic link.
# Parameters: path target
reach "$1" '*' || exit 1
case $spot_kind in
link | none) ;;
*)
    printf '%s is not a symbolic link any more\n' "$1" >&2
    exit 1
    ;;
esac
# By -n alone uutils (0.0.30) does not turn a link that leads to a directory.
ln -sfnT "$2" "$spot" || exit 1
after "$1"
