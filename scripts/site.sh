#!/usr/bin/env bash
# Builds the site from docs/ into target/site: pages, and a search in them that needs no server.
# scripts/setup.sh --site installs mdbook below target/tools.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
book=target/book
rm -rf "$book" target/site
mkdir -p "$book/src"
cp docs/book.toml "$book/"

# As they lie in the repository, since they link to each other so.
git ls-files -z -- docs inventories playbooks/README.md ':(glob)*.md' ':!docs/book.toml' ':!docs/SUMMARY.md' |
    tar --null --files-from=- -cf - | tar -C "$book/src" -xf -
# A README becomes the index of its folder.
find "$book/src" -name '*.md' -exec sed -i 's|\(]([^)]*\)README\.md|\1index.md|g' {} +
sed -e 's|](\.\./|](|; t' -e 's|](|](docs/|' docs/SUMMARY.md >"$book/src/SUMMARY.md"

said=$(target/tools/bin/mdbook build "$book" --dest-dir "$PWD/target/site" 2>&1) || {
    printf '%s\n' "$said" >&2
    exit 1
}
# It goes on after what is wrong with a page.
if grep -E 'WARN|ERROR' <<<"$said" >&2; then
    exit 1
fi
scripts/site-links.py target/site
echo "target/site/index.html" >&2
