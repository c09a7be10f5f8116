//! From an inventory to machines that run, and back.

use std::sync::{Mutex, mpsc};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, anyhow, bail};
use camino::Utf8PathBuf;
use sha2::{Digest as _, Sha256};

use super::firmware;
use super::image;
use super::machine::{self, Machine};
use super::qemu::{self, Process};
use crate::lab::spec::{LabSettings, LabSpec, LabUser, SudoKind};
use crate::lab::state::{Folder, LabHostState, LabState};
use crate::lab::{engine, files, node};
use crate::process::heard;
use crate::words::short_hex;

/// Engine of a lab of virtual machines, as its state names it.
pub(crate) const ENGINE: &str = "qemu";
/// Longest that a machine may take from power on to a login: emulated, on a busy machine.
const BOOT: Duration = Duration::from_mins(5);
/// Machines of one lab: as many addresses and ports as are planned for.
const MOST: usize = 64;

/// Whether a lab's folder holds virtual machines, running or not.
pub(crate) fn is(folder: &Folder) -> bool {
    folder.file("vm").exists()
}

/// Makes the machines be what the inventory says and waits until each can be logged in to.
///
/// # Errors
/// What is missing on this machine, or what does not start.
pub(crate) fn up(spec: &LabSpec, folder: &Folder, progress: &mut dyn FnMut(&str)) -> Result<LabState> {
    bring(spec, folder, &Wanted::All, progress)
}

/// Pulls the plug of some machines, all where none is named, and starts them again. Others stay as they are.
///
/// # Errors
/// When one does not end or start, and when the machines are not those of the inventory.
pub(crate) fn restart(
    spec: &LabSpec,
    folder: &Folder,
    hosts: &[String],
    progress: &mut dyn FnMut(&str),
) -> Result<LabState> {
    let wanted = if hosts.is_empty() { Wanted::All } else { Wanted::Only(hosts) };
    let place = folder.file("vm");
    for host in spec.hosts.iter().filter(|host| wanted.has(&host.name)) {
        Process::new(&place, &host.name).stop()?;
    }
    bring(spec, folder, &wanted, progress)
}

/// Machines that run afterwards.
enum Wanted<'a> {
    /// All; what differs from the inventory is made anew.
    All,
    /// These, and those that run already.
    Only(&'a [String]),
}

impl Wanted<'_> {
    fn has(&self, name: &str) -> bool {
        match self {
            Self::All => true,
            Self::Only(hosts) => hosts.iter().any(|host| host == name),
        }
    }
}

