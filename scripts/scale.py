#!/usr/bin/env python3
"""What `--engine slurm` costs the controller, by the number of nodes.

Real Slurm on one machine carries a few dozen nodes. Here stand-ins of salloc, sbcast and srun play what one node of a
real Slurm cluster told (bench/slurm-*.jsonl, recorded in the lab) for every node, mixed, as fast as the real
controller reads it: inventory, playbooks, login, polling, record and report are those of every run.

    scripts/scale.py target/release/provision [--markdown docs/evidence/scale.md] [1000 3000 10000]
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
INVENTORY = """cluster: scale
playbooks:
  - {{ use: base, hosts: gpu }}
  - {{ use: sysctl, hosts: gpu }}
  - {{ use: limits, hosts: gpu }}
  - {{ use: rdma-core, hosts: gpu }}
  - {{ use: gpu-prepare, hosts: gpu }}
vars: {{ trainer_keys: [] }}
groups:
  gpu: {{ hosts: "n[1-{count}]" }}
  login: {{ hosts: [login0] }}
hosts: {{ login0: {{ transport: local }} }}
"""
TOOLS = {
    "sinfo": 'i=1\nwhile [ "$i" -le {count} ]; do echo "n$i|idle|gpu:8|none"; i=$((i + 1)); done',
    # Its last words are the command of the job.
    "salloc": 'while [ "$1" != sh ]; do shift; done\nSLURM_JOB_ID=7 exec "$@"',
    "sbcast": ":",
    "srun": "exec cat '{lines}'",
    "scancel": ":",
}


def lines(kinds, count, out):
    """The same events of every node, as src/relay/lines.rs writes them and srun labels them; all nodes at once."""
    # The controller sorts names as texts.
    task = {node: number for number, node in enumerate(sorted(f"n{number}" for number in range(1, count + 1)))}
    width = len(str(count - 1))
    for seq, kind in enumerate(kinds):
        for node in (f"n{number}" for number in range(1, count + 1)):
            event = {"run": "x", "seq": seq, "at": "2026-01-01T00:00:00Z", "elapsed": 0.1, "kind": kind}
            text = json.dumps(event, separators=(",", ":")).replace('"host":"gpu0"', f'"host":"{node}"')
            text = f"\x1e{text}\x1f"
            # srun cuts lines so and puts the number of the task before each: its place in the list of nodes.
            for at in range(0, len(text), 1024):
                out.write(f"{task[node]:>{width}}: {text[at : at + 1024]}\n")


def measure(provision, count, recording):
    kinds = [json.loads(line) for line in recording.read_text().splitlines()]
    with tempfile.TemporaryDirectory(prefix="provision-scale-") as name:
        place = Path(name)
        with open(place / "lines", "w") as out:
            lines(kinds, count, out)
        tools = place / "bin"
        tools.mkdir()
        for tool, text in TOOLS.items():
            text = text.format(count=count, lines=place / "lines")
            (tools / tool).write_text(f"#!/bin/sh\n# A stand-in: it plays what was recorded.\n{text}\n")
            (tools / tool).chmod(0o755)
        (place / "inventory.yaml").write_text(INVENTORY.format(count=count))
        command = [provision, "apply", str(place / "inventory.yaml"), "--hosts", "gpu", "--yes"]
        command += ["--engine", "slurm", "--engine-at", "login0", "--json", str(place / "report.json")]
        env = dict(os.environ, PATH=f"{tools}:{os.environ['PATH']}", XDG_STATE_HOME=str(place / "state"))
        begin = time.monotonic()
        child = subprocess.Popen(command, env=env, stdout=subprocess.DEVNULL, stderr=open(place / "said", "w"))
        most = 0
        while child.poll() is None:
            try:
                for line in Path(f"/proc/{child.pid}/status").read_text().splitlines():
                    if line.startswith("VmHWM:"):
                        most = max(most, int(line.split()[1]))
                stat = Path(f"/proc/{child.pid}/stat").read_text().rsplit(")", 1)[1].split()
                cpu = (int(stat[11]) + int(stat[12])) / os.sysconf("SC_CLK_TCK")
            except (OSError, IndexError):
                pass
            time.sleep(0.02)
        took = time.monotonic() - begin
        if child.returncode != 0:
            sys.exit(f"{' '.join(command)} ended with {child.returncode}:\n{(place / 'said').read_text()[-2000:]}")
        report = json.loads((place / "report.json").read_text())
        told = report["summary"]["tasks"]
        assert report["summary"]["ok"] == count, report["summary"]
        size = (place / "lines").stat().st_size
        journal = sum(path.stat().st_size for path in place.glob("state/provision/*/*/events.jsonl"))
    return took, cpu, most / 1024, size / 1e6, journal / 1e6, told


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("provision")
    parser.add_argument("counts", nargs="*", type=int)
    parser.add_argument("--markdown", type=Path)
    arguments = parser.parse_args()
    provision = shutil.which(arguments.provision) or sys.exit(f"no {arguments.provision}")
    rows = []
    for count in arguments.counts or [1000, 3000, 10000]:
        for what, name in (("first apply", "slurm-first"), ("nothing to do", "slurm-again")):
            took, cpu, most, size, journal, told = measure(provision, count, ROOT / "bench" / f"{name}.jsonl")
            rows.append((count, what, took, cpu, most, size, journal, told["changed"]))
            print(f"{count:>6} {what:<14} {took:7.1f} s, {cpu:6.1f} s of CPU, {most:6.0f} MiB, {size:7.1f} MB in", file=sys.stderr)
    table = "| nodes | run | until the last event | own CPU | CPU per node | memory | events | journal | changes told |\n"
    table += "|---|---|---|---|---|---|---|---|---|\n"
    for count, what, took, cpu, most, size, journal, changed in rows:
        table += f"| {count} | {what} | {took:.1f} s | {cpu:.1f} s | {1000 * cpu / count:.1f} ms | {most:.0f} MiB "
        table += f"| {size:.0f} MB | {journal:.0f} MB | {changed} |\n"
    if arguments.markdown:
        text = arguments.markdown.read_text()
        begin, end = "<!-- table: scripts/scale.py -->\n", "<!-- end -->\n"
        head, rest = text.split(begin, 1)
        arguments.markdown.write_text(head + begin + table + end + rest.split(end, 1)[1])
    else:
        print(table, end="")


main()
