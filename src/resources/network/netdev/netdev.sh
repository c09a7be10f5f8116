# Puts the MTU and addresses of a link in force, by who configures it, and what that leaves as it was by `ip`.
# The MTU and the connection of NetworkManager may be empty; the setting is what holds the MTU there.
# Parameters: manager link mtu connection setting address...
manager=$1 link=$2 mtu=$3 connection=$4 setting=$5
shift 5
has() { ip -o addr show dev "$link" | grep -qF " $1 "; }
good() {
    if [ -n "$mtu" ]; then
        ip -o link show dev "$link" | grep -qF " mtu $mtu " || return
    fi
    for address; do
        has "$address" || return
    done
}
case $manager in
netplan)
    netplan generate || exit
    netplan apply || exit
    ;;
networkd)
    networkctl reload || exit
    ;;
networkmanager)
    [ -z "$mtu" ] || nmcli connection modify uuid "$connection" "$setting" "$mtu" || exit
    for address; do
        case $address in *:*) family=ipv6 ;; *) family=ipv4 ;; esac
        known=$(nmcli -g "$family.addresses" connection show "$connection")
        case ", $known," in *", $address,"*) continue ;; esac
        nmcli connection modify uuid "$connection" "+$family.addresses" "$address" || exit
        case $(nmcli -g "$family.method" connection show "$connection") in
        auto | manual) ;;
        *) nmcli connection modify uuid "$connection" "$family.method" manual || exit ;;
        esac
    done
    nmcli device reapply "$link" || exit
    ;;
esac
# Managers do it a moment later.
case $manager in
netplan | networkd | networkmanager)
    tries=0
    until good "$@" || [ $tries -ge 20 ]; do
        sleep 0.2 2>/dev/null || sleep 1
        tries=$((tries + 1))
    done
    ;;
esac
[ -z "$mtu" ] || ip link set dev "$link" mtu "$mtu" || exit
for address; do
    has "$address" || ip addr add "$address" dev "$link" || exit
done
