//! qemu on this machine: whether it is there, how fast it can be, its processes.

use std::fmt;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};
use camino::{Utf8Path, Utf8PathBuf};

use crate::lab::files;
use crate::lab::{Lacking, engine};
use crate::process::heard;

/// The emulator. Its machines are those of `image.sh`.
pub(super) const PROGRAM: &str = "qemu-system-x86_64";
/// Longest that a machine under KVM may take to its first process. Emulated it is about ten
/// seconds; under a KVM that works less than two.
const PROBE: Duration = Duration::from_secs(10);
/// Longest path of a unix socket, in bytes: `sun_path` of unix(7) without its NUL.
const SOCKET_PATH: usize = 107;
/// The folder of the hub and its sockets.
pub(super) const NET: &str = "net";
/// Message of the kernel just before its first process.
const ALIVE: &str = "Run /init as init process";

/// Accelerator that runs a machine's processor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Accel {
    /// The processor of this machine.
    Kvm,
    /// Emulation, and why.
    Tcg(String),
}

impl fmt::Display for Accel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Kvm => f.write_str("KVM"),
            Self::Tcg(why) => write!(f, "emulated: {why}"),
        }
    }
}

impl Accel {
    /// Options of qemu.
    pub(super) fn arguments(&self) -> [&'static str; 4] {
        match self {
            Self::Kvm => ["-accel", "kvm", "-cpu", "host"],
            Self::Tcg(_) => ["-accel", "tcg", "-cpu", "max"],
        }
    }
}

/// Programs that are not there, with the packages that have them.
pub(super) fn missing(wanted: &[(&'static str, &'static str)]) -> Vec<(&'static str, &'static str)> {
    let there = |name: &str| {
        let probe = "PATH=$PATH:/usr/sbin:/sbin; command -v \"$1\"";
        engine::output(heard("sh").args(["-c", probe, "sh", name]), b"", engine::USUAL)
            .is_ok_and(|done| done.status.success())
    };
    wanted.iter().copied().filter(|(name, _)| !there(name)).collect()
}

/// The error that says what to install.
pub(super) fn refuse(missing: &[(&'static str, &'static str)]) -> Result<()> {
    if missing.is_empty() {
        return Ok(());
    }
    let programs: Vec<_> = missing.iter().map(|(program, _)| *program).collect();
    let packages: Vec<_> = missing.iter().map(|(_, package)| *package).collect();
    Err(Lacking(format!(
        "virtual machines need {}: apt-get install {} (or run `scripts/setup.sh --vm` as root)",
        programs.join(", "),
        packages.join(" ")
    ))
    .into())
}

/// Whether this machine can run virtual machines at all.
pub(crate) fn find() -> Result<()> {
    if std::env::consts::ARCH != "x86_64" {
        bail!("the lab's virtual machines are x86_64, this machine is {}", std::env::consts::ARCH);
    }
    refuse(&missing(&[(PROGRAM, "qemu-system-x86"), ("qemu-img", "qemu-utils"), ("ssh", "openssh-client")]))
}

/// Whether KVM works. It may start and then hang or die on a register of the processor, so the
/// image's kernel is started under it for some seconds. The answer holds until this machine boots
/// again.
pub(super) fn probe(image: &Utf8Path, progress: &mut dyn FnMut(&str)) -> Result<Accel> {
    let device = Utf8Path::new("/dev/kvm");
    if !device.exists() {
        return Ok(Accel::Tcg(format!("this machine has no {device}")));
    }
    if let Err(error) = std::fs::OpenOptions::new().read(true).write(true).open(device) {
        return Ok(Accel::Tcg(format!("{device}: {error}")));
    }
    let boot = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    let file = image.join("accel");
    let known = std::fs::read_to_string(&file).unwrap_or_default();
    match known.strip_prefix(boot.as_str()) {
        Some("kvm") => Ok(Accel::Kvm),
        Some(why) if !why.is_empty() => Ok(Accel::Tcg(why.to_owned())),
        _ => {
            progress("trying whether KVM works here");
            let accel = try_kvm(image)?;
            let text = if let Accel::Tcg(why) = &accel { why } else { "kvm" };
            files::write(&file, &format!("{boot}{text}"), 0o644)?;
            Ok(accel)
        }
    }
}

fn try_kvm(image: &Utf8Path) -> Result<Accel> {
    let console = image.join(format!("accel.{}", std::process::id()));
    let mut qemu = heard(PROGRAM);
    qemu.args(Accel::Kvm.arguments()).args(["-machine", "pc", "-m", "512", "-nodefaults", "-no-reboot"]);
    qemu.args(["-display", "none", "-serial"]).arg(format!("file:{console}"));
    qemu.arg("-kernel").arg(image.join("vmlinuz")).arg("-initrd").arg(image.join("initrd.img"));
    qemu.args(["-append", "console=ttyS0 panic=-1"]);
    let mut child = qemu.spawn().with_context(|| format!("cannot start {PROGRAM}"))?;
    let start = Instant::now();
    let alive = || std::fs::read_to_string(&console).is_ok_and(|text| text.contains(ALIVE));
    let accel = loop {
        if alive() {
            break Accel::Kvm;
        }
        if child.try_wait()?.is_some() {
            break Accel::Tcg("KVM starts here, but its machine ends at once".to_owned());
        }
        if start.elapsed() > PROBE {
            break Accel::Tcg(format!("KVM starts here, but hangs ({} s)", PROBE.as_secs()));
        }
        std::thread::sleep(Duration::from_millis(50));
    };
    drop(child.kill());
    drop(child.wait());
    drop(std::fs::remove_file(&console));
    Ok(accel)
}

