# Mounts what fstab says of a place, or takes it off. Parameters: mount or umount, the place.
if [ "$1" = umount ]; then
    umount "$2"
    exit
fi
mkdir -p "$2" || exit 1
# systemd makes units of fstab; it complains about every mount while they are old.
if command -v systemctl >/dev/null 2>&1; then
    systemctl daemon-reload >/dev/null 2>&1 || true
fi
mount "$2"
