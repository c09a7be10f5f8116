#!/usr/bin/env python3
"""Each site on hosts of several years: applied, applied again, verified, in a lab of containers.

One host of each site plays its hardware profile. The row says how many tasks of the first apply changed something, which
were blocked or failed and with which words, how many the second one changed, and which checks of verify fail.

    scripts/years.py target/release/provision [--markdown docs/evidence/years.md] [roce-v2 bookworm ubuntu2604]

Words choose sites and systems. With --markdown the rows that were made take the place of those in the page, so that a
part can be made anew.
"""

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SYSTEMS = {
    "bookworm": ("Debian 12", ["--release", "bookworm"]),
    "trixie": ("Debian 13", ["--release", "trixie"]),
    "sid": ("Debian sid", ["--release", "sid"]),
    "ubuntu2404": ("Ubuntu 24.04 (stand-ins)", ["--family", "ubuntu2404"]),
    "ubuntu2604": ("Ubuntu 26.04 (stand-ins)", ["--family", "ubuntu2604"]),
    "noble": ("Ubuntu 24.04 (image)", "ubuntu:24.04"),
    "resolute": ("Ubuntu 26.04 (image)", "ubuntu:26.04"),
}
# Profile, the hosts that are one here, lines that go, settings.
SITES = {
    "ehpc-erdma": ("erdma-x8", ("compute[000-001]", "compute000"), ("compute001:", "manager0", "login0"), ["torch=false", "space=1"]),
    "roce-v2": ("a100-x8-cx6", ("gpu[0-1]", "gpu0"), ("gpu1:",), []),
    "infiniband": ("h100-x8-ib", ("gpu[0-1]", "gpu0"), ("gpu1:",), []),
    "e810-roce": ("e810-a100", ("gpu[0-1]", "gpu0"), ("gpu1:", "master0"), []),
}
# What a system has in place of what the site takes where nothing is said: the branch of Debian's archive, the oldest CUDA
# of NVIDIA's repository for Ubuntu 26.04.
SETS = {
    ("ehpc-erdma", "bookworm"): ["driver_source=repository"],
    ("ehpc-erdma", "ubuntu2604"): ["cuda=13.3"],
    ("ehpc-erdma", "resolute"): ["cuda=13.3"],
    ("roce-v2", "bookworm"): ["driver=535"],
    ("roce-v2", "trixie"): ["driver=550"],
}
SHOWN = ("driver_source", "cuda", "driver")


def run(provision, words, home):
    """Runs the program; its code, what --json gave, and all it said."""
    env = {**os.environ, "XDG_STATE_HOME": f"{home}/state", "XDG_RUNTIME_DIR": f"{home}/run"}
    done = subprocess.run([provision, *words], env=env, cwd=home, capture_output=True, text=True, check=False)
    try:
        report = json.loads(done.stdout)
    except ValueError:
        report = {}
    return done.returncode, report, done.stdout + done.stderr


def tasks(report, host):
    return report.get("hosts", {}).get(host, {}).get("tasks", [])


def stopped(report, host):
    """Names of the tasks that did not go to their end, and of failed ones what they said."""
    blocked = {t["name"] for t in tasks(report, host) if t["outcome"] == "blocked" or isinstance(t.get("blocked"), str)}
    failed = {t["name"]: t.get("error") or t.get("message") or "" for t in tasks(report, host) if t["outcome"] == "failed"}
    return sorted(blocked), failed


def measure(provision, site, system):
    profile, (many, host), gone, sets = SITES[site]
    label, options = SYSTEMS[system]
    text = (ROOT / "inventories" / f"{site}.yaml").read_text().replace(many, host)
    lines = [line for line in text.splitlines() if not any(word in line for word in gone)]
    if isinstance(options, str):
        lines = [re.sub(rf"^(  {host}: {{)", rf"\1 lab: {{ image: '{options}' }},", line) for line in lines]
        options = []
    sets = sets + SETS.get((site, system), [])
    words = [word for one in sets for word in ("--set", one)]
    with tempfile.TemporaryDirectory() as home:
        Path(f"{home}/run").mkdir(mode=0o700)
        inventory = f"{home}/lab.yaml"
        Path(inventory).write_text("\n".join(lines) + "\n")
        try:
            code, _, said = run(provision, ["lab", "up", inventory, "--profile", profile, "--mirror", *options], home)
            if code:
                return [site, label, "no host: " + said.strip().splitlines()[-1], "", "", ""]
            apply = ["apply", inventory, "--lab", "--yes", "--json", "-", *words]
            start = time.monotonic()
            _, first, _ = run(provision, apply, home)
            took = time.monotonic() - start
            _, second, _ = run(provision, apply, home)
            _, verify, _ = run(provision, ["verify", inventory, "--lab", "--json", "-", *words], home)
        finally:
            run(provision, ["lab", "down", inventory], home)
    blocked, failed = stopped(first, host)
    changed = sum(t["outcome"] == "changed" for t in tasks(first, host))
    again = sum(t["outcome"] == "changed" for t in tasks(second, host))
    checks = verify.get("hosts", {}).get(host, {}).get("checks", [])
    failing = [c["check"] for c in checks if c["status"] == "fail"]
    passing = sum(c["status"] == "pass" for c in checks)
    shown = [one for one in sets if one.split("=")[0] in SHOWN]
    ended = [f"blocked: {', '.join(blocked)}"] if blocked else []
    ended += [f"**failed**: {name}: {said}" for name, said in failed.items()]
    return [
        site + "".join(f", `{one}`" for one in shown),
        label,
        f"{changed} changed, {took:.0f} s",
        "; ".join(ended) or "-",
        f"{again} changed",
        f"{passing} pass; fail: {', '.join(failing) or 'none'}",
    ]


def cell(text):
    return " ".join(str(text).replace("|", "\\|").split())[:300]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("provision")
    parser.add_argument("words", nargs="*")
    parser.add_argument("--markdown", type=Path)
    arguments = parser.parse_args()
    provision = shutil.which(arguments.provision) or sys.exit(f"no {arguments.provision}")
    provision = str(Path(provision).resolve())
    sites = [word for word in arguments.words if word in SITES] or list(SITES)
    systems = [word for word in arguments.words if word in SYSTEMS] or [s for s in SYSTEMS if s not in ("noble", "resolute")]
    head = "| site | system | first apply | not done | second apply | verify |\n|---|---|---|---|---|---|\n"
    begin, end = "<!-- table: scripts/years.py -->\n", "<!-- end -->\n"
    for site in sites:
        for system in systems:
            row = "| " + " | ".join(cell(text) for text in measure(provision, site, system)) + " |\n"
            sys.stdout.write(row)
            sys.stdout.flush()
            if not arguments.markdown:
                continue
            before, rest = arguments.markdown.read_text().split(begin, 1)
            rows, after = rest.split(end, 1)
            kept = [line + "\n" for line in rows.splitlines() if line.startswith("| ") and not line.startswith("| site |")]
            label = SYSTEMS[system][0]
            kept = [line for line in kept if not (line.split("|")[1].split(",")[0].strip() == site and line.split("|")[2].strip() == label)]
            order = [(s, SYSTEMS[y][0]) for s in SITES for y in SYSTEMS]
            kept = sorted([*kept, row], key=lambda line: order.index((line.split("|")[1].split(",")[0].strip(), line.split("|")[2].strip())))
            arguments.markdown.write_text(before + begin + head + "".join(kept) + end + after)


main()
