#!/bin/sh
# Takes back what the playbook did, all or some of it, and empties the book.
# Parameters: small (whether /srv/chaos is a file system of 16 MB), then what is taken back:
# files line account package service
small=$1
shift
rm -rf /var/chaos/synced
pkill -xf 'sleep 4242'
rm -f /var/chaos/book /var/chaos/lie /var/chaos/lock.*
if mountpoint -q /srv/chaos; then
    umount -l /srv/chaos
fi
mkdir -p /srv/chaos /var/chaos
: >/var/chaos/book
for what; do
    case $what in
    files) rm -rf /srv/chaos/* ;;
    line) printf 'OTHER=1\nVERSION=none\n' >/etc/chaos.defaults ;;
    account) ! id chaos-app >/dev/null 2>&1 || userdel chaos-app ;;
    package) dpkg -P chaos-tool >/dev/null 2>&1 || dpkg -P --force-all chaos-tool >/dev/null 2>&1 ;;
    service)
        systemctl disable -q --now chaos-app 2>/dev/null
        rm -f /etc/systemd/system/chaos-app.service
        systemctl daemon-reload
        ;;
    esac
done
[ -e /etc/chaos.defaults ] || printf 'OTHER=1\nVERSION=none\n' >/etc/chaos.defaults
[ "$small" = no ] || mount -t tmpfs -o size=16m tmpfs /srv/chaos
find /tmp /var/tmp /root -mindepth 1 ! -path '*/systemd-private-*' | sort >/var/chaos/before
