# Rebuilds the initramfs of a kernel.
# Parameters: kernel
if command -v update-initramfs >/dev/null 2>&1 && [ -e "/boot/initrd.img-$1" ]; then
    exec update-initramfs -u -k "$1"
fi
if command -v dracut >/dev/null 2>&1 && [ -e "/boot/initramfs-$1.img" ]; then
    exec dracut -f "/boot/initramfs-$1.img" "$1"
fi
printf 'neither update-initramfs nor dracut can rebuild the initramfs of %s\n' "$1" >&2
exit 1
