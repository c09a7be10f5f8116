#!/bin/sh
# Makes the lab's base image from a Debian mirror. Runs on this machine as root.
#   ENGINE IMAGE SUITE MIRROR KEYRING PACKAGES
# KEYRING may be empty, PACKAGES are separated by commas.
set -eu
engine=$1 image=$2 suite=$3 mirror=$4 keyring=$5 packages=$6

PATH=$PATH:/usr/sbin:/sbin
command -v debootstrap >/dev/null || {
    echo "debootstrap is missing: apt-get install debootstrap (or run scripts/setup.sh as root)" >&2
    exit 1
}
work=$(mktemp -d "${TMPDIR:-/tmp}/provision-lab.XXXXXX")
# debootstrap that is ended in its middle leaves these mounted.
trap 'umount "$work/root/proc" "$work/root/sys" 2>/dev/null || :; rm -rf --one-file-system "$work"' EXIT
trap 'exit 129' HUP
trap 'exit 130' INT
trap 'exit 143' TERM

set -- --variant=minbase --include="$packages"
[ -z "$keyring" ] || set -- "$@" --keyring="$keyring"
if ! debootstrap "$@" "$suite" "$work/root" "$mirror" >"$work/log" 2>&1; then
    tail -n 20 "$work/log" >&2
    exit 1
fi
# Archives and lists of the build are not part of a host; its own lists are fetched when the
# image is configured. Shared host keys are made per host instead.
rm -f "$work"/root/var/cache/apt/archives/*.deb "$work"/root/etc/ssh/ssh_host_*
tar -C "$work/root" --numeric-owner -cf "$work/root.tar" .
"$engine" import "$work/root.tar" "$image" >/dev/null
