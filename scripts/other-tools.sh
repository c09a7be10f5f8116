#!/bin/sh
# Fetches the tools of uutils and sudo-rs of a release of Debian, which older ones lack, and makes the tools run on this
# machine, with the libraries of their own release. It needs no root and installs nothing.
#   RELEASE DIRECTORY
# DIRECTORY/bin has the tools of uutils by their names; sudo-rs is DIRECTORY/root/usr/lib/cargo/bin/sudo.
set -eu
release=$1
mkdir -p "${2%/*}"
directory=$(cd "${2%/*}" && pwd)/${2##*/}
exec 9>"$directory.lock"
flock 9
[ ! -e "$directory" ] || exit 0
work=$(mktemp -d "$directory.XXXXXX")
trap 'rm -rf "$work"' EXIT
mkdir -p "$work/apt/lists/partial" "$work/apt/archives/partial" "$work/made/bin"
: >"$work/apt/status"
# From the mirror of this machine.
# shellcheck disable=SC2016 # apt fills it in
mirror=$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' 2>/dev/null | grep '/debian/*$' | head -n 1)
keyring=/usr/share/keyrings/debian-archive-keyring.gpg
echo "deb [signed-by=$keyring] ${mirror:-http://deb.debian.org/debian} $release main" >"$work/apt/sources.list"
apt() {
    apt-get -qq -o Dir::State="$work/apt" -o Dir::State::status="$work/apt/status" -o Dir::Cache="$work/apt" \
        -o Dir::Etc::SourceList="$work/apt/sources.list" -o Dir::Etc::SourceParts=- -o Acquire::Languages=none \
        -o APT::Sandbox::User= -o Debug::NoLocking=true "$@" </dev/null >/dev/null
}
apt update
apt -y --no-install-recommends --download-only install rust-coreutils sudo-rs
for package in "$work"/apt/archives/*.deb; do
    case ${package##*/} in
    lib*_* | rust-coreutils_* | sudo-rs_*) dpkg-deb -x "$package" "$work/made/root" ;;
    esac
done
loader=$(cd "$work/made" && find root -name 'ld-linux*.so.?' -type f | head -n 1)
library=$(cd "$work/made" && find root -name libc.so.6 | head -n 1)
cat >"$work/made/bin/.call" <<END
#!/bin/sh
exec "$directory/$loader" --library-path "$directory/${library%/*}" "$directory/root/usr/bin/coreutils" "\${0##*/}" "\$@"
END
chmod 755 "$work/made/bin/.call"
for path in "$work"/made/root/usr/lib/cargo/bin/coreutils/*; do
    ln -s .call "$work/made/bin/${path##*/}"
done
mv "$work/made" "$directory"
"$directory/bin/true"
