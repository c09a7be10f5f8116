#!/bin/sh
# Makes a started lab host ready for its login and tells its host keys. Runs as root in the
# container through the engine, so the keys are known without trusting a network.
#   USER SUDO (nopasswd|password) SHELL WAIT_SECONDS
# Standard input: line 1 the public key, line 2 the password (may be empty).
set -eu
user=$1 sudo=$2 shell=$3 wait=$4
IFS= read -r key
IFS= read -r password || true

home=$(getent passwd "$user" | cut -d: -f6)
[ -x "$shell" ] || {
    echo "the image has no $shell: name its package under \`packages\` of the lab" >&2
    exit 1
}
[ "$(getent passwd "$user" | cut -d: -f7)" = "$shell" ] || usermod -s "$shell" "$user"
umask 077
mkdir -p "$home/.ssh"
touch "$home/.ssh/authorized_keys"
grep -qxF "$key" "$home/.ssh/authorized_keys" || echo "$key" >>"$home/.ssh/authorized_keys"
chown -R "$user:" "$home/.ssh"

if [ "$sudo" = password ]; then
    printf '%s:%s\n' "$user" "$password" | chpasswd
    rule="$user ALL=(ALL:ALL) ALL"
else
    rule="$user ALL=(ALL:ALL) NOPASSWD: ALL"
fi
echo "$rule" >/etc/sudoers.d/.lab
chmod 440 /etc/sudoers.d/.lab
mv /etc/sudoers.d/.lab /etc/sudoers.d/10-lab

# sshd has made its keys before it listens, and writes its process id then. systemd, which is busy, is asked when that is
# there, and twice a second where it is written elsewhere.
tries=$((wait * 10))
while { [ ! -e /run/sshd.pid ] && [ $((tries % 5)) != 0 ]; } || ! systemctl -q is-active ssh.service 2>/dev/null; do
    tries=$((tries - 1))
    [ "$tries" -gt 0 ] || {
        systemctl --no-pager status ssh.service >&2 || true
        exit 1
    }
    sleep 0.1
done
# Logins are refused by pam_nologin until this is done.
while [ -e /run/nologin ] && [ "$tries" -gt 0 ]; do
    tries=$((tries - 1))
    sleep 0.05
done
cut -d' ' -f1,2 /etc/ssh/ssh_host_*_key.pub
