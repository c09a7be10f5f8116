#!/bin/sh
# Makes a lab host ready for rounds: the command that keeps a book, and a repository with one package.
# Standard input: chaos-step.
set -e
mkdir -p /var/chaos/repo /var/chaos/deb/DEBIAN /var/chaos/deb/usr/share/chaos-tool
cat >/usr/local/bin/chaos-step
chmod 755 /usr/local/bin/chaos-step
# Before the system's: it notes what a power cut leaves of the state that outlives a boot.
cat >/usr/local/bin/sync <<'END'
#!/bin/sh
/usr/bin/sync "$@" || exit
for f; do
    case $f in
    /var/lib/provision/*) mkdir -p "/var/chaos/synced${f%/*}" && cp -p "$f" "/var/chaos/synced$f" ;;
    esac
done
END
chmod 755 /usr/local/bin/sync
cd /var/chaos
echo 'what the package brings' >deb/usr/share/chaos-tool/file
cat >deb/DEBIAN/control <<'END'
Package: chaos-tool
Version: 1.0
Architecture: all
Maintainer: nobody <nobody@example.org>
Description: takes a second to be configured
END
cat >deb/DEBIAN/postinst <<'END'
#!/bin/sh
exec sleep 1
END
chmod 755 deb/DEBIAN/postinst
dpkg-deb --root-owner-group -b deb repo/chaos-tool.deb >/dev/null
{
    cat deb/DEBIAN/control
    echo 'Filename: ./chaos-tool.deb'
    echo "Size: $(stat -c %s repo/chaos-tool.deb)"
    echo "SHA256: $(sha256sum repo/chaos-tool.deb | cut -d ' ' -f 1)"
} >repo/Packages
# No other source: what rounds do must not depend on a network.
rm -f /etc/apt/sources.list /etc/apt/sources.list.d/*
echo 'deb [trusted=yes] file:/var/chaos/repo ./' >/etc/apt/sources.list.d/chaos.list
apt-get update -q >/dev/null
