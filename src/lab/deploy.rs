//! Bringing a lab up, taking it down, and what it is now.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, mpsc};

use anyhow::{Context as _, Result, anyhow, bail};
use camino::{Utf8Path, Utf8PathBuf};

use super::engine::Engine;
use super::fault;
use super::files::lock;
use super::mirror;
use super::node::{self, Container, FreePorts, Lab, Node, Ready};
use super::profile::Profile;
use super::spec::{LabKind, LabSpec, LabUser, SudoKind};
use super::state::{Folder, LabHostState, LabState};
use super::{files, image, vm};

/// Said when another command holds the lab's lock.
pub(super) const WAITING: &str = "another `provision lab` works on this inventory";
/// Number of containers that are started at once.
const PARALLEL: usize = 16;

/// Makes the lab be what its inventory says: starts what is missing, starts anew what differs,
/// removes what is no longer named. Called again it changes nothing.
pub fn up(spec: &LabSpec, progress: &mut dyn FnMut(&str)) -> Result<LabState> {
    if spec.hosts.is_empty() {
        bail!("{} names no hosts", spec.inventory);
    }
    let folder = Folder::new(&spec.state_root, &spec.inventory)?;
    files::private_folder(&spec.state_root)?;
    files::private_folder(&folder.path)?;
    let _lock = lock(&folder.file("lock"), WAITING, progress)?;
    let there =
        folder.load()?.map(|state| if state.engine == vm::ENGINE { LabKind::Vm } else { LabKind::Container });
    let wanted = spec.settings.kind.unwrap_or(LabKind::Container);
    if let Some(there) = there.filter(|there| *there != wanted) {
        bail!("this lab already runs as {there}: run `provision lab down {}` first", spec.inventory);
    }
    let mirror = spec.settings.mirror == Some(true);
    let offline = spec.settings.offline == Some(true);
    if wanted == LabKind::Vm
        && let Some(key) = spec.of_containers()
    {
        bail!("`{key}` is for labs of containers");
    }
    if wanted == LabKind::Container && spec.settings.secure_boot == Some(true) {
        bail!("`secure_boot` is for virtual machines, which have a firmware: add `kind: vm`");
    }
    if wanted == LabKind::Vm {
        return vm::up(spec, &folder, progress);
    }
    let engine = Engine::find()?;
    if offline && engine.rootless {
        bail!(
            "{} without root cannot reach the hosts of an offline network: `offline` needs root",
            engine.program
        );
    }

    let nodes = nodes(spec, &engine, &folder, progress)?;
    for (number, node) in nodes.iter().enumerate() {
        if let (Some(folder), Some(name)) = (&node.profile, profile_of(spec, &node.name)) {
            Profile::find(&name, number + 1)?.write(folder)?;
        }
    }
    let wants_password = nodes.iter().any(|node| node.sudo == SudoKind::Password);
    let (public_key, password) = folder.login(wants_password)?;
    let lab = Lab {
        user: spec.settings.user.unwrap_or(LabUser::Provision).as_str(),
        network: format!("provision-{}", folder.hash),
        offline,
        mirror,
        public_key,
        password,
        hash: folder.hash.clone(),
    };
    network(&engine, &lab, spec)?;

    let mut there = keep(&engine, &nodes, offline, Container::list(&engine, &lab.hash)?, progress)?;
    // A record that cannot be read is written anew below.
    let before = folder.load().ok().flatten().map(|state| state.hosts).unwrap_or_default();
    let published = before.into_iter().filter(|host| host.address == "127.0.0.1");
    let ports = published.map(|host| (host.name, host.port)).collect();
    let started = start(&engine, &lab, &nodes, &mut there, &ports, progress)?;

    let mut known_hosts = String::new();
    let mut hosts = Vec::new();
    let mut serves = None;
    for (node, Ready { container, keys, address }) in nodes.iter().zip(started) {
        if mirror && node.name == mirror::NAME {
            serves = Some(mirror::serve(&engine, &container, &folder)?);
            continue;
        }
        let (address, port) = (address.ip().to_string(), address.port());
        known_hosts.push_str(&files::known_hosts(&address, port, &keys));
        hosts.push(LabHostState {
            name: node.name.clone(),
            address,
            port,
            wants_password: node.sudo == SudoKind::Password,
            container,
            profile: profile_of(spec, &node.name),
            fault: None,
            running: true,
        });
    }
    let state = LabState {
        network: lab.network,
        mirror: serves,
        hosts,
        ..folder.state(spec, engine.program, lab.user, wants_password)
    };
    folder.record(&state, &known_hosts)?;
    Ok(state)
}

