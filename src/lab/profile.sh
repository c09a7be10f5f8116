#!/bin/sh
# Lays a hardware profile over a lab host: what it has under /sys and /proc is mounted over the
# real files, its tools come first in the path, its network devices are real bridges.
set -eu
profile=/lab-profile
[ -d "$profile/bin" ] || [ -d "$profile/root" ] || exit 0
real=/run/lab-real
if [ ! -d $real/sys ]; then
    mkdir -p $real/sys $real/proc
    mount --bind /sys $real/sys
    mount --bind /proc $real/proc
fi
# Makes DIRECTORY show what the profile has in it, and with `and` what is really there as well.
cover() {
    [ -d "$profile/root$1" ] || return 0
    umount "$1" 2>/dev/null || true
    mount -t tmpfs -o mode=755 none "$1"
    if [ "$2" = and ]; then
        for entry in "$real$1"/*; do
            [ -e "$entry" ] || [ -L "$entry" ] || continue
            ln -s "$entry" "$1/${entry##*/}"
        done
    fi
    for entry in "$profile/root$1"/*; do
        ln -sfn "$entry" "$1/${entry##*/}"
    done
}
cover /sys/class and
cover /sys/module and
cover /sys/kernel/mm and
cover /proc/driver and
cover /sys/bus/pci/devices only
cover /sys/kernel/iommu_groups only
for directory in usr etc lib boot var opt; do
    [ ! -d "$profile/root/$directory" ] || cp -a "$profile/root/$directory/." "/$directory/"
done
if [ -d "$profile/bin" ]; then
    for tool in "$profile"/bin/*; do
        ln -sfn "$tool" "/usr/local/bin/${tool##*/}"
    done
fi
while read -r name mtu; do
    ip link show "$name" >/dev/null 2>&1 || ip link add "$name" type bridge
    ip link set "$name" mtu "$mtu" up
done <"$profile/net/devices"
