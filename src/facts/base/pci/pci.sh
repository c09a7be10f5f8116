# Prints display, bridge, network and accelerator devices from sysfs: lspci is absent on minimal
# images. No process is started; `cd -P` resolves links.
for device in /sys/bus/pci/devices/*; do
    [ -r "$device/class" ] || continue
    class='' vendor='' id='' node=''
    read -r class <"$device/class"
    case $class in
    0x02* | 0x03* | 0x0680* | 0x1200*) ;;
    *) continue ;;
    esac
    read -r vendor <"$device/vendor"
    read -r id <"$device/device"
    [ ! -r "$device/numa_node" ] || read -r node <"$device/numa_node"
    printf 'device=%s\nclass=%s\nvendor=%s\nid=%s\nnode=%s\n' \
        "${device##*/}" "$class" "$vendor" "$id" "$node"
    if [ -d "$device/driver" ] && cd -P "$device/driver" 2>/dev/null; then
        printf 'driver=%s\n' "${PWD##*/}"
        cd / || exit 1
    fi
    for link in "$device"/net/* "$device"/virtio*/net/*; do
        [ ! -d "$link" ] || printf 'netdev=%s\n' "${link##*/}"
    done
    for link in "$device"/infiniband/*; do
        [ ! -d "$link" ] || printf 'rdma=%s\n' "${link##*/}"
    done
done
printf 'end\n'