/// Removes a lab's hosts, network and folder. Gives the number of hosts that were there; a lab
/// that is not up is no error.
pub fn down(state_root: &Utf8Path, inventory: &Utf8Path, progress: &mut dyn FnMut(&str)) -> Result<usize> {
    let folder = Folder::new(state_root, inventory)?;
    let _lock =
        if folder.path.exists() { Some(lock(&folder.file("lock"), WAITING, progress)?) } else { None };
    if vm::is(&folder) {
        let number = vm::down(&folder, progress)?;
        std::fs::remove_dir_all(&folder.path).with_context(|| format!("cannot remove {}", folder.path))?;
        return Ok(number);
    }
    let engine = Engine::find()?;
    let containers = Container::list(&engine, &folder.hash)?;
    if !containers.is_empty() {
        progress(&format!("removing {} containers", containers.len()));
        let ids = containers.iter().map(|container| container.id.as_str());
        engine.run(["rm", "-f", "-v"].into_iter().chain(ids))?;
    }
    let filter = format!("name=provision-{}-", folder.hash);
    let volumes = engine.run(["volume", "ls", "-q", "--filter", filter.as_str()])?;
    if !volumes.is_empty() {
        engine.run(["volume", "rm", "-f"].into_iter().chain(volumes.lines()))?;
    }
    let network = format!("provision-{}", folder.hash);
    if engine.answers(["network", "inspect", network.as_str()]) {
        engine.run(["network", "rm", network.as_str()])?;
    }
    if folder.path.exists() {
        std::fs::remove_dir_all(&folder.path).with_context(|| format!("cannot remove {}", folder.path))?;
    }
    Ok(containers.len())
}

/// The lab with what the engine says of each host now; `None` when there is none.
pub fn status(state_root: &Utf8Path, inventory: &Utf8Path) -> Result<Option<LabState>> {
    let folder = Folder::new(state_root, inventory)?;
    let Some(mut state) = folder.load()? else { return Ok(None) };
    if state.engine == vm::ENGINE {
        vm::look(&folder, &mut state);
        return Ok(Some(state));
    }
    let engine = Engine::find()?;
    let containers = Container::list(&engine, &folder.hash)?;
    for host in &mut state.hosts {
        host.running =
            containers.iter().any(|container| container.id == host.container && container.running());
    }
    Ok(Some(state))
}

/// The lab of an inventory, for commands that work in it; `None` when there is none. Asks the
/// ports, not the engine, because every run begins here: a paused host counts as running.
pub fn overlay(state_root: &Utf8Path, inventory: &Utf8Path) -> Result<Option<LabState>> {
    let Some(mut state) = Folder::new(state_root, inventory)?.load()? else { return Ok(None) };
    for host in &mut state.hosts {
        host.running = node::answers(&host.address, host.port);
    }
    Ok(Some(state))
}

pub(super) fn profile_folder(folder: &Folder, host: &str) -> Utf8PathBuf {
    folder.file(&format!("profile-{host}"))
}

fn profile_of(spec: &LabSpec, host: &str) -> Option<String> {
    let host = spec.hosts.iter().find(|known| known.name == host)?;
    spec.settings_of(host).profile
}

/// Gives the hardware profile of a running lab host a fault, or takes it away again (`None`).
///
/// # Errors
/// When the lab is down, the host has no profile, or no such fault fits it.
pub fn break_host(
    state_root: &Utf8Path,
    inventory: &Utf8Path,
    host: &str,
    name: Option<&str>,
) -> Result<LabState> {
    break_hosts(state_root, inventory, &[(host, name)])
}

