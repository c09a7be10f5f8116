#!/bin/sh
# Makes the disk of the lab's virtual machines from a Debian mirror: debootstrap, a file system
# made of the tree, and the boot loader put on it by the machine itself. Runs on this machine as
# root; nothing is mounted and no loop device is needed.
#   OUT SUITE MIRROR KEYRING PACKAGES FILES SECONDS
# KEYRING may be empty, PACKAGES are separated by commas, FILES is laid over the tree, SECONDS
# is how long the machine may take. OUT appears when it is complete.
set -eu
out=$1 suite=$2 mirror=$3 keyring=$4 packages=$5 files=$6 seconds=$7
export LC_ALL=C DEBIAN_FRONTEND=noninteractive
PATH=$PATH:/usr/sbin:/sbin

work=$(mktemp -d "$(dirname "$out")/.new.XXXXXX")
trap 'rm -rf "$work"' EXIT
trap 'exit 129' HUP
trap 'exit 130' INT
trap 'exit 143' TERM
root=$work/root

# The least of a system; apt knows better than debootstrap which of two packages another one needs.
set -- --variant=minbase --include=ca-certificates
[ -z "$keyring" ] || set -- "$@" --keyring="$keyring"
if ! debootstrap "$@" "$suite" "$root" "$mirror" >"$work/log" 2>&1; then
    tail -n 20 "$work/log" >&2
    exit 1
fi
inside() { chroot "$root" "$@" >"$work/log" 2>&1 </dev/null || {
    tail -n 20 "$work/log" >&2
    exit 1
}; }

rm -f "$root"/etc/apt/sources.list.d/*
cp -R "$files/." "$root"
# The lists stay: an install on a host needs no update first.
inside sh -c 'update-ca-certificates; apt-get update'
# No service starts in a tree.
printf '#!/bin/sh\nexit 101\n' >"$root/usr/sbin/policy-rc.d"
chmod 755 "$root/usr/sbin/policy-rc.d"
# shellcheck disable=SC2046  # a list of words
inside apt-get -y --no-install-recommends -o Dpkg::Options::=--force-confold -o Dpkg::Options::=--force-unsafe-io \
    install $(printf '%s\n' "$packages" | tr , ' ')
rm -f "$root/usr/sbin/policy-rc.d"
inside sh -c 'useradd --create-home --shell /bin/bash provision && usermod -p "*" provision'
inside systemctl enable lab-seed.service systemd-networkd.service ssh.service
inside systemctl mask apt-daily.timer apt-daily-upgrade.timer dpkg-db-backup.timer \
    e2scrub_all.timer e2scrub_reap.service fstrim.timer getty@tty1.service
# A small initramfs: unpacking is what an emulated processor is slowest at.
inside update-initramfs -u -k all
rm -f "$root"/var/cache/apt/archives/*.deb "$root"/etc/ssh/ssh_host_* "$root"/var/lib/dbus/machine-id
: >"$root/etc/machine-id"
rm -f "$root/etc/resolv.conf"
# The resolver of qemu's user network.
echo 'nameserver 10.0.2.3' >"$root/etc/resolv.conf"

kernel=$(ls "$root"/boot/vmlinuz-*)
initrd=$(ls "$root"/boot/initrd.img-*)
mkdir "$work/out"
cp "$kernel" "$work/out/vmlinuz"
cp "$initrd" "$work/out/initrd.img"

# The root behind the first MiB, where grub has its place for a BIOS. In the last 64 MiB what UEFI starts: the shim,
# which Microsoft signed, grub and its first file, each by the name that the one before looks for.
esp=$work/esp
mkfs.vfat -C -n ESP "$esp" 65536 >"$work/log"
cat >"$work/grub.cfg" <<'END'
search --no-floppy --label provision --set=root
set prefix=($root)/boot/grub
configfile $prefix/grub.cfg
END
mmd -i "$esp" ::/EFI ::/EFI/BOOT ::/EFI/debian
mcopy -i "$esp" "$root/usr/lib/shim/shimx64.efi.signed" ::/EFI/BOOT/BOOTX64.EFI
mcopy -i "$esp" "$root/usr/lib/grub/x86_64-efi-signed/grubx64.efi.signed" ::/EFI/BOOT/grubx64.efi
mcopy -i "$esp" "$work/grub.cfg" ::/EFI/debian/grub.cfg
disk=$work/out/disk.img
truncate -s 8G "$disk"
printf '%s\n' 'start=2048, size=16644096, type=83, bootable' 'start=16646144, type=ef' | sfdisk -q "$disk"
mkfs.ext4 -q -L provision -E offset=1048576 -d "$root" "$disk" 8322048k
dd if="$esp" of="$disk" bs=1M seek=8128 conv=notrunc,sparse status=none

timeout "$seconds" qemu-system-x86_64 -accel tcg -machine pc -cpu max -m 512 -nodefaults -no-reboot \
    -display none -serial "file:$work/grub.log" -drive "file=$disk,if=virtio,format=raw,cache=unsafe" \
    -kernel "$work/out/vmlinuz" -initrd "$work/out/initrd.img" \
    -append 'root=/dev/vda1 rw console=ttyS0 panic=-1 init=/usr/local/sbin/lab-grub' >&2 </dev/null || {
    echo "the machine did not put its boot loader on the disk within $seconds s" >&2
    tail -n 20 "$work/grub.log" >&2
    exit 1
}
grep -q '^lab-grub: done' "$work/grub.log" || {
    tail -n 20 "$work/grub.log" >&2
    exit 1
}
mv "$work/out" "$out"
