#!/usr/bin/env python3
"""Rounds of faults on lab hosts: breaks a run of `apply`, lets others end it, and looks at what is there.

    chaos.py --provision PROGRAM --rounds 200 [--seed N] [--jobs N] [--markdown docs/evidence/chaos.md]
    chaos.py --provision PROGRAM --round SEED        one round again
    chaos.py --provision PROGRAM --faults cut,pause  only these
    chaos.py --plant handler                         with a mistake built in: see scripts/chaos-plants/

Each round takes three lab hosts back to nothing or to something in between, starts `apply`, and brings one or
two faults at moments that the round's seed chooses. Then `apply` runs without faults until it ends well, at
most three times, and what must always be so is looked at: see `judge`. The playbook and what the hosts are
given is in tests/chaos/.

A plant is a mistake that must be reported; without one any violation is an error (exit code 1).

Hosts are reached through a proxy of this script that can delay and stall what it passes on, since not every
kernel has netem. The clock of the controller jumps by libfaketime, where that is installed.
"""

import argparse
import collections
import functools
import glob
import hashlib
import json
import multiprocessing
import os
import queue
import random
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import traceback

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
FILES = os.path.join(ROOT, "tests", "chaos")
HOSTS = ["n0", "n1", "n2"]
PARTS = ["files", "line", "account", "package", "service"]
LARGE = 6_000_000
# No run may take longer, whatever was done to it: the playbook takes 20 s, a lost host is waited for 2 min.
DEADLINE = 240
# What a run may take after it was asked to end.
ENDS = {"SIGTERM": 90, "SIGINT": 90, "SIGINT twice": 45}
# How long another one's lock on a host may outlive its connection.
LEASE = 75
# How long what a run left behind may take to go by itself.
SETTLE = 30

BOOTED = "until systemctl is-active -q ssh; do sleep 0.2; done"


def run(command, text="", limit=120):
    try:
        done = subprocess.run(command, input=text, capture_output=True, text=True, timeout=limit, check=False)
    except subprocess.TimeoutExpired:
        raise RuntimeError(f"{' '.join(command)[:200]}: no end within {limit} s") from None
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(command)[:200]}: status {done.returncode}: {done.stderr[-500:]}")
    return done.stdout


def attempt(command):
    """For what may have ended meanwhile."""
    subprocess.run(command, capture_output=True, check=False, timeout=120)


@functools.cache
def source(name):
    """Read once, so that somebody may work on the files while rounds run."""
    with open(os.path.join(FILES, name)) as file:
        return file.read()


class Proxy:
    """Passes connections on to a port of this machine, late when told so."""

    def __init__(self, port):
        self.to = port
        self.delay = 0.0
        # Share of what is passed on that has to be sent again, which takes a retransmission timeout.
        self.loss = 0.0
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=64)
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            near, _ = self.listener.accept()
            try:
                far = socket.create_connection(("127.0.0.1", self.to), timeout=10)
            except OSError:
                near.close()
                continue
            far.settimeout(None)
            for one, other in ((near, far), (far, near)):
                waiting = queue.Queue(maxsize=64)
                threading.Thread(target=self.read, args=(one, waiting), daemon=True).start()
                threading.Thread(target=self.write, args=(other, waiting), daemon=True).start()

    def read(self, one, waiting):
        while True:
            try:
                data = one.recv(65536)
            except OSError:
                data = b""
            late = self.delay
            if self.loss and random.random() < self.loss:
                late += random.choice((0.2, 0.2, 0.6, 1.4))
            waiting.put((time.monotonic() + late, data))
            if not data:
                return

    @staticmethod
    def write(other, waiting):
        broken = False
        while True:
            due, data = waiting.get()
            time.sleep(max(0.0, due - time.monotonic()))
            try:
                if not data:
                    other.shutdown(socket.SHUT_WR)
                elif not broken:
                    other.sendall(data)
            except OSError:
                broken = True
                # Whoever sends must see it as well.
                try:
                    other.shutdown(socket.SHUT_RDWR)
                except OSError:
                    pass
            if not data:
                return


class Host:
    def __init__(self, lab, entry):
        self.name = entry["name"]
        self.container = run([lab.engine, "inspect", "--format", "{{.Name}}", entry["container"]]).strip("/\n")
        self.engine = lab.engine
        self.network = lab.network
        self.port = entry["port"]
        self.proxy = Proxy(entry["port"])

    def sh(self, script, *arguments, text="", limit=60):
        command = [self.engine, "exec", "-i", self.container, "sh", "-c", script, "sh", *arguments]
        until = time.monotonic() + 30
        while True:
            try:
                return run(command, text, limit)
            except RuntimeError as error:
                # The engine cannot start a program in a container that is just being restarted, or that is paused;
                # one that another fault turns off meanwhile takes the program with it.
                busy = (": status 126:", ": status 137:", "is paused", "is not running")
                waits = any(words in str(error) for words in busy)
                if not waits or time.monotonic() > until:
                    raise
            time.sleep(0.5)

    def docker(self, *words):
        run([self.engine, *words, self.container])


