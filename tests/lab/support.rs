//! A small lab per test, the inventories that are tried on it, and the program with its output.

#![allow(dead_code, reason = "not every helper is used by every test")]
#![expect(clippy::disallowed_methods, reason = "tests start the program and the engine that they look at")]
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::format_push_string,
    clippy::print_stdout,
    reason = "these are tests, though not in functions that are marked so"
)]

use std::collections::BTreeMap;
use std::io::{Read, Write as _};
use std::net::TcpStream;
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Output, Stdio};
use std::sync::{Arc, LazyLock, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use serde_json::Value as Json;

/// Longest that one run of the program may take before the test gives it up.
const LIMIT: Duration = Duration::from_mins(30);
/// A limit for what comes within seconds on a machine that has nothing else to do.
const SOON: Duration = Duration::from_mins(5);

/// Settings of a lab whose hosts have programs that tests need: one image for all of them, since each takes as long as
/// an installation.
pub(crate) const TOOLS: &str = "{ packages: [autoconf, automake, createrepo-c, csh, dnf, dnf-plugins-core, ethtool, fish, gcc, gnupg, iptables, libc6-dev, make, openmpi-bin, rpm, tcsh] }";

/// The names of containers: unlike its id that of a host stays when the lab makes it anew.
fn names_of(engine: &str, ids: &[&str]) -> Vec<String> {
    let names = run(engine, &[&["inspect", "--format", "{{.Name}}"], ids].concat()).unwrap();
    names.lines().map(|name| name.trim().trim_start_matches('/').to_owned()).collect()
}

/// One host of a lab.
#[derive(Debug, Clone)]
pub(crate) struct Node {
    pub(crate) name: String,
    pub(crate) port: u16,
    pub(crate) container: String,
    engine: String,
    network: String,
}

/// A lab of its own that is gone when the test ends, whatever its result.
pub(crate) struct Lab {
    dir: tempfile::TempDir,
    pub(crate) nodes: Vec<Node>,
    state: Json,
}

/// A program's end.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) code: i32,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Ran {
    /// Panics with everything that was said, unless it ended with this code.
    #[track_caller]
    pub(crate) fn expect(self, code: i32) -> Self {
        assert_eq!(self.code, code, "exit code\n{}", self.said());
        self
    }

    /// Panics unless standard error has this text.
    #[track_caller]
    pub(crate) fn says(self, text: &str) -> Self {
        assert!(self.err.contains(text), "`{text}` is not said\n{}", self.said());
        self
    }

    /// Panics when standard error has this text.
    #[track_caller]
    pub(crate) fn lacks(self, text: &str) -> Self {
        assert!(!self.err.contains(text), "`{text}` is said\n{}", self.said());
        self
    }

    /// Panics unless standard output has this text.
    #[track_caller]
    pub(crate) fn shows(self, text: &str) -> Self {
        assert!(self.out.contains(text), "`{text}` is not shown\n{}", self.said());
        self
    }

    /// Standard output as JSON.
    #[track_caller]
    pub(crate) fn json(&self) -> Json {
        serde_json::from_str(&self.out).unwrap_or_else(|error| panic!("{error}\n{}", self.said()))
    }

    /// All that was said, and first of all which tasks failed: a long report is cut in the middle by those who show it.
    fn said(&self) -> String {
        let report: Json = serde_json::from_str(&self.out).unwrap_or_default();
        let hosts = report["hosts"].as_object().into_iter().flatten();
        let failed: Vec<String> = hosts
            .flat_map(|(host, of)| of["tasks"].as_array().into_iter().flatten().map(move |task| (host, task)))
            .filter(|(_, task)| task["outcome"] == "failed")
            .map(|(host, task)| format!("{host}: {task:#}"))
            .collect();
        format!("{}\n--- stdout\n{}\n--- stderr\n{}", failed.join("\n"), self.out, self.err)
    }
}

/// The outcome of a host's task in what `--json` gave.
#[track_caller]
pub(crate) fn outcome<'a>(json: &'a Json, host: &str, task: &str) -> &'a Json {
    let tasks = json["hosts"][host]["tasks"].as_array().unwrap_or_else(|| panic!("no {host} in {json:#}"));
    tasks
        .iter()
        .find(|entry| entry["name"] == task)
        .unwrap_or_else(|| panic!("no `{task}` on {host} in {json:#}"))
}

/// A running program.
pub(crate) struct Running {
    child: Child,
    out: Pipe,
    err: Pipe,
}

