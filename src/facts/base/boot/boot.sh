# Prints what is known of this boot and the next: which kernel will run, whether it has what it
# needs, and what asks for a reboot.
id='' running=''
{ read -r id </proc/sys/kernel/random/boot_id; } 2>/dev/null
read -r running </proc/sys/kernel/osrelease
printf 'id=%s\nrunning=%s\n' "$id" "$running"
if [ -e /run/reboot-required ] || [ -e /var/run/reboot-required ]; then
    packages=''
    for list in /run/reboot-required.pkgs /var/run/reboot-required.pkgs; do
        [ -r "$list" ] || continue
        while read -r package; do
            case " $packages " in *" $package "*) ;; *) packages="$packages $package" ;; esac
        done <"$list"
    done
    printf 'required=%s\n' "${packages# }"
elif command -v needs-restarting >/dev/null 2>&1; then
    timeout -k 1 8 needs-restarting -r >/dev/null 2>&1
    [ $? -ne 1 ] || printf 'required=\n'
fi
if [ -d /sys/module/nouveau ] && cat /etc/modprobe.d/*.conf /usr/lib/modprobe.d/*.conf /lib/modprobe.d/*.conf 2>/dev/null |
    grep -Eq '^[[:space:]]*blacklist[[:space:]]+nouveau'; then
    printf 'nouveau=loaded\n'
fi
if loaded=$(nvidia_loaded); then
    printf 'nvidia_loaded=%s\n' "$loaded"
    nvidia_on_disk '' 2>/dev/null | while read -r key value; do
        [ "$key" != version: ] || printf 'nvidia_disk=%s\n' "$value"
    done
fi
tell_secure_boot
# RDMA modules that are loaded though others are installed: DOCA-OFED replaces those of the kernel. Some
# distributions build without srcversion; then what DOCA's modules stand on tells them apart.
for module in ib_core mlx5_core; do
    [ -e "/sys/module/$module/initstate" ] || continue
    loaded='' installed='' depends=''
    { read -r loaded <"/sys/module/$module/srcversion"; } 2>/dev/null
    while read -r key value; do
        case $key in
        srcversion:) installed=$value ;;
        depends:) depends=$value ;;
        esac
    done <<END
$(modinfo "$module" 2>/dev/null)
END
    if [ -n "$loaded" ] && [ -n "$installed" ]; then
        [ "$loaded" = "$installed" ] || printf 'stale_module=%s\n' "$module"
    else
        case ",$depends," in *,mlx_compat,*)
            [ -d /sys/module/mlx_compat ] || printf 'stale_module=%s\n' "$module"
            ;;
        esac
    fi
done
find_next_kernel
printf 'next=%s\n' "$next"
kernel=${next:-$running}
[ ! -e "/lib/modules/$kernel/modules.dep" ] || printf 'modules=true\n'
[ ! -e "/lib/modules/$kernel/build/Makefile" ] || printf 'headers=true\n'
[ ! -e "/boot/vmlinuz-$kernel" ] || printf 'image=true\n'
for initrd in "/boot/initrd.img-$kernel" "/boot/initramfs-$kernel.img"; do
    [ -e "$initrd" ] || continue
    printf 'initramfs=%s\n' "$initrd"
    [ -s "$initrd" ] || printf 'initramfs_empty=true\n'
    stale=$(find /etc/modprobe.d -name '*.conf' -newer "$initrd" 2>/dev/null | sort | head -n 1)
    [ -z "$stale" ] || printf 'stale=%s\n' "$stale"
done
# Other kernels have one, so this one should.
for initrd in /boot/initrd.img-* /boot/initramfs-*.img; do
    [ ! -e "$initrd" ] || printf 'initramfs_used=true\n'
done
if [ -d /boot ]; then
    df -Pk /boot 2>/dev/null | while read -r _ _ _ free _; do
        case $free in *[!0-9]* | '') ;; *) printf 'free_kib=%s\n' "$free" ;; esac
    done
fi
if [ -d /var/lib/dkms ] && command -v dkms >/dev/null 2>&1; then
    timeout -k 1 6 dkms status 2>/dev/null | while IFS= read -r line; do
        printf 'dkms=%s\n' "$line"
    done
fi
exit 0
