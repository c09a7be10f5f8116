# Goes on to rebuild the initramfs only when a module, written with underscores, is in it.
# Parameters: module
module=$1
shift
release=''
read -r release </proc/sys/kernel/osrelease || exit 1
image=/boot/initrd.img-$release
[ -e "$image" ] || image=/boot/initramfs-$release.img
[ -e "$image" ] || exit 0
for tool in lsinitramfs lsinitrd; do
    command -v "$tool" >/dev/null 2>&1 || continue
    # In a file's name a module has `-` or `_`. A list that cannot be had means that it may be in.
    if names=$("$tool" "$image" 2>/dev/null) && names=$(printf '%s\n' "$names" | tr - _); then
        case $names in
        '' | *"/$module.ko"*) ;;
        *) exit 0 ;;
        esac
    fi
    break
done
