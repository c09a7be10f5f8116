# Puts a link back as it was; its files are back already. The MTU is that before, of NetworkManager's
# connection too; the addresses are taken away.
# Parameters: manager link mtu connection setting connection_mtu address...
manager=$1 link=$2 mtu=$3 connection=$4 setting=$5 configured=$6
shift 6
bad=0
case $manager in
netplan) netplan apply || bad=1 ;;
networkd) networkctl reload || bad=1 ;;
networkmanager)
    [ -z "$configured" ] || nmcli connection modify uuid "$connection" "$setting" "$configured" || bad=1
    for address; do
        case $address in *:*) family=ipv6 ;; *) family=ipv4 ;; esac
        nmcli connection modify uuid "$connection" "-$family.addresses" "$address" || bad=1
    done
    nmcli device reapply "$link" || bad=1
    ;;
esac
for address; do
    ip addr del "$address" dev "$link" 2>/dev/null
done
ip link set dev "$link" mtu "$mtu" && exit "$bad"
