# Prints /etc/os-release and the package manager.
for file in /etc/os-release /usr/lib/os-release; do
    [ -r "$file" ] || continue
    while IFS= read -r line || [ -n "$line" ]; do
        printf '%s\n' "$line"
    done <"$file"
    break
done
for tool in apt-get dnf yum zypper apk pacman; do
    if command -v "$tool" >/dev/null 2>&1; then
        printf 'PROVISION_TOOL=%s\n' "$tool"
        break
    fi
done