fn bring(
    spec: &LabSpec,
    folder: &Folder,
    wanted: &Wanted<'_>,
    progress: &mut dyn FnMut(&str),
) -> Result<LabState> {
    check(spec)?;
    qemu::find()?;
    let secure_boot = spec.settings.secure_boot == Some(true);
    if secure_boot {
        firmware::find()?;
    }
    let images = images(spec, progress)?;
    let accel = match images.first() {
        Some(image) => qemu::probe(image, progress)?,
        None => bail!("{} names no hosts", spec.inventory),
    };

    let user = spec.settings.user.unwrap_or(LabUser::Provision).as_str();
    let wants_password = spec.settings.sudo == Some(SudoKind::Password);
    let (public_key, password) = folder.login(wants_password)?;
    let login = machine::MachineUser {
        user,
        sudo: spec.settings.sudo.unwrap_or(SudoKind::Nopasswd),
        shell: spec.settings.shell.as_deref().unwrap_or("/bin/bash"),
        public_key: &public_key,
        password: &password,
    };

    let place = folder.file("vm");
    let names: Vec<&str> = spec.hosts.iter().map(|host| host.name.as_str()).collect();
    let machines: Vec<Machine> = names
        .iter()
        .enumerate()
        .map(|(index, name)| Machine::new(&place, &folder.hash, name, index, secure_boot))
        .collect();
    let recipe = recipe(&images, &names, &login, secure_boot);
    let recipe_file = place.join("recipe");
    if place.exists() && std::fs::read_to_string(&recipe_file).ok().as_deref() != Some(&recipe) {
        if matches!(wanted, Wanted::Only(_)) {
            bail!("the machines differ from the inventory: run `provision lab up {}`", spec.inventory);
        }
        progress("making the machines anew: they differ from the inventory");
        remove(folder)?;
    }
    files::private_folder(&place)?;
    files::write(&recipe_file, &recipe, 0o600)?;

    let hub = Process::new(&place, qemu::NET);
    if !hub.runs() {
        qemu::hub(&hub, names.len())?;
    }
    let mut hosts = Vec::new();
    let mut known_hosts = String::new();
    let recorded = folder.load()?;
    let mut free = node::ports(&folder.hash);
    let mut started = Vec::new();
    for (machine, image) in machines.iter().zip(&images) {
        machine.create(image, &login, &machines)?;
        let before = recorded.as_ref().and_then(|state| state.host(&machine.name)).map(|host| host.port);
        let port = match before {
            Some(port) if machine.process.runs() || !node::listens(port) => port,
            _ => free.next().with_context(|| format!("no free port for {}", machine.name))?,
        };
        if !machine.process.runs() && wanted.has(&machine.name) {
            machine.start(&accel, port).with_context(|| format!("cannot start {}", machine.name))?;
            started.push(machine);
        }
        known_hosts.push_str(&files::known_hosts("127.0.0.1", port, &machine.host_keys()?));
        hosts.push(LabHostState {
            name: machine.name.clone(),
            address: "127.0.0.1".to_owned(),
            port,
            wants_password,
            container: String::new(),
            profile: None,
            fault: None,
            running: machine.process.runs(),
        });
    }
    let state = LabState {
        network: machine::NETWORK.to_owned(),
        hosts,
        ..folder.state(spec, ENGINE, user, wants_password)
    };
    folder.record(&state, &known_hosts)?;
    if !started.is_empty() {
        progress(&format!("{} machines boot ({accel})", started.len()));
    }
    let running: Vec<&Machine> = machines.iter().filter(|machine| machine.process.runs()).collect();
    wait(&state, &running, progress)?;
    Ok(state)
}

/// Pulls the plug of all machines and removes them. Gives their number.
///
/// # Errors
/// When a machine does not end or a file does not go.
pub(crate) fn down(folder: &Folder, progress: &mut dyn FnMut(&str)) -> Result<usize> {
    let number = folder.file("vm").read_dir_utf8().map_or(0, |entries| {
        entries.flatten().filter(|entry| entry.path().join("disk.qcow2").exists()).count()
    });
    progress(&format!("removing {number} machines"));
    remove(folder)?;
    Ok(number)
}

/// Fills in which machines run.
pub(crate) fn look(folder: &Folder, state: &mut LabState) {
    let place = folder.file("vm");
    for host in &mut state.hosts {
        host.running = Process::new(&place, &host.name).runs();
    }
}

/// Refuses what a virtual machine cannot be.
fn check(spec: &LabSpec) -> Result<()> {
    if let Some(image) = &spec.settings.image {
        bail!("`image: {image}` is for containers: virtual machines are made from a Debian mirror");
    }
    if let Some(profile) = &spec.settings.profile {
        bail!(
            "`profile: {profile}` is for containers: virtual machines have the hardware that qemu gives them"
        );
    }
    if spec.hosts.len() > MOST {
        bail!("{} machines are too many for one machine: at most {MOST}", spec.hosts.len());
    }
    let mut names = std::collections::BTreeSet::new();
    for host in &spec.hosts {
        if !names.insert(host.name.as_str()) {
            bail!("{} is named twice", host.name);
        }
        if host.name == qemu::NET || host.name == "recipe" {
            bail!("a machine of the lab cannot be named `{}`", host.name);
        }
    }
    Ok(())
}

