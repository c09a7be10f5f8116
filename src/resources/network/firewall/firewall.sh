# Lets a network in. `now` and `boot` say whether it is let in by then (`there` or `missing`); nftables has
# family, table, chain and the file that is read at boot.
# Parameters: manager network now boot family table chain file
case $1 in
firewalld)
    [ "$4" = there ] || firewall-cmd --quiet --permanent --zone=trusted --add-source="$2" || exit 1
    [ "$3" = there ] || firewall-cmd --quiet --zone=trusted --add-source="$2"
    ;;
ufw)
    # Before all others: the first rule that fits counts.
    case $2 in
    *:*) ufw allow from "$2" comment provision ;;
    *) ufw insert 1 allow from "$2" comment provision || ufw allow from "$2" comment provision ;;
    esac
    ;;
nftables)
    case $2 in *:*) protocol=ip6 ;; *) protocol=ip ;; esac
    if [ "$3" != there ]; then
        nft insert rule "$5" "$6" "$7" "$protocol" saddr "$2" accept comment '"provision"' || exit 1
    fi
    if [ "$4" != there ]; then
        new=$8.provision-new
        rm -f "$new"
        cp -p "$8" "$new" || exit 1
        # A last line without its end would swallow ours.
        end=$(tail -c 1 "$new") || exit 1
        [ -z "$end" ] || printf '\n' >>"$new" || exit 1
        printf 'insert rule %s %s %s %s saddr %s accept comment "provision"\n' \
            "$5" "$6" "$7" "$protocol" "$2" >>"$new" || exit 1
        if ! nft -c -f "$new"; then
            rm -f "$new"
            printf 'nft refuses %s with the new rule; the file is as it was\n' "$8" >&2
            exit 1
        fi
        mv -f "$new" "$8"
    fi
    ;;
*) exit 2 ;;
esac
