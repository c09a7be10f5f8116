# RDMA devices and their ports from sysfs; one process is started for cards that may belong to a GPU board.
begin sysfs
for device in /sys/class/infiniband/*; do
    [ -d "$device/ports" ] || continue
    printf 'device=%s\n' "${device##*/}"
    for file in fw_ver hca_type board_id node_guid; do
        value "$file" "$device/$file"
    done
    if cd -P "$device/device" 2>/dev/null; then
        printf 'pci=%s\n' "${PWD##*/}"
        for net in net/*; do
            [ ! -d "$net" ] || printf 'netdev=%s\n' "${net##*/}"
        done
        driver=''
        if cd -P driver 2>/dev/null; then
            driver=${PWD##*/}
            printf 'driver=%s\n' "$driver"
        fi
        cd / || exit 1
        # Boards with NVLink 5 have such cards, through which the fabric manager reaches the switches.
        layer=''
        { read -r layer <"$device/ports/1/link_layer"; } 2>/dev/null
        if [ "$driver $layer" = 'mlx5_core InfiniBand' ] && [ -d /sys/module/nvidia ]; then
            command -v grep >/dev/null 2>&1 || lost grep
            ! grep -q SW_MNG "$device/device/vpd" 2>/dev/null || printf 'manages_switch=1\n'
        fi
    fi
    for port in "$device"/ports/*; do
        [ -r "$port/state" ] || continue
        printf 'port=%s\n' "${port##*/}"
        for file in state phys_state rate link_layer lid sm_lid; do
            value "$file" "$port/$file"
        done
        value pkey "$port/pkeys/0"
        for gid in "$port"/gids/*; do
            line=
            { read -r line <"$gid"; } 2>/dev/null || continue
            case $line in 0000:0000:0000:0000:0000:0000:0000:0000 | fe80:0000:0000:0000:0000:0000:0000:0000) continue ;; esac
            index=${gid##*/} kind='' net=''
            { read -r kind <"$port/gid_attrs/types/$index"; } 2>/dev/null || kind=''
            { read -r net <"$port/gid_attrs/ndevs/$index"; } 2>/dev/null || net=''
            printf 'gid=%s %s %s %s\n' "$index" "$line" "${net:--}" "$kind"
        done
        for file in symbol_error link_error_recovery link_downed port_rcv_errors \
            port_rcv_remote_physical_errors port_xmit_discards local_link_integrity_errors \
            excessive_buffer_overrun_errors; do
            value "counter.$file" "$port/counters/$file"
        done
        for file in out_of_buffer out_of_sequence packet_seq_err local_ack_timeout_err \
            rnr_nak_retry_err duplicate_request req_transport_retries_exceeded rx_icrc_encapsulated \
            link_downed retry_exceeded_err; do
            value "hw.$file" "$port/hw_counters/$file"
        done
    done
done
for net in /sys/class/net/*; do
    [ -d "$net" ] || continue
    printf 'net=%s\n' "${net##*/}"
    for file in operstate carrier_changes; do
        value "$file" "$net/$file"
    done
    for file in rx_errors tx_errors; do
        value "$file" "$net/statistics/$file"
    done
    for priority in 0 1 2 3 4 5 6 7; do
        # The side that is told (np) and the side that slows down (rp) have a switch each.
        told='' slows=''
        { read -r told <"$net/ecn/roce_np/enable/$priority"; } 2>/dev/null || continue
        { read -r slows <"$net/ecn/roce_rp/enable/$priority"; } 2>/dev/null || slows=$told
        case $told$slows in 11) ;; *) told=0 ;; esac
        printf 'ecn.%s=%s\n' "$priority" "$told"
    done
done
finish 0
