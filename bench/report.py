#!/usr/bin/env python3
"""Results of scripts/bench.sh as Markdown.

    bench/report.py RESULTS COMMAND

RESULTS has one run a line: scene, contestant, microseconds, number (tasks changed; KiB of memory
in the scale scenes and in validate).
"""

import collections
import datetime
import os
import platform
import re
import statistics
import subprocess
import sys

NAMES = {
    "bare": "bare `ssh host true`",
    "script": "hand-written script",
    "provision": "provision",
    "ansible": "Ansible, pipelining",
    "mitogen": "Ansible with Mitogen",
    "pyinfra": "pyinfra",
}
SCENES = {
    "converged": (
        "Nothing to do",
        "Four hosts that are as declared; 40 tasks of file, directory and package.",
        "bare",
    ),
    "kex": (
        "Nothing to do, with a cheap key exchange",
        "The same with `ssh.kex: curve25519-sha256`: logins are cheaper, and what provision adds is not.",
        "bare",
    ),
    "first": (
        "First apply, no packages",
        "Four hosts that have nothing of it, with /run on a tmpfs; 40 tasks of file and directory. The script is a lean one:\n"
        "it compares each file with `cmp`, prints it to a name beside it, gives it its mode and renames it; nothing else.",
        "script",
    ),
    "firstdisk": (
        "First apply, no packages, /run on a disk",
        "The same where the state of a run is on the disk of the host, as it is where /run is no tmpfs.",
        "script",
    ),
    "packages": (
        "First apply with packages",
        "Four hosts that have nothing of it; 40 tasks, five packages to install from apt's own cache.",
        "script",
    ),
    "delayfirst": (
        "First apply on a long way, no packages",
        "Four hosts that have nothing of it; 40 tasks of file and directory; a round trip of 50 ms\n"
        "(`scripts/delay-proxy.py`).",
        "script",
    ),
    "delay": ("Nothing to do on a long way", "The hosts of the table before, as they are after it; a round trip of 50 ms.", "bare"),
    "warm": (
        "Nothing to do, with logins that stay",
        "The second of two runs with `ssh.persist: 10m`, against bare logins that are cold; 40 tasks.",
        "bare",
    ),
    "first100": (
        "First apply to 100 hosts, no packages",
        "One sshd as 100 hosts that have nothing of it; 40 tasks of file and directory without root, curve25519-sha256,\n"
        "64 hosts at a time. The hosts' side runs on the same CPUs.",
        "script",
    ),
    "mixed": ("The lab's inventory, nothing to do", "`inventories/lab.yaml`: services, users, templates, lines and more.", "bare"),
}


def read(path):
    runs = collections.defaultdict(list)
    with open(path, encoding="utf-8") as lines:
        for line in lines:
            scene, leg, micros, number = line.rstrip("\n").split("\t")
            runs[scene, leg].append((int(micros) / 1e6, number))
    return runs


def output(*command):
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    except OSError:
        return ""
    return (done.stdout + done.stderr).strip()


def first_line(*command):
    return output(*command).partition("\n")[0]


def machine():
    cpu = ""
    memory = ""
    with open("/proc/cpuinfo", encoding="utf-8") as lines:
        for line in lines:
            if line.startswith("model name"):
                cpu = line.partition(":")[2].strip()
                break
    with open("/proc/meminfo", encoding="utf-8") as lines:
        memory = f"{int(lines.readline().split()[1]) // 1024 // 1024} GiB"
    distribution = platform.freedesktop_os_release().get("PRETTY_NAME", "Linux")
    engine = first_line("docker", "info", "--format", "Docker {{.ServerVersion}}, {{.Driver}}, cgroup v{{.CgroupVersion}}")
    rows = [
        f"{distribution}, kernel {platform.release().split('-')[0]}, {os.cpu_count()} CPUs ({cpu or platform.machine()}), {memory}",
        first_line("ssh", "-V").partition(",")[0],
        engine,
    ]
    packages = output(".venv-bench/bin/pip", "list", "--format=freeze", "--disable-pip-version-check")
    versions = [p.replace("==", " ") for p in packages.split("\n") if re.match(r"(ansible-core|mitogen|pyinfra)==", p)]
    if versions:
        rows.append(", ".join(versions))
    return "; ".join(row for row in rows if row)


def seconds(value):
    return f"{value:.2f} s" if value < 10 else f"{value:.1f} s"


