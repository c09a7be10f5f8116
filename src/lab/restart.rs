//! A loss of power: some hosts of a lab end and start again, and nothing else of it changes.

use std::collections::BTreeMap;

use anyhow::{Context as _, Result, bail};

use super::deploy::{WAITING, profile_folder, start};
use super::engine::Engine;
use super::files::{self, lock};
use super::node::{Container, Lab, Node, Ready};
use super::spec::{LabKind, LabSettings, LabSpec, LabUser, SudoKind};
use super::state::{Folder, LabHostState, LabState};
use super::vm;

/// Pulls the plug of some hosts of a lab that is up, all when none is named, and starts them
/// again with the disks they had. What they had not written is lost; hardware that is broken stays
/// broken.
///
/// # Errors
/// When the lab is down or has no such host, and when a host does not start.
pub fn restart(spec: &LabSpec, hosts: &[String], progress: &mut dyn FnMut(&str)) -> Result<LabState> {
    let folder = Folder::new(&spec.state_root, &spec.inventory)?;
    let down = || format!("the lab of {} is not up", spec.inventory);
    let mut state = folder.load()?.with_context(down)?;
    if let Some(unknown) = hosts.iter().find(|host| state.host(host).is_none()) {
        bail!("the lab has no host {unknown}");
    }
    let chosen = |name: &str| hosts.is_empty() || hosts.iter().any(|host| host == name);
    progress("pulling the plug");
    let _lock = lock(&folder.file("lock"), WAITING, progress)?;
    if state.engine == vm::ENGINE {
        let settings = LabSettings { kind: Some(LabKind::Vm), ..spec.settings.clone() };
        return vm::restart(&LabSpec { settings, ..spec.clone() }, &folder, hosts, progress);
    }
    // Another command may have changed it meanwhile.
    state = folder.load()?.with_context(down)?;
    let engine = Engine::find()?;
    let plugged = |container: &Container| matches!(container.status.as_str(), "running" | "paused");
    for container in
        Container::list(&engine, &folder.hash)?.iter().filter(|container| chosen(&container.host))
    {
        if plugged(container) && state.host(&container.host).is_some() {
            engine.run(["kill", container.id.as_str()])?;
        }
    }
    let containers = Container::list(&engine, &folder.hash)?;
    let mut there = BTreeMap::new();
    let mut nodes = Vec::new();
    for host in state.hosts.iter().filter(|host| chosen(&host.name)) {
        let Some(container) = containers.iter().find(|container| container.id == host.container) else {
            bail!("the container of {} is gone: run `provision lab up {}`", host.name, spec.inventory);
        };
        there.insert(host.name.clone(), container.clone());
        nodes.push(node(spec, &folder, host));
    }
    let lab = lab(&folder, &state)?;
    let started = start(&engine, &lab, &nodes, &mut there, &BTreeMap::new(), progress)?;
    record(&folder, &mut state, &nodes, &started)?;
    for host in &mut state.hosts {
        let runs = |container: &Container| container.id == host.container && container.running();
        host.running = chosen(&host.name) || containers.iter().any(runs);
    }
    Ok(state)
}

/// Returns the settings that its hosts share, as they were when the lab came up.
fn lab(folder: &Folder, state: &LabState) -> Result<Lab> {
    let (public_key, password) = folder.login(state.sudo_password.is_some())?;
    let root = state.user == LabUser::Root.as_str();
    Ok(Lab {
        user: if root { LabUser::Root } else { LabUser::Provision }.as_str(),
        network: state.network.clone(),
        offline: state.hosts.iter().any(|host| host.address != "127.0.0.1"),
        mirror: state.mirror.is_some(),
        public_key,
        password,
        hash: folder.hash.clone(),
    })
}

/// A host whose container is there: nothing that only a new one needs.
fn node(spec: &LabSpec, folder: &Folder, host: &LabHostState) -> Node {
    let settings = spec.hosts.iter().find(|known| known.name == host.name).map(|host| spec.settings_of(host));
    Node {
        name: host.name.clone(),
        groups: Vec::new(),
        image: String::new(),
        sudo: if host.wants_password { SudoKind::Password } else { SudoKind::Nopasswd },
        shell: settings.unwrap_or_default().login_shell(),
        profile: host.profile.is_some().then(|| profile_folder(folder, &host.name)),
        shared: Vec::new(),
    }
}

/// Records where the hosts are now that were started: without a published port the engine may give
/// another address.
fn record(folder: &Folder, state: &mut LabState, nodes: &[Node], started: &[Ready]) -> Result<()> {
    let known = &state.known_hosts;
    let mut known = std::fs::read_to_string(known).with_context(|| format!("cannot read {known}"))?;
    let mut added = String::new();
    for (node, ready) in nodes.iter().zip(started) {
        let Some(host) = state.hosts.iter_mut().find(|host| host.name == node.name) else { continue };
        let old = format!("{} ", files::place(&host.address, host.port));
        known = known.split_inclusive('\n').filter(|line| !line.starts_with(&old)).collect();
        (host.address, host.port) = (ready.address.ip().to_string(), ready.address.port());
        added.push_str(&files::known_hosts(&host.address, host.port, &ready.keys));
    }
    folder.record(state, &(known + &added))
}
