# Sets the name of the host, live and for the next boot.
# Parameters: name
if [ -L /etc/hostname ]; then
    printf '/etc/hostname is a symbolic link\n' >&2
    exit 1
fi
# systemd's way also tells those who listen; it needs D-Bus.
if [ -d /run/systemd/system ] && command -v hostnamectl >/dev/null 2>&1; then
    hostnamectl set-hostname "$1" 2>/dev/null || :
fi
stored='' live=''
[ ! -r /etc/hostname ] || read -r stored </etc/hostname
# Written in place: in a container the file is a mount of its own, which cannot be replaced.
if [ "$stored" != "$1" ]; then
    printf '%s\n' "$1" >/etc/hostname || exit 1
    chmod 0644 /etc/hostname || exit 1
fi
read -r live </proc/sys/kernel/hostname || exit 1
if [ "$live" != "$1" ] && ! hostname "$1" 2>/dev/null; then
    printf '%s\n' "$1" >/proc/sys/kernel/hostname
fi
