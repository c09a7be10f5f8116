#!/bin/sh
# Turns a Debian root filesystem into a lab host. Runs as root inside a container of the base
# image with this machine's network; the result is committed as the image.
#   PACKAGES (separated by spaces), FETCHED, INSTEAD, WITHOUT (the same)
# apt's configuration is already there.
set -eu
packages=$1
fetched=$2 instead=$3 without=$4
export DEBIAN_FRONTEND=noninteractive LC_ALL=C

# The mirror's own certificates, when this machine has any.
update-ca-certificates >/dev/null 2>&1 || true

# No service starts while the image is made.
printf '#!/bin/sh\nexit 101\n' >/usr/sbin/policy-rc.d
chmod 755 /usr/sbin/policy-rc.d
# Hosts of a lab do not live long: what is installed need not survive a loss of power, and nobody reads manuals there.
cat >/etc/dpkg/dpkg.cfg.d/10-lab <<'END'
force-unsafe-io
path-exclude=/usr/share/doc/*
path-include=/usr/share/doc/*/STAND-IN
path-exclude=/usr/share/man/*
path-exclude=/usr/share/info/*
path-exclude=/usr/share/locale/*
END
# Nor descriptions of packages, which are a third of all that apt reads.
echo 'Acquire::Languages "none";' >/etc/apt/apt.conf.d/91lab
# The lists stay in the image: an install on a host needs no update first.
apt-get -qq update
# What the mirror of a lab serves of Debian, with what it needs on a host: so before this image has more
# than a host. A distribution that lacks one does without.
if [ -n "$fetched" ]; then
    known=
    for package in $fetched; do
        [ -z "$(apt-cache -q show "$package" 2>/dev/null)" ] || known="$known $package"
    done
    mkdir -p /srv/debian/partial
    # shellcheck disable=SC2086  # a list of words
    apt-get -qq -y -o Dir::Cache::archives=/srv/debian --download-only install --no-install-recommends $known >/dev/null
fi
# shellcheck disable=SC2086  # a list of words
apt-get -qq -y -o Dpkg::Use-Pty=0 install --no-install-recommends $packages >/dev/null
apt-get -qq clean
# That took apt's index of all packages along, which each host would have to make for itself.
apt-cache gencaches
rm -f /usr/sbin/policy-rc.d

# What has no meaning in a container only makes its start slower.
systemctl -q mask \
    systemd-udevd.service systemd-udev-trigger.service systemd-udev-settle.service \
    systemd-udevd-control.socket systemd-udevd-kernel.socket \
    getty.target getty@tty1.service console-getty.service getty-static.service \
    apt-daily.timer apt-daily-upgrade.timer apt-daily.service apt-daily-upgrade.service \
    dpkg-db-backup.timer e2scrub_all.timer e2scrub_reap.service fstrim.timer \
    systemd-tmpfiles-clean.timer systemd-remount-fs.service systemd-firstboot.service \
    systemd-ask-password-wall.path systemd-ask-password-console.path \
    dev-hugepages.mount dev-mqueue.mount sys-fs-fuse-connections.mount \
    sys-kernel-config.mount sys-kernel-debug.mount sys-kernel-tracing.mount \
    modprobe@.service
# The same of what systemd asks at each start and reload.
mkdir -p /etc/systemd/system-generators
for name in bless-boot cryptsetup debug getty gpt-auto hibernate-resume integritysetup rc-local run system-update veritysetup; do
    ln -sf /dev/null "/etc/systemd/system-generators/systemd-$name-generator"
done
# And of what is made for a terminal at each login.
chmod -x /etc/update-motd.d/* 2>/dev/null || true

# Every host makes its own keys when it starts first: containers of one image must not share
# them. RSA is left out because it alone would take longer than the rest of the start.
rm -f /etc/ssh/ssh_host_*
mkdir -p /etc/systemd/system/ssh.service.d
cat >/etc/systemd/system/ssh.service.d/10-lab.conf <<'END'
[Service]
ExecStartPre=
ExecStartPre=/bin/sh -c 'for t in ed25519 ecdsa; do f=/etc/ssh/ssh_host_$${t}_key; [ -s $$f ] || ssh-keygen -q -t $$t -N "" -f $$f; done'
ExecStartPre=/usr/sbin/sshd -t
END
# A key exchange that not even a quantum computer breaks takes a processor a tenth of a second here, more than all else
# of a login; nobody listens between this machine and its hosts.
cat >/etc/ssh/sshd_config.d/10-lab.conf <<'END'
KexAlgorithms -sntrup761*
HostKey /etc/ssh/ssh_host_ed25519_key
HostKey /etc/ssh/ssh_host_ecdsa_key
PasswordAuthentication no
END
systemctl -q enable ssh.service

# Without CAP_SYS_RESOURCE (rootless engines) pam_limits cannot raise a limit, and a login must
# not fail for that.
sed -i 's/^\(session[[:space:]]*\)required\([[:space:]]*pam_limits\.so\)/\1optional\2/' \
    /etc/pam.d/sshd /etc/pam.d/sudo /etc/pam.d/sudo-i /etc/pam.d/su 2>/dev/null || true

# The login. Its key, password and shell are set per host.
id provision >/dev/null 2>&1 || useradd --create-home --shell /bin/bash provision
usermod -p '*' provision

# Programs of another maker in the place of the usual ones, which keep the names that Ubuntu gives them.
replace() {
    dpkg-divert --quiet --local --rename --divert "/usr/bin/$2" "/usr/bin/$1"
    "$ln" -s "$3" "/usr/bin/$1"
}
ln="ln"
for package in $instead; do
    case $package in
    sudo-rs) replace sudo sudo.ws ../lib/cargo/bin/sudo ;;
    rust-coreutils)
        # While they change places, each may be missing for a moment.
        ln=/usr/lib/cargo/bin/coreutils/ln
        for path in /usr/lib/cargo/bin/coreutils/*; do
            name=${path##*/}
            [ ! -x "/usr/bin/$name" ] || replace "$name" "gnu$name" "../lib/cargo/bin/coreutils/$name"
        done
        ;;
    esac
