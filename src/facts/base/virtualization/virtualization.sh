# Prints what this system runs in, in the words of systemd-detect-virt.
# In a container systemd has written the word down, and need not be asked.
kind=''
[ ! -r /run/systemd/container ] || read -r kind </run/systemd/container
if [ -n "$kind" ]; then
    printf '%s\n' "$kind"
elif command -v systemd-detect-virt >/dev/null 2>&1; then
    # It ends with 1 where it finds nothing, and says so.
    kind=$(systemd-detect-virt 2>/dev/null) || [ "$kind" = none ] || exit 1
    printf '%s\n' "$kind"
else
    kind=none
    flags=''
    while IFS= read -r flags; do
        case $flags in flags*) break ;; esac
    done </proc/cpuinfo
    case " $flags " in *' hypervisor '*) kind=vm-other ;; esac
    vendor=''
    [ ! -r /sys/class/dmi/id/sys_vendor ] || read -r vendor </sys/class/dmi/id/sys_vendor
    case $vendor in
    QEMU* | 'Alibaba Cloud'*) kind=kvm ;;
    VMware*) kind=vmware ;;
    esac
    [ ! -e /run/.containerenv ] || kind=podman
    [ ! -e /.dockerenv ] || kind=docker
    printf '%s\n' "$kind"
fi