/// The disk that each machine starts from, in the order of the inventory: releases and packages may differ.
fn images(spec: &LabSpec, progress: &mut dyn FnMut(&str)) -> Result<Vec<Utf8PathBuf>> {
    let mut made: Vec<(LabSettings, Utf8PathBuf)> = Vec::new();
    let mut images = Vec::new();
    for host in &spec.hosts {
        let LabSettings { release, packages, .. } = spec.settings_of(host);
        let wanted = LabSettings { release, packages, ..LabSettings::default() };
        let image = match made.iter().find(|(settings, _)| *settings == wanted) {
            Some((_, image)) => image.clone(),
            None => image::ensure(&spec.cache_root, &wanted, progress)?,
        };
        made.push((wanted, image.clone()));
        images.push(image);
    }
    Ok(images)
}

/// Everything that a machine gets at its first boot only.
fn recipe(
    images: &[Utf8PathBuf],
    names: &[&str],
    login: &machine::MachineUser<'_>,
    secure_boot: bool,
) -> String {
    let firmware = if secure_boot { "secure boot" } else { "bios" };
    let images: Vec<&str> = images.iter().map(|image| image.as_str()).collect();
    let text = format!("{}\n{firmware}\n{}\n{}", images.join(" "), names.join(" "), login.text());
    format!("{}\n", short_hex(&Sha256::digest(text)))
}

fn remove(folder: &Folder) -> Result<()> {
    let place = folder.file("vm");
    let entries = place.read_dir_utf8().with_context(|| format!("cannot read {place}"))?;
    for entry in entries.flatten().filter(|entry| entry.path().is_dir()) {
        Process::new(&place, entry.file_name()).stop()?;
    }
    std::fs::remove_dir_all(&place).with_context(|| format!("cannot remove {place}"))
}

/// Waits until every machine takes its login and has booted to the end.
fn wait(state: &LabState, machines: &[&Machine], progress: &mut dyn FnMut(&str)) -> Result<()> {
    let (sender, answers) = mpsc::channel();
    let todo = Mutex::new(machines.iter());
    let mut errors = Vec::new();
    std::thread::scope(|scope| {
        for _ in machines {
            let (sender, todo) = (sender.clone(), &todo);
            scope.spawn(move || {
                let Some(machine) = todo.lock().ok().and_then(|mut machines| machines.next()) else { return };
                // Nobody listens any more when the lab command itself ended.
                drop(sender.send((machine, ready(state, machine))));
            });
        }
        drop(sender);
        for (machine, answer) in answers {
            match answer {
                Ok(()) => progress(&format!("{} is ready", machine.name)),
                Err(error) => errors.push(error.context(format!("{} did not become ready", machine.name))),
            }
        }
    });
    errors.into_iter().next().map_or(Ok(()), Err)
}

/// One machine's login, tried until it works. A real one: key, user, host key and the end of the
/// boot are seen at once.
fn ready(state: &LabState, machine: &Machine) -> Result<()> {
    let start = Instant::now();
    let command = "systemctl is-system-running --wait >/dev/null 2>&1; exit 0";
    loop {
        let mut ssh = heard("ssh");
        ssh.args(["-F", state.ssh_config.as_str(), "-oBatchMode=yes", "-oConnectTimeout=5"]);
        ssh.args([machine.name.as_str(), command]);
        let left = BOOT.saturating_sub(start.elapsed());
        let tried = engine::output(&mut ssh, b"", left);
        let problem = match tried {
            Ok(done) if done.status.success() => return Ok(()),
            Ok(done) => anyhow!("{}", String::from_utf8_lossy(&done.stderr).trim().to_owned()),
            Err(error) => error,
        };
        if let Some(said) = machine.complaint() {
            bail!("{said}");
        }
        if !machine.process.runs() {
            return Err(problem.context(format!("qemu ended; its console is {}", machine.console())));
        }
        if start.elapsed() > BOOT {
            return Err(problem.context(format!(
                "no login within {} s; its console is {}",
                BOOT.as_secs(),
                machine.console()
            )));
        }
        std::thread::sleep(Duration::from_millis(500));
    }
}
