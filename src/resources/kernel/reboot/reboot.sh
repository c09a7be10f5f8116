# Reboots this host a moment after its answer is on the way.
# Parameters: none
sync
if [ -d /run/systemd/system ]; then
    set -- systemctl reboot
else
    set -- shutdown -r now
fi
for tool in "$1" setsid; do
    command -v "$tool" >/dev/null 2>&1 || {
        printf '%s is needed, and it is not here\n' "$tool" >&2
        exit 127
    }
done
setsid sh -c : || exit
# The lock of this host is given back at once: nothing may outlive this boot.
setsid sh -c 'sleep 1; exec "$@"' provision-reboot "$@" </dev/null >/dev/null 2>&1 9>&- &
exit 0
