# What may differ between hosts, for `provision compare`: read once, and nothing is changed.
# Each part begins with its name; its lines stand behind `|`, and a last one with `!` has the status of what failed.
# Parameters: salt for digests of files that not everybody may read, expression of grep for the kernel's log.
salt=$1
signs=$2
for tool in find grep sed; do
    command -v "$tool" >/dev/null 2>&1 || {
        printf '%s is not installed\n' "$tool" >&2
        exit 1
    }
done
# Prints what function of_$1 prints, as part $1. As everything may hang that asks a driver, it is asked with a limit
# where there is one.
part() {
    printf '=== %s\n' "$1"
    { "of_$1" </dev/null 2>/dev/null || printf '\n!%s\n' "$?"; } | sed 's/^/|/'
}
# The same, of what a host may do without: where program $1 is there.
with() {
    if command -v "$1" >/dev/null 2>&1; then part "$2"; fi
}
limited=
! command -v timeout >/dev/null 2>&1 || limited='timeout 20'
# Files with what is in them; one that cannot be read, or is not there, is left out.
values() {
    grep -sH '' "$@" || [ $? -lt 3 ]
}
below() {
    find "$@" -type f -exec grep -sH '' {} + || :
}
# Links below a directory of the kernel's files, with where they lead.
links() {
    for link in "$@"; do
        [ ! -L "$link" ] || printf '%s:%s\n' "$link" "$(readlink "$link")"
    done
}
of_system() {
    values /etc/os-release
    printf 'kernel:%s\narch:%s\n' "$(uname -r)" "$(uname -m)"
    values /sys/class/dmi/id/bios_* /sys/class/dmi/id/board_name /sys/class/dmi/id/board_version \
        /sys/class/dmi/id/product_name /sys/class/dmi/id/product_version /sys/class/dmi/id/sys_vendor \
        /sys/devices/system/clocksource/clocksource0/current_clocksource /sys/kernel/security/lockdown \
        /sys/fs/cgroup/cgroup.controllers /sys/fs/cgroup/cgroup.subtree_control /proc/sys/kernel/tainted
    links /sys/class/iommu/*
}
of_packages() {
    if command -v dpkg-query >/dev/null 2>&1; then
        dpkg-query -W -f '${binary:Package}\t${db:Status-Abbrev}\t${Version}\n'
    elif command -v rpm >/dev/null 2>&1; then
        rpm -qa --qf '%{NAME}.%{ARCH}\tii\t%{EPOCHNUM}:%{VERSION}-%{RELEASE}\n'
    else
        return 1
    fi
}
of_python() {
    find /usr/lib/python3*/dist-packages /usr/lib/python3*/site-packages /usr/local/lib/python3*/dist-packages \
        /usr/local/lib/python3*/site-packages -maxdepth 1 -name '*.dist-info' 2>/dev/null || :
}
of_processors() {
    values /sys/devices/system/cpu/smt/control /sys/devices/system/cpu/online /sys/devices/system/cpu/isolated \
        /sys/devices/system/cpu/nohz_full /sys/devices/system/cpu/vulnerabilities/* /sys/devices/system/cpu/cpufreq/boost \
        /sys/devices/system/cpu/intel_pstate/no_turbo /sys/devices/system/cpu/intel_pstate/status \
        /sys/devices/system/cpu/amd_pstate/status /sys/devices/system/cpu/cpuidle/current_driver \
        /sys/devices/system/cpu/cpuidle/current_governor /sys/devices/system/cpu/cpu*/cpufreq/scaling_governor \
        /sys/devices/system/cpu/cpu*/cpufreq/scaling_driver /sys/devices/system/cpu/cpu*/cpufreq/scaling_m??_freq \
        /sys/devices/system/cpu/cpu*/cpufreq/energy_performance_preference /sys/devices/system/cpu/cpu0/cpuidle/state*/name \
        /sys/devices/system/cpu/cpu0/cpuidle/state*/disable /sys/devices/system/node/node*/cpulist \
        /sys/devices/system/node/node*/distance
    sed '/^$/q' /proc/cpuinfo | sed -n 's/^\(model name\|microcode\|flags\|bugs\|cache size\)[[:space:]]*: */cpuinfo \1:/p'
}
of_memory() {
    below /sys/kernel/mm/transparent_hugepage /sys/kernel/mm/ksm /sys/kernel/mm/hugepages /sys/kernel/mm/lru_gen
    sed -n 's/^\(SwapTotal\|HugePages_Total\): */meminfo \1:/p; s/^MemTotal: *\([0-9]*\)[0-9]\{6\} kB/meminfo MemTotal:\1 GB/p' /proc/meminfo
}
of_modules() {
    if [ -r /proc/modules ]; then
        sed 's/ .*//; s|^|loaded |' /proc/modules
    else
        for module in /sys/module/*; do
            printf 'loaded %s\n' "${module##*/}"
        done
    fi
    values /sys/module/*/version /sys/module/*/srcversion
}
of_pci() {
    for device in /sys/bus/pci/devices/*; do
        read -r class <"$device/class" || continue
        case $class in
        0x02* | 0x03* | 0x0108* | 0x0106* | 0x0104* | 0x0604* | 0x0b* | 0x12* | 0x0680*) ;;
        *) continue ;;
        esac
        set -- "$@" "$device/class" "$device/vendor" "$device/device" "$device/subsystem_vendor" "$device/subsystem_device" \
            "$device/revision" "$device/current_link_speed" "$device/current_link_width" "$device/max_link_speed" \
            "$device/max_link_width" "$device/numa_node" "$device/power/control" "$device/sriov_numvfs" "$device/enable" \
            "$device/aer_dev_correctable" "$device/aer_dev_nonfatal" "$device/aer_dev_fatal"
        links "$device/driver"
    done
    [ $# = 0 ] || values "$@"
}
of_capabilities() {
    lspci -D -vv | grep -E '^[0-9a-f]{4}:|MaxPayload|MaxReadReq|RlxdOrd|LnkCtl:|LnkSta:|ACSCtl|AtomicOpsCtl|10BitTagReq|BAR [0-9]+: current size'
}
of_net() {
    links /sys/class/net/*/device/driver /sys/class/net/*/master
    values /sys/class/net/*/mtu /sys/class/net/*/operstate /sys/class/net/*/speed /sys/class/net/*/duplex \
        /sys/class/net/*/tx_queue_len /sys/class/net/*/gro_flush_timeout /sys/class/net/*/napi_defer_hard_irqs \
        /sys/class/net/*/carrier_changes /sys/class/net/*/bonding/mode /sys/class/net/*/bonding/xmit_hash_policy \
        /sys/class/net/*/bonding/miimon /sys/class/net/*/queues/rx-0/rps_cpus /sys/class/net/*/device/sriov_numvfs
}
# Names of the links that have a device behind them, so many at most.
of_ethernet() {
    set --
    for link in /sys/class/net/*; do
        [ ! -e "$link/device" ] || [ $# -gt 31 ] || set -- "$@" "${link##*/}"
    done
    for link in "$@"; do
        for way in -i -k -g -a -c -l --show-fec --show-priv-flags; do
            ethtool "$way" "$link" 2>/dev/null | sed "s/^/$link $way /"
        done
    done
}
of_routes() {
    ip -o rule show
    ip -o route show table all
    ip -6 -o rule show
}
of_queues() {
    tc qdisc show
}
of_rdma() {
    links /sys/class/infiniband/*/device
    values /sys/class/infiniband/*/fw_ver /sys/class/infiniband/*/hca_type /sys/class/infiniband/*/board_id \
        /sys/class/infiniband/*/node_type /sys/class/infiniband/*/ports/*/state /sys/class/infiniband/*/ports/*/phys_state \
        /sys/class/infiniband/*/ports/*/rate /sys/class/infiniband/*/ports/*/link_layer /sys/class/infiniband/*/tc/*/traffic_class \
        /sys/class/infiniband/*/ports/*/gid_attrs/types/[0-7] /sys/class/infiniband/*/ports/*/cap_mask \
        /sys/kernel/config/rdma_cm/*/ports/*/default_roce_mode /sys/kernel/config/rdma_cm/*/ports/*/default_roce_tos \
        /sys/class/net/*/ecn/roce_*/enable/* /sys/class/net/*/ecn/roce_np/cnp_dscp /sys/class/net/*/qos/*
    for link in /sys/class/infiniband/*/device/net/*; do
        [ -e "$link" ] || continue
        link=${link##*/}
        ! command -v mlnx_qos >/dev/null 2>&1 || mlnx_qos -i "$link" 2>/dev/null | sed "s/^/mlnx_qos $link /"
        ! command -v dcb >/dev/null 2>&1 || for what in pfc ets app buffer; do
            dcb $what show dev "$link" 2>/dev/null | sed "s/^/dcb $link $what /"
        done
    done
    ! command -v rdma >/dev/null 2>&1 || rdma system show 2>/dev/null | sed 's/^/system /'
}
of_counters() {
    values /sys/class/net/*/statistics/*err* /sys/class/net/*/statistics/*drop* /sys/class/infiniband/*/ports/*/counters/*err* \
        /sys/class/infiniband/*/ports/*/counters/*discard* /sys/class/infiniband/*/ports/*/counters/link_downed \
        /sys/class/infiniband/*/ports/*/counters/*wait /sys/class/infiniband/*/ports/*/hw_counters/* \
        /sys/devices/system/edac/mc/mc*/*e_count /proc/pressure/*
    for link in /sys/class/net/*; do
        [ ! -e "$link/device" ] || ethtool -S "${link##*/}" 2>/dev/null |
            grep -E 'err|drop|discard|pause|crc|symbol|ecn|cnp|timeout|out_of_buffer' | sed "s/^ */${link##*/} /"
    done
    sed -n 's/^Tcp: //p' /proc/net/snmp
}
of_disks() {
    values /sys/block/*/queue/scheduler /sys/block/*/queue/rotational /sys/block/*/queue/read_ahead_kb \
        /sys/block/*/queue/nr_requests /sys/block/*/queue/max_sectors_kb /sys/block/*/queue/write_cache \
        /sys/block/*/device/model /sys/block/*/device/firmware_rev /sys/block/*/device/rev /sys/block/*/size
    df -P -k 2>/dev/null | sed 's/^/df /'
}
of_mounts() {
    values /proc/mounts
    values /proc/swaps
}
of_limits() {
    sed 's/^/session /' /proc/self/limits
    ! command -v systemctl >/dev/null 2>&1 || systemctl show 2>/dev/null | grep '^Default' || :
}
of_services() {
    # One that gives no answer, as under load, has no units fewer.
    files=$(systemctl list-unit-files --no-legend --no-pager) || return
    printf '%s\n' "$files" | sed 's/^/file /'
    [ -d /run/systemd/system ] || return 0
    units=$(systemctl list-units --all --no-legend --no-pager --plain --type=service,timer,socket,mount,swap,automount,path) || return
    printf '%s\n' "$units" | sed 's/^/unit /'
}
of_accounts() {
    sed 's/^\([^:]*\):[^:]*:/passwd \1:/' /etc/passwd
    sed 's/^\([^:]*\):[^:]*:/group \1:/' /etc/group
}
of_processes() {
    ps -e -o pid= -o ppid= -o user= -o comm= 2>/dev/null || ps -o pid,ppid,user,comm
}
of_processes_later() {
    of_processes
}
of_firewall() {
    { nft -s list ruleset || iptables-save | sed 's/\[[0-9:]*\]//'; } 2>/dev/null
}
# Files with mode and owner, then digests: of what everybody may read as it is, of the rest with the salt before it, and
# without this host's own name.
of_etc() {
    find /etc -xdev \( -type f -o -type l -o -type d \) -exec ls -ldn {} + | sed 's/^/ls /'
    find /etc -xdev -type f -perm -4 -size -2048 -exec sha256sum {} + | sed 's/^/sha /'
    find /etc -xdev -type f ! -perm -4 -size -2048 -print | while IFS= read -r file; do
        sum=$({ printf %s "$salt" && cat "$file"; } | sha256sum) && printf 'salted %s  %s\n' "${sum%% *}" "$file"
    done
    name=$(uname -n)
    name=${name%%.*}
    name=${name:-localhost}
    set -- -e "s/$name/NAME/g"
    words=$name
    for address in $(ip -o addr show 2>/dev/null | sed -n 's/.* inet6\{0,1\} \([0-9a-f.:]*\).*/\1/p'); do
        case $address in 127.* | ::1) continue ;; esac
        set -- "$@" -e "s/$address/ADDRESS/g"
        words="$words
