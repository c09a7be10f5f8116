//! Host keys: seen over our own connections, shown, and recorded only when a person says so.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context as _;
use base64::Engine as _;
use camino::{Utf8Path, Utf8PathBuf};
use sha2::{Digest as _, Sha256};
use tokio::task::JoinSet;

use crate::cli::dispatch::Exit;
use crate::cli::settings::Settings;
use crate::exit;
use crate::inventory::{Host, TransportKind};
use crate::put;
use crate::report::output;
use crate::report::style::{BAD, CHANGE, GOOD, paint, safe_line};
use crate::secrets::Secrets;
use crate::transport::{
    ConnectKind, Remote, Ssh, SshSettings, Transport as _, TransportError, keys_of_jump_hosts,
};

/// Hosts that are looked at together.
const AT_ONCE: usize = 32;

/// One line of a `known_hosts` file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct HostKey {
    /// The whole line: `[127.0.0.1]:2222 ssh-ed25519 AAAA...`.
    pub line: String,
    /// Its first field.
    pub name: String,
    /// `ssh-ed25519 AAAA...`.
    pub key: String,
}

impl HostKey {
    fn parse(line: &str) -> Option<Self> {
        let line = line.trim();
        let (name, rest) = line.split_once(' ')?;
        let mut words = rest.split_whitespace();
        let key = format!("{} {}", words.next()?, words.next()?);
        (!name.starts_with(['#', '@'])).then(|| Self { line: line.to_owned(), name: name.to_owned(), key })
    }

    /// `ED25519 SHA256:...` as `ssh` shows it.
    pub(crate) fn fingerprint(&self) -> String {
        let (kind, blob) = self.key.split_once(' ').unwrap_or((&self.key, ""));
        let bytes = base64::engine::general_purpose::STANDARD.decode(blob).unwrap_or_default();
        let digest = base64::engine::general_purpose::STANDARD_NO_PAD.encode(Sha256::digest(bytes));
        let kind = kind.trim_start_matches("ssh-").trim_start_matches("ecdsa-sha2-").to_uppercase();
        format!("{kind} SHA256:{digest}")
    }
}

/// What was seen of a host.
pub(crate) struct Seen {
    /// The host.
    pub host: Host,
    /// The key that it showed.
    pub key: Option<HostKey>,
    /// Keys of the jump hosts in front of it.
    pub jumps: Vec<HostKey>,
    /// The open host, or why it is not.
    pub login: Result<Box<dyn Remote>, TransportError>,
}

impl std::fmt::Debug for Seen {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Seen").field("host", &self.host.name).field("key", &self.key).finish_non_exhaustive()
    }
}

