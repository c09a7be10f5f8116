#!/usr/bin/env bash
# Shows that `make dist` gives the same bytes again: from a copy of the tree in another folder, with nothing of
# the first build. What git does not know is not copied. With ARCHES only those of some architectures.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
[ -e target/packages/SHA256SUMS ] || {
    echo "dist-again: there is nothing to compare with; first: make dist" >&2
    exit 1
}
other=$(mktemp -d "${TMPDIR:-/tmp}/provision-again.XXXXXX")
trap 'rm -rf "$other"' EXIT
git ls-files -z | tar --null --files-from=- -cf - | tar -C "$other" -xf -
mkdir "$other/target"
ln -s "$PWD/target/tools" "$other/target/tools"
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct)} "$other/scripts/dist.sh"
cp "$other/target/packages/SHA256SUMS" "$other/sums"
cd target/packages
sha256sum --check "$other/sums"
echo "dist-again: the same digests" >&2
