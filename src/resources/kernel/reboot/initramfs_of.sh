# Builds the initramfs of a kernel anew, or for the first time.
# Parameters: kernel
if command -v update-initramfs >/dev/null 2>&1; then
    [ ! -e "/boot/initrd.img-$1" ] || exec update-initramfs -u -k "$1"
    exec update-initramfs -c -k "$1"
fi
if command -v dracut >/dev/null 2>&1; then
    exec dracut -f "/boot/initramfs-$1.img" "$1"
fi
printf 'neither update-initramfs nor dracut can build the initramfs of %s\n' "$1" >&2
exit 1
