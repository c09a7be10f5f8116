#!/bin/sh
# Would the tests notice? Changes one place of the source at a time, as somebody might by mistake, runs the
# tests that are near and fast, and tells which changes none of them saw.
#
#   scripts/mutants.sh                       all modules, about 60 changes of each, the same ones each time
#   scripts/mutants.sh 'plan wire' all       all changes of these modules
#   scripts/mutants.sh engine all 'prove|take_lock'
#                                            those whose line in the list (file, change, function) fits
#
# Modules: plan, engine, resources, checks, wire. cargo-mutants says what may be changed; it is installed below
# target/mutants when it is missing. All changes are compiled into one program (scripts/mutants.py), in a copy
# of the source in target/mutants/woven, so that one takes seconds and not minutes.
set -eu
cd "$(dirname "$0")/.."

version=27.1.0
modules=${1:-plan engine resources checks wire}
sample=${2:-60}
pattern=${3:-.}
[ "$sample" != all ] || sample=0

place=$PWD/target/mutants
mkdir -p "$place"
if ! "$place/tool/bin/cargo-mutants" mutants --version 2>/dev/null | grep -q " $version\$"; then
    cargo install --quiet --locked --root "$place/tool" --version "$version" cargo-mutants
fi

# Once as it is, and once to be changed; that one keeps what it has built.
mkdir -p "$place/woven"
rm -rf "$place/plain"
mkdir "$place/plain"
find "$place/woven" -mindepth 1 -maxdepth 1 ! -name target -exec rm -rf {} +
for copy in plain woven; do
    git ls-files -z -co --exclude-standard | tar -c --null --ignore-failed-read -T - | tar -x -m -C "$place/$copy"
done

set --
for module in $modules; do
    case $module in
        plan | engine | resources | checks) set -- "$@" -f "src/$module/**" ;;
        wire) set -- "$@" -f src/transport/wire.rs -f src/transport/parser.rs ;;
        *) echo "no module $module: plan, engine, resources, checks or wire" >&2; exit 2 ;;
    esac
done
(cd "$place/plain" && "$place/tool/bin/cargo-mutants" mutants --list --json --no-shuffle "$@" --re "$pattern") >"$place/list.json"

export CARGO_PROFILE_DEV_DEBUG=0
python3 scripts/mutants.py weave "$place/list.json" "$sample" "$place/woven" "$place/chosen.json"
for module in $modules; do
    python3 scripts/mutants.py run "$module" "$place/chosen.json" "$place/woven" | tee "$place/$module.txt"
done
