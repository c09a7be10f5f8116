# Asks about PCIe settings that only the configuration space tells: access control of bridges (ACS) and
# the read request size of NICs.
# Sets $value to a setting of device $address; fails for one that has no such capability.
setting() {
    value=$(setpci -s "$address" "$1" 2>&1) && return
    case $value in
    *'not found'*) return 1 ;;
    *) exit 1 ;;
    esac
}
if ! command -v setpci >/dev/null 2>&1; then
    printf 'no setpci\n'
elif [ "$(id -u)" != 0 ]; then
    printf 'not root\n'
else
    for device in /sys/bus/pci/devices/*; do
        [ -r "$device/class" ] || continue
        class='' vendor=''
        read -r class <"$device/class"
        address=${device##*/}
        case $class in
        0x0604*)
            # One without the capability is not told.
            setting ECAP_ACS+0x6.w || continue
            printf 'bridge %s %s\n' "$address" "$value"
            ;;
        0x02*)
            read -r vendor <"$device/vendor"
            setting CAP_EXP+8.w || continue
            printf 'nic %s %s %s\n' "$address" "$vendor" "$value"
            ;;
        esac
    done
    printf 'end\n'
fi
