# Mounts what fstab says of a place, or takes it off (`mount`, `umount`).
# Parameters: action path
if [ "$1" = umount ]; then
    umount "$2"
    exit
fi
reach "$2" '' make && spot_alone sticky || exit 1
case $spot_kind:$spot_fixed in
none:*) mkdir -m 0755 "$spot" || exit 1 ;;
directory:1) ;;
*)
    printf '%s is no directory, or one that another user made and may rename: take it away first\n' "$2" >&2
    exit 1
    ;;
esac
# systemd makes units of fstab; it complains about every mount while they are old.
if command -v systemctl >/dev/null 2>&1; then
    systemctl daemon-reload >/dev/null 2>&1 || true
fi
mount "$2"
