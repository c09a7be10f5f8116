#!/bin/sh
# Lays a hardware profile over a lab host: what it has under /sys and /proc is mounted over the
# real files, its tools come first in the path, its network devices are real bridges. What an earlier
# one brought into other directories is taken away again, and what it covered comes back.
set -eu
profile=/lab-profile
[ -d "$profile/bin" ] || [ -d "$profile/root" ] || exit 0
real=/run/lab-real
kept=/var/lib/provision-lab
if [ ! -d $real/sys ]; then
    mkdir -p $real/sys $real/proc
    mount --bind /sys $real/sys
    mount --bind /proc $real/proc
fi
# Makes DIRECTORY show what the profile has in it, and with `and` what is really there as well.
cover() {
    umount "$1" 2>/dev/null || true
    [ -d "$profile/root$1" ] || return 0
    mount -t tmpfs -o mode=755 none "$1"
    if [ "$2" = and ]; then
        for entry in "$real$1"/*; do
            [ -e "$entry" ] || [ -L "$entry" ] || continue
            ln -s "$entry" "$1/${entry##*/}"
        done
    fi
    for entry in "$profile/root$1"/*; do
        [ -e "$entry" ] || [ -L "$entry" ] || continue
        ln -sfn "$entry" "$1/${entry##*/}"
    done
}
cover /sys/class and
cover /sys/module and
cover /sys/kernel/mm and
cover /proc/driver and
cover /sys/bus/pci/devices only
cover /sys/bus/pci/drivers and
cover /sys/kernel/iommu_groups only
# Single files of /proc, such as /proc/cmdline.
if [ -f /run/lab-bound ]; then
    while IFS= read -r path; do
        umount "$path" 2>/dev/null || true
    done </run/lab-bound
    rm -f /run/lab-bound
fi
if [ -d "$profile/root/proc" ]; then
    (cd "$profile/root/proc" && find . -type f ! -path './driver/*') | while IFS= read -r path; do
        path=/proc/${path#./}
        mount --bind "$profile/root$path" "$path"
        printf '%s\n' "$path" >>/run/lab-bound
    done
fi
# Everything else is copied, because services and logins must see it.
if [ -f $kept/brought ]; then
    while IFS= read -r path; do
        # /etc/hosts and its like are mounts of the container engine: they can only be written.
        rm -f "$path" 2>/dev/null || : >"$path"
        if [ -e "$kept/covered$path" ] || [ -L "$kept/covered$path" ]; then
            cp -dR --preserve=all "$kept/covered$path" "$path"
        fi
    done <$kept/brought
    [ ! -f $kept/made ] || sort -r $kept/made | while IFS= read -r path; do
        rmdir "$path" 2>/dev/null || true
    done
    rm -rf $kept
fi
for directory in usr etc lib boot var opt; do
    [ -d "$profile/root/$directory" ] || continue
    mkdir -p $kept/covered
    (cd "$profile/root" && find "$directory" -type d) | while IFS= read -r path; do
        [ -d "/$path" ] || printf '/%s\n' "$path" >>$kept/made
        mkdir -p "/$path"
    done
    (cd "$profile/root" && find "$directory" ! -type d) | while IFS= read -r path; do
        if [ -e "/$path" ] || [ -L "/$path" ]; then
            mkdir -p "$kept/covered/${path%/*}"
            cp -dR --preserve=all "/$path" "$kept/covered/$path"
            # A masked unit is a link to /dev/null.
            [ ! -L "/$path" ] || rm -f "/$path"
        fi
        printf '/%s\n' "$path" >>$kept/brought
        cp -dR --preserve=mode "$profile/root/$path" "/$path"
    done
done
# Device files: each says what mknod is to make there, such as `c 195 0`.
if [ -f /run/lab-devices ]; then
    while IFS= read -r path; do
        rm -f "$path"
    done </run/lab-devices
    rm -f /run/lab-devices
fi
if [ -d "$profile/root/dev" ]; then
    (cd "$profile/root" && find dev -type f) | while IFS= read -r path; do
        read -r kind major minor <"$profile/root/$path"
        mkdir -p "/${path%/*}"
        mknod -m 666 "/$path" "$kind" "$major" "$minor"
        printf '/%s\n' "$path" >>/run/lab-devices
    done
fi
for tool in /usr/local/bin/*; do
    case $(readlink "$tool" || :) in "$profile"/bin/*) rm -f "$tool" ;; esac
done
if [ -d "$profile/bin" ]; then
    for tool in "$profile"/bin/*; do
        ln -sfn "$tool" "/usr/local/bin/${tool##*/}"
    done
fi
# Bridges of an earlier profile that this one does not have.
if [ -f /run/lab-netdevs ]; then
    while read -r name; do
        grep -q "^$name " "$profile/net/devices" || ip link del "$name" 2>/dev/null || true
    done </run/lab-netdevs
fi
: >/run/lab-netdevs
while read -r name mtu; do
    printf '%s\n' "$name" >>/run/lab-netdevs
    ip link show "$name" >/dev/null 2>&1 || ip link add "$name" type bridge
    ip link set "$name" mtu "$mtu" up
done <"$profile/net/devices"
