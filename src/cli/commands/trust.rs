//! Host keys: seen over our own connections, shown, and recorded only when a person says so.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt as _;
use std::pin::pin;
use std::time::Duration;

use anyhow::Context as _;
use base64::Engine as _;
use camino::{Utf8Path, Utf8PathBuf};
use futures::future::join_all;
use sha2::{Digest as _, Sha256};
use tokio::time::timeout;

use super::key_files::{self, Entry, append};
use crate::cli::dispatch::Exit;
use crate::cli::settings::Settings;
use crate::exit;
use crate::hostlist::fold;
use crate::inventory::Host;
use crate::report::rows::hanging;
use crate::report::style::{BAD, CHANGE, GOOD, paint, safe_line};
use crate::report::{output, prompt};
use crate::secrets::Secrets;
use crate::transport::{
    CONNECT, ConnectKind, Remote, Ssh, SshSettings, Transport as _, TransportError, keys_of_jump_hosts,
    quote, recorded_keys, ssh_home,
};

/// Hosts that are looked at together.
const AT_ONCE: usize = 32;

/// So long nothing is said of hosts that have not answered yet.
const PATIENCE: Duration = Duration::from_secs(2);

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

/// A line of a file of host keys that is about a host.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Recorded {
    file: Utf8PathBuf,
    /// Its number, from 1.
    line: usize,
    /// `@cert-authority` or `@revoked`.
    marker: Option<String>,
    key: HostKey,
}

impl Recorded {
    /// The answer of `ssh-keygen -F`: `# Host NAME found: line 7`, then the line.
    fn parse(file: &Utf8Path, answer: &str) -> Vec<Self> {
        let mut number = None;
        let mut all = Vec::new();
        for line in answer.lines() {
            if let Some((_, found)) = line.strip_prefix("# Host ").and_then(|rest| rest.rsplit_once(" line "))
            {
                number = found.split_whitespace().next().and_then(|number| number.parse().ok());
                continue;
            }
            let (marker, rest) = match line.split_once(' ') {
                Some((marker, rest)) if marker.starts_with('@') => (Some(marker.to_owned()), rest),
                _ => (None, line),
            };
            if let (Some(line), Some(key)) = (number.take(), HostKey::parse(rest)) {
                all.push(Self { file: file.to_owned(), line, marker, key });
            }
        }
        all
    }

    fn revokes(&self, key: &HostKey) -> bool {
        self.marker.as_deref() == Some("@revoked") && self.key.key == key.key
    }

    fn is(&self, key: &HostKey) -> bool {
        self.marker.is_none() && self.key.key == key.key
    }

    /// Whether it says something of this host: what is revoked for many does not.
    fn tells(&self) -> bool {
        self.marker.as_deref() != Some("@revoked") || !self.key.name.contains(['*', '?'])
    }
}

/// Result of comparing a key with those recorded.
#[derive(Debug, Clone, PartialEq, Eq)]
enum KeyState {
    Known,
    /// Nothing is recorded, or the same key under another name.
    New,
    /// Other keys are recorded.
    Changed(Vec<Recorded>),
    /// A line says that nobody may show it.
    Revoked(Recorded),
}

/// Judges a key by what is recorded under the name that ssh looks for, and under other names of the host.
fn judge(key: &HostKey, own: Vec<Recorded>, others: Vec<Recorded>) -> KeyState {
    if let Some(line) = own.iter().chain(&others).find(|line| line.revokes(key)) {
        return KeyState::Revoked(line.clone());
    }
    if own.iter().any(|line| line.is(key)) {
        return KeyState::Known;
    }
    let same = !own.iter().any(Recorded::tells) && others.iter().any(|line| line.is(key));
    let mut other_keys: Vec<Recorded> = Vec::new();
    for line in own.into_iter().chain(others).filter(Recorded::tells) {
        // A line with a pattern is found under several names.
        if !other_keys.contains(&line) {
            other_keys.push(line);
        }
    }
    if same || other_keys.is_empty() { KeyState::New } else { KeyState::Changed(other_keys) }
}