class Lab:
    """Three hosts, and a controller with a state of its own."""

    def __init__(self, number, provision):
        self.provision = provision
        # Short, since sockets are below it.
        self.dir = tempfile.mkdtemp(prefix=f"chaos{number}-")
        for name in ("lab", "run", "state", "out"):
            os.mkdir(self.path(name), 0o700)
        self.inventory = self.path("lab.yaml")
        with open(self.inventory, "w") as file:
            file.write(
                "cluster: lab\nlab: {}\nplaybooks: [./nothing.yaml]\n"
                f"groups: {{ nodes: {{ hosts: [{', '.join(HOSTS)}] }} }}\n"
            )
        with open(self.path("nothing.yaml"), "w") as file:
            file.write("name: nothing\ntasks: []\n")
        self.hosts = {}
        self.usual = 20.0

    def path(self, *names):
        return os.path.join(self.dir, *names)

    def environment(self, state="state", **more):
        return {**os.environ, "XDG_STATE_HOME": self.path(state), "XDG_RUNTIME_DIR": self.path("run"), **more}

    def lab(self, *words):
        command = [self.provision, "lab", *words]
        limit = {"capture_output": True, "text": True, "timeout": 900, "check": False}
        done = subprocess.run(command, env=self.environment("lab"), **limit)
        if done.returncode != 0:
            raise RuntimeError(f"{' '.join(words)}: {done.stderr[-1000:]}")
        return done.stdout

    def up(self):
        self.lab("up", self.inventory)
        state = json.loads(self.lab("status", self.inventory, "--json", "-"))
        self.engine, self.network = state["engine"], state["network"]
        step = source("step.sh")
        with open(state["known_hosts"]) as file:
            keys = file.read()
        for entry in state["hosts"]:
            host = Host(self, entry)
            self.hosts[host.name] = host
            keys = keys.replace(f"]:{host.port} ", f"]:{host.proxy.port} ")
            host.sh(source("prepare.sh"), text=step)
        with open(self.path("known_hosts"), "w") as file:
            file.write(keys)
        site = self.path("site")
        shutil.copytree(FILES, site)
        os.mkdir(os.path.join(site, "tree"))
        lines = [
            "cluster: chaos",
            "playbooks: [./play.yaml]",
            f"ssh: {{ user: {state['user']}, identity_file: {state['identity_file']}, "
            f"known_hosts: {self.path('known_hosts')}, become: sudo }}",
            f"groups: {{ nodes: {{ hosts: [{', '.join(HOSTS)}] }} }}",
            "hosts:",
        ]
        for host in self.hosts.values():
            lines.append(f"  {host.name}: {{ address: 127.0.0.1, ssh: {{ port: {host.proxy.port} }} }}")
        self.site = os.path.join(site, "inventory.yaml")
        with open(self.site, "w") as file:
            file.write("\n".join(lines) + "\n")

    def down(self):
        if os.path.ismount(self.path("state")):
            attempt(["umount", "-l", self.path("state")])
        for host in self.hosts.values():
            attempt([host.engine, "unpause", host.container])
        self.lab("down", self.inventory)
        shutil.rmtree(self.dir, ignore_errors=True)

    def processes(self):
        """Processes of this machine that have to do with runs here: pid and words."""
        found = []
        for entry in glob.glob("/proc/[0-9]*"):
            try:
                with open(f"{entry}/cmdline", "rb") as file:
                    words = file.read().decode(errors="replace").split("\0")
            except OSError:
                continue
            if any(self.dir in word for word in words):
                found.append((int(entry[6:]), words))
        return found


class Apply:
    """One run of the program."""

    def __init__(self, round, label, command="apply", state="state", **environment):
        lab = round.lab
        self.round = round
        self.label = label
        self.result = os.path.join(round.dir, f"{label}.json")
        words = [lab.provision, command, lab.site, "--set", f"version={round.version}", "--json", self.result]
        words += ["--yes"] if command == "apply" else ["--exit-code"]
        self.output = open(os.path.join(round.dir, f"{label}.txt"), "w")
        self.began = time.monotonic()
        self.asked = None
        self.asked_at = None
        self.process = subprocess.Popen(
            words,
            env=lab.environment(state, **environment),
            stdin=subprocess.DEVNULL,
            stdout=self.output,
            stderr=self.output,
            start_new_session=True,
        )

    def ended(self):
        return self.process.poll() is not None

    def ask(self, name, number):
        """Sends a signal, and notes that an end is asked for."""
        self.asked, self.asked_at = name, time.monotonic()
        self.process.send_signal(number)

    def wait(self):
        """Its exit code, after its deadline at the latest."""
        while not self.ended():
            now = time.monotonic()
            late = None
            if now - self.began > DEADLINE:
                late = f"{self.label}: no end within {DEADLINE} s"
            elif self.asked_at and now - self.asked_at > ENDS[self.asked]:
                late = f"{self.label}: no end within {ENDS[self.asked]} s after {self.asked}"
            if late:
                self.round.violations.append(late)
                self.process.kill()
            time.sleep(0.05)
        self.seconds = time.monotonic() - self.began
        self.code = self.process.wait()
        self.output.close()
        self.round.longest = max(self.round.longest, self.seconds)
        return self.code

    def json(self):
        try:
            with open(self.result) as file:
                return json.load(file)
        except (OSError, ValueError):
            return None

    def text(self):
        with open(self.output.name) as file:
            return file.read()


# Faults. Each is a generator: what is before its `yield` brings it, what is after takes it back. `lasts` is how
# long it stays, `one` whether it is for one host, `reasons` what a run may say of hosts that it was brought to.


class Fault:
    def __init__(self, name, bring, lasts=(0, 0), one=True, reasons=(), restarts=False, prepare=None, phase=(0.0, 1.0)):
        self.name, self.bring, self.lasts, self.one = name, bring, lasts, one
        self.reasons, self.restarts, self.prepare, self.phase = reasons, restarts, prepare, phase


def signalled(name, number):
    def bring(round, _host):
        round.first.ask(name, number)
        yield

    return bring


def killed(round, _host):
    round.first.process.kill()
    yield


def interrupted_twice(round, _host):
    round.first.ask("SIGINT twice", signal.SIGINT)
    time.sleep(round.random.uniform(0.1, 2))
    if not round.first.ended():
        round.first.ask("SIGINT twice", signal.SIGINT)
    yield