/// Connects to hosts with whatever key they show. Nothing is sent to them but the login itself,
/// and what comes back is used only after a person accepted the key.
///
/// # Errors
/// When `ssh` cannot be used here.
pub(crate) async fn look(
    settings: &Settings,
    hosts: &[Host],
    secrets: &Secrets,
) -> anyhow::Result<Vec<Seen>> {
    let directory = tempdir()?;
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
    let ssh = Arc::new(Ssh::start(ssh_settings, &probes, secrets.clone()).await?);
    let mut seen = Vec::new();
    for group in probes.iter().zip(hosts).collect::<Vec<_>>().chunks(AT_ONCE) {
        let mut tasks = JoinSet::new();
        for (probe, host) in group.iter().map(|(probe, host)| ((*probe).clone(), (*host).clone())) {
            let (ssh, home) = (ssh.clone(), settings.home.clone());
            tasks.spawn(async move {
                let login = ssh.open(&probe, Duration::from_secs(15)).await;
                // Under the names that ssh gave them: an alias or another port of the user's own file counts.
                let read = |path: &Utf8Path| -> Vec<HostKey> {
                    let text = std::fs::read_to_string(path).unwrap_or_default();
                    text.lines().filter_map(HostKey::parse).collect()
                };
                let file = probe.ssh.known_hosts.clone().unwrap_or_default();
                let key = read(&file).into_iter().next();
                let jumps = read(&keys_of_jump_hosts(&file));
                let mut host = host;
                if host.ssh.known_hosts.is_none() {
                    host.ssh.known_hosts = users_file(ssh.known_hosts(&host).await, home.as_deref());
                }
                Seen { host, key, jumps, login }
            });
        }
        while let Some(joined) = tasks.join_next().await {
            seen.push(joined.context("a host's task was lost")?);
        }
    }
    seen.sort_by_key(|seen| seen.host.index);
    ssh.close().await;
    if let Err(error) = std::fs::remove_dir_all(&directory) {
        tracing::debug!(%error, "remove temporary known_hosts");
    }
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

fn tempdir() -> anyhow::Result<Utf8PathBuf> {
    use std::os::unix::fs::DirBuilderExt as _;
    let name = format!("provision-trust-{}", uuid::Uuid::now_v7().simple());
    let path = Utf8Path::new("/tmp").join(name);
    std::fs::DirBuilder::new().mode(0o700).create(&path).with_context(|| format!("cannot create {path}"))?;
    Ok(path)
}

/// `provision inventory trust`; `again` is that command as it was typed.
///
/// # Errors
/// When a key was not recorded, or a file cannot be written.
pub(crate) async fn record(
    settings: &Settings,
    hosts: &[Host],
    inventory: &Utf8Path,
    again: &str,
    yes: bool,
    replace: bool,
) -> anyhow::Result<u8> {
    let over_ssh: Vec<Host> = hosts
        .iter()
        .filter(|host| host.transport == TransportKind::Ssh && host.offline.is_none())
        .cloned()
        .collect();
    let mut seen = look(settings, &over_ssh, &Secrets::default()).await?;
    for seen in &mut seen {
        if let Ok(remote) = &mut seen.login {
            remote.close().await;
        }
    }
    let mut unreached = false;
    let mut new = Vec::new();
    let mut refused = Vec::new();
    for seen in &seen {
        let file = known_hosts(&seen.host);
        for jump in &seen.jumps {
            if !known(&file, &jump.name).iter().any(|other| other.key == jump.key) {
                let entry = (file.clone(), jump.clone());
                if !new.contains(&entry) {
                    output::say(&format!(
                        "{}        {} (jump host)  {}",
                        paint(CHANGE, "new"),
                        jump.name,
                        jump.fingerprint()
                    ));
                    new.push(entry);
                }
            }
        }
        let Some(key) = &seen.key else {
            unreached = true;
            let reason = seen.login.as_ref().err().map_or("showed no key".to_owned(), ToString::to_string);
            output::say(&format!("{}  {}  {}", paint(BAD, "unreached"), seen.host.name, safe_line(&reason)));
            continue;
        };
        match known(&file, &key.name) {
            known if known.iter().any(|other| other.key == key.key) => {
                output::say(&format!(
                    "{}      {}  {}",
                    paint(GOOD, "known"),
                    seen.host.name,
                    key.fingerprint()
                ));
            }
            known if known.iter().any(|other| same_kind(other, key)) && !replace => {
                refused.push(seen.host.name.clone());
                output::say(&format!(
                    "{}    {}  {}",
                    paint(BAD, "changed"),
                    seen.host.name,
                    key.fingerprint()
                ));
                for old in known {
                    output::say(&format!("           recorded in {file}: {}", old.fingerprint()));
                }
            }
            _ => {
                output::say(&format!(
                    "{}        {}  {}",
                    paint(CHANGE, "new"),
                    seen.host.name,
                    key.fingerprint()
                ));
                new.push((file, key.clone()));
            }
        }
    }
    if !refused.is_empty() {
        return Err(Exit::new(
            exit::CONFIG,
            format!("{} show another key than the recorded one", refused.join(", ")),
        )
        .hint(format!(
            "if they were reinstalled: provision inventory trust {inventory} --hosts {} --replace",
            refused.join(",")
        ))
        .into());
    }
    if !new.is_empty() {
        confirm(settings, yes, &format!("{again} --yes"))?;
        append(&new, replace)?;
        output::say(&format!("{} recorded; next: provision plan {inventory}", keys(new.len())));
    }
    Ok(if unreached { exit::UNREACHABLE } else { exit::OK })
}

/// Asks whether the shown keys are the right ones.
///
/// # Errors
/// When the answer is no, or nobody can be asked.
pub(crate) fn confirm(settings: &Settings, yes: bool, command: &str) -> anyhow::Result<()> {
    if yes {
        return Ok(());
    }
    if !settings.interactive {
        return Err(Exit::new(exit::USAGE, "these keys are not recorded: nobody is here to say that they are the right ones")
            .hint(format!("compare them with `ssh-keygen -lf /etc/ssh/ssh_host_ed25519_key.pub` on the hosts, then: {command}"))
            .into());
    }
    let term = console::Term::stderr();
    term.write_str("Are these the keys of your hosts? Record them? [y/N] ").context("cannot ask")?;
    let answer = term.read_line().context("cannot read the answer")?;
    if matches!(answer.trim(), "y" | "Y" | "yes") {
        Ok(())
    } else {
        Err(Exit::new(exit::USAGE, "not recorded").into())
    }
}

/// The file that holds a host's keys.
#[expect(clippy::disallowed_methods, reason = "the default of ssh itself")]
pub(crate) fn known_hosts(host: &Host) -> Utf8PathBuf {
    host.ssh.known_hosts.clone().unwrap_or_else(|| {
        let home = std::env::var("HOME").unwrap_or_else(|_| "/root".to_owned());
        Utf8PathBuf::from(home).join(".ssh/known_hosts")
    })
}

fn same_kind(a: &HostKey, b: &HostKey) -> bool {
    a.key.split(' ').next() == b.key.split(' ').next()
}

/// Keys that a file has under a name. Hashed names are not read: they are ssh's to compare.
fn known(file: &Utf8Path, name: &str) -> Vec<HostKey> {
    let text = std::fs::read_to_string(file).unwrap_or_default();
    text.lines()
        .filter_map(HostKey::parse)
        .filter(|key| key.name.split(',').any(|part| part == name))
        .collect()
}

/// Records keys; with `replace`, in place of those that the file has under the same name.
///
/// # Errors
/// When a file cannot be written.
pub(crate) fn append(keys: &[(Utf8PathBuf, HostKey)], replace: bool) -> anyhow::Result<()> {
    let mut by_file: BTreeMap<&Utf8Path, Vec<&HostKey>> = BTreeMap::new();
    for (file, key) in keys {
        by_file.entry(file).or_default().push(key);
    }
    for (file, keys) in by_file {
        if let Some(directory) = file.parent().filter(|directory| !directory.as_str().is_empty()) {
            std::fs::create_dir_all(directory).with_context(|| format!("cannot create {directory}"))?;
        }
        let old = std::fs::read_to_string(file).unwrap_or_default();
        let kept = old.lines().filter(|line| {
            let Some(parsed) = HostKey::parse(line) else { return true };
            !(replace && keys.iter().any(|key| key.name == parsed.name))
        });
        let mut text = String::new();
        for line in kept {
            put!(text, "{line}\n");
        }
        for key in keys {
            text.push_str(&key.line);
            text.push('\n');
        }
        // A reader never sees half a file.
        let temporary = Utf8PathBuf::from(format!("{file}.new"));
        let mut out =
            std::fs::File::create(&temporary).with_context(|| format!("cannot write {temporary}"))?;
        out.write_all(text.as_bytes()).with_context(|| format!("cannot write {temporary}"))?;
        out.sync_all().with_context(|| format!("cannot write {temporary}"))?;
        std::fs::rename(&temporary, file).with_context(|| format!("cannot write {file}"))?;
    }
    Ok(())
}

fn keys(number: usize) -> String {
    crate::report::style::count(number as u64, "key")
}

/// What kept a login from working.
pub(super) fn login_problem(error: &TransportError) -> (ConnectKind, String) {
    match error {
        TransportError::Connect { kind, message } => (*kind, message.clone()),
        TransportError::Lost { message } | TransportError::Protocol { message } => {
            (ConnectKind::Other, message.clone())
        }
        TransportError::PartTimedOut { .. } => (ConnectKind::TimedOut, error.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_read_and_replaced() {
        let directory = tempfile::tempdir().unwrap();
        let file = Utf8PathBuf::from_path_buf(directory.path().join("known_hosts")).unwrap();
        std::fs::write(&file, "# mine\n[127.0.0.1]:2222 ssh-ed25519 AAAA\nother ssh-rsa BBBB\n").unwrap();
        let key = HostKey::parse("[127.0.0.1]:2222 ssh-ed25519 CCCC").unwrap();
        assert_eq!(known(&file, "[127.0.0.1]:2222").len(), 1);
        append(&[(file.clone(), key)], true).unwrap();
        let text = std::fs::read_to_string(&file).unwrap();
        assert_eq!(text, "# mine\nother ssh-rsa BBBB\n[127.0.0.1]:2222 ssh-ed25519 CCCC\n");
    }

    #[test]
    fn fingerprints_are_those_of_ssh() {
        let line = "h ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIOMqqnkVzrm0SdG6UOoqKLsabgH5C9okWi0dh2l9GKJl";
        let key = HostKey::parse(line).unwrap();
        assert_eq!(key.fingerprint(), "ED25519 SHA256:+DiY3wvvV6TuJJhbpZisF/zLDA0zPMSvHdkr4UvCOqU");
    }
}
