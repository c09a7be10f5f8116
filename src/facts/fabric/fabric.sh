# What stands between GPUs, cards and the fabric: PCIe links, what user space sees of the cards, traffic
# classes, settings. Tools are asked only where there is an RDMA device.
begin pcie
for device in /sys/bus/pci/devices/*; do
    class=''
    { read -r class <"$device/class"; } 2>/dev/null || continue
    case $class in 0x02* | 0x03*) ;; *) continue ;; esac
    printf 'pci=%s\n' "${device##*/}"
    for file in current_link_width max_link_width current_link_speed max_link_speed; do
        value "$file" "$device/$file"
    done
    value iommu "$device/iommu_group/type"
done
finish 0
begin settings
value erdma_compat /sys/module/erdma/parameters/compat_mode
for file in arp_ignore arp_announce rp_filter; do
    value "$file" "/proc/sys/net/ipv4/conf/all/$file"
done
for file in /etc/nccl.conf /etc/environment; do
    [ -r "$file" ] || continue
    while IFS= read -r line || [ -n "$line" ]; do
        # pam_env(8) takes an `export` in /etc/environment.
        line=${line#export }
        case $line in NCCL_*=*) printf 'nccl=%s %s\n' "$file" "$line" ;; esac
    done <"$file"
done
for file in /etc/modprobe.d/*.conf; do
    [ -r "$file" ] || continue
    while read -r word module rest; do
        case "$word $module" in 'options ib_core') printf 'ib_core=%s\n' "$rest" ;; esac
    done <"$file"
done
finish 0
found='' nets=''
add() {
    case " $nets " in *" $1 "*) ;; *) nets="$nets $1" ;; esac
}
for device in /sys/class/infiniband/*; do
    [ -d "$device/ports" ] || continue
    found=1
    layer=''
    { read -r layer <"$device/ports/1/link_layer"; } 2>/dev/null
    [ "$layer" != InfiniBand ] || continue
    for net in "$device"/device/net/*; do
        [ -d "$net" ] || continue
        add "${net##*/}"
        # The device of a bond sends over all its links.
        members=''
        { read -r members <"$net/master/bonding/slaves"; } 2>/dev/null
        for member in $members; do add "$member"; done
    done
done
acs='^[0-9a-f]+:|ACSCtl:|MaxReadReq|access denied'
# Bridges stand between GPUs as well. lspci is asked of two and more, whoever made them.
if [ -z "$found" ]; then
    gpus=0
    for device in /sys/bus/pci/devices/*; do
        class='' vendor=''
        { read -r class <"$device/class" && read -r vendor <"$device/vendor"; } 2>/dev/null || continue
        case $class$vendor in 0x03*0x10de | 0x0302* | 0x0380*0x1002 | 0x1200*) gpus=$((gpus + 1)) ;; esac
    done
    [ "$gpus" -lt 2 ] || sift "$acs" 20 lspci -vvv
    exit 0
fi
ask 15 ibv_devinfo -v
ask 5 rdma system show
# What OFED's driver itself says, where only dcb is there, which has no word for it.
begin trust
for net in $nets; do
    value "$net" "/sys/class/net/$net/qos/trust"
done
finish 0
for net in $nets; do
    if command -v mlnx_qos >/dev/null 2>&1; then
        ask 5 mlnx_qos -i "$net" || case $? in 124 | 137) break ;; esac
    else
        ask 5 dcb pfc show dev "$net" || break
    fi
done
sift "$acs" 20 lspci -vvv
:
