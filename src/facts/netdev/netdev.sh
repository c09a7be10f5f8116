# Asks about network links and who configures them. Parameters: five words for each question: its number, and
# name, PCI address, GUID and driver of the links that are meant; an empty word means any.
runs() {
    [ -d /run/systemd/system ] || return
    systemctl -q is-active "$1"
    case $? in
    0) ;;
    # It does not run, or there is none.
    3 | 4) return 1 ;;
    *) exit 1 ;;
    esac
}
# Prints text $2, each line behind word $1.
tell_each() {
    [ -z "$2" ] || printf '%s\n' "$2" | sed "s/^/$1 /" || exit 1
}
# A file of ours, with its lines.
own() {
    [ -f "$1" ] || return 0
    printf 'file %s\n' "$1"
    sed 's/^/text /' "$1" || exit 1
}
while read -r key value; do
    [ "$key" != CapEff: ] || printf 'capabilities %s\n' "$value"
done </proc/self/status
# That of busybox knows no -N, and may have no rules.
rules=$(ip -N -4 rule show 2>/dev/null && ip -N -6 rule show 2>/dev/null) || rules=$(ip rule show 2>/dev/null) || rules=''
if [ -n "$rules" ]; then
    printf 'rules\n'
    tell_each rule "$rules"
fi
netplan=''
if command -v netplan >/dev/null 2>&1; then
    for file in /etc/netplan/*.yaml /run/netplan/*.yaml /usr/lib/netplan/*.yaml; do
        [ ! -e "$file" ] || netplan=1
    done
fi
[ -z "$netplan" ] || printf 'manager netplan\n'
networkd='' devices=''
if runs systemd-networkd.service; then
    networkd=1
    printf 'manager networkd\n'
fi
if runs NetworkManager.service && command -v nmcli >/dev/null 2>&1; then
    printf 'manager networkmanager\n'
    devices=$(nmcli -t -f DEVICE,STATE,CON-UUID device 2>/dev/null) || exit 1
fi
interfaces=/etc/network/interfaces
if [ -e "$interfaces" ] && command -v ifup >/dev/null 2>&1; then
    printf 'manager ifupdown\n'
    sources=$(grep -E '^[[:space:]]*source(-directory)?[[:space:]]' "$interfaces") || [ $? = 1 ] || exit 1
    [ -z "$sources" ] || printf '%s\n' "$sources" | sed 's/^[[:space:]]*/sources /' || exit 1
fi
tell() {
    link=$1
    flags=''
    read -r flags <"/sys/class/net/$link/flags"
    printf 'link %s\nflags %s\n' "$link" "$flags"
    if [ -d "/sys/class/net/$link/bonding" ]; then
        printf 'class bond\n'
    elif [ -d "/sys/class/net/$link/bridge" ]; then
        printf 'class bridge\n'
    elif [ -e "/proc/net/vlan/$link" ]; then
        printf 'class vlan\n'
    fi
    # That of busybox knows no -d.
    details=$(ip -d -o link show dev "$link" 2>/dev/null) || details=$(ip -o link show dev "$link" 2>/dev/null) || exit 1
    addresses=$(ip -o addr show dev "$link" scope global 2>/dev/null) || exit 1
    tell_each details "$details"
    tell_each address "$addresses"
    if [ -n "$rules" ]; then
        for family in 4 6; do
            ip -N "-$family" route show table all dev "$link" 2>/dev/null |
                sed -n '/^[0-9a-f:.]*\/[0-9]* .*table [0-9]/s/^/route /p; /^default .*table [0-9]/s/^/route /p'
        done
    fi
    file=''
    if [ -n "$networkd" ]; then
        status=$(networkctl --no-pager status -- "$link" 2>/dev/null) || exit 1
        file=$(printf '%s\n' "$status" | sed -n 's/^ *Network File: *//p') || exit 1
        case $file in
        /*)
            printf 'network-file %s\n' "$file"
            # Whom it means besides.
            sed -n '/^\[Match\]/,/^\[[^M]/{s/^\([A-Za-z]*\) *= */match \1 /p;}' "$file" 2>/dev/null
            own "/etc/systemd/network/${file##*/}.d/90-provision-$link.conf"
            ;;
        esac
    fi
    if [ -n "$netplan" ]; then
        # netplan names what it makes after its own section: 10-netplan-ID.network.
        id=$link
        case $file in
        */10-netplan-"$link".network) ;;
        */10-netplan-*.network)
            id=${file##*/10-netplan-}
            id=${id%.network}
            printf 'netplan-id %s\n' "$id"
            ;;
        esac
        for file in /etc/netplan/*.yaml /run/netplan/*.yaml /usr/lib/netplan/*.yaml; do
            case $file in */90-provision-*) continue ;; esac
            [ -f "$file" ] || continue
            if sed 's/["'\'']//g' "$file" | grep -qE "^[[:space:]]+$id:([[:space:]]|\$)"; then
                printf 'netplan-others\n'
                break
            fi
        done
    fi
    printf '%s\n' "$devices" | while IFS=: read -r device state uuid; do
        [ "$device" = "$link" ] || continue
        printf 'device %s %s\n' "$state" "$uuid"
        [ -z "$uuid" ] || nmcli -t -f 802-3-ethernet.mtu,infiniband.mtu,ipv4.method,ipv4.addresses,ipv6.addresses \
            connection show "$uuid" 2>/dev/null | sed 's/^/connection /'
        # Rules came with NetworkManager 1.18.
        [ -z "$uuid" ] || nmcli -t -f ipv4.routes,ipv4.routing-rules,ipv6.routes,ipv6.routing-rules \
            connection show "$uuid" 2>/dev/null | sed 's/^/connection /'
    done
    for file in "$interfaces" /etc/network/interfaces.d/*; do
        case $file in *"/provision-$link") continue ;; esac
        [ -f "$file" ] || continue
        if grep -qE "^[[:space:]]*iface[[:space:]]+$link([[:space:]]|\$)" "$file"; then
            printf 'stanza %s\n' "$file"
        fi
    done
    own "/etc/netplan/90-provision-$link.yaml"
    own "/etc/systemd/network/50-provision-$link.network"
    own "/etc/network/interfaces.d/provision-$link"
    own "/etc/udev/rules.d/90-provision-mtu-$link.rules"
}
while [ $# -gt 0 ]; do
    printf 'question %s\n' "$1"
    for path in /sys/class/net/*; do
        # Not a link: bonding_masters.
        [ -d "$path" ] || continue
        [ -z "$2" ] || [ "${path##*/}" = "$2" ] || continue
        device=''
        if [ -n "$3$4$5" ]; then
            device=$(cd -P "$path/device" 2>/dev/null && pwd) || continue
            # A virtio link hangs on a bus of its own below its PCI device.
            case $device in */virtio*) device=${device%/*} ;; esac
        fi
        [ -z "$3" ] || [ "${device##*/}" = "$3" ] || continue
        if [ -n "$4" ]; then
            found=''
            for file in "$path/device"/infiniband/*/node_guid; do
                guid=''
                { read -r guid <"$file"; } 2>/dev/null
                [ "$guid" != "$4" ] || found=1
            done
            [ -n "$found" ] || continue
        fi
        if [ -n "$5" ]; then
            driver=$(cd -P "$path/device/driver" 2>/dev/null && pwd) || continue
            [ "${driver##*/}" = "$5" ] || continue
        fi
        tell "${path##*/}"
    done
    shift 5
done
printf 'end\n'
