# Prints who manages the firewall, which networks it lets in as a whole, and what its rules make of what
# comes in.
has() { command -v "$1" >/dev/null 2>&1; }
begin firewall
ufw=''
if [ -r /etc/ufw/ufw.conf ]; then
    grep -Eqi '^ENABLED=["'\'']?yes' /etc/ufw/ufw.conf
    case $? in
    0) ufw=1 ;;
    1) ;;
    *) exit 1 ;;
    esac
fi
if has firewall-cmd && now=$(firewall-cmd --zone=trusted --list-sources 2>/dev/null); then
    boot=$(firewall-cmd --permanent --zone=trusted --list-sources 2>/dev/null) || exit 1
    printf 'backend firewalld\nnow %s\nboot %s\n' "$now" "$boot"
elif [ -n "$ufw" ]; then
    printf 'backend ufw\n'
    added=$(ufw show added 2>/dev/null) || exit 1
    printf '%s\n' "$added" | while read -r first second third network rest; do
        case "$first $second $third $rest" in
        'ufw allow from ' | 'ufw allow from comment '*) printf 'now %s\nboot %s\n' "$network" "$network" ;;
        esac
    done
elif has nft; then
    for file in /etc/nftables.conf /etc/sysconfig/nftables.conf; do
        [ -f "$file" ] || continue
        printf 'file %s\n' "$file"
        while read -r first second _ _ _ _ third network rest; do
            case "$first $second $third $rest" in
            'insert rule saddr accept comment "provision"') printf 'boot %s\n' "$network" ;;
            esac
        done <"$file"
        break
    done
fi
if { has nft || has ufw || has iptables; } && [ "$(id -u)" != 0 ]; then
    printf 'denied\n'
fi
finish 0
if has nft; then
    # Sets with thousands of elements are of no use here.
    most=100000
    sift '^table|^[[:space:]]*chain|hook input| saddr |drop|reject|goto filter_IN_|^[[:space:]]*accept$' 5 nft list ruleset
fi
if has iptables; then
    ask 5 iptables -S INPUT
fi
:
