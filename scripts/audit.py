#!/usr/bin/env python3
"""Asks the audit of others (`cmax` of the package clustermax), and writes what it said as a page.

    audit.py look HARNESS                  on a host, beside cmax: runs it, prints what it said as JSON
    audit.py count ANSWER                  one line about an answer; status 1 if there is none
    audit.py page TABLE FOLDER RELEASE...  the page, from the answers of scripts/audit.sh in FOLDER/RELEASE
"""

import json
import os
import subprocess
import sys
import tempfile
import time
import tomllib
from pathlib import Path

# What the audit grades, and values that it only collects.
WORDS = {"pass": "PASS", "warning": "WARNING", "fail": "FAIL", "skipped": "skipped", "right": "right", "wrong": "wrong", "": "-"}
# From bad to good: of several keys of a criterion the worst counts.
ORDER = ["fail", "warning", "pass", "skipped"]
UNKNOWN = ("", "unknown", "unavailable", "none", "not-found")


def look(harness):
    """Runs the audit and prints its statuses; values that it collects without a grade are told as they are."""
    place = Path(__file__).resolve().parent
    sys.path.insert(0, str(place))
    results = tempfile.mkdtemp(prefix="audit.")
    env = {**os.environ, "PYTHONPATH": str(place), "CLUSTERMAX_RUNS_ROOT": results, "PYTHONDONTWRITEBYTECODE": "1"}
    began = time.monotonic()
    call = "from cmax.cli import main; raise SystemExit(main())"
    done = subprocess.run(
        [sys.executable, "-c", call, "audit", f"--{harness}", "--yes"],
        env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False,
    )
    answer = {"harness": harness, "seconds": round(time.monotonic() - began), "checks": {}, "values": {}}
    found = sorted(Path(results).rglob("audit.values.json"))
    if not found:
        answer["error"] = [line.strip() for line in done.stdout.splitlines() if line.strip()][-4:]
        print(json.dumps(answer))
        return
    from cmax import audit_report, runtime_paths, security

    values = json.loads(found[-1].read_text())
    target = security.detect_target(harness)
    root = runtime_paths.package_runtime_root()
    for check in audit_report.evaluate(values, root, harness=target.harness, environment=target.environment):
        said = check.observed if isinstance(check.observed, str) else json.dumps(check.observed, sort_keys=True)
        answer["checks"][check.key] = {"status": check.status, "observed": said[:160]}
    data = audit_report._load_findings(root)._audit_data(values)
    for criterion in tomllib.loads((place / "audit.toml").read_text())["criteria"]:
        if "value" in criterion:
            answer["values"][criterion["value"]] = nested(data, criterion["value"])
    print(json.dumps(answer))


def nested(data, path):
    """The value below a path of keys, none where one is missing."""
    for key in path.split("."):
        data = data.get(key) if isinstance(data, dict) else None
    return data


def count(path):
    """One line about an answer."""
    try:
        answer = json.loads(Path(path).read_text())
    except ValueError:
        print(f"{path}: no answer")
        return 1
    if "error" in answer:
        print(f"{path}: {answer['seconds']} s, no report: {' / '.join(answer['error'])}")
        return 0
    words = [check["status"] for check in answer["checks"].values()]
    print(f"{path}: {answer['seconds']} s, " + ", ".join(f"{words.count(word)} {word}" for word in ORDER))
    return 0


def status(criterion, answer):
    """What an answer says of a criterion: the worst of its keys, else whether a value is the right one."""
    if answer is None or "error" in answer:
        return "none"
    if criterion.get("only", answer["harness"]) != answer["harness"]:
        return "skipped"
    keys = [answer["checks"][key]["status"] for key in criterion.get("keys", []) if key in answer["checks"]]
    if keys:
        # What does not apply says nothing beside what does.
        told = [word for word in keys if word != "skipped"] or keys
        return min(told, key=ORDER.index)
    if "value" in criterion:
        value = answer["values"].get(criterion["value"])
        value = "" if value is None else str(value).lower()
        if value in UNKNOWN:
            return ""
        return "right" if right(criterion, value) else "wrong"
    return ""


def right(criterion, value):
    """Whether a value is the right one: one of `good`, none of `bad`, known where `good` is a star."""
    words = criterion.get("good", criterion.get("bad"))
    words = [str(word).lower() for word in (words if isinstance(words, list) else [words])]
    if words == ["*"]:
        return True
    return (value in words) == ("good" in criterion)


def row(*cells):
    return "| " + " | ".join(str(cell).replace("|", "\\|") for cell in cells) + " |"


def page(table, folder, releases):
    """The page."""
    data = tomllib.loads(Path(table).read_text())
    answers = {}
    for release in releases:
        for when in ("before", "after"):
            for harness in ("slurm", "standalone"):
                path = Path(folder, release, f"{when}-{harness}.json")
                answers[release, when, harness] = json.loads(path.read_text()) if path.exists() else None
    print(data["head"].strip() + "\n")
    totals(data, answers, releases)
    print(data["middle"].strip() + "\n")
    judged(data, answers, releases)
    print(data["behind"].strip() + "\n")
    print(row("Criterion", "What it asks", "Applied by", "Checked by", "Where not, the reason"))
    print(row(*["---"] * 5))
    for criterion in data["criteria"]:
        print(row(f"`{criterion['id']}`", criterion["asks"], criterion.get("applied", "-"), criterion.get("checked", "-"),
                  criterion.get("why", "")))
    print("\n" + data["foot"].strip())


def totals(data, answers, releases):
    """How many criteria have which status."""
    words = list(WORDS)
    print(row("Debian", "Asked", "", *(WORDS[word] for word in words[:-1]), "not told"))
    print(row(*["---"] * (3 + len(words))))
    for release in releases:
        for harness in ("slurm", "standalone"):
            for when in ("before", "after"):
                answer = answers[release, when, harness]
                told = [status(criterion, answer) for criterion in data["criteria"] if criterion["scope"] == "host"]
                if answer is None or "error" in answer:
                    print(row(data["releases"][release], f"`--{harness}`", when, "no report", *[""] * (len(words) - 1)))
                    continue
                print(row(data["releases"][release], f"`--{harness}`", when, *(told.count(word) for word in words)))
    print()


def judged(data, answers, releases):
    """Each criterion, before and after, and the reason where it is not PASS."""
    print(row("Criterion", *(f"{data['releases'][release]}, {harness}" for release in releases for harness in ("slurm", "node")),
              "Why it is not PASS"))
    print(row(*["---"] * (2 + 2 * len(releases))))
    lacking = []
    for criterion in data["criteria"]:
        if criterion["scope"] != "host":
            continue
        cells, after = [], []
        for release in releases:
            for harness in ("slurm", "standalone"):
                before, now = (status(criterion, answers[release, when, harness]) for when in ("before", "after"))
                after.append(now)
                cells.append(f"{WORDS.get(before, '-')} → {WORDS.get(now, '-')}")
        poor = any(word in ("fail", "warning", "wrong", "none") for word in after) or not {"pass", "right"} & set(after)
        why = criterion.get("lab", criterion.get("why", "")) if poor else ""
        if poor and not why:
            lacking.append(criterion["id"])
        print(row(f"`{criterion['id']}`", *cells, why))
    known = {key for criterion in data["criteria"] for key in criterion.get("keys", [])}
    others = {}
    for (_, when, _), answer in answers.items():
        for key, check in (answer or {}).get("checks", {}).items():
            if when == "after" and key not in known and check["status"] in ("fail", "warning"):
                others[key] = WORDS[check["status"]]
    for key, word in sorted(others.items()):
        if key not in data["grades"]:
            lacking.append(key)
        print(f"\nBesides, of no criterion: `{key}` is {word}: {data['grades'].get(key, '')}.")
    print()
    if lacking:
        print(f"no reason in the table: {' '.join(lacking)}", file=sys.stderr)
        sys.exit(1)


def main(words):
    if len(words) == 2 and words[0] == "look":
        look(words[1])
    elif len(words) == 2 and words[0] == "count":
        return count(words[1])
    elif len(words) >= 4 and words[0] == "page":
        page(words[1], words[2], words[3:])
    else:
        print(__doc__.strip(), file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