/// A qemu in the background with its files in a folder of its own.
#[derive(Debug, Clone)]
pub(super) struct Process {
    /// The folder that it is started in; files that it opens then are relative to it.
    pub(super) place: Utf8PathBuf,
    /// Its own folder below that.
    pub(super) name: String,
}

impl Process {
    pub(super) fn new(place: &Utf8Path, name: &str) -> Self {
        Self { place: place.to_owned(), name: name.to_owned() }
    }

    /// Its folder.
    pub(super) fn folder(&self) -> Utf8PathBuf {
        self.place.join(&self.name)
    }

    fn pid_file(&self) -> Utf8PathBuf {
        self.folder().join("pid")
    }

    /// Its number, when it runs.
    fn pid(&self) -> Option<u32> {
        let pid: u32 = std::fs::read_to_string(self.pid_file()).ok()?.trim().parse().ok()?;
        // Numbers come again: it is ours when its command line names our file.
        let line = std::fs::read(format!("/proc/{pid}/cmdline")).ok()?;
        let ours = self.pid_file();
        line.split(|byte| *byte == 0).any(|word| word == ours.as_str().as_bytes()).then_some(pid)
    }

    /// Whether it runs.
    pub(super) fn runs(&self) -> bool {
        self.pid().is_some()
    }

    /// Starts it; gives when qemu has everything that it was told to have.
    pub(super) fn start<S: AsRef<str>>(&self, arguments: &[S]) -> Result<()> {
        files::private_folder(&self.folder())?;
        let mut qemu = heard(PROGRAM);
        qemu.current_dir(&self.place).args(["-nodefaults", "-display", "none", "-daemonize", "-pidfile"]);
        qemu.arg(self.pid_file()).args(arguments.iter().map(AsRef::as_ref));
        engine::text(&mut qemu, b"", engine::USUAL).map(drop)
    }

    /// Ends it: by force when it does not go.
    pub(super) fn stop(&self) -> Result<()> {
        for (signal, limit) in [("TERM", 20), ("KILL", 10)] {
            let start = Instant::now();
            let Some(pid) = self.pid() else { return Ok(()) };
            // It may end by itself just now.
            let number = pid.to_string();
            drop(engine::output(heard("kill").args(["-s", signal, &number]), b"", engine::USUAL));
            while start.elapsed() < Duration::from_secs(limit) {
                if self.pid().is_none() {
                    return Ok(());
                }
                std::thread::sleep(Duration::from_millis(20));
            }
        }
        bail!("the process of {} does not end", self.name)
    }
}

/// One end of the network between the machines: datagrams, so that either side may start again, and
/// one that does not read costs a frame. With the `stream` sockets of qemu 7.2 the network stood
/// still for good after some ten thousand frames.
pub(super) fn socket(id: &str, local: &Utf8Path, remote: &Utf8Path) -> String {
    // A comma in a value is written twice.
    let [local, remote] = [local, remote].map(|path| path.as_str().replace(',', ",,"));
    format!("dgram,id={id},local.type=unix,local.path={local},remote.type=unix,remote.path={remote}")
}

/// Starts the network between the machines: a qemu without a machine whose hub joins `ports`
/// sockets. A frame goes to every other port.
pub(super) fn hub(process: &Process, ports: usize) -> Result<()> {
    let mut arguments = vec!["-machine".to_owned(), "none".to_owned()];
    for port in 0..ports {
        let [ours, theirs] = plug(&process.place, port);
        if ours.as_str().len() > SOCKET_PATH {
            bail!("{ours} is too long for a socket: set XDG_STATE_HOME to a shorter path");
        }
        arguments.extend([
            "-netdev".to_owned(),
            socket(&format!("socket{port}"), &ours, &theirs),
            "-netdev".to_owned(),
            format!("hubport,id=port{port},hubid=0,netdev=socket{port}"),
        ]);
    }
    process.start(&arguments).context("cannot start the network of the lab (qemu 7.2 or newer is needed)")
}

/// The two sockets between a machine and the hub of a lab: the hub's and the machine's. Absolute, since qemu looks
/// the other end up for each frame and has left its folder when it runs in the background.
pub(super) fn plug(place: &Utf8Path, port: usize) -> [Utf8PathBuf; 2] {
    let folder = place.join(NET);
    [folder.join(format!("hub{port}")), folder.join(port.to_string())]
}