$address"
    done
    grep -rlsF -e "$words" /etc | while IFS= read -r file; do
        if [ -f "$file" ] && [ ! -L "$file" ]; then
            sum=$({ printf %s "$salt" && sed "$@" "$file"; } | sha256sum) &&
                printf 'named %s  %s\n' "${sum%% *}" "$file"
        fi
    done
    :
}
of_installed() {
    find /usr/local/bin /usr/local/sbin /usr/local/lib /usr/local/etc /usr/local/share/man -xdev -maxdepth 2 ! -type d -exec ls -ldn {} + || :
    find /usr/local /opt /lib/modules /boot -xdev -maxdepth 2 \( -type d -o -type l \) -exec ls -ldn {} + || :
    find /boot -xdev -maxdepth 1 -type f -exec ls -ldn {} + || :
    ! command -v ldconfig >/dev/null 2>&1 || ldconfig -p |
        sed -n 's/^[[:space:]]*\(lib\(nccl\|cuda\|cudart\|nvidia-ml\|ibverbs\|rdmacm\|mlx5\|mpi\|ucp\|uct\|pmix\|c\|cublas\|cudnn\|gdrapi\)\.so[^ ]*\) .*=> \(.*\)/library \1:\3/p'
}
# The surroundings of a new login, which a shell of the account sets up as that account. Root gets those of nobody: what
# profiles run by name may be somebody else's program.
of_surroundings() {
    asking='printf "\nasked\n"; env'
    case $(id -u):${SUDO_USER:-root} in
    0:root) $limited su -s /bin/sh - nobody -c "$asking" ;;
    0:*) $limited su - "$SUDO_USER" -c "$asking" ;;
    *) $limited sh -l -c "$asking" ;;
    esac
}
of_kernel_log() {
    dmesg | grep -E -e "$signs" | tail -n 2000
}

