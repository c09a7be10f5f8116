#!/bin/sh
# Written by provision. Quality of service of a link for RoCE, at each boot: the kernel forgets it.
# Parameters, `-` for what is left alone: link, trust, lossless priorities as eight digits with commas,
# priorities with ECN (3,4), priorities of DSCPs (26:3,48:6), ToS of rdma_cm, global traffic class; then `skip`
# where what cannot be set is left out.
LC_ALL=C
PATH=$PATH:/usr/local/sbin:/usr/sbin:/sbin:/opt/mellanox/ethtool/sbin
export LC_ALL PATH
link=$1 trust=$2 pfc=$3 ecn=$4 dscp=$5 tos=$6 class=$7 unsupported=${8-}
failed=0
say() { printf '%s\n' "$*" >&2; }
run() {
    say "+ $*"
    "$@" || failed=1
}
# Says what cannot be set here.
lacks() {
    say "$link: $*"
    [ "$unsupported" = skip ] || failed=1
}
list() {
    old=$IFS
    IFS=,
    # shellcheck disable=SC2086 # is split at commas
    printf '%s\n' $1
    IFS=$old
}
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
            file=/sys/class/net/$link/ecn/roce_$side/enable/$priority
            if [ -e "$file" ]; then
                printf '1\n' >"$file" || failed=1
            else
                lacks "no $file"
            fi
        done
    done
fi
if [ "$tos$class" != -- ]; then
    # At boot the RDMA device comes a moment after its link.
    device='' tries=0
    while [ $tries -lt 30 ]; do
        for file in /sys/class/infiniband/*/ports/1/gid_attrs/ndevs/0; do
            name=''
            { read -r name <"$file"; } 2>/dev/null
            [ "$name" != "$link" ] || device=${file#/sys/class/infiniband/}
        done
        [ -z "$device" ] || break
        sleep 1
        tries=$((tries + 1))
    done
    device=${device%%/*}
    if [ -z "$device" ]; then
        say "$link has no RDMA device"
        exit 1
    fi
    if [ "$tos" != - ]; then
        modprobe -a configfs rdma_cm 2>/dev/null
        directory=/sys/kernel/config/rdma_cm/$device
        mkdir -p "$directory" && printf '%s\n' "$tos" >"$directory/ports/1/default_roce_tos" || failed=1
    fi
    if [ "$class" != - ]; then
        file=/sys/class/infiniband/$device/tc/1/traffic_class
        if [ -e "$file" ]; then
            printf '%s\n' "$class" >"$file" || failed=1
        else
            lacks "no $file: only kernels with MLNX_OFED or DOCA-OFED have it"
        fi
    fi
fi
exit "$failed"
