# Asks what the kernel was booted with, and what the boot loader will give it next time.
line=''
IFS= read -r line </proc/cmdline
printf 'running=%s\n' "$line"
find_next_kernel
# Where grub.cfg is made by other means, nothing here could change it.
if [ "$loader" != grubby ]; then
    loader=''
    ! command -v update-grub >/dev/null 2>&1 || loader=grub
fi
if [ -n "$loader" ]; then
    printf 'loader=%s\n' "$loader"
    [ -z "$next_args" ] || printf 'next=%s\n' "$next_args"
fi
printf 'end\n'
