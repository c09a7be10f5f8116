# Prints the machine's architecture.
arch=''
[ ! -r /proc/sys/kernel/arch ] || read -r arch </proc/sys/kernel/arch
if [ -n "$arch" ]; then printf '%s\n' "$arch"; else uname -m; fi
