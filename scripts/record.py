#!/usr/bin/env python3
"""Records commands in a terminal (tmux) as an SVG that plays in any browser.

    record.py OUT.svg COLUMNS ROWS COMMAND...

A picture that stands still for longer than a second is shown for a second. The last one comes first, so that it is seen
in print, in previews and where motion is not wanted.
"""

import html
import os
import re
import subprocess
import sys
import tempfile
import time

CELL, LINE, EDGE = 8.4, 18, 14  # pixels, of a font of 14
STILL, LAST = 1.0, 5.0  # seconds
LIMIT = 600  # seconds for one command
BASIC = (
    "#1d1f21 #e06c75 #98c379 #e5c07b #61afef #c678dd #56b6c2 #c5c8c6 "
    "#7f848e #e06c75 #98c379 #e5c07b #61afef #c678dd #56b6c2 #ffffff"
).split()
# `!important` is stronger than an animation.
STANDS = (
    "@media print, (prefers-reduced-motion: reduce) "
    "{ g { visibility: hidden !important } g.end { visibility: visible !important } }"
)
SGR = re.compile(r"\x1b\[([0-9;]*)m|\x1b[^m]*m|\x0e|\x0f")


class Terminal:
    """A tmux of its own."""

    def __init__(self, columns, rows, prompts):
        self.socket = f"record{os.getpid()}"
        environment = {**os.environ, "PS1": "$ ", "PROMPT_COMMAND": f"echo >>{prompts}"}
        subprocess.run(
            ["tmux", "-L", self.socket, "-f", "/dev/null", "new-session", "-d", "-x", str(columns), "-y", str(rows)]
            + ["bash", "--norc", "--noprofile"],
            env=environment,
            check=True,
        )
        self.tmux("set", "status", "off")

    def tmux(self, *words):
        done = subprocess.run(["tmux", "-L", self.socket, *words], capture_output=True, text=True, check=True)
        return done.stdout

    def seen(self):
        return self.tmux("capture-pane", "-e", "-p").split("\n")[:-1]


def record(columns, rows, commands):
    """What was seen, with the seconds that each picture is shown."""
    frames = []

    def look(terminal):
        now, lines = time.monotonic(), terminal.seen()
        if not frames or frames[-1][1] != lines:
            frames.append((now, lines))

    with tempfile.NamedTemporaryFile("r") as prompts:
        terminal = Terminal(columns, rows, prompts.name)
        try:
            for number, command in enumerate(commands, 1):
                until = time.monotonic() + LIMIT
                wait_for_prompts(prompts.name, number, until, lambda: None)
                terminal.tmux("send-keys", "-l", command)
                time.sleep(0.3)
                look(terminal)
                time.sleep(STILL)
                terminal.tmux("send-keys", "Enter")
                wait_for_prompts(prompts.name, number + 1, until, lambda: look(terminal))
            time.sleep(0.3)
            look(terminal)
        finally:
            terminal.tmux("kill-server")
    ends = [began for began, _ in frames[1:]] + [frames[-1][0] + LAST]
    last = len(frames) - 1
    return [
        (lines, end - began if at == last else min(end - began, STILL))
        for at, ((began, lines), end) in enumerate(zip(frames, ends))
    ]


def wait_for_prompts(path, number, until, meanwhile):
    while sum(1 for _ in open(path)) < number:
        if time.monotonic() > until:
            sys.exit(f"no prompt within {LIMIT} seconds")
        meanwhile()
        time.sleep(0.3)


def colour(codes):
    """The colour that `5;N` or `2;R;G;B` names; takes it off the codes."""
    if codes.pop(0) == 2:
        red, green, blue = codes[:3]
        del codes[:3]
        return f"#{red:02x}{green:02x}{blue:02x}"
    number = codes.pop(0)
    if number < 16:
        return BASIC[number]
    if number >= 232:
        return "#" + f"{8 + 10 * (number - 232):02x}" * 3
    levels = [0, 95, 135, 175, 215, 255]
    number -= 16
    return "#" + "".join(f"{levels[number // by % 6]:02x}" for by in (36, 6, 1))


