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
if [ "$spot_held" = closed ]; then
    ln -sfn "$2" "$spot" || exit 1
else
    ln -sfnT "$2" "$spot" || exit 1
fi
after "$1"
