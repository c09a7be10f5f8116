#!/bin/sh
# Makes a machine the host that its lab wants, once, at its first boot. What it is to be comes
# from the lab as files of qemu's firmware configuration.
set -eu
modprobe qemu_fw_cfg
seed() { cat "/sys/firmware/qemu_fw_cfg/by_name/opt/org.provision/$1/raw"; }
put() { # NAME PATH MODE
    seed "$1" >"$2"
    chmod "$3" "$2"
}
umask 022
put name /etc/hostname 644
hostname "$(cat /etc/hostname)"
put hosts /etc/hosts 644
put network /etc/systemd/network/20-lan.network 644
for type in ed25519 ecdsa; do
    put "ssh_host_${type}_key" "/etc/ssh/ssh_host_${type}_key" 600
    put "ssh_host_${type}_key.pub" "/etc/ssh/ssh_host_${type}_key.pub" 644
done
seed login | {
    IFS= read -r user
    IFS= read -r sudo
    IFS= read -r shell
    IFS= read -r key
    IFS= read -r password || true
    home=$(getent passwd "$user" | cut -d: -f6)
    [ -x "$shell" ] || {
        echo "lab-seed: the image has no $shell: name its package under \`packages\` of the lab" >/dev/console
        exit 1
    }
    [ "$(getent passwd "$user" | cut -d: -f7)" = "$shell" ] || usermod -s "$shell" "$user"
    umask 077
    mkdir -p "$home/.ssh"
    echo "$key" >"$home/.ssh/authorized_keys"
    chown -R "$user:" "$home/.ssh"
    rule="$user ALL=(ALL:ALL) NOPASSWD: ALL"
    if [ "$sudo" = password ]; then
        printf '%s:%s\n' "$user" "$password" | chpasswd
        rule="$user ALL=(ALL:ALL) ALL"
    fi
    echo "$rule" >/etc/sudoers.d/10-lab
    chmod 440 /etc/sudoers.d/10-lab
}
: >/etc/lab-seeded
