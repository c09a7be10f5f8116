#!/usr/bin/env bash
# Fuzzes what reads the bytes of others, target by target, and adds the executions to docs/evidence/fuzz.md.
# It needs a C++ compiler for libFuzzer and a stable Rust: what cargo-fuzz would set is set here.
#   SECONDS_EACH=600    how long each target runs
#   TARGETS="a b"       which ones; all of fuzz/src/targets.rs when empty
#   JOBS=1              how many at once
# What it finds is kept in target/fuzz/found/TARGET. Mend it, and put the input into fuzz/corpus/TARGET
# under a name that says what it is: `cargo test --test it fuzz` tries it from then on.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

seconds=${SECONDS_EACH:-600}
jobs=${JOBS:-1}
page=docs/evidence/fuzz.md
work=$PWD/target/fuzz
read -ra targets <<<"${TARGETS:-$(sed -n 's/.*Target { name: "\([a-z-]*\)".*/\1/p' fuzz/src/targets.rs | tr '\n' ' ')}"

command -v c++ >/dev/null || {
    echo "missing: c++ (apt-get install g++), which libFuzzer is compiled with" >&2
    exit 1
}

# The triple is given so that build scripts and macros of the compiler are not instrumented.
triple=$(rustc -vV | sed -n 's/^host: //p')
flags=(--cfg fuzzing -Cpasses=sancov-module)
for flag in level=4 inline-8bit-counters pc-table trace-compares; do
    flags+=("-Cllvm-args=-sanitizer-coverage-$flag")
done
# In this form they count whatever RUSTFLAGS says.
CARGO_ENCODED_RUSTFLAGS=$(IFS=$'\037' && printf '%s' "${flags[*]}") "${CARGO:-cargo}" build --release --locked --quiet \
    --manifest-path fuzz/Cargo.toml --target "$triple" --target-dir "$work"
program=$work/$triple/release/provision-fuzz

folders=$(mktemp -d -p "$([ -w /dev/shm ] && echo /dev/shm || echo /tmp)" provision-fuzz.XXXXXX)
trap 'rm -rf "$folders"' EXIT

# One target. Its last run is in target/fuzz/log/TARGET.
fuzz() {
    local target=$1 folder=$folders/$1 status=0
    mkdir -p "$folder" "$work/corpus/$target" "$work/seeds/$target" "$work/found/$target" "$work/log" "fuzz/corpus/$target"
    FUZZ_TARGET=$target FUZZ_FOLDER=$folder FUZZ_SEEDS=$work/seeds/$target \
        nice "$program" -max_total_time="$seconds" -timeout=20 -rss_limit_mb=2048 -max_len=16384 -use_value_profile=1 \
        -print_final_stats=1 -artifact_prefix="$work/found/$target/" \
        "$work/corpus/$target" "$work/seeds/$target" "fuzz/corpus/$target" >"$work/log/$target" 2>&1 || status=$?
    rm -rf "$folder"
    if ! grep -q ' cov: ' "$work/log/$target"; then
        echo "$target: it was not guided by what its inputs reach: the program is not instrumented; see $work/log/$target"
        touch "$folders/found"
    elif [ "$status" = 0 ]; then
        echo "$target: $(sed -n 's/^stat::number_of_executed_units: *//p' "$work/log/$target") executions, nothing found"
    else
        echo "$target: FOUND $(sed -n 's/.*Test unit written to //p' "$work/log/$target"); see $work/log/$target"
        touch "$folders/found"
    fi
}

for target in "${targets[@]}"; do
    while [ "$(jobs -rp | wc -l)" -ge "$jobs" ]; do wait -n || true; done
    rm -f "$work/log/$target"
    fuzz "$target" &
done
wait

# Adds these runs to the rows of the page.
rows=$(mktemp -p "$folders")
sed -n 's/.*Target { name: "\([a-z-]*\)", reads: "\([^"]*\)".*/\1\t\2/p' fuzz/src/targets.rs | while IFS=$'\t' read -r target reads; do
    read -r executions minutes edges < <(awk -F ' *[|] *' -v row="$target" '$2 == row { print $4, $5, $6; found = 1 } END { if (!found) print 0, 0, 0 }' "$page" 2>/dev/null || echo 0 0 0)
    log=$work/log/$target
    if [[ " ${targets[*]} " == *" $target "* ]] && [ -e "$log" ]; then
        executions=$((executions + $(sed -n 's/^stat::number_of_executed_units: *//p' "$log" | tail -n 1 | grep . || echo 0)))
        ran=$(sed -n 's/^Done [0-9]* runs in \([0-9]*\) second.*/\1/p' "$log" | tail -n 1)
        minutes=$(awk -v a="$minutes" -v b="${ran:-0}" 'BEGIN { printf "%.1f", a + b / 60 }')
        edges=$(sed -n 's/.* cov: \([0-9]*\) .*/\1/p' "$log" | tail -n 1 | grep . || echo "$edges")
    fi
    echo "| $target | $reads | $executions | $minutes | $edges |"
done >"$rows"
{
    cat <<'END'
# Fuzzing

`make fuzz` gives what reads the bytes of others (files of users, answers of hosts) millions of inputs that
a fuzzer makes up, guided by which code each reaches. A panic, an overflow, twenty seconds without an end and
2 GiB of memory are findings. It runs on a stable Rust and needs a C++ compiler;
`make fuzz SECONDS_EACH=60 TARGETS="wire hosts"` is a short run. The targets are in `fuzz/src/targets.rs`.

What was found once is in `fuzz/corpus/` and is tried by `cargo test --test it fuzz`, a part of `make test`.

All runs so far, as `scripts/fuzz.sh` counted them:

| target | what it reads | executions | minutes | edges reached |
|---|---|---|---|---|
END
    cat "$rows"
    awk -F ' *[|] *' '{ all += $4; minutes += $5 } END { printf "\n%d executions in %.0f minutes.\n", all, minutes }' "$rows"
} >"$folders/page"
cp "$folders/page" "$page"
[ ! -e "$folders/found" ]
