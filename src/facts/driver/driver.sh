# Asks about the NVIDIA driver: the module that is loaded, its module on disk, its packages, and what stands in
# the way. Parameters: `whole` for what an installation needs besides, on a host without a device of NVIDIA too;
# `files` for the files of the module for each kernel.
whole=$1 files=$2
begin driver
release='' present=''
read -r release </proc/sys/kernel/osrelease
printf 'running=%s\n' "$release"
[ ! -d /sys/module/nouveau ] || printf 'nouveau=true\n'
[ ! -d /sys/module/nvidia ] || present=1
for file in /sys/bus/pci/devices/*/vendor; do
    vendor=''
    { read -r vendor <"$file"; } 2>/dev/null || continue
    [ "$vendor" != 0x10de ] || present=1
done
if [ -z "$present$whole" ]; then
    finish 0
    exit 0
fi
if [ -d /sys/module/nvidia ]; then
    printf 'loaded=%s\n' "$(nvidia_loaded)"
    value banner /proc/driver/nvidia/version
fi
for directory in /lib/modules/*; do
    [ -d "$directory" ] || continue
    kernel=${directory##*/}
    printf 'kernel=%s\n' "$kernel"
    [ ! -e "$directory/build/Makefile" ] || printf 'headers=true\n'
    [ ! -e "/boot/vmlinuz-$kernel" ] || printf 'image=true\n'
    [ -n "$files" ] || continue
    find "$directory" \( -name 'nvidia.ko*' -o -name 'nvidia-current.ko*' -o -name 'nvidia-current-open.ko*' \) 2>/dev/null | while IFS= read -r file; do
        printf 'module=%s\n' "$file"
    done
done
if [ -n "$whole" ]; then
    tell_secure_boot
    for file in /usr/bin/nvidia-uninstall /usr/bin/nvidia-installer; do
        [ -e "$file" ] || continue
        if dpkg -S "$file" >/dev/null 2>&1 || rpm -qf "$file" >/dev/null 2>&1; then continue; fi
        printf 'runfile=%s\n' "$file"
        break
    done
fi
for file in /etc/dnf/plugins/versionlock.list /etc/yum/pluginconf.d/versionlock.list; do
    [ -r "$file" ] || continue
    while IFS= read -r line; do
        case $line in '#'* | '!'*) ;; *nvidia* | cuda-drivers*) printf 'lock=%s\n' "$line" ;; esac
    done <"$file"
    break
done
finish 0
nvidia_on_disk 'ask 5'
if [ -n "$whole" ]; then
    for directory in /lib/modules/*; do
        [ -d "$directory" ] || continue
        [ "${directory##*/}" != "$release" ] || continue
        nvidia_on_disk 'ask 5' -k "${directory##*/}"
    done
fi
if command -v dpkg-query >/dev/null 2>&1; then
    # shellcheck disable=SC2016 # dpkg-query fills these in
    ask 10 dpkg-query -W -f '${db:Status-Abbrev} ${Package} ${Version}\n' '*nvidia*' libcuda1 'cuda-drivers*'
elif command -v rpm >/dev/null 2>&1; then
    ask 15 rpm -qa --qf 'ii  %{NAME} %{EVR}\n' '*nvidia*' 'cuda-drivers*'
fi
:
