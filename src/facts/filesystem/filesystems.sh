# Prints the boot id and what is mounted where, as the kernel lists it. The list goes through `cat`: the
# shell reads a file byte by byte. No file system is asked anything, so a dead server holds nobody.
boot=''
read -r boot 2>/dev/null </proc/sys/kernel/random/boot_id
printf 'boot %s\n' "$boot"
cat /proc/self/mountinfo && printf 'end\n'