def stopped(round, _host):
    round.first.process.send_signal(signal.SIGSTOP)
    yield
    round.first.process.send_signal(signal.SIGCONT)


def ssh_killed(round, host):
    port = f"Port {host.proxy.port}"
    for pid, words in round.lab.processes():
        if words[0].endswith("ssh") and "-M" in words and port in words:
            os.kill(pid, signal.SIGKILL)
            break
    else:
        raise LookupError("no ssh to this host runs")
    yield


def sshd_killed(_round, host):
    host.sh("pkill -9 -f '^sshd: provision'")
    yield


def paused(_round, host):
    host.docker("pause")
    yield
    host.docker("unpause")


def cut(_round, host):
    run([host.engine, "network", "disconnect", host.network, host.container])
    yield
    run([host.engine, "network", "connect", "--alias", host.name, host.network, host.container])


def restarted(_round, host):
    host.docker("kill")
    yield
    host.docker("start")
    host.sh(BOOTED)


def both_lost(round, host):
    """The controller is gone, and what a host had in memory as well."""
    round.first.process.kill()
    yield from restarted(round, host)


def power_cut(round, host):
    """The controller and a host at once; what the host had not written to its disk yet is lost."""
    round.first.process.kill()
    host.docker("kill")
    yield
    host.docker("start")
    host.sh(source("power.sh"))
    host.sh(BOOTED)


def disk_full(_round, host):
    host.sh("dd if=/dev/zero of=/srv/chaos/done.filler bs=64k status=none 2>/dev/null; :")
    yield
    host.sh("rm -f /srv/chaos/done.filler")


def run_full(_round, host):
    host.sh(
        "size=$(df -k --output=used /run | tail -n 1); mount -o remount,size=$((size + 64))k /run;"
        "dd if=/dev/zero of=/run/filler bs=4k status=none 2>/dev/null; :"
    )
    yield
    host.sh("rm -f /run/filler; mount -o remount,size=50% /run")


def state_full(round, _host):
    if not os.path.ismount(round.lab.path("state")):
        raise LookupError("the controller's state is no file system of its own: not root here")
    filler = round.lab.path("state", "filler")
    attempt(["dd", "if=/dev/zero", f"of={filler}", "bs=4k", "status=none"])
    yield
    os.remove(filler)


LOCK = """
open(my $lock, '>>', '/var/lib/dpkg/lock-frontend') or die;
my $wanted = pack('s s x4 q q l x4', 1, 0, 0, 0, 0);
until (fcntl($lock, 6, $wanted)) { select(undef, undef, undef, 0.1) }
sleep 60;
"""


def dpkg_locked(_round, host):
    script = 'perl -e "$1" chaos-lock >/dev/null 2>&1 &'
    host.sh(script, LOCK)
    yield
    host.sh("pkill -9 -f '[c]haos-lock'; :")


def dpkg_killed(_round, host):
    """At the next moment at which it runs."""
    script = "end=$(($(date +%s) + 20)); until pkill -9 -x dpkg; do [ $(date +%s) -lt $end ] || exit 1; sleep 0.05; done"
    try:
        host.sh(script)
    except RuntimeError:
        raise LookupError("dpkg did not run") from None
    yield


def delayed(round, host):
    host.proxy.delay = round.random.uniform(0.05, 0.3)
    yield
    host.proxy.delay = 0.0


def lossy(round, host):
    host.proxy.loss = round.random.uniform(0.02, 0.2)
    yield
    host.proxy.loss = 0.0


def lied(_round, host):
    host.sh("touch /var/chaos/lie")
    yield
    host.sh("rm -f /var/chaos/lie")


def second(round, host):
    """Another run: of this controller, and of one that knows nothing of it."""
    state = round.random.choice(["state", "other"])
    os.makedirs(round.lab.path("other"), 0o700, exist_ok=True)
    other = Apply(round, f"second-{host.name}", state=state)
    round.others.append(other)
    yield


def jumped(round, _host):
    with open(round.lab.path("clock"), "w") as file:
        file.write(round.random.choice(["+3h", "-3h", "+40d", "-2d"]))
    yield
    with open(round.lab.path("clock"), "w") as file:
        file.write("+0")


def faketime():
    found = glob.glob("/usr/lib/*/faketime/libfaketimeMT.so.1")
    return found[0] if found else None


LOST = r"lost|not back within|no login within|connection|closed|refused|does not answer|did not answer|timed out"
FULL = r"no space|not enough space|is full"
FAULTS = {
    fault.name: fault
    for fault in [
        Fault("kill -9", killed, one=False),
        Fault("SIGTERM", signalled("SIGTERM", signal.SIGTERM), one=False),
        Fault("SIGINT", signalled("SIGINT", signal.SIGINT), one=False),
        Fault("SIGINT twice", interrupted_twice, one=False, reasons=["stopped by the second Ctrl-C"]),
        Fault("SIGSTOP 20 s", stopped, lasts=(20, 20), one=False),
        Fault("ssh killed", ssh_killed),
        Fault("sshd killed", sshd_killed, reasons=[LOST]),
        Fault("pause", paused, lasts=(3, 25), reasons=[LOST]),
        Fault("cut", cut, lasts=(3, 25), reasons=[LOST]),
        Fault("restart", restarted, lasts=(0, 5), reasons=[LOST, r"restart|boot|ended|gone|killed"], restarts=True),
        Fault("kill -9 and restart", both_lost, lasts=(0, 2), restarts=True),
        Fault("power cut", power_cut, lasts=(0, 2), restarts=True),
        Fault("disk full", disk_full, lasts=(2, 12), reasons=[FULL], prepare="small"),
        Fault("/run full", run_full, lasts=(2, 12), reasons=[FULL]),
        Fault("controller's disk full", state_full, lasts=(2, 15), one=False, reasons=["the run was stopped"]),
        Fault("dpkg locked", dpkg_locked, lasts=(5, 20), phase=(0.0, 0.5)),
        Fault("dpkg killed", dpkg_killed, reasons=[r"dpkg|apt|[Kk]illed|status|not converge"], phase=(0.0, 0.3)),
        Fault("delay", delayed, lasts=(10, 40), phase=(0.0, 0.6)),
        Fault("loss", lossy, lasts=(10, 40), phase=(0.0, 0.6)),
        Fault("clock jump", jumped, lasts=(2, 20), one=False),
        Fault("a command that lies", lied, lasts=(60, 60), reasons=[r"converge|still"], phase=(0.0, 0.4)),
        Fault("second controller", second, reasons=[r"another run"]),
    ]
}
# Ends the controller: two of them are one.
KILLING = {"kill -9", "kill -9 and restart", "power cut"}
ENDING = KILLING | {"SIGTERM", "SIGINT", "SIGINT twice"}
# What cannot go together on one host.
APART = [
    {one, other}
    for one in ("restart", "kill -9 and restart", "power cut")
    for other in ("restart", "kill -9 and restart", "disk full", "/run full", "pause", "cut")
    if one != other
] + [{"pause", "cut"}]


