# Prints /etc/os-release and the package manager, at once: each piece would be a packet.
told=''
newline='
'
for file in /etc/os-release /usr/lib/os-release; do
    [ -r "$file" ] || continue
    while IFS= read -r line || [ -n "$line" ]; do
        told=$told$line$newline
    done <"$file"
    break
done
for tool in apt-get dnf yum zypper apk pacman; do
    if command -v "$tool" >/dev/null 2>&1; then
        told=${told}PROVISION_TOOL=$tool$newline
        break
    fi
done
printf '%s' "$told"
