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
    next_args=''
    [ ! -r /boot/grub/grub.cfg ] || read_grub /boot/grub
    [ -z "$next_args" ] || printf 'next=%s\n' "$next_args"
fi
printf 'end\n'