# Mistakes that rounds must report: the faults that bring them to light, and what is said then.
PLANTS = {
    "fsync": (["power cut"], r"the handler `|the service was restarted"),
    "handler": (["kill -9", "SIGTERM", "SIGINT"], r"the handler `|the service was restarted"),
    "proof": (["a command that lies"], r"is not done|/srv/chaos/done"),
    "rename": (["restart", "kill -9 and restart", "power cut"], r"half-written"),
    "spool": (["kill -9"], r"ran twice at once|ran again|left on the host: state \S+/spool/"),
}


class Round:
    def __init__(self, lab, seed, chosen, version, clean):
        self.lab, self.seed = lab, seed
        self.random = random.Random(seed)
        self.version = str(version)
        self.dir = lab.path("out", str(seed))
        shutil.rmtree(self.dir, ignore_errors=True)
        os.makedirs(self.dir)
        self.violations, self.notes, self.others = [], [], []
        self.longest = 0.0
        self.runs = 0
        self.brought = collections.OrderedDict()
        self.host_faults = collections.defaultdict(list)
        # The seed decides all of this before anything is started.
        names = self.choose(chosen)
        self.fresh = clean or self.random.random() < 0.5
        self.parts = {
            name: PARTS if self.fresh else self.random.sample(PARTS, self.random.randint(1, len(PARTS)))
            for name in HOSTS
        }
        self.planned = []
        for name in names:
            fault = FAULTS[name]
            at = self.random.uniform(*fault.phase)
            if self.random.random() < 0.15 and name not in ("dpkg locked", "dpkg killed"):
                at = self.random.uniform(0, 0.08)
            lasts = self.random.uniform(*fault.lasts)
            hosts = self.random.sample(HOSTS, 1 if self.random.random() < 0.8 else 2) if fault.one else HOSTS
            self.planned.append((fault, at, lasts, hosts))

    def choose(self, chosen):
        while True:
            names = self.random.sample(chosen, min(len(chosen), self.random.choice((1, 2, 2))))
            if len(ENDING & set(names)) < 2 and not any(pair <= set(names) for pair in APART):
                return names

    def describe(self):
        words = []
        for fault, at, lasts, hosts in self.planned:
            where = "" if hosts is HOSTS else f" on {','.join(sorted(hosts))}"
            during = f" for {lasts:.0f} s" if lasts else ""
            words.append(f"{fault.name}{where} at {at * 100:.0f} %{during}")
        return ", ".join(words) + ("" if self.fresh else ", from a half-done state")

    def each(self, do):
        """Does something to all hosts at once; what it gives, by host."""
        results, errors = {}, []

        def one(host):
            try:
                results[host.name] = do(host)
            except Exception as error:  # noqa: BLE001 - said by who waits
                errors.append(error)

        threads = [threading.Thread(target=one, args=(host,)) for host in self.lab.hosts.values()]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        if errors:
            raise errors[0]
        return results

    def prepare(self):
        large = random.Random(self.seed + 1).randbytes(LARGE)
        with open(self.lab.path("site", "big.bin"), "wb") as file:
            file.write(large)
        tree = self.lab.path("site", "tree")
        for number in range(4):
            with open(os.path.join(tree, f"part{number}"), "w") as file:
                file.write(f"{self.version} {number}\n")
        small = any(fault.prepare == "small" for fault, *_ in self.planned)
        reset = source("reset.sh")
        # A file system of its own begins empty, so that everything of it is new.
        self.old = self.each(
            lambda host: (
                host.sh(reset, "yes" if small else "no", *self.parts[host.name]),
                self.look(host),
            )[1]
        )

    def look(self, host):
        facts = collections.defaultdict(list)
        for line in host.sh(source("look.sh")).splitlines():
            word, _, value = line.partition("\t")
            facts[word].append(value.strip())
        return facts

    def bring(self, fault, host, at, lasts):
        """A thread: waits for its moment, brings a fault, takes it back."""
        until = self.first.began + at
        while time.monotonic() < until and not self.first.ended():
            time.sleep(0.02)
        where = host.name if host else "the controller"
        if self.first.ended():
            self.notes.append(f"{fault.name} came too late for {where}")
            return
        going = fault.bring(self, host)
        try:
            next(going)
        except (LookupError, RuntimeError, OSError) as error:
            self.notes.append(f"{fault.name} could not be brought to {where}: {error}")
            return
        began = time.monotonic()
        self.notes.append(f"{began - self.first.began:.1f} s: {fault.name} on {where}")
        self.brought.setdefault(fault.name, True)
        # Another controller works on all hosts, whichever it is named after.
        everywhere = host is None or fault.name == "second controller"
        for name in HOSTS if everywhere else [host.name]:
            self.host_faults[name].append(fault)
        # A stopped program does not end by itself.
        while time.monotonic() < began + lasts and (fault.name == "SIGSTOP 20 s" or not self.first.ended()):
            time.sleep(0.05)
        try:
            for _ in going:
                pass
        except (RuntimeError, OSError) as error:
            self.violations.append(f"harness: {fault.name} could not be taken back from {where}: {error}")

    def go(self):
        self.prepare()
        began = time.monotonic()
        with open(self.lab.path("clock"), "w") as file:
            file.write("+0")
        environment = {}
        if any(fault.name == "clock jump" for fault, *_ in self.planned):
            environment = {
                "LD_PRELOAD": faketime(),
                "FAKETIME_TIMESTAMP_FILE": self.lab.path("clock"),
                "FAKETIME_NO_CACHE": "1",
                "FAKETIME_DONT_FAKE_MONOTONIC": "1",
                "FAKETIME_SKIP_CMDS": "ssh",
            }
        self.first = Apply(self, "1-apply", **environment)
        threads = []
        for fault, at, lasts, hosts in self.planned:
            for host in [self.lab.hosts[name] for name in hosts] if fault.one else [None]:
                words = (fault, host, at * self.lab.usual, lasts)
                threads.append(threading.Thread(target=self.bring, args=words))
        for thread in threads:
            thread.start()
        code = self.first.wait()
        for thread in threads:
            thread.join()
        for other in self.others:
            if other.wait() not in (0, 4, 5, 7, 8):
                self.violations.append(f"the second run ended with {other.code}")
        self.runs = 1
        self.codes = [code]
        self.judge_end(self.first)
        self.judge_files()
        if code == 0 and (not self.brought or self.first.seconds < self.lab.usual):
            self.lab.usual = 0.5 * self.lab.usual + 0.5 * self.first.seconds
        if code != 0:
            self.converge()
        self.judge()
        self.seconds = time.monotonic() - began

    def converge(self):
        """Runs without faults, until one ends well."""
        locked_since = None
        while self.runs < 4:
            following = Apply(self, f"{self.runs + len(self.codes)}-apply")
            code = following.wait()
            self.codes.append(code)
            if code == 8:
                # The lease of whoever was there ends within a minute.
                locked_since = locked_since or following.began
                if time.monotonic() - locked_since > LEASE:
                    self.violations.append(f"still locked after {LEASE} s: {reason(following)}")
                    return
                time.sleep(3)
                continue
            self.runs += 1
            if code == 0:
                if locked_since:
                    self.notes.append(f"locked for {following.began - locked_since:.0f} s")
                return
            self.notes.append(f"run {self.runs} without faults ended with {code}: {reason(following)}")
        self.violations.append(f"not converged after three runs without faults: {reason(following)}")

    def judge_end(self, first):
        """The exit code and the reasons of the run that was broken."""
        code, names = first.code, set(self.brought)
        allowed = {0, 4, 5, 7}
        if names & KILLING:
            allowed.add(-signal.SIGKILL)
        if "SIGTERM" in names:
            allowed.add(143)
        if names & {"SIGINT", "SIGINT twice"}:
            allowed.add(130)
        if "controller's disk full" in names:
            allowed.add(3)
        if "second controller" in names:
            allowed.add(8)
        if code not in allowed:
            self.violations.append(f"exit code {code}: {tail(first.text())}")
        if code == 3 and not re.search(FULL, first.text(), re.IGNORECASE):
            self.violations.append(f"exit code 3, and no word of the full disk: {tail(first.text())}")
        result = first.json()
        if result is None:
            if code not in (-signal.SIGKILL, 3, 8):
                self.violations.append(f"exit code {code} and no result")
            return
        self.judge_record(result, code)
        for name, host in result["hosts"].items():
            if host["status"] in ("ok", "offline"):
                continue
            said = told(host)
            faults = self.host_faults[name]
            patterns = [pattern for fault in faults for pattern in fault.reasons]
            if host["status"] in ("not_started", "interrupted", "stopped") and names & ENDING:
                continue
            if host["status"] == "pending" and re.search(r"n[012]", said):
                # It needs what only a host that is lost could tell.
                continue
            if not faults:
                self.violations.append(f"{name} had no fault and is {host['status']}: {said}")
            elif not any(re.search(pattern, said, re.IGNORECASE) for pattern in patterns):
                brought = ", ".join(fault.name for fault in faults)
                self.violations.append(f"{name} is {host['status']} for no true reason ({brought}): {said}")

    def judge_record(self, result, code):
        """A run that says that all went well has all of it on record."""
        shown = os.path.join(self.dir, "record.json")
        words = [self.lab.provision, "report", "show", self.lab.site, result["run"], "--json", shown]
        limit = {"capture_output": True, "text": True, "check": False, "timeout": 60}
        done = subprocess.run(words, env=self.lab.environment(), **limit)
        try:
            with open(shown) as file:
                recorded = json.load(file)["summary"]["tasks"]
        except (OSError, ValueError):
            recorded = None
        said = result["summary"]["tasks"]
        if code == 0 and recorded != said:
            self.violations.append(f"exit code 0, and the record says {recorded}, not {said}: {done.stderr[:200]}")

    def wanted(self, name):
        """What files must hold."""

        def digest(text):
            return hashlib.sha256(text.encode()).hexdigest()

        with open(self.lab.path("site", "big.bin"), "rb") as file:
            large = hashlib.sha256(file.read()).hexdigest()
        files = {
            "/srv/chaos/app.conf": f"640 {digest(f'# {name}' + chr(10) + f'version = {self.version}' + chr(10))}",
            "/srv/chaos/big.bin": f"644 {large}",
            "/srv/chaos/hosts": f"644 {digest(' '.join([*HOSTS, self.version]) + chr(10))}",
        }
        for number in range(4):
            files[f"/srv/chaos/tree/part{number}"] = f"644 {digest(f'{self.version} {number}' + chr(10))}"
        return files

    def judge_files(self):
        """Right after the broken run: each file is the old one, the new one or not there."""
        for name, facts in self.each(self.look).items():
            wanted = self.wanted(name)
            before = dict(line.split(" ", 1) for line in self.old[name]["file"])
            for line in facts["file"]:
                path, is_now = line.split(" ", 1)
                # Its mode may still change; its content may not be half.
                digests = {text.split()[-1] for text in (before.get(path), wanted.get(path)) if text}
                if path in wanted and is_now.split()[-1] not in digests:
                    self.violations.append(f"{name}: {path} is half-written after the broken run")

    def judge(self):
        """What must be so at the end of each round."""
        planned = Apply(self, "plan", command="plan")
        if planned.wait() != 0:
            self.violations.append(f"plan is not empty (exit code {planned.code}): {tail(planned.text())}")
        facts = self.each(self.look)
        until = time.monotonic() + SETTLE
        while any(host["left"] for host in facts.values()) and time.monotonic() < until:
            time.sleep(1)
            facts = self.each(self.look)
        for name, host in facts.items():
            self.judge_host(name, host)
        self.judge_controller()

    def judge_host(self, name, host):
        def must(what, found, wanted):
            if found != wanted:
                self.violations.append(f"{name}: {what}: {found!r}, not {wanted!r}")

        wanted = self.wanted(name)
        found = dict(line.split(" ", 1) for line in host["file"])
        for path in sorted(set(wanted) | set(found)):
            if path not in wanted:
                if "/tree/" not in path or path.rsplit("/", 1)[-1].startswith("."):
                    self.violations.append(f"{name}: {path} is left")
            else:
                must(path, found.get(path), wanted[path])
        must("the line", host["line"], [f"OTHER=1 VERSION={self.version}"])
        must("the account", host["account"], ["/var/lib/chaos-app:/usr/sbin/nologin"])
        must("the package", host["package"], ["install ok installed"])
        must("dpkg --audit", host["audit"], [""])
        must("the service", host["service"], ["enabled active"])
        # The handler that restarts it is what brings the new environment.
        must("the service was restarted", host["runs"], [f"VERSION={self.version}"])
        self.judge_book(name, host)
        for line in host["left"]:
            self.violations.append(f"{name}: left on the host: {line}")

    def judge_book(self, name, host):
        """Nothing twice at once, nothing again that was done, and all handlers."""
        done, begun, ended = collections.Counter(), collections.Counter(), {}
        # A restart or an end that was asked for may break a command off.
        brought = self.host_faults[name]
        may_break = any(fault.restarts for fault in brought) or "SIGINT twice" in self.brought
        for line in host["book"]:
            what, step, version, _ = line.split(" ")
            handler = step in ("reload", "report")
            if what == "overlap":
                self.violations.append(f"{name}: {step} ran twice at once")
            elif what == "start":
                if done[step] and not handler:
                    self.violations.append(f"{name}: {step} ran again after it was done")
                begun[step] += 1
            elif what == "end":
                done[step] += 1
                begun[step] -= 1
                ended[step] = version
            elif what in ("failed", "lied"):
                begun[step] -= 1
        for step, number in begun.items():
            if number > 0 and not may_break:
                self.violations.append(f"{name}: {step} was broken off {number} times, and nobody asked for it")
        for step in ("short", "longer", "script", "detached"):
            # A restart may come between the work and its line in the book.
            if done[step] == 0 and "files" in self.parts[name] and f"{step} {self.version}" not in host["work"]:
                self.violations.append(f"{name}: {step} is not done")
        if ended.get("reload") != host["config"][0]:
            self.violations.append(f"{name}: the handler `reload` did not run after the last change")
        if done["longer"] and ended.get("report") != self.version:
            self.violations.append(f"{name}: the handler `report` did not run")

    def judge_controller(self):
        until = time.monotonic() + SETTLE
        while True:
            sockets = glob.glob(self.lab.path("run", "provision", "*"))
            processes = [" ".join(words)[:150] for _, words in self.lab.processes()]
            if not sockets and not processes or time.monotonic() > until:
                break
            time.sleep(0.2)
        for path in sockets:
            self.violations.append(f"left on the controller: {path}")
        for words in processes:
            self.violations.append(f"left on the controller: {words}")
        for path in glob.glob(self.lab.path("s*", "provision", "*", "locks", "*")):
            if os.path.basename(path) != "gate":
                self.violations.append(f"left on the controller: {path}")

    def mend(self):
        """After a violation the next round begins with hosts that know nothing."""
        for pid, _ in self.lab.processes():
            os.kill(pid, signal.SIGKILL)
        shutil.rmtree(self.lab.path("run", "provision"), ignore_errors=True)
        for host in self.lab.hosts.values():
            host.proxy.delay = host.proxy.loss = 0.0
            attempt([host.engine, "unpause", host.container])
            connect = ["network", "connect", "--alias", host.name, host.network, host.container]
            attempt([host.engine, *connect])
            attempt([host.engine, "kill", host.container])
            attempt([host.engine, "start", host.container])
            host.sh(BOOTED)
            # dpkg may have been ended in the middle, by us.
            host.sh("rm -rf /run/provision/* /var/lib/provision; dpkg --force-all --configure -a; :")
            host.sh(source("reset.sh"), "no", *PARTS)