of_command_line() {
    values /proc/cmdline
}
of_parameters() {
    below /sys/module/*/parameters
}
of_sysctl() {
    find /proc/sys -path /proc/sys/fs/binfmt_misc -prune -o -type f -exec grep -sH '' {} + || :
}
of_gpus() {
    $limited nvidia-smi -q
}
of_gpu_links() {
    $limited nvidia-smi topo -m | sed 's/^/topo /'
    $limited nvidia-smi nvlink -s | sed 's/^/nvlink /'
    sed 's/^/params /' /proc/driver/nvidia/params
}
of_dkms_state() {
    dkms status
}
of_secure_boot() {
    mokutil --sb-state
}
of_ofed() {
    ofed_info -s
}
of_later() {
    of_counters
}
of_began() {
    read -r up _ </proc/uptime && printf '%s\n' "$up"
}

part began
part counters
with ps processes
part system
part packages
part python
part command_line
part processors
part memory
part modules
part parameters
part sysctl
part pci
with lspci capabilities
part net
with ethtool ethernet
with ip routes
with tc queues
part rdma
part disks
part mounts
part limits
with systemctl services
part accounts
with nft firewall
part etc
part installed
with timeout surroundings
part kernel_log
with nvidia-smi gpus
with nvidia-smi gpu_links
with dkms dkms_state
with mokutil secure_boot
with ofed_info ofed
sleep 1
part later
with ps processes_later
part began
printf '=== end\n'
