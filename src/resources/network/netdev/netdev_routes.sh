# Puts rules and routes of a link's own table in force, in its connection of NetworkManager as well. An item is
# `from=ADDRESS`, `to=NETWORK` or `via=HOP`. The priority of the rules is the number of the table.
# Parameters: manager link connection table item...
manager=$1 link=$2 connection=$3 table=$4
shift 4
# Sets family, value and any for an item.
take() {
    value=${1#*=}
    case $value in *:*) family=6 any=::/0 ;; *) family=4 any=0.0.0.0/0 ;; esac
}
has() {
    take "$1"
    case $1 in
    from=*) ip "-$family" rule show | grep -q "from $value lookup $table\( \|\$\)" ;;
    to=*) ip "-$family" route show table "$table" dev "$link" 2>/dev/null | grep -qF "$value " ;;
    via=*) ip "-$family" route show table "$table" dev "$link" 2>/dev/null | grep -qF "default via $value " ;;
    esac
}
good() {
    for item; do
        has "$item" || return
    done
}
if [ "$manager" = networkmanager ]; then
    for item; do
        take "$item"
        case $item in
        from=*) key=ipv$family.routing-rules wanted="priority $table from $value table $table" ;;
        to=*) key=ipv$family.routes wanted="$value table=$table" ;;
        via=*) key=ipv$family.routes wanted="$any $value table=$table" ;;
        esac
        known=$(nmcli -g "$key" connection show "$connection" | sed 's/\\//g') || exit
        case ", $known," in *", $wanted,"*) continue ;; esac
        nmcli connection modify uuid "$connection" "+$key" "$wanted" || exit
    done
    nmcli device reapply "$link" || exit
fi
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
for item; do
    ! has "$item" || continue
    case $item in
    from=*) ip "-$family" rule add from "$value" table "$table" priority "$table" || exit ;;
    to=*) ip "-$family" route replace "$value" dev "$link" table "$table" || exit ;;
    via=*) ip "-$family" route replace default via "$value" dev "$link" table "$table" || exit ;;
    esac
done
