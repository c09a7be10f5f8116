# Parts of a host by their serial numbers, and what they counted: read once, and nothing is changed. Most serial numbers
# are for root alone.
# Each part begins with its name; its lines stand behind `|`, and a last one with `!` has the status of what failed.
# What is said of one of several devices stands below `@` and its name.
for tool in grep sed; do
    command -v "$tool" >/dev/null 2>&1 || {
        printf '%s is not installed\n' "$tool" >&2
        exit 1
    }
done
# Prints what function of_$1 prints, as part $1.
part() {
    printf '=== %s\n' "$1"
    { "of_$1" </dev/null 2>/dev/null || printf '\n!%s\n' "$?"; } | sed 's/^/|/'
}
# The same, of what a host may do without: where program $1 is there.
with() {
    if command -v "$1" >/dev/null 2>&1; then part "$2"; fi
}
# A device that does not answer holds up who asks its driver.
limited=
! command -v timeout >/dev/null 2>&1 || limited='timeout 20'
# Files with what is in them; one that cannot be read, or is not there, is left out.
values() {
    grep -sH '' "$@" || [ $? -lt 3 ]
}
# Whether link $1 of a class has a device behind it that is no virtual function of another one.
is_own() {
    [ -e "$1/device" ] && [ ! -e "$1/device/physfn" ]
}
# Where the device of link $1 is.
place_of() {
    cd -P "$1/device" 2>/dev/null && pwd -P
}
of_system() {
    printf 'user:%s\nkernel:%s\n' "$(id -u)" "$(uname -r)"
    values /proc/sys/kernel/random/boot_id /sys/class/dmi/id/bios_version /sys/class/dmi/id/sys_vendor \
        /sys/class/dmi/id/product_name /sys/class/dmi/id/product_serial /sys/class/dmi/id/product_uuid \
        /sys/class/dmi/id/board_vendor /sys/class/dmi/id/board_name /sys/class/dmi/id/board_serial \
        /sys/class/dmi/id/chassis_vendor /sys/class/dmi/id/chassis_serial
}
of_memory() {
    $limited dmidecode -t 17
}
of_memory_errors() {
    values /sys/devices/system/edac/mc/mc*/dimm*/dimm_label /sys/devices/system/edac/mc/mc*/dimm*/dimm_?e_count \
        /sys/devices/system/edac/mc/mc*/rank*/dimm_label /sys/devices/system/edac/mc/mc*/rank*/dimm_?e_count
}
of_gpus() {
    $limited nvidia-smi -q
}
of_nvlink() {
    $limited nvidia-smi nvlink -e
}
of_cards() {
    for link in /sys/class/infiniband/* /sys/class/net/*; do
        ! is_own "$link" || printf '%s/device:%s\n' "$link" "$(place_of "$link")"
    done
    values /sys/class/infiniband/*/board_id /sys/class/infiniband/*/hca_type /sys/class/infiniband/*/hw_rev \
        /sys/class/infiniband/*/fw_ver /sys/class/infiniband/*/node_guid /sys/class/infiniband/*/device/vendor \
        /sys/class/infiniband/*/device/device /sys/class/infiniband/*/ports/*/counters/symbol_error \
        /sys/class/infiniband/*/ports/*/counters/link_error_recovery \
        /sys/class/infiniband/*/ports/*/counters/link_downed \
        /sys/class/infiniband/*/ports/*/counters/local_link_integrity_errors \
        /sys/class/infiniband/*/ports/*/counters/port_rcv_errors \
        /sys/class/net/*/address /sys/class/net/*/carrier_changes /sys/class/net/*/device/vendor \
        /sys/class/net/*/device/device /sys/class/net/*/statistics/rx_crc_errors
}
# Own addresses of network links: in a bond all show the same one.
of_addresses() {
    for link in /sys/class/net/*; do
        is_own "$link" || continue
        printf '@%s\n' "${link##*/}"
        $limited ethtool -P "${link##*/}" || :
    done
}
# Vital product data of network cards. lspci reads them as text; without it they are given as bytes.
of_vpd() {
    seen=
    for link in /sys/class/infiniband/* /sys/class/net/*; do
        if ! is_own "$link" || [ ! -e "$link/device/vpd" ]; then continue; fi
        device=$(place_of "$link")
        case "$seen " in *" $device "*) continue ;; esac
        seen="$seen $device"
        printf '@%s\n' "${device##*/}"
        if command -v lspci >/dev/null 2>&1; then
            $limited lspci -D -vv -s "${device##*/}" | grep -E 'Product Name:|^[[:space:]]*\[(PN|EC|SN)\] ' || :
        else
            $limited od -A n -v -t x1 -N 1024 "$device/vpd" || :
        fi
    done
}
# Cables and transceivers: by ethtool, and by mlxlink where that does not know them, as of InfiniBand.
of_cables() {
    told=
    if command -v ethtool >/dev/null 2>&1; then
        for link in /sys/class/net/*; do
            is_own "$link" || continue
            text=$($limited ethtool -m "${link##*/}" 2>/dev/null | sed 400q)
            case $text in *'Vendor SN'*) ;; *) continue ;; esac
            told="$told $(place_of "$link")"
            printf '@%s\n%s\n' "${link##*/}" "$text"
        done
    fi
    command -v mlxlink >/dev/null 2>&1 || return 0
    for link in /sys/class/infiniband/*; do
        is_own "$link" || continue
        case "$told " in *" $(place_of "$link") "*) continue ;; esac
        printf '@%s\n' "${link##*/}"
        $limited mlxlink -d "${link##*/}" -m | sed 400q
    done
}
of_disks() {
    values /sys/class/nvme/*/serial /sys/class/nvme/*/model /sys/class/nvme/*/firmware_rev /sys/class/nvme/*/address \
        /sys/class/nvme/*/transport
}
of_bus_errors() {
    grep -sH '^TOTAL_ERR' /sys/bus/pci/devices/*/aer_dev_* || [ $? -lt 3 ]
}
# What drivers said of parts since the start; both programs print the seconds since then.
of_events() {
    # The journal holds more than the kernel's buffer, where there is one.
    log=
    ! command -v journalctl >/dev/null 2>&1 || log=$($limited journalctl -k -b --no-pager -q -o short-monotonic) || log=
    if [ -z "$log" ]; then log=$($limited dmesg) || return $?; fi
    printf '%s\n' "$log" | grep -E 'NVRM: Xid|SXid|mlx5_core.*(Port module event|health compromised)' | tail -n 500
}

part system
part memory_errors
with dmidecode memory
with nvidia-smi gpus
with nvidia-smi nvlink
part cards
with ethtool addresses
part vpd
if command -v ethtool >/dev/null 2>&1; then
    part cables
else
    with mlxlink cables
fi
part disks
part bus_errors
part events
printf '=== end\n'
