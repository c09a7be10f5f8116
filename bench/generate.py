#!/usr/bin/env python3
"""Writes the benchmark's tasks for every tool from one table, so that all do the same.

    bench/generate.py FOLDER         tasks for all tools; provision's go to bench/
    bench/generate.py --scale HOME   a playbook of provision for one user without root
    bench/generate.py --first HOMES FOLDER
                                     the same without packages, for a user who has on each host the home
                                     HOMES/NAME, with a script of it that takes the home as $HOME
    bench/generate.py --many         a playbook of provision whose texts differ from host to host

`forty` has files, directories and packages; `free` has no packages. Each is a playbook of
provision, a playbook of Ansible, a deploy of pyinfra and a shell script.
"""

import json
import pathlib
import sys

PACKAGES = ["tree", "rsync", "jq", "pv", "zstd"]
EVERYWHERE = ["bash", "coreutils", "grep", "sed", "tar"]


def directory(root, number):
    return {"kind": "directory", "path": f"{root}/d{number:02}", "mode": "0750" if number % 3 else "0755"}


def file(root, number):
    lines = "".join(f"setting_{line} = value {number}.{line}\n" for line in range(8 + number))
    return {
        "kind": "file",
        "path": f"{root}/d{number % 15:02}/f{number:02}.conf",
        "mode": "0640" if number % 2 else "0644",
        "content": f"# file {number} of the benchmark\n{lines}",
    }


def tasks(root, packages):
    """Forty tasks."""
    table = [{"kind": "package", "name": package} for package in packages]
    directories = 15 if packages else 19
    table.append({"kind": "directory", "path": root, "mode": "0755"})
    table += [directory(root, number) for number in range(directories)]
    table += [file(root, number) for number in range(40 - len(table))]
    return table


def title(task):
    return f"{task['kind']} {task.get('name') or task['path']}"


def quoted(text):
    return json.dumps(text)


def provision(name, table, owner="root"):
    out = ["# Written by bench/generate.py.", f"name: benchmark {name}", "tasks:"]
    for task in table:
        out.append(f"  - name: {title(task)}")
        if task["kind"] == "package":
            out.append(f"    package: {{ names: [{task['name']}] }}")
        else:
            out.append(f"    {task['kind']}:")
            out.append(f"      path: {task['path']}")
            out.append(f"      mode: {quoted(task['mode'])}")
            if owner:
                out += [f"      owner: {owner}", f"      group: {owner}"]
            if "content" in task:
                out.append(f"      content: {quoted(task['content'])}")
    return "\n".join(out) + "\n"


def ansible(name, table):
    # No facts are gathered: no task needs them, and it makes Ansible faster.
    out = ["# Written by bench/generate.py.", "- hosts: all", "  gather_facts: false", "  tasks:"]
    for task in table:
        out.append(f"    - name: {title(task)}")
        if task["kind"] == "package":
            out.append(f"      ansible.builtin.apt: {{ name: {task['name']}, state: present }}")
            continue
        module = "file" if task["kind"] == "directory" else "copy"
        out.append(f"      ansible.builtin.{module}:")
        out.append(f"        {'path' if module == 'file' else 'dest'}: {task['path']}")
        out.append(f"        mode: {quoted(task['mode'])}")
        out.append("        owner: root")
        out.append("        group: root")
        out.append("        state: directory" if module == "file" else f"        content: {quoted(task['content'])}")
    return "\n".join(out) + "\n"


def pyinfra(name, table):
    out = ["# Written by bench/generate.py.", "import io", "", "from pyinfra.operations import apt, files", ""]
    for task in table:
        label = quoted(title(task))
        if task["kind"] == "package":
            out.append(f"apt.packages(name={label}, packages=[{quoted(task['name'])}])")
            continue
        common = f"mode={quoted(task['mode'])}, user=\"root\", group=\"root\""
        if task["kind"] == "directory":
            out.append(f"files.directory(name={label}, path={quoted(task['path'])}, {common})")
        else:
            source = f"io.StringIO({quoted(task['content'])})"
            out.append(f"files.put(name={label}, src={source}, dest={quoted(task['path'])}, {common})")
    return "\n".join(out) + "\n"


def script(name, table):
    """What a person writes who wants it fast: one script. A file is compared, printed to a name beside it, given its
    mode and renamed; nothing else. Owners are those of who runs it, and modes of what is there stay."""
    out = [
        "# Written by bench/generate.py.",
        "set -eu",
        "export LC_ALL=C DEBIAN_FRONTEND=noninteractive",
        "changed=0",
        "directory() {",
        '    [ ! -d "$1" ] || return 0',
        '    mkdir -m "$2" "$1"; changed=$((changed + 1))',
        "}",
        "package() {",
        "    [ \"$(dpkg-query -W -f '${db:Status-Status}' \"$1\" 2>/dev/null)\" = installed ] && return",
        '    apt-get -qq -y install --no-install-recommends "$1" >/dev/null 2>&1; changed=$((changed + 1))',
        "}",
        "file() {",
        '    if cmp -s - "$1" <<END',
        "$3",
        "END",
        "    then return; fi",
        "    printf '%s\\n' \"$3\" >\"$1.new\"; chmod \"$2\" \"$1.new\"; mv \"$1.new\" \"$1\"; changed=$((changed + 1))",
        "}",
    ]
    for task in table:
        if task["kind"] == "package":
            out.append(f"package {task['name']}")
        elif task["kind"] == "directory":
            out.append(f"directory {task['path']} {task['mode']}")
        else:
            text = task["content"].removesuffix("\n")
            out.append(f"file {task['path']} {task['mode']} '{text}'")
    out.append('echo "changed=$changed"')
    return "\n".join(out) + "\n"


def main():
    if sys.argv[1] == "--scale":
        print(provision("scale", tasks(f"{sys.argv[2]}/bench", EVERYWHERE), owner=None), end="")
        return
    if sys.argv[1] == "--first":
        folder = pathlib.Path(sys.argv[3])
        table = tasks(f"{sys.argv[2]}/{{{{ host.name }}}}/bench", [])
        (folder / "first.playbook.yaml").write_text(provision("first", table, owner=None))
        (folder / "first.script.sh").write_text(script("first", tasks("$HOME/bench", [])))
        return
    if sys.argv[1] == "--many":
        paths = [f"/srv/many/f{number:02}.conf" for number in range(40)]
        many = [{"kind": "file", "path": path, "mode": "0644", "content": f"{path} of {{{{ host.name }}}}\n"} for path in paths]
        print(provision("many", many, owner=None), end="")
        return
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    here = pathlib.Path(__file__).parent
    for name, packages in (("forty", PACKAGES), ("free", [])):
        # Roots of their own, so that both can stand in one inventory.
        table = tasks(f"/srv/{name}", packages)
        (here / f"{name}.yaml").write_text(provision(name, table))
        (folder / f"{name}.ansible.yaml").write_text(ansible(name, table))
        (folder / f"{name}.pyinfra.py").write_text(pyinfra(name, table))
        (folder / f"{name}.script.sh").write_text(script(name, table))


main()
