//! Keys that were seen, judged by the files in which a login looks.

use std::collections::{BTreeMap, BTreeSet};

use camino::Utf8PathBuf;
use futures::future::join_all;

use super::contact::{AT_ONCE, Contact};
use super::key::{HostKey, KeyState, Recorded, judge};
use super::key_files::Entry;
use crate::exit::Exit;
use crate::inventory::Host;
use crate::secrets::Secrets;
use crate::settings::Settings;
use crate::transport::{
    CONNECT, ConnectKind, Ssh, SshSettings, Transport as _, TransportError, recorded_keys,
};

/// A key that was seen, of a host or of a jump host in front of it, and what to say of it.
#[derive(Debug)]
pub struct Judged<'a> {
    host: &'a Host,
    shown: &'a str,
    files: &'a [Utf8PathBuf],
    /// Whether it is the key of a jump host in front of the host.
    pub jump: bool,
    /// The key.
    pub key: &'a HostKey,
    /// Result of comparing it with those recorded.
    pub state: KeyState,
}

impl Judged<'_> {
    /// Name in messages of the host that showed it.
    pub fn name(&self) -> &str {
        if self.jump { &self.key.name } else { self.shown }
    }

    /// Lines that say another key of the host.
    pub fn others(&self) -> &[Recorded] {
        match &self.state {
            KeyState::Known | KeyState::New => &[],
            KeyState::Changed(old) => old,
            KeyState::Revoked(old) => std::slice::from_ref(old),
        }
    }

    /// The key to record, in place of those that are recorded for the host.
    pub fn entry(&self) -> Entry {
        let file = self.files.first().cloned().unwrap_or_default();
        let instead = match &self.state {
            KeyState::Changed(old) => old
                .iter()
                .filter(|old| old.file == file && old.marker.is_none())
                .map(|old| old.line)
                .collect(),
            KeyState::Known | KeyState::New | KeyState::Revoked(_) => BTreeSet::new(),
        };
        Entry { file, key: self.key.clone(), instead }
    }
}

/// Judges all keys that were seen. Where another key is recorded, a login as strict as a run's tells
/// whether that is the one of another type, or of an authority that signed what the host shows.
///
/// # Errors
/// When a file of keys cannot be read, or `ssh` cannot be used.
pub async fn judged<'a>(settings: &Settings, seen: &'a [Contact]) -> Result<Vec<Judged<'a>>, Exit> {
    let mut all = Vec::new();
    for Contact { host, shown, files, key, jumps, .. } in seen {
        for key in jumps {
            let state = judge(key, recorded(files, [&key.name]).await?, Vec::new());
            all.push(Judged { host, shown, files, jump: true, key, state });
        }
        if let Some(key) = key {
            let others = other_names(&host.address, &host.name, host.ssh.port, key);
            let others = recorded(files, &others).await?;
            let state = judge(key, recorded(files, [&key.name]).await?, others);
            all.push(Judged { host, shown, files, jump: false, key, state });
        }
    }
    let doubted = all.iter().filter(|judged| matches!(judged.state, KeyState::Changed(_)));
    let doubted: BTreeMap<usize, &Host> = doubted.map(|judged| (judged.host.index, judged.host)).collect();
    let accepted = accepted(settings, doubted.into_values().cloned().collect()).await?;
    for judged in &mut all {
        if accepted.contains(&judged.host.index) && matches!(judged.state, KeyState::Changed(_)) {
            judged.state = KeyState::Known;
        }
    }
    Ok(all)
}

/// Hosts whose keys a run would accept.
async fn accepted(settings: &Settings, hosts: Vec<Host>) -> Result<BTreeSet<usize>, Exit> {
    let mut accepted = BTreeSet::new();
    if hosts.is_empty() {
        return Ok(accepted);
    }
    let ssh_settings = SshSettings { runtime_dir: settings.runtime_dir.clone(), ..SshSettings::default() };
    let ssh = Ssh::start(ssh_settings, &hosts, Secrets::default()).await.map_err(Exit::of)?;
    for group in hosts.chunks(AT_ONCE) {
        let asked = group.iter().map(|host| async {
            match ssh.open(host, CONNECT).await {
                Ok(mut remote) => {
                    remote.close().await;
                    Some(host.index)
                }
                // These come after the host has proven its key.
                Err(TransportError::Connect {
                    kind:
                        ConnectKind::KeyRefused
                        | ConnectKind::PasswordRefused
                        | ConnectKind::NoShell
                        | ConnectKind::SudoPassword
                        | ConnectKind::SudoRefused
                        | ConnectKind::PasswordUntried
                        | ConnectKind::WrongUser,
                    ..
                }) => Some(host.index),
                Err(_) => None,
            }
        });
        accepted.extend(join_all(asked).await.into_iter().flatten());
    }
    ssh.close().await;
    Ok(accepted)
}

/// Names that a host may have in `known_hosts` beside the one that ssh looks for: its address and its name
/// in the inventory. ssh(1) puts a port that is not 22 behind brackets.
fn other_names(address: &str, name: &str, port: Option<u16>, key: &HostKey) -> BTreeSet<String> {
    let seen = key.name.rsplit_once("]:").and_then(|(_, port)| port.parse().ok());
    let names = [address, name].map(|name| match seen.or(port) {
        None | Some(22) => name.to_owned(),
        Some(port) => format!("[{name}]:{port}"),
    });
    names.into_iter().filter(|name| *name != key.name).collect()
}

async fn recorded(
    files: &[Utf8PathBuf],
    names: impl IntoIterator<Item = &String>,
) -> Result<Vec<Recorded>, Exit> {
    let mut all = Vec::new();
    for name in names {
        for file in files {
            let answer = recorded_keys(file, name)
                .await
                .map_err(|error| Exit::caused(format!("cannot read {file}"), error))?;
            all.extend(Recorded::parse(file, &answer));
        }
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_is_looked_for_under_all_its_names() {
        let names = |key: &str, port| {
            let key = HostKey::parse(&format!("{key} ssh-ed25519 AAAA")).unwrap();
            let names = other_names("10.0.0.1", "gpu0", port, &key);
            names.into_iter().collect::<Vec<_>>().join(" ")
        };
        assert_eq!(names("10.0.0.1", None), "gpu0");
        assert_eq!(names("[10.0.0.1]:2222", Some(2222)), "[gpu0]:2222");
        assert_eq!(names("alias", Some(2222)), "[10.0.0.1]:2222 [gpu0]:2222");
        // The port may be in the user's own configuration.
        assert_eq!(names("[10.0.0.1]:2222", None), "[gpu0]:2222");
    }
}
