#!/usr/bin/env python3
"""Counts what makes code slow to read, so that a change can be compared with the state before it.

    scripts/counts.py [--list doc|closures|read|json]

Doc comments that begin with a relative word (tests/it/docs.rs holds their share below 3 %), closures bound by `let` that are
longer than three lines, functions called `read`, and `serde_json::Value` outside of templates, the wire, reports and imports.
Lines of code and of comments in src are counted apart.
"""

import argparse
import pathlib
import re

WORDS = "What Who Whose Where Why How Which Those That".split()
# Where JSON is what is meant.
JSON_IS_MEANT = ("src/template", "src/transport", "src/report", "src/foreign.rs", "src/events", "src/relay", "src/journal", "src/watch")
TOP = pathlib.Path(__file__).resolve().parent.parent


def doc_comments(lines):
    """Yields line number and text of the first line of each doc comment."""
    before = False
    for number, line in enumerate(lines, 1):
        found = re.match(r"\s*(?:///|//!) ?(.*)", line)
        if found and not before and found[1].strip():
            yield number, found[1]
        before = bool(found)


def closures(lines):
    """Yields line number and length of each closure that `let` binds: it ends at the first line that is not indented more."""
    for at, line in enumerate(lines):
        found = re.match(r"(\s*)let (?:mut )?\w+ = (?:async )?(?:move )?\|[^|]*\|", line)
        if not found or line.rstrip().endswith(";"):
            continue
        end = at + 1
        while end < len(lines) and (not lines[end].strip() or lines[end].startswith(found[1] + " ")):
            end += 1
        if end - at + 1 > 3:
            yield at + 1, end - at + 1


def main():
    options = argparse.ArgumentParser()
    options.add_argument("--list", choices=["doc", "closures", "read", "json"])
    wanted = options.parse_args().list
    comments = begin = long = reads = values = code = words = 0
    for path in sorted((TOP / "src").rglob("*.rs")):
        name = str(path.relative_to(TOP))
        lines = path.read_text().splitlines()
        found = {"doc": [], "closures": [], "read": [], "json": []}
        for number, text in doc_comments(lines):
            comments += 1
            first = re.match(r"\W*(\w+)", text)
            if first and first[1] in WORDS:
                found["doc"].append(number)
        found["closures"] = [number for number, _ in closures(lines)]
        found["read"] = [n for n, line in enumerate(lines, 1) if re.search(r"\bfn read\b", line)]
        if not name.startswith(JSON_IS_MEANT):
            found["json"] = [n for n, line in enumerate(lines, 1) if re.search(r"serde_json::Value\b|\bValue::(Object|Array|String|Null)\b", line)]
        begin += len(found["doc"])
        long += len(found["closures"])
        reads += len(found["read"])
        values += len(found["json"])
        for line in lines:
            if line.strip().startswith("//"):
                words += 1
            elif line.strip():
                code += 1
        for number in found.get(wanted, []):
            print(f"{name}:{number}: {lines[number - 1].strip()}")
    if not wanted:
        print(f"doc comments that begin with a relative word  {begin} of {comments} ({100 * begin / comments:.1f} %)")
        print(f"closures bound by let over 3 lines            {long}")
        print(f"functions called read                         {reads}")
        print(f"JSON values outside of what is JSON           {values}")
        print(f"lines of code in src                          {code}")
        print(f"lines of comments in src                      {words}")


main()