/// The same for several hosts at once.
///
/// # Errors
/// As of one; what was broken before stays broken.
pub fn break_hosts(
    state_root: &Utf8Path,
    inventory: &Utf8Path,
    faults: &[(&str, Option<&str>)],
) -> Result<LabState> {
    let folder = Folder::new(state_root, inventory)?;
    let mut state = folder.load()?.with_context(|| format!("the lab of {inventory} is not up"))?;
    let mut containers = Vec::new();
    for (host, name) in faults {
        let at = state.hosts.iter().position(|known| known.name == *host);
        let known = at.and_then(|at| state.hosts.get_mut(at));
        let (Some(at), Some(found)) = (at, known) else { bail!("the lab has no host {host}") };
        let Some(kind) = &found.profile else {
            bail!(
                "{host} has no hardware profile: name one under `lab: {{ profile: ... }}` of the inventory"
            );
        };
        let mut profile = Profile::find(kind, at + 1)?;
        if let Some(name) = name {
            fault::fault(name, kind)?.apply(&mut profile)?;
        }
        profile.write(&profile_folder(&folder, host))?;
        found.fault = name.map(str::to_owned);
        containers.push(found.container.clone());
    }
    let engine = Engine::find()?;
    std::thread::scope(|scope| {
        let play = |container: &String| {
            let (engine, container) = (&engine, container.clone());
            scope.spawn(move || node::play(engine, &container))
        };
        let playing: Vec<_> = containers.iter().map(play).collect();
        let ended = playing.into_iter().map(|thread| thread.join().map_err(|_| anyhow!("a thread died"))?);
        ended.collect::<Result<()>>()
    })?;
    folder.save(&state)?;
    Ok(state)
}

/// Hosts with everything resolved and their images built.
fn nodes(
    spec: &LabSpec,
    engine: &Engine,
    folder: &Folder,
    progress: &mut dyn FnMut(&str),
) -> Result<Vec<Node>> {
    let mut images = BTreeMap::new();
    let mut names = BTreeSet::new();
    let mut nodes = Vec::new();
    for host in &spec.hosts {
        if !names.insert(host.name.as_str()) {
            bail!("{} is named twice", host.name);
        }
        let settings = spec.settings_of(host);
        image::check(&settings)?;
        let wanted = image::Wanted::of(&settings);
        let image = if let Some(image) = images.get(&wanted) {
            String::clone(image)
        } else {
            let built = image::ensure(engine, &wanted, &[], progress)?;
            images.insert(wanted, built.clone());
            built
        };
        nodes.push(Node {
            name: host.name.clone(),
            groups: host.groups.clone(),
            image,
            sudo: settings.sudo.unwrap_or(SudoKind::Nopasswd),
            shell: settings.login_shell(),
            profile: settings.profile.is_some().then(|| profile_folder(folder, &host.name)),
            shared: settings
                .shared
                .unwrap_or_default()
                .into_iter()
                .map(|path| (format!("provision-{}{}", folder.hash, path.replace('/', "-")), path))
                .collect(),
        });
    }
    if spec.settings.mirror == Some(true) {
        if names.contains(mirror::NAME) {
            bail!("a host is called {}, which is the name of the mirror", mirror::NAME);
        }
        // With a way out the hosts fetch from where this machine does.
        let fetched: &[&str] = if spec.settings.offline == Some(true) { &mirror::DEBIAN } else { &[] };
        nodes.push(Node {
            name: mirror::NAME.to_owned(),
            groups: Vec::new(),
            image: mirror::image(engine, &spec.settings, spec.has_rhel(), fetched, progress)?,
            sudo: SudoKind::Nopasswd,
            shell: "/bin/bash".to_owned(),
            profile: None,
            shared: Vec::new(),
        });
    }
    Ok(nodes)
}

