# The NVIDIA driver in all its layers: loaded, on disk, packages, what is built for which kernel, what
# may replace it. Nothing is loaded and nvidia-smi is not asked.
begin driver
present=''
[ ! -d /sys/module/nvidia ] || present=1
for file in /sys/bus/pci/devices/*/vendor; do
    vendor=''
    { read -r vendor <"$file"; } 2>/dev/null || continue
    [ "$vendor" != 0x10de ] || present=1
done
[ ! -d /sys/module/nouveau ] || printf 'nouveau=1\n'
[ ! -d /sys/module/nv_peer_mem ] || printf 'nv_peer_mem=1\n'
if [ -d /sys/module/nvidia_peermem ]; then
    printf 'peermem=1\n'
    value peermem_version /sys/module/nvidia_peermem/version
fi
for client in nv_mem nv_mem_nc; do
    value client "/sys/kernel/mm/memory_peers/$client/version"
done
if [ -z "$present" ]; then
    finish 0
    exit 0
fi
printf 'present=1\n'
value loaded /sys/module/nvidia/version
value proc /proc/driver/nvidia/version
for image in /boot/vmlinuz-*; do
    release=${image#/boot/vmlinuz-}
    [ -d "/lib/modules/$release" ] || continue
    printf 'kernel=%s\n' "$release"
    [ ! -e "/lib/modules/$release/build/Makefile" ] || printf 'headers=1\n'
    find "/lib/modules/$release" -name 'nvidia.ko*' 2>/dev/null | while IFS= read -r file; do
        printf 'module=%s\n' "$file"
    done
done
finish 0
ask 5 modinfo nvidia
if command -v dpkg-query >/dev/null 2>&1; then
    # shellcheck disable=SC2016 # dpkg-query fills these in
    ask 10 dpkg-query -W -f '${db:Status-Abbrev} ${Package} ${Version}\n' 'nvidia-*' 'libnvidia-*' 'cuda-drivers*'
elif command -v rpm >/dev/null 2>&1; then
    ask 15 rpm -qa --qf 'ii %{NAME} %{VERSION}\n' '*nvidia*' 'cuda-drivers*'
fi
begin upgrades
[ ! -x /usr/bin/unattended-upgrade ] || printf 'unattended=1\n'
for file in /etc/apt/apt.conf.d/*; do
    [ -r "$file" ] || continue
    grep -E 'APT::Periodic::Unattended-Upgrade|Package-Blacklist|^[[:space:]]*"' "$file" 2>/dev/null |
        while IFS= read -r line; do
            printf 'line=%s\n' "$line"
        done
done
for unit in apt-daily-upgrade.timer unattended-upgrades.service; do
    [ "$(readlink "/etc/systemd/system/$unit")" != /dev/null ] || printf 'masked=%s\n' "$unit"
done
[ ! -e /etc/systemd/system/timers.target.wants/dnf-automatic.timer ] || printf 'dnf_automatic=1\n'
finish 0
switch=''
for device in /sys/bus/pci/devices/*; do
    vendor='' class=''
    { read -r vendor <"$device/vendor" && read -r class <"$device/class"; } 2>/dev/null || continue
    case $vendor$class in 0x10de0x0680*) switch=1 ;; esac
done
if [ -n "$switch" ] || command -v nv-fabricmanager >/dev/null 2>&1; then
    ask 5 nv-fabricmanager -v
    ask 5 systemctl is-active nvidia-fabricmanager
fi
[ ! -x /usr/local/cuda/bin/nvcc ] || ask 10 /usr/local/cuda/bin/nvcc --version
[ ! -d /var/lib/dkms ] || ask 8 dkms status
:
