//! One host of a lab: its container.

use std::collections::BTreeSet;
use std::io::Read as _;
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::Mutex;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, anyhow, bail};
use camino::Utf8PathBuf;
use sha2::{Digest as _, Sha256};

use super::engine::{self, Engine, WANTED};
use super::mirror;
use super::spec::SudoKind;
use crate::words::short_hex;

/// Makes a started container ready and tells its host keys.
const READY: &str = include_str!("node.sh");
/// Lays a hardware profile over it.
const PROFILE: &str = include_str!("profile.sh");
/// File with the number of inotify instances that a user of this machine may have.
const INSTANCES: &str = "/proc/sys/fs/inotify/max_user_instances";
/// Number of them that a lab host takes when it starts: systemd three, logind one, and what it installs.
const INSTANCES_OF_HOST: u32 = 5;
/// As many as `scripts/setup.sh` gives: two hundred hosts.
const INSTANCES_WANTED: u32 = 1024;
/// Longest that a host may take until its sshd is up.
const START_SECONDS: u64 = 60;
/// Ports of labs: below what the kernel gives to outgoing connections.
const PORTS: std::ops::Range<u16> = 20_000..32_000;

/// A host to be started.
#[derive(Debug, Clone)]
pub(crate) struct Node {
    pub(crate) name: String,
    pub(crate) groups: Vec<String>,
    pub(crate) image: String,
    pub(crate) sudo: SudoKind,
    pub(crate) shell: String,
    /// The folder of its hardware profile.
    pub(crate) profile: Option<Utf8PathBuf>,
    /// Volumes that it shares with the other hosts: name and path.
    pub(crate) shared: Vec<(String, String)>,
}

/// Settings that all hosts of a lab share.
#[derive(Debug, Clone)]
pub(crate) struct Lab {
    /// Login name.
    pub(crate) user: &'static str,
    pub(crate) hash: String,
    pub(crate) network: String,
    /// Whether the network has no way out, and so no published ports.
    pub(crate) offline: bool,
    /// Whether it has a mirror.
    pub(crate) mirror: bool,
    pub(crate) public_key: String,
    pub(crate) password: String,
}

/// A host that is ready.
#[derive(Debug, Clone)]
pub(crate) struct Ready {
    /// Its container's id.
    pub(crate) container: String,
    /// `type key` lines.
    pub(crate) keys: String,
    /// Address of its sshd.
    pub(crate) address: SocketAddr,
}

/// A container of a lab, as the engine tells it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Container {
    pub(crate) id: String,
    pub(crate) host: String,
    pub(crate) recipe: String,
    pub(crate) port: u16,
    pub(crate) status: String,
}

impl Container {
    /// All containers of a lab, running or not.
    pub(crate) fn list(engine: &Engine, hash: &str) -> Result<Vec<Self>> {
        let label = format!("label=provision.lab={hash}");
        let ids = engine.run(["ps", "-aq", "--no-trunc", "--filter", label.as_str()])?;
        if ids.is_empty() {
            return Ok(Vec::new());
        }
        let format = "{{.Id}}|{{index .Config.Labels \"provision.host\"}}|\
                      {{index .Config.Labels \"provision.recipe\"}}|\
                      {{index .Config.Labels \"provision.port\"}}|{{.State.Status}}";
        let lines = engine.run(["inspect", "--format", format].into_iter().chain(ids.lines()))?;
        Ok(lines.lines().filter_map(Self::parse).collect())
    }

    fn parse(line: &str) -> Option<Self> {
        let mut fields = line.split('|').map(str::to_owned);
        Some(Self {
            id: fields.next()?,
            host: fields.next()?,
            recipe: fields.next()?,
            port: fields.next()?.parse().ok()?,
            status: fields.next()?,
        })
    }

    pub(crate) fn running(&self) -> bool {
        self.status == "running"
    }
}

impl Node {
    /// Digest of all that a container cannot change while it exists.
    pub(crate) fn recipe(&self, engine: &Engine, offline: bool) -> String {
        let port = (!offline).then_some(0);
        short_hex(&Sha256::digest(self.arguments(engine, "", port).join("\n")))
    }

    /// Makes it run, its login work and its sshd answer.
    pub(crate) fn ensure(
        &self,
        engine: &Engine,
        lab: &Lab,
        port: u16,
        free: &FreePorts,
        there: Option<&Container>,
    ) -> Result<Ready> {
        let (id, port) = match there {
            Some(container) => {
                match container.status.as_str() {
                    "running" => {}
                    "paused" => drop(engine.run(["unpause", container.id.as_str()])?),
                    _ => drop(engine.run(["start", container.id.as_str()])?),
                }
                (container.id.clone(), port)
            }
            None => self.start_new(engine, lab, port, free)?,
        };
        let reached = self.ready(engine, lab, &id).and_then(|keys| {
            let address = if lab.offline { own_address(engine, &id)? } else { published(port) };
            wait_for_sshd(address)?;
            Ok((keys, address))
        });
        match reached {
            Ok((keys, address)) => Ok(Ready { container: id, keys, address }),
            // What a command in it said is then only that it was ended with its host.
            Err(error) => Err(ended(engine, &id).unwrap_or(error)),
        }
    }

    /// Starts a new container; its id and its port, which is another one when somebody, another lab
    /// for one, took the first since it was found free.
    fn start_new(
        &self,
        engine: &Engine,
        lab: &Lab,
        mut port: u16,
        free: &FreePorts,
    ) -> Result<(String, u16)> {
        loop {
            let error = match self.start(engine, lab, port) {
                Ok(id) => return Ok((id, port)),
                Err(error) => error,
            };
            let said = error.to_string();
            let taken = PORT_IS_TAKEN.iter().any(|words| said.contains(words));
            port = match free.next() {
                Some(next) if taken => next,
                _ => return Err(error),
            };
            // What could not start was made all the same.
            engine.run(["rm", "-f", "-v", &self.container(lab)])?;
        }
    }

    fn container(&self, lab: &Lab) -> String {
        format!("provision-{}-{}", lab.hash, self.name)
    }

    fn start(&self, engine: &Engine, lab: &Lab, port: u16) -> Result<String> {
        let recipe = self.recipe(engine, lab.offline);
        let mut arguments = vec![
            "run".to_owned(),
            "-d".to_owned(),
            format!("--name={}", self.container(lab)),
            format!("--label=provision.lab={}", lab.hash),
            format!("--label=provision.host={}", self.name),
            format!("--label=provision.groups={}", self.groups.join(",")),
            format!("--label=provision.recipe={recipe}"),
            format!("--label=provision.port={port}"),
        ];
        arguments.extend(self.arguments(engine, &lab.network, (!lab.offline).then_some(port)));
        engine.run(arguments)
    }

    /// systemd as the first process, without `--privileged`: design, section 11.
    fn arguments(&self, engine: &Engine, network: &str, port: Option<u16>) -> Vec<String> {
        let mut arguments: Vec<String> = [
            "--cap-add=SYS_ADMIN",
            "--cap-add=NET_ADMIN",
            "--security-opt=seccomp=unconfined",
            "--stop-signal=SIGRTMIN+3",
            // A limit, not memory: what a machine of eight GPUs has at least.
            "--shm-size=16g",
            // systemd says only on a terminal why it cannot start; the engine keeps what it says.
            "-t",
            "-eTERM=dumb",
        ]
        .map(str::to_owned)
        .to_vec();
        let given = WANTED.iter().filter(|(bit, _)| engine.bounds & bit != 0);
        arguments.extend(given.map(|(_, name)| format!("--cap-add={name}")));
        if engine.program == "podman" {
            // Podman prepares mounts and cgroups for systemd itself.
            arguments.push("--systemd=always".to_owned());
        } else {
            arguments.extend(
                [
                    "--security-opt=apparmor=unconfined",
                    // Device files of GPUs that are not there: who opens one is told so.
                    "--device-cgroup-rule=c 195:* rwm",
                    "--tmpfs=/run:exec,mode=755",
                    "--tmpfs=/run/lock",
                    "-econtainer=docker",
                ]
                .map(str::to_owned),
            );
            if engine.cgroup2 {
                // Its own subtree is the root that it sees; `lab-init` makes it writable.
                arguments.push("--cgroupns=private".to_owned());
            } else {
                arguments.push("-v/sys/fs/cgroup:/sys/fs/cgroup:rw".to_owned());
            }
        }
        arguments.extend([
            format!("--hostname={}", self.name),
            format!("--network={network}"),
            format!("--network-alias={}", self.name),
        ]);
        arguments.extend(port.map(|port| format!("-p127.0.0.1:{port}:22")));
        if let Some(folder) = &self.profile {
            arguments.push(format!("-v{folder}:/lab-profile:ro"));
        }
        arguments.extend(self.shared.iter().map(|(volume, path)| format!("-v{volume}:{path}")));
        arguments.push(self.image.clone());
        arguments
    }