done
# What is taken away stays known to dpkg.
mkdir -p /usr/share/lab-without
for program in $without; do
    while path=$(command -v "$program"); do
        case $path in /*) ;; *) break ;; esac
        dpkg-divert --quiet --local --rename --divert "/usr/share/lab-without/$program" "$path"
    done
    ! [ "$program" = bash ] || sed -i 's,:/bin/bash$,:/bin/sh,' /etc/passwd
done

# First process of a host.
cat >/usr/local/sbin/lab-init <<'END'
#!/bin/sh
# cgroup v2: the engine mounts the host's own subtree read-only; systemd wants to write there.
[ ! -e /sys/fs/cgroup/cgroup.controllers ] || [ -w /sys/fs/cgroup/cgroup.procs ] ||
    mount -o remount,rw /sys/fs/cgroup 2>/dev/null
# Sysctls of the network namespace are this host's own, all others belong to the kernel that it
# shares: only the former become writable.
mkdir -p /run/lab/proc && mount -t proc proc /run/lab/proc 2>/dev/null &&
    mount --bind /run/lab/proc/sys/net /proc/sys/net 2>/dev/null
umount -l /run/lab/proc 2>/dev/null
# systemd 258 does not start on cgroup v1. Where the machine has v2 beside it, the engine made
# this host a subtree there as well, which becomes the root of a namespace. The controllers stay with v1.
version=$(systemctl --version | sed -n '1s/^systemd \([0-9]*\).*/\1/p')
if [ "${version:-0}" -ge 258 ] && [ -e /sys/fs/cgroup/unified/cgroup.procs ]; then
    exec unshare --cgroup sh -c 'mount -t cgroup2 cgroup2 /sys/fs/cgroup && exec /sbin/init'
fi
exec /sbin/init
END
chmod 755 /usr/local/sbin/lab-init
: >/etc/machine-id
rm -f /var/lib/dbus/machine-id
