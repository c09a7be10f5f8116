# What keeps the NVIDIA driver as it is, replaces it or stands on it: peer memory, upgrades, who changed it, the fabric
# manager, the CUDA toolkit, DKMS. Nothing is loaded and nvidia-smi is not asked.
begin peermem
[ ! -d /sys/module/nv_peer_mem ] || printf 'nv_peer_mem=1\n'
if [ -d /sys/module/nvidia_peermem ]; then
    printf 'peermem=1\n'
    value peermem_version /sys/module/nvidia_peermem/version
fi
for client in nv_mem nv_mem_nc; do
    value client "/sys/kernel/mm/memory_peers/$client/version"
done
finish 0
present=''
[ ! -d /sys/module/nvidia ] || present=1
for file in /sys/bus/pci/devices/*/vendor; do
    vendor=''
    { read -r vendor <"$file"; } 2>/dev/null || continue
    [ "$vendor" != 0x10de ] || present=1
done
[ -n "$present" ] || exit 0
begin upgrades
[ ! -x /usr/bin/unattended-upgrade ] || printf 'unattended=1\n'
for file in /etc/apt/apt.conf.d/*; do
    [ -r "$file" ] || continue
    grep -E 'APT::Periodic::Unattended-Upgrade|Package-Blacklist|[{}]|^[[:space:]]*"' "$file" 2>/dev/null |
        while IFS= read -r line; do
            printf 'line=%s\n' "$line"
        done
done
for unit in apt-daily-upgrade.timer unattended-upgrades.service; do
    [ "$(readlink "/etc/systemd/system/$unit")" != /dev/null ] || printf 'masked=%s\n' "$unit"
done
# What dnf leaves alone: that of dnf-automatic is stronger than dnf's own.
for file in /etc/dnf/automatic.conf /etc/dnf/dnf.conf; do
    found=$(grep -E '^[[:space:]]*(excludepkgs|exclude)[[:space:]]*=' "$file" 2>/dev/null) || continue
    printf '%s\n' "$found" | while IFS= read -r line; do
        printf 'exclude=%s\n' "${line#*=}"
    done
    break
done
# Its timer of this name always installs; the other one does what its file says.
for wants in /etc/systemd/system/*.wants; do
    [ ! -e "$wants/dnf-automatic-install.timer" ] || printf 'dnf_automatic=dnf-automatic-install.timer\n'
    if [ -e "$wants/dnf-automatic.timer" ] &&
        grep -Eqi '^[[:space:]]*apply_updates[[:space:]]*=[[:space:]]*(yes|true|1|on)' /etc/dnf/automatic.conf 2>/dev/null; then
        printf 'dnf_automatic=dnf-automatic.timer\n'
    fi
done
finish 0
# Who changed packages of NVIDIA, by apt's own log: of a transaction its time, its command, and each such package.
# Others may write where it lies (/var/log is the syslog group's on Ubuntu): only root's own file counts, and its end.
if held /var/log/apt/history.log && [ "${held%% *}" = 0 ]; then
    begin history.log
    changed='^(Start-Date|Commandline|Requested-By): .{0,120}|^(Install|Upgrade|Downgrade|Reinstall): |(lib)?nvidia-[a-z0-9.+-]+(:[a-z0-9]+)? [(][^)]{0,120}[)]'
    command -v grep >/dev/null 2>&1 || lost grep
    told=$(tail -c 131072 <&3 | LC_ALL=C grep -oE "$changed" | tail -n 500) || lost tail
    printf '%s\n' "$told"
    finish 0
    exec 3<&-
fi
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
nvcc=/usr/local/cuda/bin/nvcc
if [ -x "$nvcc" ]; then
    if rooted "$nvcc"; then
        ask 10 "$nvcc" --version
    else
        begin "$nvcc" --version
        finish 126
        printf 'not run: %s\n' "$rooted_why"
    fi
fi
[ ! -d /var/lib/dkms ] || ask 8 dkms status
:
