#!/usr/bin/env python3
"""Records what ClusterShell makes of generated host lists, for the test in src/hostlist.rs.

    pip install ClusterShell && scripts/hostlists.py tests/cases/hostlists/clustershell.json

The same lists each time: `expand` has lists and their hosts, `fold` hosts in any order and their list.
"""

import json
import random
import re
import sys

import ClusterShell
from ClusterShell.NodeSet import NodeSet

EACH = 1000
# Hosts of a list at most: the file shall stay small.
MOST = 24


def ranges(draw):
    """The inside of brackets: numbers and ranges, with or without leading zeros and steps."""
    width = draw.choice([0, 0, 0, 2, 3])
    parts = []
    for _ in range(draw.randint(1, 3)):
        low = draw.randint(0, 120)
        high = low + draw.choice([0, 0, 1, 3, 12])
        text = f"{low:0{width}d}" if high == low else f"{low:0{width}d}-{high:0{width}d}"
        if high > low and draw.random() < 0.2:
            text += f"/{draw.randint(1, 4)}"
        parts.append(text)
    return ",".join(parts)


def word(draw):
    text = draw.choice(["gpu", "n", "node-a", "r1-n", "x"])
    text += f"[{ranges(draw)}]"
    if draw.random() < 0.2:
        text += f"{draw.choice(['n', '-', 'c'])}[{ranges(draw)}]"
    return text + draw.choice(["", "", "", "-ib0", ".dc1.example.com"])


def listed(draw):
    return ",".join(draw.choice(["login", "head1", word(draw)]) if draw.random() < 0.2 else word(draw) for _ in range(draw.randint(1, 3)))


def main():
    draw = random.Random(4711)
    expand, fold = [], []
    while len(expand) < EACH:
        text = listed(draw)
        hosts = sorted(NodeSet(text))
        if len(hosts) <= MOST:
            expand.append({"list": text, "hosts": hosts})
    while len(fold) < EACH:
        text = listed(draw)
        hosts = sorted(NodeSet(text))
        # Names with two numbers, of which the list is a product only by chance.
        plane = any(word.count("[") > 1 for word in re.split(r",(?![^[]*\])", text))
        hosts = draw.sample(hosts, min(len(hosts), draw.randint(1, MOST)))
        fold.append({"hosts": hosts, "list": str(NodeSet.fromlist(hosts)), "plane": plane})
    with open(sys.argv[1], "w", encoding="utf-8") as out:
        rows = lambda cases: ",\n".join(json.dumps(case) for case in cases)
        version = getattr(ClusterShell, "__version__", "?")
        out.write(f'{{"clustershell": "{version}",\n"expand": [\n{rows(expand)}\n],\n"fold": [\n{rows(fold)}\n]}}\n')


main()
