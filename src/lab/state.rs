//! State of a lab, as its folder tells it.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::time::Duration;

use anyhow::{Context as _, Result};
use camino::{Utf8Path, Utf8PathBuf};
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use super::files;
use super::spec::LabSpec;
use crate::inventory::{Become, Ssh};
use crate::words::short_hex;

/// Longest time of a login to a host of a lab: all of them start at once and share the processors of one machine.
const LOGIN: Duration = Duration::from_mins(1);

/// The mirror of a lab that is up.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MirrorState {
    /// Its container.
    pub container: String,
    /// The file with the key that its repositories are signed with.
    pub key: Utf8PathBuf,
    /// Digests of its archives, and commits of its repositories, by their place: host and path.
    pub digests: BTreeMap<String, String>,
}

/// One host of a lab.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LabHostState {
    /// Its name in the inventory.
    pub name: String,
    /// Address at which its sshd is reached from this machine: 127.0.0.1, or its own address in a lab without
    /// a way out.
    pub address: String,
    /// The port of its sshd there.
    pub port: u16,
    /// Whether sudo wants [`LabState::sudo_password`].
    pub wants_password: bool,
    /// The container's id; empty for a virtual machine.
    pub container: String,
    /// Its hardware profile, when it has one.
    #[serde(default)]
    pub profile: Option<String>,
    /// The fault that its profile has.
    #[serde(default)]
    pub fault: Option<String>,
    /// Whether it runs.
    pub running: bool,
}

/// A lab that was brought up.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LabState {
    /// Of this file's format.
    pub version: u32,
    /// Canonical path of the inventory.
    pub inventory: Utf8PathBuf,
    /// Name of the cluster.
    pub cluster: String,
    /// `docker`, `podman` or `qemu`.
    pub engine: String,
    /// The hosts' own network: its name in the container engine, or its addresses.
    pub network: String,
    /// Login name on all hosts.
    pub user: String,
    /// Private key of that login.
    pub identity_file: Utf8PathBuf,
    /// Host keys: taken from inside the containers, or made for the machines.
    pub known_hosts: Utf8PathBuf,
    /// An `ssh_config` that names all hosts.
    pub ssh_config: Utf8PathBuf,
    /// File with the password that sudo wants, where a host wants one.
    pub sudo_password: Option<Utf8PathBuf>,
    /// Its mirror, when it has one.
    #[serde(default)]
    pub mirror: Option<MirrorState>,
    /// The hosts in the order of the inventory.
    pub hosts: Vec<LabHostState>,
}

impl LabState {
    /// Format of the file that this program writes.
    pub const VERSION: u32 = 1;
    /// Name of the secret that holds the sudo password: `{ file: <sudo_password> }`.
    pub const SUDO_SECRET: &str = "lab-sudo";

    /// A host by name.
    pub fn host(&self, name: &str) -> Option<&LabHostState> {
        self.hosts.iter().find(|host| host.name == name)
    }

    /// Returns the SSH settings of a host, with the method to become root there, instead of what its
    /// inventory says.
    pub fn ssh(&self, host: &LabHostState) -> Ssh {
        let password = host.wants_password.then(|| Self::SUDO_SECRET.to_owned());
        Ssh {
            user: Some(self.user.clone()),
            port: Some(host.port),
            identity_file: Some(self.identity_file.clone()),
            known_hosts: Some(self.known_hosts.clone()),
            jump: Vec::new(),
            become_method: if self.user == "root" { Become::None } else { Become::Sudo { password } },
            kex: None,
            login_timeout: Some(LOGIN),
            persist: None,
        }
    }

    /// The command that gives a shell on a host.
    pub fn login(&self, host: &str) -> String {
        format!("ssh -F {} {host}", self.ssh_config)
    }
}

/// The folder of one lab and what lies in it.
#[derive(Debug, Clone)]
pub(crate) struct Folder {
    /// Canonical path of the inventory.
    pub(crate) inventory: Utf8PathBuf,
    /// Twelve digits that tell labs apart.
    pub(crate) hash: String,
    /// The folder.
    pub(crate) path: Utf8PathBuf,
}

impl Folder {
    pub(crate) fn new(state_root: &Utf8Path, inventory: &Utf8Path) -> Result<Self> {
        // An inventory that was deleted must still find its lab, to take it down.
        let inventory = match inventory.canonicalize_utf8() {
            Ok(path) => path,
            Err(_) => camino::absolute_utf8(inventory).with_context(|| format!("no path: {inventory}"))?,
        };
        let hash = short_hex(&Sha256::digest(inventory.as_str()));
        let path = state_root.join("lab").join(&hash);
        Ok(Self { inventory, hash, path })
    }

    pub(crate) fn file(&self, name: &str) -> Utf8PathBuf {
        self.path.join(name)
    }

    /// Reads the recorded state, without asking the engine.
    pub(crate) fn load(&self) -> Result<Option<LabState>> {
        let path = self.file("state.json");
        let text = match std::fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error).with_context(|| format!("cannot read {path}")),
        };
        let state: LabState = serde_json::from_str(&text)
            .with_context(|| format!("{path} is damaged: `provision lab up` writes it anew"))?;
        Ok((state.version == LabState::VERSION).then_some(state))
    }

    /// The public line of the lab's key, and the password of sudo where a host wants one.
    pub(crate) fn login(&self, wants_password: bool) -> Result<(String, String)> {
        let comment = format!("provision-lab-{}", self.hash);
        let key = files::client_key(&self.file("id_ed25519"), &comment)?;
        let password =
            if wants_password { files::password(&self.file("sudo-password"))? } else { String::new() };
        Ok((key, password))
    }

    /// A lab that has no hosts yet.
    pub(crate) fn state(&self, spec: &LabSpec, engine: &str, user: &str, wants_password: bool) -> LabState {
        LabState {
            version: LabState::VERSION,
            inventory: self.inventory.clone(),
            cluster: spec.cluster.clone(),
            engine: engine.to_owned(),
            network: String::new(),
            user: user.to_owned(),
            identity_file: self.file("id_ed25519"),
            known_hosts: self.file("known_hosts"),
            ssh_config: self.file("ssh_config"),
            sudo_password: wants_password.then(|| self.file("sudo-password")),
            mirror: None,
            hosts: Vec::new(),
        }
    }

    /// Records it with all that a client of ssh needs.
    pub(crate) fn record(&self, state: &LabState, known_hosts: &str) -> Result<()> {
        files::write(&state.known_hosts, known_hosts, 0o600)?;
        files::write(&state.ssh_config, &ssh_config(state), 0o600)?;
        self.save(state)
    }

    /// Records it, for [`load`](Self::load).
    pub(crate) fn save(&self, state: &LabState) -> Result<()> {
        files::write(&self.file("state.json"), &serde_json::to_string_pretty(state)?, 0o600)
    }
}

/// An `ssh_config` with which any ssh client reaches the lab's hosts by name.
fn ssh_config(state: &LabState) -> String {
    let mut text = format!("# The lab of {}; written by `provision lab up`.\n", state.inventory);
    for host in &state.hosts {
        let _ = write!(
            text,
            "\nHost {}\n    HostName {}\n    Port {}\n    User {}\n    IdentityFile \"{}\"\n    IdentitiesOnly yes\n    \
             UserKnownHostsFile \"{}\"\n    GlobalKnownHostsFile /dev/null\n    StrictHostKeyChecking yes\n",
            host.name, host.address, host.port, state.user, state.identity_file, state.known_hosts,
        );
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_clones_are_two_labs() {
        let root = Utf8Path::new("/state");
        let one = Folder::new(root, Utf8Path::new("/nonexistent/a/lab.yaml")).expect("folder");
        let two = Folder::new(root, Utf8Path::new("/nonexistent/b/lab.yaml")).expect("folder");
        assert_ne!(one.path, two.path);
        assert_eq!(one.hash.len(), 12);
    }
}
