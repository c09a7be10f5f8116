//! Hosts as they are seen with whatever key they show.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt as _;
use std::pin::pin;
use std::time::Duration;

use camino::{Utf8Path, Utf8PathBuf};
use futures::future::join_all;
use tokio::time::timeout;

use super::key::HostKey;
use crate::exit::{self, Exit};
use crate::hostlist::fold;
use crate::inventory::Host;
use crate::secrets::Secrets;
use crate::settings::Settings;
use crate::transport::{
    CONNECT, Remote, Ssh, SshSettings, Transport as _, TransportError, keys_of_jump_hosts, ssh_home,
};

/// Hosts that are looked at together.
pub(super) const AT_ONCE: usize = 32;

/// So long nothing is said of hosts that have not answered yet.
const PATIENCE: Duration = Duration::from_secs(2);

/// Result of contacting a host.
pub struct Contact {
    /// The host.
    pub host: Host,
    /// Name of the host in messages: that of the inventory.
    pub shown: String,
    /// Files in which a login to it looks for keys; new keys are recorded in the first.
    pub files: Vec<Utf8PathBuf>,
    /// The key that it showed.
    pub key: Option<HostKey>,
    /// Keys of the jump hosts in front of it.
    pub jumps: Vec<HostKey>,
    /// The open host, or why it is not.
    pub login: Result<Box<dyn Remote>, TransportError>,
}

impl std::fmt::Debug for Contact {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Contact")
            .field("host", &self.host.name)
            .field("key", &self.key)
            .finish_non_exhaustive()
    }
}

/// Connects to hosts with whatever key they show. Nothing is sent to them but the login itself,
/// and what comes back is used only after a person accepted the key. `waiting` gets the hosts that take longer than
/// others.
///
/// # Errors
/// When `ssh` cannot be used here.
pub async fn look(
    settings: &Settings,
    hosts: &[Host],
    secrets: &Secrets,
    waiting: &dyn Fn(&str),
) -> Result<Vec<Contact>, Exit> {
    let folder = tempfile::Builder::new()
        .prefix("provision-trust-")
        .permissions(Permissions::from_mode(0o700))
        .tempdir_in("/tmp")
        .map_err(|error| Exit::caused("cannot make a directory in /tmp", error))?;
    let directory =
        Utf8Path::from_path(folder.path()).ok_or_else(|| Exit::new(exit::BUG, "/tmp is no UTF-8"))?;
    let mut probes = Vec::new();
    for host in hosts {
        let mut probe = host.clone();
        probe.ssh.known_hosts = Some(directory.join(format!("{}", host.index)));
        probes.push(probe);
    }
    let ssh_settings = SshSettings {
        runtime_dir: settings.runtime_dir.clone(),
        accept_new: true,
        terminal: settings.interactive,
        ..SshSettings::default()
    };
    let ssh = Ssh::start(ssh_settings, &probes, secrets.clone()).await;
    let ssh = ssh.map_err(|error| Exit::new(exit::CONFIG, error.to_string()))?;
    let mut seen = Vec::new();
    let home = ssh_home().await;
    for group in probes.iter().zip(hosts).collect::<Vec<_>>().chunks(AT_ONCE) {
        let silent = RefCell::new(group.iter().map(|(_, host)| host.index).collect::<BTreeSet<_>>());
        let asked = group.iter().map(|(probe, host)| async {
            let login = ssh.open(probe, CONNECT).await;
            silent.borrow_mut().remove(&host.index);
            // ssh itself says under which name it looks: an address, or a `HostKeyAlias`.
            let file = probe.ssh.known_hosts.clone().unwrap_or_default();
            let key = written(&file).into_iter().next();
            let jumps = written(&keys_of_jump_hosts(&file));
            let files = files(host, &ssh, home.as_deref()).await;
            Contact { host: (*host).clone(), shown: host.name.clone(), files, key, jumps, login }
        });
        let mut asked = pin!(join_all(asked));
        let answers = if let Ok(answers) = timeout(PATIENCE, &mut asked).await {
            answers
        } else {
            let silent = silent.borrow().clone();
            let silent = group.iter().filter(|(_, host)| silent.contains(&host.index));
            let names = fold(silent.map(|(_, host)| host.address.as_str()));
            waiting(&names);
            asked.await
        };
        seen.extend(answers);
    }
    seen.sort_by_key(|seen| seen.host.index);
    ssh.close().await;
    Ok(seen)
}

/// A file of the user's own configuration as a path; `None` where ssh's default must do.
fn users_file(word: Option<String>, home: Option<&Utf8Path>) -> Option<Utf8PathBuf> {
    let word = word.filter(|word| !word.contains(['%', '$']))?;
    match word.strip_prefix("~/") {
        Some(rest) => Some(home?.join(rest)),
        None => word.starts_with('/').then(|| word.into()),
    }
}

fn written(file: &Utf8Path) -> Vec<HostKey> {
    std::fs::read_to_string(file).unwrap_or_default().lines().filter_map(HostKey::parse).collect()
}

/// The files that a login to the host looks for keys in, at least one; in the first they are recorded.
async fn files(host: &Host, ssh: &Ssh, home: Option<&Utf8Path>) -> Vec<Utf8PathBuf> {
    if let Some(file) = &host.ssh.known_hosts {
        return vec![file.clone()];
    }
    // What ssh itself takes when nothing else is said.
    let usual = || home.unwrap_or(Utf8Path::new("/root")).join(".ssh/known_hosts");
    let file = users_file(ssh.known_hosts(host).await, home).unwrap_or_else(usual);
    let more = [format!("{file}2"), "/etc/ssh/ssh_known_hosts".into(), "/etc/ssh/ssh_known_hosts2".into()];
    std::iter::once(file).chain(more.map(Utf8PathBuf::from)).collect()
}
