# Prints the name of process 1 and, for systemd, the state of the whole system.
name='' state=''
[ ! -r /proc/1/comm ] || read -r name </proc/1/comm
if [ -d /run/systemd/system ]; then
    name=systemd
    if command -v systemctl >/dev/null 2>&1; then
        state=$(systemctl is-system-running 2>/dev/null)
    fi
fi
printf 'name=%s\nstate=%s\n' "$name" "$state"