/// What a program has said so far, and the thread that listens.
struct Pipe {
    bytes: Arc<Mutex<Vec<u8>>>,
    thread: Option<JoinHandle<()>>,
}

impl Pipe {
    fn new(mut pipe: impl Read + Send + 'static) -> Self {
        let bytes = Arc::new(Mutex::new(Vec::new()));
        let sink = bytes.clone();
        let thread = std::thread::spawn(move || {
            let mut chunk = [0; 8192];
            while let Ok(length @ 1..) = pipe.read(&mut chunk) {
                let mut sink = sink.lock().unwrap_or_else(PoisonError::into_inner);
                sink.extend(chunk.iter().take(length));
            }
        });
        Self { bytes, thread: Some(thread) }
    }

    fn text(&self) -> String {
        String::from_utf8_lossy(&self.bytes.lock().unwrap_or_else(PoisonError::into_inner)).into_owned()
    }

    fn end(&mut self) -> String {
        drop(self.thread.take().map(JoinHandle::join));
        self.text()
    }
}

impl Running {
    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// SIGKILL: nothing can be tidied up.
    pub(crate) fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    pub(crate) fn signal(&self, signal: &str) {
        run("kill", &[&format!("-{signal}"), &self.pid().to_string()]).unwrap();
    }

    pub(crate) fn has_ended(&mut self) -> bool {
        self.ended().is_some()
    }

