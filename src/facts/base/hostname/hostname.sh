# Prints the name of the host.
name=''
read -r name </proc/sys/kernel/hostname
printf '%s\n' "$name"
