# Prints the links of /sys/class/net, the device of the default route, and the addresses.
for link in /sys/class/net/*; do
    [ -r "$link/mtu" ] || continue
    mtu='' mac='' state='' speed='' carrier=''
    read -r mtu <"$link/mtu"
    [ ! -r "$link/address" ] || read -r mac <"$link/address"
    [ ! -r "$link/operstate" ] || read -r state <"$link/operstate"
    # Reading these fails for links that are down and for virtual ones.
    { read -r speed <"$link/speed"; } 2>/dev/null || speed=''
    { read -r carrier <"$link/type"; } 2>/dev/null || carrier=''
    printf 'link=%s\nmtu=%s\nmac=%s\nstate=%s\nspeed=%s\ntype=%s\n' \
        "${link##*/}" "$mtu" "$mac" "$state" "$speed" "$carrier"
    if [ -d "$link/device" ] && cd -P "$link/device" 2>/dev/null; then
        # A virtio link hangs on a bus of its own below its PCI device.
        case $PWD in */virtio*) cd .. || exit 1 ;; esac
        printf 'device=%s\n' "${PWD##*/}"
        cd / || exit 1
    fi
    if [ -d "$link/device/driver" ] && cd -P "$link/device/driver" 2>/dev/null; then
        printf 'driver=%s\n' "${PWD##*/}"
        cd / || exit 1
    fi
    # A member of a bond: its bond, and whether the bond finds that it has a link.
    if [ -r "$link/bonding_slave/mii_status" ] && cd -P "$link/master" 2>/dev/null; then
        bonded=''
        read -r bonded <"$link/bonding_slave/mii_status"
        printf 'bond=%s\nbond_link=%s\n' "${PWD##*/}" "$bonded"
        cd / || exit 1
    fi
done
if [ -r /proc/net/route ]; then
    while read -r device destination _ _ _ _ metric mask _; do
        [ "$destination" != 00000000 ] || [ "$mask" != 00000000 ] ||
            printf 'route=%s %s\n' "$metric" "$device"
    done </proc/net/route
fi
printf 'addresses\n'
if command -v ip >/dev/null 2>&1; then
    ip -o addr 2>/dev/null || exit 1
fi
