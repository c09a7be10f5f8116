#!/bin/sh
# Makes a lab host one of the RHEL family: dnf with repositories of stand-ins, and nothing of apt in sight. Runs as
# root in the container that becomes the image, after image.sh and behind rpm.sh.
#   FAMILY (el8, el9, el10, alinux3)
# Standard input: the list of packages.
family=$1
root=/srv/el
work=/srv/el-work
baseos=baseos appstream=appstream crb=crb crb_is_on=0 dist=.$family named=rocky number=${family#el}
case $family in
el8) release=8.10 code='Green Obsidian' crb=powertools ;;
el9) release=9.4 code='Blue Onyx' ;;
el10) release=10.0 code='Red Quartz' ;;
alinux3)
    baseos=alinux3-os appstream=alinux3-updates crb=alinux3-powertools crb_is_on=1 dist=.al8 named=alinux
    release=3 number=3
    ;;
*)
    echo "no such family: $family" >&2
    exit 1
    ;;
esac

# The plugin that locks versions is a package of its own there.
lock=$work/files/python3-dnf-plugin-versionlock
plugins=$(python3 -c 'import os, dnf; print(os.path.dirname(os.path.dirname(dnf.__file__)))')/dnf-plugins
mkdir -p "$lock/etc/dnf/plugins" "$lock$plugins" "$root"
mv /etc/dnf/plugins/versionlock.* "$lock/etc/dnf/plugins/"
mv "$plugins/versionlock.py" "$lock$plugins/"

{
    grep -v -e '^#' -e '^$'
    printf 'installed %s-release %s-1 +system-release(releasever)=%s\n' "$named" "$release" "$number"
} >"$work/list"
# What Debian's packages have goes into those that pass for them, and is not on the host before.
awk '$5 { print $2, $5 }' "$work/list" | tr , ' ' | while read -r package debian; do
    # shellcheck disable=SC2086 # a list of names
    dpkg -L $debian | sort -u | while IFS= read -r path; do
        case $path in /usr/share/* | '') continue ;; esac
        if [ ! -d "$path" ]; then
            mkdir -p "$work/files/$package${path%/*}"
            mv "$path" "$work/files/$package$path"
        fi
    done
done
# Its unit has another name there, and is not on yet.
for unit in "$work"/files/chrony/lib/systemd/system/chrony.service "$work"/files/chrony/usr/lib/systemd/system/chrony.service; do
    if [ -e "$unit" ]; then
        sed '/^Alias=/d' "$unit" >"${unit%/*}/chronyd.service"
        rm "$unit"
    fi
done
rm -f "$work/files/chrony/etc/init.d/chrony" /etc/systemd/system/chronyd.service /etc/systemd/system/multi-user.target.wants/chrony.service
awk -v dist="$dist" '{ if ($4 == "-") $4 = ""; gsub(/@/, dist, $4); print $2, $3 dist, $4 }' "$work/list" | rpms "$work"
cat >/etc/dnf/dnf.conf <<'END'
[main]
gpgcheck=1
installonly_limit=3
clean_requirements_on_remove=True
best=True
skip_if_unavailable=False
END
# Debian switches a plugin on whose repository has no key, which other systems do not.
sed -i 's/^enabled *=.*/enabled = false/' /etc/dnf/plugins/local.conf
mkdir -p /etc/yum.repos.d
repository() {
    mkdir -p "$root/$1"
    awk -v names="$2" 'BEGIN { count = split(names, list, ",") } { for (i = 1; i <= count; i++) if ($1 == list[i]) print $2 "-" $3 }' \
        "$work/list" | while IFS= read -r package; do
        find "$work/RPMS" -name "$package$dist*.rpm" -exec cp {} "$root/$1/" \;
    done
    createrepo_c -q "$root/$1"
    printf '[%s]\nname=%s\nbaseurl=file://%s/%s\nenabled=%s\ngpgcheck=0\n' "$1" "$1" "$root" "$1" "$3" >"/etc/yum.repos.d/$1.repo"
}
repository "$baseos" installed,baseos 1
repository "$appstream" appstream 1
repository "$crb" crb "$crb_is_on"
if [ "$family" = alinux3 ]; then
    printf '%s\n' 'NAME="Alibaba Cloud Linux"' 'VERSION="3 (Soaring Falcon)"' 'ID="alinux"' \
        'ID_LIKE="rhel fedora centos anolis"' 'VERSION_ID="3"' 'PLATFORM_ID="platform:al8"' \
        'PRETTY_NAME="Alibaba Cloud Linux 3 (Soaring Falcon)"'
else
    printf '%s\n' 'NAME="Rocky Linux"' "VERSION=\"$release ($code)\"" 'ID="rocky"' 'ID_LIKE="rhel centos fedora"' \
        "VERSION_ID=\"$release\"" "PLATFORM_ID=\"platform:$family\"" "PRETTY_NAME=\"Rocky Linux $release ($code)\""
fi >/tmp/os-release
rm -f /etc/os-release /etc/debian_version
mv /tmp/os-release /etc/os-release
# shellcheck disable=SC2046 # a list of names
dnf -y -q install $(awk '$1 == "installed" { print $2 }' "$work/list")
# Whoever looks for apt or dpkg finds none.
mkdir -p /opt/debian
for tool in apt apt-get apt-cache apt-mark apt-config dpkg dpkg-query dpkg-deb; do
    mv "/usr/bin/$tool" /opt/debian/
done
mv /usr/lib/apt /opt/debian/lib
rm -rf "$work"
