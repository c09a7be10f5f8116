"""Weaves changes of the source into one program and runs the tests with each: see scripts/mutants.sh.

    mutants.py weave LIST SAMPLE TREE CHOSEN    writes the chosen changes into the functions of TREE
    mutants.py run MODULE CHOSEN TREE           the tests of a module, once for each of its changes

A change is one branch at the start of its function: `if crate::mutant(7) { changed } else { as it was }`. So
all of them are compiled at once, and PROVISION_MUTANT=7 chooses one. What does not compile is taken out.
"""

import json
import os
import re
import subprocess
import sys
import time

# What is near: the tests of each module with the words that choose among them, and what is left out.
NEAR = {
    "plan": [("lib", ["plan::"]), ("engine", []), ("it", ["cases::"])],
    "engine": [("engine", []), ("lib", ["engine::"])],
    "resources": [("it", ["cases::resource"]), ("lib", ["resources::"]), ("engine", [])],
    "checks": [("lib", ["checks::"]), ("lib", ["active::", "lab::fault", "facts::", "report::"])],
    "wire": [("lib", ["transport::local", "transport::rescue", "transport::shell", "transport::parser", "transport::stream", "transport::wire"])],
}
# Slow, and they look at texts that are as they were.
LEFT_OUT = ["shell_texts_are_clean", "two_users", "what_a_playbook_lets"]

SWITCH = """
/// Whether this change of the source is on.
#[must_use]
pub fn mutant(number: u32) -> bool {
    static CHOSEN: std::sync::OnceLock<u32> = std::sync::OnceLock::new();
    *CHOSEN.get_or_init(|| {
        std::env::var_os("PROVISION_MUTANT").and_then(|text| text.to_str()?.parse().ok()).unwrap_or(0)
    }) == number
}
"""


def module(path):
    name = path.split("/")[1]
    return "wire" if name == "transport" else name


def offset(lines, place):
    return lines[place["line"] - 1] + place["column"] - 1


def line_starts(text):
    starts = [0]
    for line in text.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    return starts


def body(text, start, end):
    """Where what a function holds begins and ends."""
    place = re.compile(r"\bfn\b").search(text, start).end()
    depth = 0
    while text[place] != "{" or depth:
        depth += {"(": 1, ")": -1}.get(text[place], 0)
        place += 1
    return place + 1, end - 1


def fits(mutant):
    """A constant has no place for a branch, and what two branches return is not one `impl Iterator`."""
    function = mutant["function"]
    return bool(function) and "impl " not in function["return_type"]