    fn ready(&self, engine: &Engine, lab: &Lab, id: &str) -> Result<String> {
        let wait = START_SECONDS.to_string();
        let sudo = self.sudo.as_str();
        let arguments = ["exec", "-i", id, "sh", "-c", READY, "node.sh", lab.user, sudo, &self.shell, &wait];
        let input = format!("{}\n{}\n", lab.public_key, lab.password);
        let limit = Duration::from_secs(START_SECONDS + 10);
        let keys = engine::text(&mut engine.command(arguments), input.as_bytes(), limit)
            .with_context(|| format!("{} did not become ready", self.name))?;
        if keys.is_empty() {
            bail!("{} gave no host keys", self.name);
        }
        if lab.offline {
            // What cannot be reached is not asked: each update would wait for it. The mirror has some of it.
            engine.run(["exec", id, "truncate", "-s0", "/etc/apt/sources.list"])?;
            if lab.mirror {
                let write = "printf '%s\\n' \"$1\" >/etc/apt/sources.list.d/lab-mirror.list";
                engine.run(["exec", id, "sh", "-c", write, "sh", mirror::SOURCE])?;
            }
        }
        if self.profile.is_some() {
            play(engine, id)
                .with_context(|| format!("the hardware profile cannot be put on {}", self.name))?;
        }
        Ok(keys)
    }
}

/// Lays the hardware profile in `/lab-profile` over a container.
pub(crate) fn play(engine: &Engine, id: &str) -> Result<()> {
    let arguments = ["exec", "-i", id, "sh", "-c", PROFILE, "profile.sh"];
    engine::text(&mut engine.command(arguments), b"", Duration::from_secs(START_SECONDS)).map(drop)
}

/// Returns the reason why a container ended; `None` while it runs.
fn ended(engine: &Engine, id: &str) -> Option<anyhow::Error> {
    let format = "{{.State.Running}}|{{.State.ExitCode}}|{{.State.OOMKilled}}";
    // The engine notices the end of a host after that of a command in it.
    let answer = (0..10).find_map(|_| {
        let answer = engine.run(["inspect", "--format", format, id]).ok()?;
        let ended = answer.strip_prefix("false|").map(str::to_owned);
        if ended.is_none() {
            std::thread::sleep(Duration::from_millis(100));
        }
        ended
    })?;
    let (status, killed) = answer.split_once('|')?;
    if killed == "true" {
        return Some(anyhow!("the kernel ended the host because memory ran out"));
    }
    let said = engine.run(["logs", "--tail", "10", id]).unwrap_or_default();
    let mut failures: Vec<&str> =
        said.lines().map(str::trim).filter(|line| line.starts_with("Failed")).collect();
    // The last two: what ended it, and what that was for.
    failures.drain(..failures.len().saturating_sub(2));
    let said = if failures.is_empty() { "it did not say why".to_owned() } else { failures.join("; ") };
    let ended = format!("systemd ended with status {status}: {said}");
    if !said.contains("inotify") || !said.contains("Too many open files") {
        return Some(anyhow!(ended));
    }
    let limit = std::fs::read_to_string(INSTANCES).unwrap_or_default();
    let cause = anyhow!(
        "fs.inotify.max_user_instances is {} here, for all containers together, and a host takes about \
         {INSTANCES_OF_HOST}: `sysctl -w fs.inotify.max_user_instances={INSTANCES_WANTED}` as root, or \
         scripts/setup.sh as root, raises it",
        limit.trim()
    );
    Some(cause.context(ended))
}

fn published(port: u16) -> SocketAddr {
    SocketAddr::from((Ipv4Addr::LOCALHOST, port))
}

/// Returns the address of a container in a network without a way out: this machine has an end of it.
fn own_address(engine: &Engine, id: &str) -> Result<SocketAddr> {
    let format = "{{range .NetworkSettings.Networks}}{{.IPAddress}} {{end}}";
    let answer = engine.run(["inspect", "--format", format, id])?;
    let address: IpAddr = answer
        .split_whitespace()
        .next()
        .and_then(|word| word.parse().ok())
        .with_context(|| format!("the container has no address: {answer}"))?;
    Ok(SocketAddr::from((address, 22)))
}

