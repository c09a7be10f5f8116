#!/usr/bin/env bash
# The audit of others, `cmax` of the package clustermax, looks at a Slurm cluster of the lab before and after an apply.
#   audit.sh PROVISION INVENTORY [PAGE]
# PAGE, such as docs/evidence/audit.md, is written; without it the table is printed. RELEASES are those of Debian that
# are tried, KEEP=1 leaves the labs up, PIP has further arguments of pip, such as --find-links.
set -euo pipefail
provision=$(realpath "$1") given=$2 page=${3:-}
work=target/audit
tables=scripts/audit.toml
read -ra releases <<<"${RELEASES:-bookworm trixie}"
read -ra pip <<<"${PIP:-}"
# The version that the page is about.
judge=$(sed -n 's/^judge = "\(.*\)"$/\1/p' "$tables")

step() { printf '\n\033[1m$ %s\033[0m\n' "$*" >&2; "$@" >&2; }

mkdir -p "$work"
[ -x "$work/venv/bin/pip" ] || step python3 -m venv "$work/venv"
[ "$("$work/venv/bin/cmax" -v 2>/dev/null || true)" = "cmax $judge" ] ||
    step "$work/venv/bin/pip" install --quiet "${pip[@]}" "clustermax==$judge"
python=$work/venv/bin/python3
packages=$("$python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')

for release in "${releases[@]}"; do
    # The lab of an inventory goes by its path.
    place=$work/$release
    inventory=$place/$(basename "$given")
    rm -rf "$place/judge"
    mkdir -p "$place/judge"
    # What it needs, and no more; nothing of it is compiled.
    (cd "$packages" && tar -c --exclude=__pycache__ --exclude='*.so' cmax clustermax-*.dist-info prompt_toolkit wcwidth yaml) | tar -x -C "$place/judge"
    cp scripts/audit.py "$tables" "$place/judge"
    cat >"$place/judge.yaml" <<'END'
name: the audit of others
tasks:
  - name: its files, and the question to it
    copy: { src: judge, path: /opt/judge, owner: root, group: root }
END
    # The health check of the nodes looks at what they should have, by the program itself.
    cat >"$place/health.yaml" <<'END'
cluster: health
expect: { gpu: { count: 2 } }
groups: { gpu: { hosts: "gpu[0-1]" } }
hosts: { "gpu[0-1]": { address: "10.0.0.{{ host.number }}" } }
END
    "$provision" bundle "$place/health.yaml" -o "$place/health.bundle" >&2
    strip -o "$place/provision" "$provision" 2>/dev/null || cp "$provision" "$place/provision"
    cat >"$place/files.yaml" <<'END'
name: what the health check needs
tasks:
  - name: the program
    copy: { src: provision, path: /usr/local/bin/provision, mode: "0755" }
  - name: the bundle
    copy: { src: health.bundle, path: /etc/health.bundle }
END
    sed -e "s/^  release: .*/  release: $release/" -e 's|^playbooks:$|&\n  - ./judge.yaml|' \
        -e 's|^  # ---- what is judged$|&\n  - { use: ./files.yaml, hosts: gpu }|' "$given" >"$place/all.yaml"
    # look WHEN HOST HARNESS: what it says, as JSON.
    look() {
        "$provision" exec "$inventory" --hosts "$2" --json - -- bash -lc "python3 /opt/judge/audit.py look $3" >"$place/answer" || true
        jq -r '.hosts[].output' "$place/answer" >"$place/$1-$3.json"
        "$python" scripts/audit.py count "$place/$1-$3.json" >&2 || { cat "$place/answer" >&2 && exit 1; }
    }
    both() {
        look "$1" login0 slurm
        look "$1" gpu0 standalone
    }
    sed '/^  # ---- what is judged/,/^  # ----$/d' "$place/all.yaml" >"$inventory"
    step "$provision" lab up "$inventory"
    step "$provision" apply "$inventory" --yes
    both before
    cp "$place/all.yaml" "$inventory"
    step "$provision" apply "$inventory" --yes
    "$provision" apply "$inventory" --yes --json - 2>/dev/null | jq -e '.summary.tasks.changed == 0' >/dev/null ||
        { echo 'the second apply changed something' >&2 && exit 1; }
    both after
    [ "${KEEP:-}" = 1 ] || step "$provision" lab down "$inventory"
done

"$python" scripts/audit.py page "$tables" "$work" "${releases[@]}" >"$work/page.md"
if [ -n "$page" ]; then cp "$work/page.md" "$page"; else cat "$work/page.md"; fi
