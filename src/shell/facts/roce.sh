# Asks about quality of service for RoCE. Parameters: names of links. What a tool says goes as it is, behind
# its name.
PATH=$PATH:/opt/mellanox/ethtool/sbin
configfs=/sys/kernel/config/rdma_cm
for link; do
    printf 'link %s\n' "$link"
    [ -d "/sys/class/net/$link" ] || continue
    printf 'there\n'
    device=''
    for file in /sys/class/infiniband/*/ports/1/gid_attrs/ndevs/0; do
        name=''
        { read -r name <"$file"; } 2>/dev/null
        if [ "$name" = "$link" ]; then
            device=${file#/sys/class/infiniband/}
            device=${device%%/*}
            break
        fi
    done
    [ -z "$device" ] || printf 'device %s\n' "$device"
    if command -v mlnx_qos >/dev/null 2>&1; then
        printf 'tool mlnx_qos\n'
        mlnx_qos -i "$link" 2>&1 | sed 's/^/mlnx_qos /' || exit 1
    elif command -v dcb >/dev/null 2>&1; then
        printf 'tool dcb\n'
        dcb pfc show dev "$link" 2>&1 | sed 's/^/pfc /' || exit 1
        dcb -N app show dev "$link" dscp-prio 2>&1 | sed 's/^/app /' || exit 1
    fi
    trust=''
    { read -r trust <"/sys/class/net/$link/qos/trust"; } 2>/dev/null && printf 'trust %s\n' "$trust"
    for side in np rp; do
        for file in "/sys/class/net/$link/ecn/roce_$side/enable"/*; do
            value=''
            { read -r value <"$file"; } 2>/dev/null || continue
            printf 'ecn %s %s %s\n' "$side" "${file##*/}" "$value"
        done
    done
    [ -n "$device" ] || continue
    if [ -d "$configfs/$device" ]; then
        tos=''
        { read -r tos <"$configfs/$device/ports/1/default_roce_tos"; } 2>/dev/null && printf 'tos %s\n' "$tos"
    else
        # The directory is made when the value is set.
        printf 'tos none\n'
    fi
    if [ -e "/sys/class/infiniband/$device/tc/1/traffic_class" ]; then
        class=''
        { read -r class <"/sys/class/infiniband/$device/tc/1/traffic_class"; } 2>/dev/null
        printf 'class %s\n' "$class"
    fi
done
printf 'end\n'