impl HostKey {
    pub(super) fn parse(line: &str) -> Option<Self> {
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

/// Result of contacting a host.
pub(crate) struct Contact {
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
/// and what comes back is used only after a person accepted the key.
///
/// # Errors
/// When `ssh` cannot be used here.
pub(crate) async fn look(
    settings: &Settings,
    hosts: &[Host],
    secrets: &Secrets,
) -> anyhow::Result<Vec<Contact>> {
    let folder = tempfile::Builder::new()
        .prefix("provision-trust-")
        .permissions(Permissions::from_mode(0o700))
        .tempdir_in("/tmp")
        .context("cannot make a directory in /tmp")?;
    let directory = Utf8Path::from_path(folder.path()).context("/tmp is no UTF-8")?;
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
            let text = format!("waiting for {}, at most {} s", safe_line(&names), CONNECT.as_secs());
            output::say(&hanging(&text, 2, settings.width));
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

async fn recorded(
    files: &[Utf8PathBuf],
    names: impl IntoIterator<Item = &String>,
) -> anyhow::Result<Vec<Recorded>> {
    let mut all = Vec::new();
    for name in names {
        for file in files {
            let answer = recorded_keys(file, name).await.with_context(|| format!("cannot read {file}"))?;
            all.extend(Recorded::parse(file, &answer));
        }
    }
    Ok(all)
}

/// A key that was seen, of a host or of a jump host in front of it, and what to say of it.
struct Judged<'a> {
    host: &'a Host,
    shown: &'a str,
    files: &'a [Utf8PathBuf],
    jump: bool,
    key: &'a HostKey,
    state: KeyState,
}

impl Judged<'_> {
    fn name(&self) -> &str {
        if self.jump { &self.key.name } else { self.shown }
    }

    fn say(&self, word: &str, width: Option<usize>) {
        let jump = if self.jump { " (jump host)" } else { "" };
        let line = format!("{word}  {}{jump}  {}", safe_line(self.name()), self.key.fingerprint());
        output::say(&hanging(&line, 11, width));
        let old = match &self.state {
            KeyState::Known | KeyState::New => &[],
            KeyState::Changed(old) => old.as_slice(),
            KeyState::Revoked(old) => std::slice::from_ref(old),
        };
        for old in old {
            let marker = old.marker.as_deref().map(|marker| format!(" {marker}")).unwrap_or_default();
            let place = format!("{}:{}", old.file, old.line);
            let line = format!("           recorded before in {place}:{marker} {}", old.key.fingerprint());
            output::say(&hanging(&line, 13, width));
        }
    }

    fn entry(&self) -> Entry {
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
async fn judged<'a>(settings: &Settings, seen: &'a [Contact]) -> anyhow::Result<Vec<Judged<'a>>> {
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
async fn accepted(settings: &Settings, hosts: Vec<Host>) -> anyhow::Result<BTreeSet<usize>> {
    let mut accepted = BTreeSet::new();
    if hosts.is_empty() {
        return Ok(accepted);
    }
    let ssh_settings = SshSettings { runtime_dir: settings.runtime_dir.clone(), ..SshSettings::default() };
    let ssh = Ssh::start(ssh_settings, &hosts, Secrets::default()).await?;
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

/// Shows what was seen. The keys to record; those that are not to be, and whether they are revoked.
pub(super) async fn review(
    settings: &Settings,
    seen: &[Contact],
    replace: bool,
) -> anyhow::Result<(Vec<Entry>, Vec<(HostKey, bool)>)> {
    let (mut entries, mut refused) = (Vec::new(), Vec::new());
    for judged in judged(settings, seen).await? {
        match &judged.state {
            KeyState::Known => judged.say(&format!("{}    ", paint(GOOD, "known")), settings.width),
            KeyState::New => {
                let entry = judged.entry();
                if !entries.contains(&entry) {
                    judged.say(&format!("{}      ", paint(CHANGE, "new")), settings.width);
                    entries.push(entry);
                }
            }
            KeyState::Changed(_) => {
                judged.say(&format!("{}  ", paint(BAD, "changed")), settings.width);
                if replace {
                    entries.push(judged.entry());
                } else {
                    refused.push((judged.key.clone(), false));
                }
            }
            KeyState::Revoked(_) => {
                judged.say(&format!("{}  ", paint(BAD, "revoked")), settings.width);
                refused.push((judged.key.clone(), true));
            }
        }
    }
    Ok((entries, refused))
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
    let over_ssh: Vec<Host> =
        hosts.iter().filter(|host| host.transport.is_ssh() && host.offline.is_none()).cloned().collect();
    let site = inventory.parent().unwrap_or(Utf8Path::new(""));
    let named: BTreeSet<&Utf8Path> =
        over_ssh.iter().filter_map(|host| host.ssh.known_hosts.as_deref()).collect();
    for file in named {
        key_files::held(file, site)?;
    }
    let mut seen = look(settings, &over_ssh, &Secrets::default()).await?;
    for seen in &mut seen {
        if let Ok(remote) = &mut seen.login {
            remote.close().await;
        }
    }
    let (new, refused) = review(settings, &seen, replace).await?;
    let mut unreached = false;
    for seen in seen.iter().filter(|seen| seen.key.is_none()) {
        unreached = true;
        let reason = seen.login.as_ref().err().map_or("showed no key".to_owned(), ToString::to_string);
        output::say(&format!("{}  {}  {}", paint(BAD, "unreached"), seen.host.name, safe_line(&reason)));
    }
    if !refused.is_empty() {
        let names: Vec<&str> = refused.iter().map(|(key, _)| key.name.as_str()).collect();
        let show = if names.len() == 1 { "shows" } else { "show" };
        let mut error =
            Exit::new(exit::CONFIG, format!("{} {show} another key than the recorded one", names.join(", ")));
        if refused.iter().any(|(_, revoked)| *revoked) {
            error = error.hint(
                "a line with `@revoked` says that a key is never to be taken again: give the host a new one, or take the line away",
            );
        } else {
            let shows = |seen: &&Contact| {
                seen.key
                    .iter()
                    .chain(&seen.jumps)
                    .any(|key| refused.iter().any(|(refused, _)| refused == key))
            };
            let hosts: Vec<&str> = seen.iter().filter(shows).map(|seen| seen.host.name.as_str()).collect();
            error = error.hint(format!(
                "if they were reinstalled: provision inventory trust {} --hosts {} --replace",
                quote(inventory.as_str()),
                hosts.join(",")
            ));
        }
        return Err(error.into());
    }
    if !new.is_empty() {
        confirm(settings, yes, &key_files::names(&new), &format!("{again} --yes"))?;
        append(&new, site)?;
        // Who replaces keys was in the middle of something, with options of its own.
        let next = if replace {
            "run again what was refused".to_owned()
        } else {
            format!(
                "next: provision plan {} (with --ask-become-pass where sudo wants a password)",
                quote(inventory.as_str())
            )
        };
        output::say(&format!("{} recorded in {}; {next}", keys(new.len()), key_files::names(&new)));
    }
    Ok(if unreached { exit::UNREACHABLE } else { exit::OK })
}

/// Phrase that tells where the fingerprint of a host's own key can be read, for hints.
const COMPARE: &str = "what `ssh-keygen -lf /etc/ssh/ssh_host_ed25519_key.pub` prints on its host (at its console, or as its provider shows it)";

/// Asks whether the shown keys are the right ones, and may be recorded in `file`.
///
/// # Errors
/// When the answer is no, or nobody can be asked.
pub(crate) fn confirm(settings: &Settings, yes: bool, file: &str, command: &str) -> anyhow::Result<()> {
    if yes {
        return Ok(());
    }
    if !settings.interactive {
        return Err(Exit::new(
            exit::USAGE,
            "these keys are not recorded: there is no terminal to ask whether they are right",
        )
        .hint(format!("compare each key with {COMPARE}, then: {command}"))
        .into());
    }
    output::say(&hanging(&format!("compare each key with {COMPARE}"), 2, settings.width));
    let question = format!("Record these in {} as the keys of your hosts?", safe_line(file));
    if prompt::confirm(&question).context("cannot read the answer")? {
        Ok(())
    } else {
        Err(Exit::new(exit::USAGE, "you did not agree: no key is recorded, and nothing was touched").into())
    }
}

fn keys(number: usize) -> String {
    crate::words::count(number as u64, "key")
}

/// Returns the kind and the message of a failed login.
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
    fn any_recorded_key_makes_another_one_a_changed_one() {
        let recorded = |line: &str| {
            let answer = format!("# Host h found: line 7 \n{line}\n");
            Recorded::parse("f".into(), &answer)
        };
        let key = HostKey::parse("alias ssh-ed25519 AAAA").unwrap();
        let of = |own: &str, others: &str| judge(&key, recorded(own), recorded(others));
        assert_eq!(of("alias ssh-ed25519 AAAA", ""), KeyState::Known);
        assert_eq!(of("", ""), KeyState::New);
        assert_eq!(of("", "10.0.0.1 ssh-ed25519 AAAA"), KeyState::New);
        assert_eq!(of("@revoked * ssh-rsa BBBB", ""), KeyState::New);
        assert!(matches!(of("h ssh-rsa BBBB", "10.0.0.1 ssh-ed25519 AAAA"), KeyState::Changed(_)));
        for line in
            ["h ssh-ed25519 BBBB", "h ssh-rsa BBBB", "@cert-authority * ssh-rsa B", "@revoked h ssh-rsa B"]
        {
            assert_eq!(of(line, ""), KeyState::Changed(recorded(line)), "{line}");
            assert_eq!(of("", line), KeyState::Changed(recorded(line)), "{line}");
        }
        let revoked = "@revoked * ssh-ed25519 AAAA";
        assert!(matches!(of("alias ssh-ed25519 AAAA", revoked), KeyState::Revoked(line) if line.line == 7));
    }

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

    #[test]
    fn fingerprints_are_those_of_ssh() {
        let line = "h ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIOMqqnkVzrm0SdG6UOoqKLsabgH5C9okWi0dh2l9GKJl";
        let key = HostKey::parse(line).unwrap();
        assert_eq!(key.fingerprint(), "ED25519 SHA256:+DiY3wvvV6TuJJhbpZisF/zLDA0zPMSvHdkr4UvCOqU");
    }
}