def told(host):
    """All that a result says of why a host did not end well."""
    words = [str(host.get("reason") or "")]
    for task in host.get("tasks", []):
        if task.get("outcome") in ("failed", "blocked"):
            failure = task.get("failure") or {}
            words.append(f"{task['name']}: {failure.get('message') or task.get('reason')} {failure.get('output', '')[-300:]}")
    return " | ".join(word for word in words if word) or json.dumps(host)[:300]


def reason(run):
    result = run.json()
    if result is None:
        return tail(run.text())
    return "; ".join(f"{name}: {told(host)}" for name, host in result["hosts"].items() if host["status"] != "ok")[:600]


def tail(text):
    return " / ".join(text.split("\n")[-8:])[:500]


def work(number, options, seeds, results):
    """One lab: takes rounds until there are no more."""
    # The parent empties the list of rounds when it is asked to stop; labs are taken down in any case.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    try:
        lab = Lab(number, options.provision)
    except Exception:  # noqa: BLE001 - the parent says it
        results.put(("broken", traceback.format_exc()))
        return
    try:
        lab.up()
        if os.geteuid() == 0:
            attempt(["mount", "-t", "tmpfs", "-o", "size=48m,mode=700", "tmpfs", lab.path("state")])
        calibrate(lab)
        clean = True
        version = 1000 * (number + 1)
        parent = os.getppid()
        while os.getppid() == parent:
            try:
                seed = seeds.get_nowait()
            except queue.Empty:
                return
            version += 1
            clean = one_round(lab, seed, options, version, clean, results)
    except Exception:  # noqa: BLE001 - the parent says it
        results.put(("broken", traceback.format_exc()))
    finally:
        if not options.keep:
            try:
                lab.down()
            except Exception:  # noqa: BLE001 - the parent says it
                results.put(("broken", traceback.format_exc()))
        results.put(("end", number))


