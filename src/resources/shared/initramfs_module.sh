# Goes on to rebuild the initramfs only when one of some modules, written with underscores and blanks between, is in it.
# Parameters: modules
modules=$1
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
        found=${names:+none}
        for module in $modules; do
            case $names in
            *"/$module.ko"*) found=$module ;;
            esac
        done
        [ "$found" != none ] || exit 0
    fi
    break
done
