# Asks about quality of service for RoCE. Parameters: names of links. What a tool says goes as it is, behind
# its name.
configfs=/sys/kernel/config/rdma_cm
# Prints a file of one line behind a word, when it can be read.
tell() {
    value=''
    { read -r value <"$2"; } 2>/dev/null && printf '%s %s\n' "$1" "$value"
}
for link; do
    printf 'link %s\n' "$link"
    [ -d "/sys/class/net/$link" ] || continue
    printf 'there\n'
    device=$(rdma_of "$link") || exit 1
    [ -z "$device" ] || printf 'device %s\n' "$device"
    if command -v mlnx_qos >/dev/null 2>&1; then
        printf 'tool mlnx_qos\n'
        mlnx_qos -i "$link" 2>&1 | sed 's/^/mlnx_qos /' || exit 1
    elif command -v dcb >/dev/null 2>&1; then
        printf 'tool dcb\n'
        dcb pfc show dev "$link" 2>&1 | sed 's/^/pfc /' || exit 1
        dcb -N app show dev "$link" dscp-prio 2>&1 | sed 's/^/app /' || exit 1
    fi
    tell trust "/sys/class/net/$link/qos/trust"
    for side in np rp; do
        for file in "/sys/class/net/$link/ecn/roce_$side/enable"/*; do
            value=''
            { read -r value <"$file"; } 2>/dev/null || continue
            printf 'ecn %s %s %s\n' "$side" "${file##*/}" "$value"
        done
    done
    # OFED's place, and the kernel's own for mlx5.
    ecn=/sys/class/net/$link/ecn/roce_np cc=$(cc_params "$link")
    tell cnp-dscp "$ecn/cnp_dscp" || tell cnp-dscp "$cc/np_cnp_dscp"
    tell cnp-priority "$ecn/cnp_802p_prio" || tell cnp-priority "$cc/np_cnp_prio"
    [ -n "$device" ] || continue
    if [ -d "$configfs/$device" ]; then
        tell tos "$configfs/$device/ports/1/default_roce_tos"
    else
        # The directory is made when the value is set.
        printf 'tos none\n'
    fi
    if [ -e "/sys/class/infiniband/$device/tc/1/traffic_class" ]; then
        tell class "/sys/class/infiniband/$device/tc/1/traffic_class" || printf 'class \n'
    fi
done
printf 'end\n'