/// Makes the network of the lab where it is not there.
fn network(engine: &Engine, lab: &Lab, spec: &LabSpec) -> Result<()> {
    let network = lab.network.as_str();
    if engine.answers(["network", "inspect", network]) {
        let internal = engine.run(["network", "inspect", "--format", "{{.Internal}}", network])?;
        if (internal.trim() == "true") != lab.offline {
            bail!(
                "the lab runs with another value of `offline`: run `provision lab down {}` first",
                spec.inventory
            );
        }
        return Ok(());
    }
    let label = format!("--label=provision.lab={}", lab.hash);
    let mut arguments = vec!["network", "create", label.as_str()];
    if lab.offline {
        arguments.push("--internal");
    }
    arguments.push(network);
    engine.run(arguments).map(drop)
}

/// Of the containers that are there, those that are still wanted as they are; removes the others.
fn keep(
    engine: &Engine,
    nodes: &[Node],
    offline: bool,
    there: Vec<Container>,
    progress: &mut dyn FnMut(&str),
) -> Result<BTreeMap<String, Container>> {
    let recipes: BTreeMap<_, _> =
        nodes.iter().map(|node| (node.name.as_str(), node.recipe(engine, offline))).collect();
    let mut kept = BTreeMap::new();
    for container in there {
        // A container that is being removed or died half-way is not repaired but replaced.
        let usable = matches!(container.status.as_str(), "running" | "paused" | "exited");
        if usable && recipes.get(container.host.as_str()) == Some(&container.recipe) {
            kept.insert(container.host.clone(), container);
        } else {
            progress(&format!("removing {}, which differs from the inventory", container.host));
            engine.run(["rm", "-f", "-v", container.id.as_str()])?;
        }
    }
    Ok(kept)
}

/// Starts all hosts, several at once. Gives them in the order of `nodes`. `ports` are those that hosts
/// had when the lab was last up.
pub(super) fn start(
    engine: &Engine,
    lab: &Lab,
    nodes: &[Node],
    there: &mut BTreeMap<String, Container>,
    ports: &BTreeMap<String, u16>,
    progress: &mut dyn FnMut(&str),
) -> Result<Vec<Ready>> {
    let has: BTreeSet<u16> = there.values().map(|container| container.port).collect();
    let had: BTreeMap<&String, u16> =
        ports.iter().filter(|(_, port)| !has.contains(port)).map(|(name, port)| (name, *port)).collect();
    let free = FreePorts::new(&lab.hash, has.iter().chain(had.values()).copied().collect());
    // A host keeps the port it has, and one that is made anew the port it had, whatever seems to listen
    // there still; new ones get theirs in the order of the inventory.
    let todo = Mutex::new(nodes.iter().enumerate().map(|(index, node)| {
        let there = there.get(&node.name);
        let port = there.map(|container| container.port).or_else(|| had.get(&node.name).copied());
        (index, node, there, port.or_else(|| free.next()))
    }));
    let (sender, answers) = mpsc::channel();
    let mut started: Vec<Option<Ready>> = vec![None; nodes.len()];
    let mut errors = Vec::new();
    std::thread::scope(|scope| {
        for _ in 0..PARALLEL.min(nodes.len()) {
            let (sender, todo, free) = (sender.clone(), &todo, &free);
            scope.spawn(move || {
                loop {
                    let next = todo.lock().ok().and_then(|mut nodes| nodes.next());
                    let Some((index, node, there, port)) = next else { return };
                    let answer = port
                        .with_context(|| format!("no free port for {}", node.name))
                        .and_then(|port| node.ensure(engine, lab, port, free, there));
                    if sender.send((index, answer)).is_err() {
                        return;
                    }
                }
            });
        }
        drop(sender);
        for (index, answer) in answers {
            let name = nodes.get(index).map_or("", |node| node.name.as_str());
            match answer {
                Ok(ready) => {
                    progress(&format!("{name} is ready"));
                    if let Some(place) = started.get_mut(index) {
                        *place = Some(ready);
                    }
                }
                Err(error) => errors.push(error.context(format!("cannot start {name}"))),
            }
        }
    });
    let mut errors = errors.into_iter();
    if let Some(first) = errors.next() {
        let rest = errors.len();
        return Err(if rest == 0 {
            first
        } else {
            first.context(format!("{} hosts did not start", rest + 1))
        });
    }
    started.into_iter().collect::<Option<Vec<_>>>().context("a host did not report back")
}
