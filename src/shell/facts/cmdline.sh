# Asks what the kernel was booted with, and what the boot loader will give it next time.
line=''
IFS= read -r line </proc/cmdline
printf 'running=%s\n' "$line"
if command -v grubby >/dev/null 2>&1; then
    printf 'loader=grubby\n'
    # `args="ro crashkernel=auto"` of the default kernel.
    grubby --info=DEFAULT 2>/dev/null | while IFS= read -r line; do
        case $line in
        args=*) printf 'next=%s\n' "${line#args=}" ;;
        esac
    done
elif command -v update-grub >/dev/null 2>&1; then
    printf 'loader=grub\n'
    if [ -r /boot/grub/grub.cfg ]; then
        # The first entry is the default one: `linux /vmlinuz-6.1 root=... ro quiet`.
        while read -r word rest; do
            case $word in
            linux | linuxefi)
                printf 'next=%s\n' "${rest#* }"
                break
                ;;
            esac
        done </boot/grub/grub.cfg
    fi
fi
printf 'end\n'