def scene_table(runs, scene):
    title, text, base = SCENES[scene]
    legs = [leg for leg in NAMES if (scene, leg) in runs]
    if not legs:
        return []
    base = base if base in legs else legs[0]
    median = {leg: statistics.median(time for time, _ in runs[scene, leg]) for leg in legs}
    drift = scene == "converged" and any((("drift", leg) in runs) for leg in legs)
    out = [f"## {title}", "", text, ""]
    out.append(f"| | median | fastest to slowest | x {NAMES[base]} |" + (" planted change mended in |" if drift else ""))
    out.append("|---|---:|---:|---:|" + ("---:|" if drift else ""))
    for leg in legs:
        times = [time for time, _ in runs[scene, leg]]
        row = f"| {NAMES[leg]} | {seconds(median[leg])} | {seconds(min(times))} to {seconds(max(times))} "
        row += f"| {median[leg] / median[base]:.2f} |"
        if drift:
            row += f" {seconds(runs['drift', leg][0][0])} |" if ("drift", leg) in runs else " |"
        out.append(row)
    return [*out, ""]


def scale_table(runs):
    counts = sorted({int(scene[5:]) for scene, _ in runs if scene.startswith("scale")})
    if not counts:
        return []
    out = [
        "## Many hosts, nothing to do",
        "",
        "One sshd as N hosts at addresses of 127.0.0.0/8; 40 tasks; as many bare logins with the same ssh",
        "options, curve25519-sha256 among them, as many at a time. The hosts' side runs on the same CPUs.",
        "Memory is the controller's greatest resident set.",
        "",
        "| hosts | bare logins | provision | ratio | per host | memory |",
        "|---:|---:|---:|---:|---:|---:|",
    ]
    for count in counts:
        bare = statistics.median(time for time, _ in runs[f"scale{count}", "bare"])
        ours = runs.get((f"scale{count}", "provision"))
        if not ours:
            out.append(f"| {count} | {seconds(bare)} | | | | |")
            continue
        time = statistics.median(time for time, _ in ours)
        memory = max(int(number) for _, number in ours) / 1024
        out.append(
            f"| {count} | {seconds(bare)} | {seconds(time)} | {time / bare:.2f} | {time / count * 1000:.1f} ms | {memory:.0f} MiB |"
        )
    return [*out, ""]


def bad_table(runs):
    ours = runs.get(("bad", "provision"))
    if not ours:
        return []
    times = ", ".join(seconds(time) for time, _ in ours)
    lines = max(int(number) for _, number in ours)
    return [
        "## 1000 hosts, 45 of them bad",
        "",
        "20 refuse, 20 accept and say nothing, 5 have another key than the one recorded. The other 955 were done in each",
        f"run; the runs took {times} and printed {lines} lines.",
        "",
    ]


def validate_table(runs):
    ours = runs.get(("validate", "provision"))
    if not ours:
        return []
    times = [time for time, _ in ours]
    memory = max(int(number) for _, number in ours) / 1024
    return [
        "## Validate",
        "",
        "`provision validate`: 10 000 hosts, 40 tasks whose text differs from host to host.",
        "",
        "| | median | fastest to slowest | memory |",
        "|---|---:|---:|---:|",
        f"| provision | {seconds(statistics.median(times))} | {seconds(min(times))} to {seconds(max(times))} | {memory:.0f} MiB |",
        "",
    ]


def main():
    runs = read(sys.argv[1])
    rounds = max((len(times) for times in runs.values()), default=0)
    date = datetime.date.today().isoformat()
    out = [
        "# Benchmarks",
        "",
        f"Written on {date} by `{sys.argv[2].strip()}`; `make bench` makes it anew.",
        "",
        f"Machine: {machine()}. Controller and hosts share it.",
        "",
        f"Medians of up to {rounds} runs, of the slow tools fewer. Contestants take turns (A B C A B C), and",
        "every run is cold, unless its table says otherwise: no ssh process, connection or cache is left of the run",
        "before. All do the same tasks (`bench/generate.py` writes them for every tool), on all hosts at once.",
        "Ansible runs with pipelining, as many forks as hosts, and without gathering facts, which no task needs.",
        "Every run's number of changed tasks is checked, and each tool must see and mend a change planted on one host.",
        "",
        "Every tool agrees on keys as it does by itself: pyinfra's library with curve25519-sha256, all others",
        "with OpenSSH's own choice, which makes each login dearer. Three tables, as they say, are with the first.",
        "",
    ]
    for scene in SCENES:
        out += scene_table(runs, scene)
    out += scale_table(runs)
    out += bad_table(runs)
    out += validate_table(runs)
    print("\n".join(out).rstrip())


main()
