#!/bin/sh
# Makes a lab host one that passes for Ubuntu: its os-release, and a repository of stand-ins for what Ubuntu's archive has
# and Debian's has not, or not by that name. Everything else is Debian's. Runs as root in the container that becomes the
# image, after image.sh.
#   FAMILY (ubuntu2404, ubuntu2604)
# Standard input: the list of packages.
family=$1
root=/srv/ubuntu
case $family in
ubuntu2404) release=24.04 code=noble named='Noble Numbat' like=trixie/sid ;;
ubuntu2604) release=26.04 code=resolute named='Resolute Raccoon' like=forky/sid ;;
*)
    echo "no such family: $family" >&2
    exit 1
    ;;
esac
mkdir -p "$root"
said='A stand-in of a provision lab, with nothing of the real thing.'
# What dpkg-deb is told of a list has a blank behind each comma, and before each version.
listed() { printf '%s: %s\n' "$1" "$(printf '%s\n' "$2" | sed 's/,/, /g; s/(/ (/g; s/\([<>]*=\)/\1 /g')"; }
grep -v -e '^#' -e '^$' | sed "s/@/$release/g" | while read -r of name version needs provides description; do
    case $of in both | "$family") ;; *) continue ;; esac
    tree=$root/tree
    mkdir -p "$tree/DEBIAN" "$tree/usr/share/doc/$name"
    {
        printf 'Package: %s\nVersion: %s\nArchitecture: all\n' "$name" "$version"
        printf 'Maintainer: provision lab <lab@localhost>\nSection: misc\nPriority: optional\n'
        [ "$needs" = - ] || listed Depends "$needs"
        [ "$provides" = - ] || listed Provides "$provides"
        printf 'Description: %s\n %s\n' "$description" "$said"
    } >"$tree/DEBIAN/control"
    printf '%s\n' "$said" >"$tree/usr/share/doc/$name/STAND-IN"
    case $name in
    nvidia-compute-utils-580-server)
        # Its unit is restarted by a playbook.
        mkdir -p "$tree/usr/lib/systemd/system"
        printf '[Unit]\nDescription=stand-in for the NVIDIA Persistence Daemon\n[Service]\nExecStart=/bin/sleep infinity\n' \
            >"$tree/usr/lib/systemd/system/nvidia-persistenced.service"
        ;;
    esac
    dpkg-deb --root-owner-group -Znone -b "$tree" "$root/${name}_${version}_all.deb" >/dev/null
    rm -rf "$tree"
done
(cd "$root" && apt-ftparchive packages . >Packages)
printf 'deb [trusted=yes] file:%s ./\n' "$root" >/etc/apt/sources.list.d/ubuntu-stand-ins.list
apt-get -qq update
apt-cache gencaches
# netplan configures the links, by networkd; the engine has given the first one its address.
mkdir -p /etc/netplan
printf '# Links of a lab host are configured by the machine that runs it.\nnetwork:\n  version: 2\n  renderer: networkd\n' \
    >/etc/netplan/50-cloud-init.yaml
chmod 600 /etc/netplan/50-cloud-init.yaml
systemctl -q enable systemd-networkd.service
# `netplan apply` speaks to udev, which runs in no container.
cat >/usr/local/bin/udevadm <<'END'
#!/bin/sh
case $1 in control | settle | trigger) exit 0 ;; esac
exec /usr/bin/udevadm "$@"
END
chmod 755 /usr/local/bin/udevadm

rm -f /etc/os-release
cat >/etc/os-release <<END
PRETTY_NAME="Ubuntu $release LTS"
NAME="Ubuntu"
VERSION_ID="$release"
VERSION="$release LTS ($named)"
VERSION_CODENAME=$code
ID=ubuntu
ID_LIKE=debian
HOME_URL="https://www.ubuntu.com/"
SUPPORT_URL="https://help.ubuntu.com/"
BUG_REPORT_URL="https://bugs.launchpad.net/ubuntu/"
PRIVACY_POLICY_URL="https://www.ubuntu.com/legal/terms-and-policies/privacy-policy"
UBUNTU_CODENAME=$code
LOGO=ubuntu-logo
END
printf 'DISTRIB_ID=Ubuntu\nDISTRIB_RELEASE=%s\nDISTRIB_CODENAME=%s\nDISTRIB_DESCRIPTION="Ubuntu %s LTS"\n' \
    "$release" "$code" "$release" >/etc/lsb-release
printf '%s\n' "$like" >/etc/debian_version
