# Takes rules and routes of a link's own table away, from its connection of NetworkManager as well; its files are
# back already. An item is as for netdev_routes.sh.
# Parameters: manager link connection table item...
manager=$1 link=$2 connection=$3 table=$4
shift 4
bad=0
# What was never there cannot be taken away, so that no answer of `ip` below counts.
ip rule show >/dev/null 2>&1 || bad=1
for item; do
    value=${item#*=}
    case $value in *:*) family=6 any=::/0 ;; *) family=4 any=0.0.0.0/0 ;; esac
    case $item in
    from=*) key=ipv$family.routing-rules wanted="priority $table from $value table $table" ;;
    to=*) key=ipv$family.routes wanted="$value table=$table" ;;
    via=*) key=ipv$family.routes wanted="$any $value table=$table" ;;
    esac
    if [ "$manager" = networkmanager ]; then
        nmcli connection modify uuid "$connection" "-$key" "$wanted" || bad=1
    fi
    case $item in
    from=*) ip "-$family" rule del from "$value" table "$table" 2>/dev/null ;;
    to=*) ip "-$family" route del "$value" dev "$link" table "$table" 2>/dev/null ;;
    via=*) ip "-$family" route del default via "$value" dev "$link" table "$table" 2>/dev/null ;;
    esac
done
[ "$manager" != networkmanager ] || nmcli device reapply "$link" || bad=1
exit "$bad"
