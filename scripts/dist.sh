#!/usr/bin/env bash
# Makes what is handed out, in target/packages: for each architecture a static binary, a .deb and an .rpm, and for
# all of them checksums and a list of what is inside (SBOM, CycloneDX). The digests depend on the sources alone:
# not on the folder, the time or the user. scripts/setup.sh --dist installs what this needs.
#   ARCHES="x86_64 aarch64"    those that are made; one without its standard library is left out
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
PATH=$PWD/target/tools/bin:$PATH
cargo=${CARGO:-cargo}
most=$((12 * 1024 * 1024))
out=target/packages

say() { printf '%s\n' "$*" >&2; }
die() {
    say "dist: $*"
    exit 1
}

# The time of everything that has one: that of the last commit.
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct)}
export SOURCE_DATE_EPOCH
# Messages of a panic name files; these must not say where they were compiled.
home=${CARGO_HOME:-$HOME/.cargo}
flags=("--remap-path-prefix=$PWD=/provision" "--remap-path-prefix=$home=/cargo")
# Nothing unwinds where a panic ends the program. The standard library brings the tables for it all the same, a tenth of the
# program: the linker leaves them out. Its path is relative, because names of symbols depend on these words.
flags+=(-C force-unwind-tables=no -C link-arg=-Tscripts/dist.ld)
unset RUSTFLAGS
CARGO_ENCODED_RUSTFLAGS=$(IFS=$'\x1f' && printf %s "${flags[*]}")
export CARGO_ENCODED_RUSTFLAGS
# What earlier builds left must not be in it.
export CARGO_INCREMENTAL=0
# Files of a package are as readable as the program says, whatever this user's are.
umask 022

version=$(sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml | head -n 1)
rm -rf "$out"
mkdir -p "$out/share"

# Without a dynamic loader it runs on any Linux of its architecture.
is_static() { ! LC_ALL=C readelf --program-headers "$1" | grep -q INTERP; }

made=()
for arch in ${ARCHES:-x86_64 aarch64}; do
    target=$arch-unknown-linux-musl
    if [ ! -d "$(rustc --print sysroot)/lib/rustlib/$target/lib" ]; then
        say "without $arch: Rust has no standard library for $target here"
        continue
    fi
    # No linker of another architecture is needed: Rust brings one, and the C library with it.
    if [ "$arch" != "$(uname -m)" ]; then
        variable=CARGO_TARGET_$(tr 'a-z-' 'A-Z_' <<<"$target")_LINKER
        export "$variable=rust-lld"
    fi
    # Parts in C (cryptography of TLS) call nothing of a C library: the headers of another one will do.
    compiler=$arch-linux-gnu-gcc
    [ "$arch" != "$(uname -m)" ] || compiler=musl-gcc
    export "CC_${target//-/_}=$compiler"
    "$cargo" build --profile dist --locked --target "$target"
    program=target/$target/dist/provision
    is_static "$program" || die "$program is not static"
    size=$(stat -c %s "$program")
    [ "$size" -le "$most" ] || die "$program has $size bytes, more than $most"
    cp "$program" "$out/provision-$version-linux-$arch"
    made+=("$target")
    if [ "$arch" = "$(uname -m)" ]; then native=$program; fi
done
[ -n "${native:-}" ] || die "no program for this machine was made"

# What a shell and man want; the same for all architectures.
"$native" generate man "$out/share/man"
"$native" generate completions bash >"$out/share/provision.bash"
"$native" generate completions fish >"$out/share/provision.fish"
"$native" generate completions zsh >"$out/share/_provision"

for target in "${made[@]}"; do
    arch=${target%%-*}
    # Debian has its own names.
    case $arch in
    x86_64) debian=amd64 ;;
    aarch64) debian=arm64 ;;
    esac
    cargo-deb deb --quiet --no-build --no-strip --profile dist --target "$target" --output "$out/provision_${version}_$debian.deb"
    cargo-generate-rpm generate-rpm --profile dist --target "$target" --output "$out/provision-$version.$arch.rpm"
done

cargo-cyclonedx cyclonedx --quiet --format json --target "${made[0]}" --no-build-deps --override-filename sbom
# Where the tree stands is nobody's business, and differs.
sed "s|$PWD|/provision|g" sbom.json >"$out/provision-$version.cdx.json"
rm sbom.json

(
    cd "$out"
    sha256sum provision* >SHA256SUMS
)
ls -l "$out" >&2
