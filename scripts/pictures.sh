#!/usr/bin/env bash
# Makes docs/pictures: two applies recorded in a terminal, and the page of a verify that found something.
# scripts/setup.sh --pictures installs tmux, chromium and pngquant.
#   pictures.sh PROVISION INVENTORY
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
provision=$(realpath "$1") inventory=$2
pictures=$PWD/docs/pictures
work=$(mktemp -d)
clean() {
    "$provision" lab down gpus.yaml
    rm -rf "$work"
}
mkdir -p "$pictures"

# Fresh hosts, so that the first apply has something to do.
"$provision" lab down "$inventory"
"$provision" lab up "$inventory"
PATH=$(dirname "$provision"):$PATH scripts/record.py "$pictures/apply.svg" 96 40 \
    "provision apply $inventory --yes" "provision apply $inventory --yes"
"$provision" lab down "$inventory"

# Hosts whose hardware is played; two of them are not as they should be.
cd "$work"
cat >gpus.yaml <<'END'
cluster: gpus
lab: { profile: h100-x8-ib }
playbooks: [./nothing.yaml]
groups: { gpu: { hosts: "gpu[0-3]" } }
expect: { system: { disk_free_gib: 0 } }
END
printf 'name: nothing\ntasks: []\n' >nothing.yaml
trap clean EXIT
"$provision" lab up gpus.yaml
"$provision" lab fault gpus.yaml gpu1 nvlink-down
"$provision" lab fault gpus.yaml gpu2 half-rate-ndr
"$provision" verify gpus.yaml --html verify.html || [ $? = 6 ]
chromium --headless --no-sandbox --disable-gpu --hide-scrollbars --virtual-time-budget=2000 \
    --window-size=1280,960 --screenshot=report.png "file://$work/verify.html" 2>/dev/null
pngquant --force --output "$pictures/report.png" 64 report.png
ls -l "$pictures" >&2
