# Rebuilds the initramfs of the running kernel, where there is one: what modprobe.d says must
# hold there too. Until that is done the file there differs from what it should be.
# Parameters: file
mark='# not yet in the initramfs'
release=''
read -r release </proc/sys/kernel/osrelease || exit 1
held=''
[ ! -e "$1" ] || held=1
printf '%s\n' "$mark" >>"$1" || exit 1
if command -v update-initramfs >/dev/null 2>&1 && [ -e "/boot/initrd.img-$release" ]; then
    update-initramfs -u -k "$release" || exit 1
elif command -v dracut >/dev/null 2>&1 && [ -e "/boot/initramfs-$release.img" ]; then
    dracut -f "/boot/initramfs-$release.img" "$release" || exit 1
elif [ -e "/boot/initrd.img-$release" ] || [ -e "/boot/initramfs-$release.img" ]; then
    printf 'neither update-initramfs nor dracut can rebuild the initramfs of %s\n' "$release" >&2
    exit 1
fi
if [ -n "$held" ]; then
    text=$(grep -vxF "$mark" "$1") || [ $? = 1 ] || exit 1
    printf '%s\n' "$text" >"$1"
else
    rm -f "$1"
fi
