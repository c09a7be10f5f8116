# Rebuilds the initramfs of the running kernel, where there is one: what modprobe.d says must
# hold there too.
# Parameters: none
release=''
read -r release </proc/sys/kernel/osrelease || exit 1
if command -v update-initramfs >/dev/null 2>&1 && [ -e "/boot/initrd.img-$release" ]; then
    update-initramfs -u -k "$release"
elif command -v dracut >/dev/null 2>&1 && [ -e "/boot/initramfs-$release.img" ]; then
    dracut -f "/boot/initramfs-$release.img" "$release"
elif [ -e "/boot/initrd.img-$release" ] || [ -e "/boot/initramfs-$release.img" ]; then
    printf 'neither update-initramfs nor dracut can rebuild the initramfs of %s\n' "$release" >&2
    exit 1
fi