def styled(state, codes):
    """The style after one SGR sequence."""
    codes = [int(code or 0) for code in codes.split(";")]
    while codes:
        code = codes.pop(0)
        if code == 0:
            state = {}
        elif code in (38, 48):
            state = {**state, "fill" if code == 38 else "back": colour(codes)}
        elif code in range(30, 38):
            state = {**state, "fill": BASIC[code - 30]}
        elif code in range(90, 98):
            state = {**state, "fill": BASIC[code - 82]}
        elif code == 39:
            state = {key: value for key, value in state.items() if key != "fill"}
        elif code == 1:
            state = {**state, "font-weight": "bold"}
        elif code == 2:
            state = {**state, "opacity": "0.65"}
        elif code == 3:
            state = {**state, "font-style": "italic"}
        elif code == 4:
            state = {**state, "text-decoration": "underline"}
    return state


def row(line):
    """One row of the terminal as SVG text."""
    parts, column, state, at = [], 0, {}, 0
    for found in [*SGR.finditer(line), None]:
        text = line[at : found.start() if found else len(line)]
        if text.strip():
            style = "".join(f' {key}="{value}"' for key, value in state.items() if key != "back")
            x, width = EDGE + column * CELL, len(text) * CELL
            parts.append(f'<tspan x="{x:.1f}" textLength="{width:.1f}"{style}>{html.escape(text)}</tspan>')
        column += len(text)
        if found:
            at = found.end()
            if found[1] is not None:
                state = styled(state, found[1])
    return "".join(parts)


def picture(frames, columns, rows):
    width, height = columns * CELL + 2 * EDGE, rows * LINE + 2 * EDGE
    total = sum(seconds for _, seconds in frames)
    known, shown, began = {}, [], 0.0
    for number, (lines, seconds) in enumerate([frames[-1], *frames[:-1]]):
        uses = []
        for at, line in enumerate(lines):
            text = row(line)
            if text:
                name = known.setdefault(text, f"r{len(known)}")
                uses.append(f'<use href="#{name}" y="{at * LINE}"/>')
        end = began + seconds
        if number == 0:
            times, values, seen = [0, end / total], "visible;hidden", 'class="end" visibility="visible"'
        elif number == len(frames) - 1:
            times, values, seen = [0, began / total], "hidden;visible", 'visibility="hidden"'
        else:
            times, values, seen = [0, began / total, end / total], "hidden;visible;hidden", 'visibility="hidden"'
        shown.append(
            f'<g {seen}><animate attributeName="visibility" '
            f'calcMode="discrete" dur="{total:.1f}s" repeatCount="indefinite" values="{values}" '
            f'keyTimes="{";".join(f"{time:.5f}" for time in times)}"/>{"".join(uses)}</g>'
        )
        began = end
    rows_of_text = "\n".join(
        f'<text id="{name}" y="{EDGE + LINE - 5}" xml:space="preserve">{text}</text>' for text, name in known.items()
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height:.0f}" width="{width:.0f}" '
        f'height="{height:.0f}" font-family="DejaVu Sans Mono, Menlo, Consolas, monospace" font-size="14" '
        f'fill="{BASIC[7]}">\n<style>{STANDS}</style>\n<defs>\n{rows_of_text}\n</defs>\n'
        f'<rect width="100%" height="100%" rx="8" fill="{BASIC[0]}"/>\n' + "\n".join(shown) + "\n</svg>\n"
    )


def main():
    out, columns, rows, *commands = sys.argv[1:]
    columns, rows = int(columns), int(rows)
    frames = record(columns, rows, commands)
    with open(out, "w") as file:
        file.write(picture(frames, columns, rows))
    print(f"{out}: {len(frames)} pictures, {sum(seconds for _, seconds in frames):.0f} s", file=sys.stderr)


if __name__ == "__main__":
    main()