def weave(listed, sample, tree, chosen):
    with open(listed) as file:
        mutants = [mutant for mutant in json.load(file) if fits(mutant)]
    by_module = {}
    for mutant in mutants:
        by_module.setdefault(module(mutant["file"]), []).append(mutant)
    kept = []
    for name, found in by_module.items():
        step = max(1, len(found) // sample) if sample else 1
        kept += found[::step]
    for number, mutant in enumerate(kept, 1):
        mutant["number"] = number
    paths = sorted({mutant["file"] for mutant in kept})
    while True:
        print(f"{len(kept)} changes in one program", file=sys.stderr)
        kept = write(kept, paths, tree)
        broken = check(tree)
        if not broken:
            break
        kept = [mutant for mutant in kept if mutant["number"] not in broken]
    with open(chosen, "w") as file:
        json.dump([{key: mutant[key] for key in ("number", "file", "name")} for mutant in kept], file)


def write(kept, paths, tree):
    """Writes the functions with their branches; returns what is in them."""
    files = {path: [] for path in paths}
    for mutant in kept:
        files[mutant["file"]].append(mutant)
    woven = []
    for path, mutants in files.items():
        with open(f"{tree}/../plain/{path}") as file:
            text = file.read()
        lines = line_starts(text)
        functions = {}
        for mutant in mutants:
            span = mutant["function"]["span"]
            functions.setdefault((offset(lines, span["start"]), offset(lines, span["end"])), []).append(mutant)
        limit = len(text)
        for (start, end), mutants in sorted(functions.items(), reverse=True):
            # A function around another one: the inner one has its changes.
            if end > limit:
                continue
            first, last = body(text, start, end)
            branches = ""
            for mutant in mutants:
                begin, stop = (offset(lines, mutant["span"][edge]) for edge in ("start", "end"))
                changed = text[first:begin] + mutant["replacement"] + " " + text[stop:last]
                branches += f"if crate::mutant({mutant['number']}) {{\n{changed}\n}} else "
                woven.append(mutant)
            text = f"{text[:first]}\n{branches}{{ // as it was\n{text[first:last]}\n}}\n{text[last:]}"
            limit = start
        with open(f"{tree}/{path}", "w") as file:
            file.write(text)
    with open(f"{tree}/../plain/src/lib.rs") as file:
        root = file.read()
    with open(f"{tree}/src/lib.rs", "w") as file:
        file.write(root + SWITCH)
    return woven


def check(tree):
    """Numbers of the changes that do not compile."""
    command = ["cargo", "check", "--locked", "--lib", "--message-format=json"]
    ran = subprocess.run(command, cwd=tree, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    broken = set()
    if ran.returncode == 0:
        return broken
    for line in ran.stdout.splitlines():
        message = json.loads(line).get("message") or {}
        if message.get("level") != "error":
            continue
        for span in message["spans"]:
            found = branch(f"{tree}/{span['file_name']}", span["line_start"])
            if found and span["is_primary"]:
                broken.add(found)
    if not broken:
        sys.exit("what is woven does not compile, and no change is the reason: cargo check --lib in " + tree)
    return broken


def branch(path, line):
    """The change in which a line stands."""
    if not os.path.exists(path):
        return None
    with open(path) as file:
        above = file.read().splitlines()[:line]
    for text in reversed(above):
        found = re.match(r"^(?:\} else )?if crate::mutant\((\d+)\) \{$", text)
        if found:
            return int(found[1])
        if text == "} else { // as it was":
            return None
    return None


def binaries(tree):
    command = ["cargo", "test", "--locked", "--no-run", "--message-format=json", "--lib", "--test", "engine", "--test", "it"]
    ran = subprocess.run(command, cwd=tree, stdout=subprocess.PIPE, text=True, check=True)
    found = {}
    for line in ran.stdout.splitlines():
        message = json.loads(line)
        if message.get("executable") and message["profile"]["test"]:
            name = "lib" if "lib" in message["target"]["kind"] else message["target"]["name"]
            found[name] = message["executable"]
    return found


def passes(tree, programs, name, number, limit):
    """Whether all tests near a module pass; None when one program takes longer than the limit."""
    environment = dict(os.environ, PROVISION_MUTANT=str(number), RUST_MIN_STACK=str(64 << 20), CARGO_MANIFEST_DIR=tree)
    for program, words in NEAR[name]:
        command = ["nice", "-n", "10", programs[program], "-q", *words]
        for word in LEFT_OUT:
            command += ["--skip", word]
        quiet = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        try:
            ran = subprocess.run(command, cwd=tree, env=environment, timeout=limit, **quiet)
        except subprocess.TimeoutExpired:
            return None
        if ran.returncode != 0:
            return False
    return True


def run(name, chosen, tree):
    with open(chosen) as file:
        mutants = [mutant for mutant in json.load(file) if module(mutant["file"]) == name]
    programs = binaries(tree)
    began = time.monotonic()
    if passes(tree, programs, name, 0, 600) is not True:
        sys.exit(f"the tests of {name} do not pass without any change")
    limit = 10 + 4 * (time.monotonic() - began)
    late, unseen = 0, []
    for mutant in mutants:
        passed = passes(tree, programs, name, mutant["number"], limit)
        late += passed is None
        if passed:
            unseen.append(mutant["name"])
            print(f"not seen: {mutant['name']}", flush=True)
    seen = len(mutants) - len(unseen)
    share = 100 * seen // max(1, len(mutants))
    print(f"{name}: {seen} of {len(mutants)} seen ({share} %), {late} of them by the deadline", flush=True)


if __name__ == "__main__":
    if sys.argv[1] == "weave":
        weave(sys.argv[2], int(sys.argv[3]), sys.argv[4], sys.argv[5])
    else:
        run(*sys.argv[2:])
