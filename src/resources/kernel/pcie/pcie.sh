# Sets PCIe settings that a boot forgets. Parameters: `acs=off` for all bridges, `BDF=BYTES` for the
# largest read request of a device. Also runs at boot, see provision-pcie.service.
bad=0
if ! command -v setpci >/dev/null 2>&1; then
    printf 'setpci is not here: install pciutils\n' >&2
    exit 1
fi
for word; do
    case $word in
    acs=off)
        for device in /sys/bus/pci/devices/*; do
            [ -r "$device/class" ] || continue
            read -r class <"$device/class"
            case $class in 0x0604*) ;; *) continue ;; esac
            address=${device##*/}
            # A bridge without ACS has no such capability.
            value=$(setpci -s "$address" ECAP_ACS+0x6.w 2>&1) || {
                case $value in *'not found'*) ;; *) bad=1 && printf '%s: %s\n' "$address" "$value" >&2 ;; esac
                continue
            }
            [ "$value" = 0000 ] || setpci -s "$address" ECAP_ACS+0x6.w=0000 || bad=1
        done
        ;;
    *=*)
        address=${word%=*}
        case ${word##*=} in
        128) code=0 ;; 256) code=1 ;; 512) code=2 ;; 1024) code=3 ;; 2048) code=4 ;; 4096) code=5 ;;
        *)
            bad=1
            continue
            ;;
        esac
        value=$(setpci -s "$address" CAP_EXP+8.w) || {
            bad=1
            continue
        }
        # The top digit is the size, the others stay.
        [ "$value" = "$code${value#?}" ] || setpci -s "$address" "CAP_EXP+8.w=$code${value#?}" || bad=1
        ;;
    esac
done
exit "$bad"