def calibrate(lab):
    """How long a run without faults takes here: moments of faults are shares of it."""
    one = Round(lab, 0, list(FAULTS), 1, True)
    one.planned = []
    one.prepare()
    one.first = Apply(one, "1-apply")
    if one.first.wait() != 0:
        raise RuntimeError(f"it does not even run without faults: {tail(one.first.text())}")
    one.judge()
    if one.violations:
        raise RuntimeError(f"violations without any fault: {one.violations}")
    lab.usual = one.first.seconds


def one_round(lab, seed, options, version, clean, results):
    round = Round(lab, seed, options.chosen, version, clean)
    try:
        round.go()
    except Exception:  # noqa: BLE001 - a round that cannot be judged is no good round
        round.violations.append(f"harness: {traceback.format_exc()}")
    report = {
        "seed": seed,
        "faults": [fault.name for fault, *_ in round.planned],
        "brought": list(round.brought),
        "description": round.describe(),
        "violations": round.violations,
        "notes": round.notes,
        "runs": round.runs,
        "codes": getattr(round, "codes", []),
        "longest": round.longest,
        "seconds": getattr(round, "seconds", 0.0),
        "kept": None,
    }
    if round.violations:
        kept = os.path.join(options.out, str(seed))
        shutil.rmtree(kept, ignore_errors=True)
        shutil.copytree(round.dir, kept)
        for log in glob.glob(lab.path("state", "provision", "chaos", "*")):
            if os.path.isdir(log) and os.path.getmtime(log) > time.time() - 600:
                shutil.copytree(log, os.path.join(kept, os.path.basename(log)), dirs_exist_ok=True)
        report["kept"] = kept
        round.mend()
    shutil.rmtree(round.dir, ignore_errors=True)
    results.put(("round", report))
    return bool(round.violations)