/// Waits until the place says that an ssh server is behind it.
fn wait_for_sshd(address: SocketAddr) -> Result<()> {
    let start = Instant::now();
    loop {
        let mut greeting = [0_u8; 4];
        let greeted = TcpStream::connect_timeout(&address, Duration::from_secs(2)).and_then(|mut stream| {
            stream.set_read_timeout(Some(Duration::from_secs(2)))?;
            stream.read_exact(&mut greeting)
        });
        if greeted.is_ok() && &greeting == b"SSH-" {
            return Ok(());
        }
        if start.elapsed() > Duration::from_secs(START_SECONDS) {
            bail!("no ssh server answers on {address}");
        }
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Whether a host of a lab answers.
pub(crate) fn answers(address: &str, port: u16) -> bool {
    match address.parse::<IpAddr>() {
        Ok(address) if !address.is_loopback() => {
            TcpStream::connect_timeout(&SocketAddr::from((address, port)), Duration::from_millis(500)).is_ok()
        }
        _ => listens(port),
    }
}

/// Whether something listens on a port of this machine. Asked by taking it, so that no
/// connection is made: a login less for the sshd behind it.
pub(crate) fn listens(port: u16) -> bool {
    TcpListener::bind(("127.0.0.1", port)).is_err()
        || TcpStream::connect_timeout(&SocketAddr::from(([127, 0, 0, 1], port)), Duration::from_millis(200))
            .is_ok()
}

/// Messages of Docker (20.10, 28) and Podman when a port is not free.
const PORT_IS_TAKEN: [&str; 2] = ["port is already allocated", "ddress already in use"];

/// Free ports, each given once.
pub(crate) struct FreePorts(Mutex<Box<dyn Iterator<Item = u16> + Send>>);

impl FreePorts {
    /// Returns the ports of a lab, without the ones that its hosts have.
    pub(crate) fn new(hash: &str, taken: BTreeSet<u16>) -> Self {
        Self(Mutex::new(Box::new(ports(hash).filter(move |port| !taken.contains(port)))))
    }

    pub(crate) fn next(&self) -> Option<u16> {
        self.0.lock().ok()?.next()
    }
}

/// Free ports for a lab, starting at a place that depends on its hash.
pub(crate) fn ports(hash: &str) -> impl Iterator<Item = u16> + use<> {
    let seed = u64::from_str_radix(hash.get(..8).unwrap_or("0"), 16).unwrap_or(0);
    let count = PORTS.end - PORTS.start;
    let first = u16::try_from(seed % u64::from(count / 16)).unwrap_or(0) * 16;
    (0..count).map(move |step| PORTS.start + (first + step) % count).filter(|port| !listens(*port))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn node() -> Node {
        Node {
            name: "gpu0".into(),
            groups: vec!["gpu".into()],
            image: "provision-lab:0".into(),
            sudo: SudoKind::Nopasswd,
            shell: "/bin/bash".into(),
            profile: None,
            shared: Vec::new(),
        }
    }

    #[test]
    fn each_engine_gets_what_systemd_needs_there() {
        let docker = Engine { program: "docker", cgroup2: false, rootless: false, bounds: !0 };
        let on_v1 = node().arguments(&docker, "net", Some(20_000));
        assert!(on_v1.contains(&"-v/sys/fs/cgroup:/sys/fs/cgroup:rw".to_owned()));
        assert!(on_v1.contains(&"-p127.0.0.1:20000:22".to_owned()));
        let on_v2 = node().arguments(&Engine { cgroup2: true, ..docker }, "net", Some(20_000));
        assert!(on_v2.contains(&"--cgroupns=private".to_owned()));
        let podman = Engine { program: "podman", cgroup2: true, rootless: true, bounds: 0 };
        let rootless = node().arguments(&podman, "net", Some(20_000));
        assert!(rootless.contains(&"--systemd=always".to_owned()));
        let offline = node().arguments(&podman, "net", None);
        assert!(!offline.iter().any(|word| word.starts_with("-p")), "{offline:?}");
        assert!(!rootless.iter().any(|word| word.contains("apparmor")));
    }

    /// An engine that is a script, with these cases of its first argument.
    fn engine(folder: &std::path::Path, cases: &str) -> Engine {
        let program = folder.join("engine");
        let text = format!("#!/bin/sh\ncase $1 in\n{cases}\nesac\n");
        // Written by another process: a file that this one has open for writing cannot be started.
        let write = ["-c", "cat >\"$0\" && chmod 755 \"$0\"", program.to_str().expect("UTF-8")];
        engine::text(crate::process::heard("sh").args(write), text.as_bytes(), engine::USUAL)
            .expect("written");
        let program: &'static str = Box::leak(program.to_str().expect("UTF-8").to_owned().into_boxed_str());
        Engine { program, cgroup2: false, rootless: false, bounds: 0 }
    }

    fn lab() -> Lab {
        Lab {
            user: "provision",
            hash: "0".into(),
            network: "net".into(),
            offline: false,
            mirror: false,
            public_key: "key".into(),
            password: String::new(),
        }
    }

    #[test]
    fn a_port_that_is_taken_meanwhile_is_not_insisted_on() {
        let folder = tempfile::tempdir().expect("folder");
        // Recorded: Docker 28, and Docker 20.10 where a program that is no container listens.
        let said = [
            "docker: Error response from daemon: driver failed programming external connectivity on endpoint \
             n0 (e7da83): Bind for 127.0.0.1:20001 failed: port is already allocated",
            "docker: Error response from daemon: driver failed programming external connectivity on endpoint \
             n0 (e7da83): Error starting userland proxy: listen tcp4 127.0.0.1:20001: bind: address already in use.",
        ];
        let free = FreePorts::new("0", BTreeSet::new());
        for said in said {
            let made = folder.path().join("made");
            let made = made.to_str().expect("UTF-8");
            let cases = format!(
                "run) test ! -e {made} || {{ echo 'the name is in use' >&2; exit 125; }}\n: >{made}\n\
                 case $* in *127.0.0.1:20001:22*) echo '{said}' >&2; exit 125 ;; esac; rm {made}; echo abc ;;\n\
                 rm) test \"$*\" = 'rm -f -v provision-0-gpu0' && rm {made} ;;"
            );
            let engine = engine(folder.path(), &cases);
            let (id, port) = node().start_new(&engine, &lab(), 20_001, &free).expect("started");
            assert_eq!((id.as_str(), PORTS.contains(&port), port == 20_001), ("abc", true, false));
        }
        let engine = engine(folder.path(), "run) echo 'no space left on device' >&2; exit 125 ;;");
        let error = node().start_new(&engine, &lab(), 20_001, &free).expect_err("another reason");
        assert!(error.to_string().contains("no space left on device"), "{error:#}");
    }

    #[test]
    fn a_host_that_ends_says_why() {
        let container = Container::parse("abc|gpu0|r1|20001|running").expect("container");
        let folder = tempfile::tempdir().expect("folder");
        let answer = |state: &str, said: &str| {
            let engine = engine(
                folder.path(),
                &format!("exec) exit 137 ;;\ninspect) echo '{state}' ;;\nlogs) cat <<'END'\n{said}\nEND"),
            );
            let free = FreePorts::new("0", BTreeSet::new());
            let error =
                node().ensure(&engine, &lab(), 20_001, &free, Some(&container)).expect_err("it ended");
            format!("{error:#}")
        };
        // Recorded: systemd 252 where all instances were taken.
        let said = "Initializing machine ID from random generator.\r\n\
                    Failed to create symlink /sys/fs/cgroup/cpu: File exists\r\n\
                    Failed to create control group inotify object: Too many open files\r\n\
                    Failed to allocate manager object: Too many open files\r\n\
                    [!!!!!!] Failed to allocate manager object.\r\nExiting PID 1...\r";
        let limit = std::fs::read_to_string(INSTANCES).expect("a limit");
        let wanted = format!(
            "systemd ended with status 255: Failed to create control group inotify object: Too many open \
             files; Failed to allocate manager object: Too many open files: \
             fs.inotify.max_user_instances is {} here, for all containers together, and a host takes about \
             5: `sysctl -w fs.inotify.max_user_instances=1024` as root, or scripts/setup.sh as root, raises it",
            limit.trim()
        );
        assert_eq!(answer("false|255|false", said), wanted);
        assert_eq!(answer("false|255|false", ""), "systemd ended with status 255: it did not say why");
        assert_eq!(answer("false|137|true", ""), "the kernel ended the host because memory ran out");
        // While the host runs, what failed is what is said.
        assert!(answer("true|0|false", "").contains("gpu0 did not become ready: "));
    }

    #[test]
    fn ports_are_in_range_and_differ_between_labs() {
        let one: Vec<u16> = ports("00000001aaaa").take(3).collect();
        let two: Vec<u16> = ports("00000002aaaa").take(3).collect();
        assert!(one.iter().chain(&two).all(|port| PORTS.contains(port)));
        assert_ne!(one, two);
    }

    #[test]
    fn what_the_engine_lists() {
        let container = Container::parse("abc|gpu0|r1|20001|paused").expect("container");
        assert_eq!((container.host.as_str(), container.port), ("gpu0", 20_001));
        assert!(!container.running());
        assert_eq!(Container::parse("abc|gpu0"), None);
    }
}