    /// Its most memory so far, as the kernel counts it.
    pub(crate) fn memory_kib(&self) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.pid())).unwrap_or_default();
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        line.and_then(|line| line.trim().trim_end_matches(" kB").parse().ok()).unwrap_or(0)
    }

    fn ended(&mut self) -> Option<ExitStatus> {
        self.child.try_wait().unwrap()
    }

    /// Panics with what was said when it has ended already.
    #[track_caller]
    pub(crate) fn still_runs(&mut self) {
        if self.ended().is_some() {
            let ran = self.take();
            panic!("it ended early ({})\n{}", ran.code, ran.said());
        }
    }

    /// Standard error so far.
    pub(crate) fn said(&self) -> String {
        self.err.text()
    }

    /// Waits until standard error has this text.
    #[track_caller]
    pub(crate) fn until(&mut self, text: &str) {
        let until = Instant::now() + SOON;
        while !self.err.text().contains(text) {
            self.still_runs();
            assert!(Instant::now() < until, "`{text}` is not said\n{}", self.err.text());
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    fn take(&mut self) -> Ran {
        let status = self.child.wait().unwrap();
        Ran { code: status.code().unwrap_or(-1), out: self.out.end(), err: self.err.end() }
    }

    #[track_caller]
    pub(crate) fn wait(mut self) -> Ran {
        let until = Instant::now() + LIMIT;
        while self.ended().is_none() {
            if Instant::now() > until {
                drop(self.child.kill());
                let ran = self.take();
                panic!("no end within {LIMIT:?}\n{}", ran.said());
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        self.take()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

/// Runs a program to its end; its output, or what it said.
pub(crate) fn run(program: &str, arguments: &[&str]) -> Result<String, String> {
    let done = output(program, arguments, "").map_err(|error| error.to_string())?;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    if done.status.success() { Ok(text(&done.stdout)) } else { Err(text(&done.stdout) + &text(&done.stderr)) }
}

fn output(program: &str, arguments: &[&str], input: &str) -> std::io::Result<Output> {
    let mut child = Command::new(program)
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()?;
    if let Some(mut stdin) = child.stdin.take() {
        drop(stdin.write_all(input.as_bytes()));
    }
    child.wait_with_output()
}

impl Node {
    /// Runs a script as root through the engine, not over ssh; its output.
    #[track_caller]
    pub(crate) fn sh(&self, script: &str) -> String {
        let done = output(&self.engine, &["exec", "-i", &self.container, "sh", "-s"], script).unwrap();
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        assert!(
            done.status.success(),
            "{}: {script}\n{}{}",
            self.name,
            text(&done.stdout),
            text(&done.stderr)
        );
        text(&done.stdout).trim_end().to_owned()
    }

    /// How many processes hold the lock of the host, spools that are left, and notifications.
    pub(crate) fn leftovers(&self) -> String {
        self.sh("flock -n /run/provision/lock echo free || echo locked; ls /run/provision/spool; ! test -e /var/lib/provision || ls -R /var/lib/provision")
    }

    /// A command of the engine for this host: `unpause`, `kill`.
    pub(crate) fn engine(&self, verb: &str) {
        run(&self.engine, &[verb, &self.container]).unwrap();
    }

    /// Makes all of its processes stand still, until `unpause`.
    pub(crate) fn pause(&self) {
        // `unable to freeze`: the engine gives up on a container that starts processes all the while.
        eventually("the host is paused", || run(&self.engine, &["pause", &self.container]).is_ok());
    }

    /// Cuts the host off its network.
    pub(crate) fn cut(&self) {
        run(&self.engine, &["network", "disconnect", &self.network, &self.container]).unwrap();
    }

    /// Gives the host its network back, with the port that it had.
    pub(crate) fn mend(&self) {
        run(&self.engine, &["network", "connect", "--alias", &self.name, &self.network, &self.container])
            .unwrap();
        eventually("the published port is back", || TcpStream::connect(("127.0.0.1", self.port)).is_ok());
    }

    /// Waits until a script succeeds on the host.
    #[track_caller]
    pub(crate) fn wait_for(&self, script: &str) {
        // The engine is asked again only when a whole minute of tries could not be made at once.
        eventually(script, || {
            output("timeout", &["75", &self.engine, "exec", "-i", &self.container, "sh", "-c", TRIES], script)
                .unwrap()
                .status
                .success()
        });
    }
}

/// Tries the script on standard input for minutes: each call of the engine costs a processor a tenth of a second.
/// No list of processes shows the script, so that `pgrep -f` in it does not find itself.
const TRIES: &str = "script=$(cat)
    read -r now idle </proc/uptime
    end=$((${now%.*} + 300))
    until (eval \"$script\") </dev/null >/dev/null 2>&1; do
        read -r now idle </proc/uptime
        [ ${now%.*} -lt $end ] || exit 1
        sleep 0.1
    done";

/// Puts stand-ins for `ib_write_bw` and `ib_read_lat` on all hosts; what a host has in `/run/ib_write_bw` is read by it.
pub(crate) fn perftest(lab: &Lab) {
    let shim = include_str!("ib_write_bw.sh");
    let table = include_str!("../cases/active/ib_write_bw-100g-noise.txt");
    let read = include_str!("ib_read_lat.sh");
    let times = include_str!("../cases/active/ib_read_lat-rxe.txt");
    for node in &lab.nodes {
        node.sh(&format!(
            "cat >/usr/local/bin/ib_write_bw <<'E'\n{shim}E\ncat >/opt/ib_write_bw.txt <<'E'\n{table}E\n\
             cat >/usr/local/bin/ib_read_lat <<'E'\n{read}E\ncat >/opt/ib_read_lat.txt <<'E'\n{times}E\n\
             chmod +x /usr/local/bin/ib_write_bw /usr/local/bin/ib_read_lat"
        ));
    }
}

/// Waits until something is so.
#[track_caller]
pub(crate) fn eventually(what: &str, mut is_so: impl FnMut() -> bool) {
    let until = Instant::now() + SOON;
    let mut pause = Duration::from_millis(50);
    while !is_so() {
        assert!(Instant::now() < until, "not seen within {SOON:?}: {what}");
        std::thread::sleep(pause);
        pause = (pause * 5 / 4).min(Duration::from_millis(500));
    }
}

fn engine_answers() -> bool {
    static ANSWERS: LazyLock<bool> =
        LazyLock::new(|| ["docker", "podman"].iter().any(|engine| run(engine, &["info"]).is_ok()));
    *ANSWERS
}

impl Lab {
    /// Brings up these hosts with the lines of a `lab:` block, `{}` for none. `None`: skip the test.
    pub(crate) fn up(hosts: &[&str], settings: &str) -> Option<Self> {
        if !engine_answers() && std::env::var_os("PROVISION_NO_LAB").is_some() {
            println!("skipped: neither Docker nor Podman answers, and PROVISION_NO_LAB is set");
            return None;
        }
        let inventory = format!(
            "cluster: lab\nlab: {settings}\nplaybooks: [./nothing.yaml]\ngroups: {{ nodes: {{ hosts: [{}] }} }}\n",
            hosts.join(", ")
        );
        let nothing = ("nothing.yaml".to_owned(), "name: nothing\ntasks: []\n".to_owned());
        Some(Self::with(&inventory, &[nothing], &[]))
    }

    /// Brings up the hosts of an inventory, with files beside it and options of `lab up`.
    pub(crate) fn of(inventory: &str, files: &[(String, String)], options: &[String]) -> Option<Self> {
        if !engine_answers() && std::env::var_os("PROVISION_NO_LAB").is_some() {
            return None;
        }
        Some(Self::with(inventory, files, options))
    }

    fn with(inventory: &str, files: &[(String, String)], options: &[String]) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let mut lab = Self { dir, nodes: Vec::new(), state: Json::Null };
        std::fs::create_dir(lab.path("run")).unwrap();
        std::fs::create_dir(lab.path("state")).unwrap();
        std::fs::write(lab.path("lab.yaml"), inventory).unwrap();
        for (name, text) in files {
            std::fs::write(lab.path(name), text).unwrap();
        }
        let inventory = lab.text("lab.yaml");
        let mut up = vec!["lab", "up", &inventory];
        up.extend(options.iter().map(String::as_str));
        lab.run(&up).expect(0);
        lab.state = lab.run(&["lab", "status", &inventory, "--json", "-"]).expect(0).json();
        let text = |json: &Json, name: &str| json[name].as_str().unwrap().to_owned();
        let (engine, network) = (text(&lab.state, "engine"), text(&lab.state, "network"));
        let hosts = lab.state["hosts"].as_array().unwrap();
        let ids: Vec<&str> = hosts.iter().map(|host| host["container"].as_str().unwrap()).collect();
        let names = names_of(&engine, &ids);
        lab.nodes = hosts
            .iter()
            .zip(names)
            .map(|(host, container)| Node {
                name: text(host, "name"),
                port: u16::try_from(host["port"].as_u64().unwrap()).unwrap(),
                container,
                engine: engine.clone(),
                network: network.clone(),
            })
            .collect();
        lab
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    pub(crate) fn text(&self, name: &str) -> String {
        self.path(name).to_str().unwrap().to_owned()
    }

    /// A field of the lab's state: `identity_file`, `known_hosts`, `user`, `sudo_password`.
    pub(crate) fn field(&self, name: &str) -> &str {
        self.state[name].as_str().unwrap()
    }

    #[track_caller]
    pub(crate) fn node(&self, name: &str) -> &Node {
        self.nodes.iter().find(|node| node.name == name).unwrap()
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(assert_cmd::cargo::cargo_bin!("provision"));
        command
            .args(arguments)
            .current_dir(self.dir.path())
            .env("XDG_STATE_HOME", self.path("state"))
            .env("XDG_RUNTIME_DIR", self.path("run"))
            .env_remove("NO_COLOR")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    /// Starts the program.
    pub(crate) fn spawn(&self, arguments: &[&str]) -> Running {
        Self::started(&mut self.command(arguments), "")
    }

    /// Starts the program with more in its environment and on its standard input.
    pub(crate) fn spawn_with(&self, arguments: &[&str], env: &[(&str, &str)], input: &str) -> Running {
        Self::started(self.command(arguments).envs(env.iter().copied()), input)
    }

    fn started(command: &mut Command, input: &str) -> Running {
        let mut child = command.stdin(Stdio::piped()).spawn().unwrap();
        drop(child.stdin.take().unwrap().write_all(input.as_bytes()));
        let (out, err) = (Pipe::new(child.stdout.take().unwrap()), Pipe::new(child.stderr.take().unwrap()));
        Running { child, out, err }
    }

    /// Runs the program to its end.
    #[track_caller]
    pub(crate) fn run(&self, arguments: &[&str]) -> Ran {
        self.spawn(arguments).wait()
    }

    /// An inventory of all hosts of the lab, reached as real hosts are, with a playbook.
    pub(crate) fn site(&self, name: &str, playbook: &str) -> Site<'_> {
        self.site_with(name, playbook, "", "become: sudo", "")
    }

    /// The same with more lines of the inventory, of `ssh:` and of `hosts:`.
    pub(crate) fn site_with(
        &self,
        name: &str,
        playbook: &str,
        more: &str,
        ssh: &str,
        hosts: &str,
    ) -> Site<'_> {
        std::fs::create_dir_all(self.path(name)).unwrap();
        let mut text = format!(
            "cluster: {name}\nplaybooks: [./play.yaml]\nssh: {{ user: {}, identity_file: {}, known_hosts: {}, login_timeout: 1m, {ssh} }}\n",
            self.field("user"),
            self.field("identity_file"),
            self.field("known_hosts")
        );
        let names: Vec<&str> = self.nodes.iter().map(|node| node.name.as_str()).collect();
        text += &format!("groups:\n  nodes: {{ hosts: [{}] }}\n{more}\nhosts:\n", names.join(", "));
        for node in &self.nodes {
            if !hosts.contains(&format!("  {}: ", node.name)) {
                text +=
                    &format!("  {}: {{ address: 127.0.0.1, ssh: {{ port: {} }} }}\n", node.name, node.port);
            }
        }
        text += hosts;
        std::fs::write(self.path(name).join("inventory.yaml"), text).unwrap();
        let site = Site {
            lab: self,
            name: name.to_owned(),
            inventory: self.text(&format!("{name}/inventory.yaml")),
        };
        site.playbook(playbook);
        site
    }

    /// Processes of this machine that have to do with this lab's runs.
    pub(crate) fn processes(&self) -> Vec<String> {
        let needle = self.text("");
        let lines = std::fs::read_dir("/proc").unwrap().flatten().filter_map(|entry| {
            let line = std::fs::read(entry.path().join("cmdline")).ok()?;
            Some(String::from_utf8_lossy(&line).replace('\0', " "))
        });
        lines.filter(|line| line.contains(&needle)).collect()
    }

    /// Sockets and directories of runs.
    pub(crate) fn run_dirs(&self) -> Vec<PathBuf> {
        let Ok(entries) = self.path("run/provision").read_dir() else { return Vec::new() };
        entries.flatten().map(|entry| entry.path()).collect()
    }

    /// Waits until neither a process nor a socket of any run is left on this machine.
    #[track_caller]
    pub(crate) fn assert_nothing_left(&self) {
        let until = Instant::now() + Duration::from_secs(15);
        loop {
            let (processes, dirs) = (self.processes(), self.run_dirs());
            if processes.is_empty() && dirs.is_empty() {
                return;
            }
            assert!(Instant::now() < until, "left on this machine: {processes:#?} {dirs:#?}");
            std::thread::sleep(Duration::from_millis(100));
        }
    }
}

impl Drop for Lab {
    fn drop(&mut self) {
        if let Some(node) = self.nodes.first() {
            // A paused container cannot be removed by every engine.
            let names: Vec<&str> = self.nodes.iter().map(|node| node.container.as_str()).collect();
            drop(run(&node.engine, &[&["unpause"], names.as_slice()].concat()));
        }
        let down = self.run(&["lab", "down", &self.text("lab.yaml")]);
        if !std::thread::panicking() {
            down.expect(0);
        }
    }
}

/// An inventory and its playbook.
pub(crate) struct Site<'a> {
    pub(crate) lab: &'a Lab,
    pub(crate) name: String,
    pub(crate) inventory: String,
}

impl Site<'_> {
    /// Writes the playbook anew.
    pub(crate) fn playbook(&self, text: &str) {
        self.write("play.yaml", text);
    }

    /// Writes a file beside the playbook.
    pub(crate) fn write(&self, name: &str, text: &str) {
        std::fs::write(self.lab.path(&self.name).join(name), text).unwrap();
    }

    fn arguments<'b>(&'b self, command: &'b str, more: &[&'b str]) -> Vec<&'b str> {
        let mut arguments: Vec<&str> = command.split(' ').collect();
        arguments.push(&self.inventory);
        if command == "apply" {
            arguments.push("--yes");
        }
        arguments.extend(more);
        arguments
    }

    /// Runs a command on the inventory.
    #[track_caller]
    pub(crate) fn run(&self, command: &str, more: &[&str]) -> Ran {
        self.lab.run(&self.arguments(command, more))
    }

    /// Starts a command on the inventory.
    pub(crate) fn spawn(&self, command: &str, more: &[&str]) -> Running {
        self.lab.spawn(&self.arguments(command, more))
    }

    /// The same with a change of environment and input.
    #[track_caller]
    pub(crate) fn run_with(&self, command: &str, more: &[&str], env: &[(&str, &str)], input: &str) -> Ran {
        self.lab.spawn_with(&self.arguments(command, more), env, input).wait()
    }

    /// Runs `apply` and gives what `--json` says.
    #[track_caller]
    pub(crate) fn apply(&self, code: i32) -> Json {
        self.run("apply", &["--json", "-"]).expect(code).json()
    }

    /// The tasks of an apply by outcome.
    #[track_caller]
    pub(crate) fn counts(&self, code: i32) -> BTreeMap<String, u64> {
        let json = self.apply(code);
        serde_json::from_value(json["summary"]["tasks"].clone()).unwrap()
    }

    /// Files of the state directory of this cluster.
    pub(crate) fn state(&self) -> PathBuf {
        self.lab.path("state/provision").join(&self.name)
    }
}