def show(number, total, report):
    word = "FAILED" if report["violations"] else "ok"
    codes = " ".join(str(code) for code in report["codes"])
    print(f"{number:4}/{total} {word:6} {report['seconds']:5.0f} s  exit {codes:10} {report['description']}", flush=True)
    if report["violations"]:
        for line in report["violations"][:8]:
            print(f"            {line[:700]}")
        for line in report["notes"]:
            print(f"            ({line[:300]})")
        print(f"            again: make chaos ROUND={report['seed']}     kept: {report['kept']}", flush=True)


def table(reports, wall, options):
    lines = [
        "| fault | rounds | brought in time | runs until it ended well: 1 / 2 / 3 / 4 | longest run | violations |",
        "|---|---|---|---|---|---|",
    ]
    for name in FAULTS:
        mine = [report for report in reports if name in report["faults"]]
        hit = [report for report in mine if name in report["brought"]]
        counts = collections.Counter(report["runs"] for report in hit)
        runs = " / ".join(str(counts[number]) for number in (1, 2, 3, 4))
        longest = max((report["longest"] for report in hit), default=0)
        bad = sum(bool(report["violations"]) for report in hit)
        said = f"{len(mine)} | {len(hit)} | {runs} | {longest:.0f} s | {bad}" if name in options.chosen else "left out | | | | "
        lines.append(f"| {name} | {said} |".replace("  |", " |"))
    bad = sum(bool(report["violations"]) for report in reports)
    longest = max((report["longest"] for report in reports), default=0)
    counts = collections.Counter(report["runs"] for report in reports)
    runs = " / ".join(str(counts[number]) for number in (1, 2, 3, 4))
    lines.append(f"| all | {len(reports)} | | {runs} | {longest:.0f} s | {bad} |")
    head = f"{len(reports)} rounds in {wall / 60:.0f} minutes, {options.jobs} labs of {len(HOSTS)} hosts, seed {options.seed}."
    return head, lines


PAGE = """<!-- Written by `make chaos`. -->
# Chaos

`make chaos` breaks runs and looks at what is left; [testing](../contributing/testing.md#chaos) says how. A round
has one or two faults, so it is counted with each of them. The first run is the one with faults; a run more is
one without. `brought in time`: the run had not ended before the moment of the fault.

"""


