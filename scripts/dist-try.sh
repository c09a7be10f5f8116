#!/usr/bin/env bash
# Uses what `make dist` made, as root, where nothing else is: the .deb in a bare Debian, the .rpm in a root of
# dnf, the binary in a root that has busybox alone. Each says its version, validates, asks for facts and
# applies twice; the second time nothing may change. The roots go again.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
suite=bookworm mirror=${MIRROR:-http://deb.debian.org/debian}
arch=$(uname -m)
PATH=$PATH:/usr/sbin:/sbin

say() { printf '%s\n' "$*" >&2; }
die() {
    say "dist-try: $*"
    exit 1
}
[ "$(id -u)" = 0 ] || die "a root file system is made and entered by root only"
made() {
    compgen -G "target/packages/$1" || die "there is no target/packages/$1; first: make dist"
}
deb=$(made "provision_*_$(dpkg --print-architecture).deb")
rpm=$(made "provision-*.$arch.rpm")
program=$(made "provision-*-linux-$arch")

work=$(mktemp -d "${TMPDIR:-/tmp}/provision-try.XXXXXX")
trap 'rm -rf "$work"' EXIT

# A command in a root, with processes, mounts and /proc of its own, which all end with it.
inside() {
    local root=$1
    shift
    mkdir -p "$root/proc"
    # shellcheck disable=SC2016 # it is the inner shell that puts them in
    unshare --mount --pid --fork sh -c 'mount -t proc proc "$1/proc"; root=$1; shift; exec chroot "$root" "$@"' sh \
        "$root" env -i HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive "$@"
}

use() {
    local root=$1 name=$2 changed
    mkdir -p "$root/root"
    cat >"$root/root/inventory.yaml" <<'END'
cluster: try
transport: local
playbooks: [./play.yaml]
hosts: { here: }
END
    cat >"$root/root/play.yaml" <<'END'
name: a try
tasks:
  - name: a folder
    directory: { path: /opt/try, mode: "0750" }
  - name: a file
    file: { path: /opt/try/file, content: "{{ facts.kernel.release }}\n" }
  - name: a line
    line: { path: /etc/passwd, line: "try:x:4711:4711::/:/bin/false" }
  - name: a link
    symlink: { path: /opt/try/link, target: file }
END
    say "== $name: $(inside "$root" provision --version)"
    inside "$root" provision validate /root/inventory.yaml
    inside "$root" provision facts /root/inventory.yaml --only os,kernel --json /root/facts.json
    inside "$root" provision apply /root/inventory.yaml --yes --json /root/first.json
    inside "$root" provision apply /root/inventory.yaml --yes --json /root/second.json
    jq -e '.summary.tasks.changed > 0' "$root/root/first.json" >/dev/null || die "$name: the first apply changed nothing"
    changed=$(jq .summary.tasks.changed "$root/root/second.json")
    [ "$changed" = 0 ] || die "$name: the second apply changed $changed tasks"
    say "$name: the second apply changed 0 tasks"
}

# Completions, pages for man, licences and documentation are where others look for them.
look() {
    local root=$1 name=$2 file
    shift 2
    for file in usr/bin/provision usr/share/bash-completion/completions/provision \
        usr/share/fish/vendor_completions.d/provision.fish 'usr/share/man/man1/provision-apply.1*' \
        usr/share/doc/provision/README.md "$@"; do
        compgen -G "$root/$file" >/dev/null || die "$name: there is no /$file"
    done
}

say "== a bare Debian"
debootstrap --variant=minbase "$suite" "$work/debian" "$mirror" >"$work/log" 2>&1 || {
    tail -n 20 "$work/log" >&2
    die "debootstrap failed"
}
cp -a "$work/debian" "$work/dnf"

cp "$deb" "$work/debian/root/provision.deb"
inside "$work/debian" dpkg --install /root/provision.deb >&2
# Bare images of Debian leave documentation out; this root does not.
look "$work/debian" .deb usr/share/zsh/vendor-completions/_provision usr/share/doc/provision/copyright
use "$work/debian" .deb
inside "$work/debian" dpkg --purge provision >&2
[ ! -e "$work/debian/usr/bin/provision" ] || die ".deb: it left its program behind"

say "== a root of dnf"
inside "$work/dnf" sh -c 'apt-get -qq update && apt-get -qq -y install --no-install-recommends dnf rpm' >"$work/log" 2>&1 || {
    tail -n 20 "$work/log" >&2
    die "dnf could not be installed"
}
printf 'ID=rocky\nVERSION_ID=9.4\nID_LIKE="rhel centos fedora"\nPRETTY_NAME=Rocky\n' >"$work/dnf/etc/os-release"
sed -i 's/^enabled *=.*/enabled = false/' "$work"/dnf/etc/dnf/plugins/*.conf 2>/dev/null || true
mkdir -p "$work/dnf/opt/off"
mv "$work"/dnf/usr/bin/{dpkg,dpkg-query,apt-get,apt-cache} "$work/dnf/opt/off"
cp "$rpm" "$work/dnf/root/provision.rpm"
inside "$work/dnf" dnf --assumeyes --disablerepo='*' install /root/provision.rpm >&2
look "$work/dnf" .rpm usr/share/zsh/site-functions/_provision usr/share/licenses/provision/LICENSE-MIT
inside "$work/dnf" rpm --verify provision
use "$work/dnf" .rpm
inside "$work/dnf" dnf --assumeyes --disablerepo='*' remove provision >&2
[ ! -e "$work/dnf/usr/bin/provision" ] || die ".rpm: it left its program behind"

say "== busybox alone"
mkdir -p "$work"/busybox/{bin,sbin,usr/bin,usr/sbin,etc,tmp,root,dev}
cp "$(command -v busybox)" "$work/busybox/bin/busybox"
for applet in $(busybox --list); do
    [ "$applet" = busybox ] || ln -s busybox "$work/busybox/bin/$applet"
done
mknod -m 666 "$work/busybox/dev/null" c 1 3
mknod -m 444 "$work/busybox/dev/urandom" c 1 9
printf 'root:x:0:0:root:/root:/bin/sh\n' >"$work/busybox/etc/passwd"
printf 'root:x:0:\n' >"$work/busybox/etc/group"
cp "$program" "$work/busybox/bin/provision"
use "$work/busybox" busybox
say "dist-try: all three work"
