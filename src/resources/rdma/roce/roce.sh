# Quality of service of a link for RoCE, each time that the link comes: the kernel forgets it. Ends with 3 when all
# is set but what nothing here can set.
# Parameters, `-` for what is left alone: link, trust, lossless priorities as eight digits with commas,
# priorities with ECN (3,4), priorities of DSCPs (26:3,48:6), ToS of rdma_cm, global traffic class, DSCP and
# priority of CNPs.
LC_ALL=C
mellanox=/opt/mellanox/ethtool/sbin
[ ! -e "$mellanox/mlnx_qos" ] || ! rooted "$mellanox" || ! rooted "$mellanox/mlnx_qos" || PATH=$PATH:$mellanox
export LC_ALL PATH
link=$1 trust=$2 pfc=$3 ecn=$4 dscp=$5 tos=$6 class=$7 cnp_dscp=$8 cnp_priority=$9
failed=0 lacking=0
say() { printf '%s\n' "$*" >&2; }
run() {
    say "+ $*"
    said=$("$@" 2>&1) && return
    say "$said"
    case $said in
    *"not supported"*) lacking=3 ;;
    *) failed=1 ;;
    esac
}
lacks() {
    say "$link: $*"
    lacking=3
}
# Writes $2 to the first of the files behind it that is there; $1 names the setting.
put() {
    name=$1 value=$2
    shift 2
    for file; do
        [ -e "$file" ] || continue
        say "+ $value to $file"
        printf '%s\n' "$value" >"$file" || failed=1
        return
    done
    lacks "no $name: there is no $*"
}
list() {
    old=$IFS
    IFS=,
    # shellcheck disable=SC2086 # is split at commas
    printf '%s\n' $1
    IFS=$old
}
if [ ! -d "/sys/class/net/$link" ]; then
    say "there is no link $link now: this starts again when it comes"
    exit 0
fi
tool=''
if command -v mlnx_qos >/dev/null 2>&1; then
    tool=mlnx_qos
elif command -v dcb >/dev/null 2>&1 && dcb pfc show dev "$link" >/dev/null 2>&1; then
    tool=dcb
fi
if [ "$trust" != - ]; then
    if [ "$tool" = mlnx_qos ]; then
        run mlnx_qos -i "$link" --trust "$trust"
    elif [ -w "/sys/class/net/$link/qos/trust" ]; then
        printf '%s\n' "$trust" >"/sys/class/net/$link/qos/trust" || failed=1
    elif [ "$tool$trust" != dcbdscp ] || [ "$dscp" = - ]; then
        # Entries of dscp make mlx5 trust DSCP.
        lacks "nothing here sets trust"
    fi
fi
if [ "$pfc" != - ]; then
    case $tool in
    mlnx_qos) run mlnx_qos -i "$link" --pfc "$pfc" ;;
    dcb)
        set -- all:off
        priority=0
        for bit in $(list "$pfc"); do
            [ "$bit" = 0 ] || set -- "$@" "$priority:on"
            priority=$((priority + 1))
        done
        run dcb pfc set dev "$link" prio-pfc "$@"
        ;;
    *) lacks "neither mlnx_qos nor dcb can set PFC" ;;
    esac
fi
if [ "$dscp" != - ]; then
    for entry in $(list "$dscp"); do
        case $tool in
        mlnx_qos) run mlnx_qos -i "$link" --dscp2prio "set,${entry%:*},${entry#*:}" ;;
        dcb) run dcb app replace dev "$link" dscp-prio "$entry" ;;
        *) lacks "neither mlnx_qos nor dcb can map DSCP ${entry%:*}" ;;
        esac
    done
fi
if [ "$ecn" != - ]; then
    for priority in $(list "$ecn"); do
        for side in np rp; do
            put "ECN of priority $priority" 1 "/sys/class/net/$link/ecn/roce_$side/enable/$priority"
        done
    done
fi
if [ "$cnp_dscp$cnp_priority" != -- ]; then
    ecn=/sys/class/net/$link/ecn/roce_np cc=$(cc_params "$link")
    [ "$cnp_dscp" = - ] || put "DSCP of CNPs" "$cnp_dscp" "$ecn/cnp_dscp" "$cc/np_cnp_dscp"
    [ "$cnp_priority" = - ] || put "priority of CNPs" "$cnp_priority" "$ecn/cnp_802p_prio" "$cc/np_cnp_prio"
fi
if [ "$tos$class" != -- ]; then
    # The RDMA device comes a moment after its link.
    device='' tries=0
    while [ $tries -lt 30 ]; do
        device=$(rdma_of "$link")
        [ -z "$device" ] || break
        sleep 1
        tries=$((tries + 1))
    done
    if [ -z "$device" ]; then
        lacks "there is no RDMA device for ToS and traffic class"
        tos=- class=-
    fi
    if [ "$tos" != - ]; then
        modprobe -a configfs rdma_cm 2>/dev/null
        directory=/sys/kernel/config/rdma_cm/$device
        mkdir -p "$directory" && printf '%s\n' "$tos" >"$directory/ports/1/default_roce_tos" || failed=1
    fi
    if [ "$class" != - ]; then
        # Only kernels with MLNX_OFED or DOCA-OFED have it.
        put "traffic class" "$class" "/sys/class/infiniband/$device/tc/1/traffic_class"
    fi
fi
[ "$failed" = 0 ] || exit 1
exit "$lacking"