def planted(name):
    """Builds the program with a mistake, in a copy of the source."""
    tree = os.path.join(ROOT, "target", "chaos", "planted")
    shutil.rmtree(tree, ignore_errors=True)
    os.makedirs(tree)
    listed = ["git", "ls-files", "-z", "-co", "--exclude-standard"]
    names = subprocess.run(listed, cwd=ROOT, capture_output=True, text=True, check=True).stdout.split("\0")
    for path in filter(None, names):
        if os.path.exists(os.path.join(ROOT, path)):
            os.makedirs(os.path.join(tree, os.path.dirname(path)), exist_ok=True)
            shutil.copy2(os.path.join(ROOT, path), os.path.join(tree, path))
    patch = os.path.join(ROOT, "scripts", "chaos-plants", f"{name}.patch")
    # Else git takes the copy for a part of this repository.
    alone = {**os.environ, "GIT_CEILING_DIRECTORIES": os.path.dirname(tree)}
    subprocess.run(["git", "apply", "-C1", patch], cwd=tree, env=alone, check=True)
    build = os.path.join(ROOT, "target", "chaos", "build")
    cargo = os.environ.get("CARGO", "cargo").split()
    subprocess.run([*cargo, "build", "--locked", "--target-dir", build], cwd=tree, check=True)
    return os.path.join(build, "debug", "provision")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--provision", default="target/release/provision")
    parser.add_argument("--rounds", type=int)
    parser.add_argument("--plant", choices=sorted(PLANTS), default="")
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1, 10**6))
    parser.add_argument("--round", type=int)
    parser.add_argument("--faults", default="")
    parser.add_argument("--jobs", type=int, default=(os.cpu_count() or 2) * 3 // 2)
    parser.add_argument("--markdown")
    parser.add_argument("--json")
    parser.add_argument("--out", default="target/chaos")
    parser.add_argument("--keep", action="store_true", help="leave the labs up")
    options = parser.parse_args()
    options.rounds = options.rounds or (12 if options.plant else 200)
    if options.plant:
        options.provision = planted(options.plant)
        options.faults = options.faults or ",".join(PLANTS[options.plant][0])
    options.provision = os.path.abspath(options.provision)
    options.out = os.path.abspath(options.out)
    os.makedirs(options.out, exist_ok=True)
    options.chosen = [name for name in FAULTS if not options.faults or name in options.faults.split(",")]
    if options.faults and len(options.chosen) != len(options.faults.split(",")):
        sys.exit(f"faults are: {', '.join(FAULTS)}")
    if not faketime() and "clock jump" in options.chosen:
        print("clock jump is left out: libfaketime is not installed here", file=sys.stderr)
        options.chosen.remove("clock jump")
    if os.geteuid() != 0 and "controller's disk full" in options.chosen:
        print("controller's disk full is left out: it needs root", file=sys.stderr)
        options.chosen.remove("controller's disk full")
    order = random.Random(options.seed)
    seeds = [options.round] if options.round else [order.randrange(1, 10**9) for _ in range(options.rounds)]
    options.jobs = min(options.jobs, len(seeds))
    print(f"{len(seeds)} rounds, {options.jobs} labs of {len(HOSTS)} hosts, seed {options.seed}", flush=True)
    for name in ("step.sh", "prepare.sh", "reset.sh", "look.sh", "power.sh"):
        source(name)
    waiting, results = multiprocessing.Queue(), multiprocessing.Queue()
    for seed in seeds:
        waiting.put(seed)
    time.sleep(0.2)
    began = time.monotonic()
    workers = [multiprocessing.Process(target=work, args=(number, options, waiting, results)) for number in range(options.jobs)]
    for worker in workers:
        worker.start()
    reports, broken, running = [], 0, options.jobs

    def asked(_number, _frame):
        # Once: what follows takes the labs down.
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        raise KeyboardInterrupt

    signal.signal(signal.SIGTERM, asked)
    signal.signal(signal.SIGINT, asked)
    try:
        while running:
            kind, what = results.get()
            if kind == "round":
                reports.append(what)
                show(len(reports), len(seeds), what)
            elif kind == "broken":
                broken += 1
                print(what, file=sys.stderr, flush=True)
            else:
                running -= 1
    except KeyboardInterrupt:
        print("stopping after the rounds that run now", file=sys.stderr, flush=True)
        try:
            while True:
                waiting.get_nowait()
        except queue.Empty:
            pass
        while running:
            kind, what = results.get()
            if kind == "round":
                reports.append(what)
                show(len(reports), len(seeds), what)
            running -= kind == "end"
    for worker in workers:
        worker.join()
    head, lines = table(reports, time.monotonic() - began, options)
    print("\n" + head + "\n\n" + "\n".join(lines))
    if options.json:
        with open(options.json, "w") as file:
            json.dump(reports, file, indent=1)
    if options.markdown:
        with open(options.markdown, "w") as file:
            file.write(PAGE + head + "\n\n" + "\n".join(lines) + "\n")
    bad = [report for report in reports if report["violations"]]
    if options.plant and not broken:
        told = PLANTS[options.plant][1]
        seen = sum(any(re.search(told, line) for line in report["violations"]) for report in bad)
        print(f"\nthe planted mistake `{options.plant}` was {f'reported in {seen} rounds' if seen else 'NOT SEEN'}")
        sys.exit(0 if seen else 1)
    if bad or broken or len(reports) < len(seeds):
        print(f"\n{len(bad)} rounds with violations: {' '.join(str(report['seed']) for report in bad)}")
        sys.exit(1)


if __name__ == "__main__":
    main()
