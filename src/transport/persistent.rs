//! Logins that stay after the run, where `ssh.persist` asks for it.
//!
//! ```text
//!   BASE/warm/NAME.1f0c        the socket of a master that stays
//!   BASE/warm/NAME.1f0c.json   whose it is; its time is that of the last use, its lock says that a run uses it
//!   BASE/warm/NAME.1f0c.old    the same of a master that no new session may use
//! ```
//!
//! The name is a digest of everything that decides where and how a login goes, so that a change of any of it
//! makes a new login. Only the first login of a run to a host may be such a session: those that follow are there
//! because the connection was lost, or because only a new login shows what was changed.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::Read as _;
use std::os::unix::fs::{FileExt as _, MetadataExt as _};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use camino::{Utf8Path, Utf8PathBuf};
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use super::process::{exit_master, kill_master};
use super::{run_dir, wire};
use crate::disk;
use crate::inventory::Host;
use crate::words::hex;

/// The directory beside those of the runs.
const FOLDER: &str = "warm";
/// Digits of a digest that stand in a name.
const DIGITS: usize = 16;
/// Bytes of a name behind the base directory: the folder, the digest, a number of its own.
pub(super) const ROOM: usize = 1 + FOLDER.len() + 1 + DIGITS + 5;
/// The most that is read of a file of host keys.
const MOST: u64 = 64 << 20;
/// Time limit for the orderly end of a master.
const GRACE: Duration = Duration::from_secs(1);

/// Settings for logins that stay.
#[derive(Debug, Clone)]
pub struct Keep {
    /// The cluster that they are for, to be shown in lists.
    pub cluster: String,
    /// `$HOME`, which `~` in the user's own `ssh_config` stands for.
    pub home: Option<Utf8PathBuf>,
}

/// Content of the file beside a socket.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Note {
    host: String,
    address: String,
    cluster: String,
    /// Seconds that it stays after its last use.
    persist: u64,
}

/// The logins that stay, as a run sees them.
#[derive(Debug)]
pub(super) struct Warm {
    dir: Utf8PathBuf,
    keep: Keep,
    /// Sockets that were there when the run began, by name.
    there: BTreeMap<String, Vec<Utf8PathBuf>>,
    /// Hosts that the run has logged in to.
    visited: Mutex<BTreeSet<String>>,
}

/// Place where the login of a host stays.
#[derive(Debug)]
pub(super) struct Place {
    dir: Utf8PathBuf,
    name: String,
    note: Note,
    /// A master that is there already and may be used.
    pub(super) there: Option<Utf8PathBuf>,
}

impl Warm {
    /// Makes the directory and reads what is in it.
    pub(super) fn open(runtime_dir: Option<&Utf8Path>, keep: Keep) -> std::io::Result<Self> {
        let dir = run_dir::base(runtime_dir, ROOM)?.join(FOLDER);
        disk::private_directory(&dir)?;
        let mut there: BTreeMap<String, Vec<Utf8PathBuf>> = BTreeMap::new();
        for socket in sockets(&dir, "json") {
            there.entry(name_of(&socket).to_owned()).or_default().push(socket);
        }
        Ok(Self { dir, keep, there, visited: Mutex::default() })
    }

    /// Returns the place where the login of this host stays. `None` where it cannot be said what decides it.
    /// `asked` is what `ssh -G` says of it.
    pub(super) fn place(&self, host: &Host, asked: &str, lasting: Duration) -> Option<Place> {
        let name = digest(asked, host.ssh.known_hosts.as_deref(), self.keep.home.as_deref())?;
        let first = self.visited.lock().unwrap_or_else(PoisonError::into_inner).insert(host.name.clone());
        let there = if first {
            let known = self.there.get(&name).into_iter().flatten();
            // The youngest: it was made because another one did no longer do.
            known
                .max_by_key(|socket| socket.symlink_metadata().and_then(|found| found.modified()).ok())
                .cloned()
        } else {
            for socket in sockets(&self.dir, "json") {
                if name_of(&socket) == name {
                    retire(&socket);
                }
            }
            None
        };
        let note = Note {
            host: host.name.clone(),
            address: host.address.clone(),
            cluster: self.keep.cluster.clone(),
            persist: lasting.as_secs(),
        };
        Some(Place { dir: self.dir.clone(), name, note, there })
    }
}

impl Place {
    /// A path for the socket of a new master.
    pub(super) fn socket(&self) -> Utf8PathBuf {
        let nonce = wire::nonce();
        // The end of such an id is random.
        self.dir.join(format!("{}.{}", self.name, nonce.get(nonce.len() - 4..).unwrap_or(&nonce)))
    }

    /// Returns the seconds that a master stays after its last use.
    pub(super) fn seconds(&self) -> u64 {
        self.note.persist
    }

    /// Notes that a new master stays.
    pub(super) fn keep(&self, socket: &Utf8Path) -> std::io::Result<Kept> {
        disk::replace(&beside(socket, "json"), &serde_json::to_vec(&self.note)?)?;
        Kept::use_it(socket)
    }
}

/// A master that stays, as long as this run uses it.
#[derive(Debug)]
pub(super) struct Kept {
    socket: Utf8PathBuf,
    note: File,
    text: Vec<u8>,
}

impl Kept {
    /// Begins to use a master.
    pub(super) fn use_it(socket: &Utf8Path) -> std::io::Result<Self> {
        let mut note = File::options().read(true).write(true).open(beside(socket, "json"))?;
        let mut text = Vec::new();
        note.read_to_end(&mut text)?;
        note.lock_shared()?;
        Ok(Self { socket: socket.to_owned(), note, text })
    }

    pub(super) fn socket(&self) -> &Utf8Path {
        &self.socket
    }

    /// No new session uses it.
    pub(super) fn retire(&self) {
        retire(&self.socket);
    }

    /// The run uses it no longer. One that no new session may use ends with the last run that does.
    pub(super) async fn release(self) {
        let current = beside(&self.socket, "json").exists();
        if !current && self.note.unlock().is_ok() && self.note.try_lock().is_ok() {
            drop(tokio::time::timeout(GRACE, exit_master(&self.socket)).await);
            remove(&self.socket);
        }
    }

    /// Ends a master that does not answer, whoever uses it.
    pub(super) fn kill(self) {
        kill_master(&self.socket);
        remove(&self.socket);
    }
}

impl Drop for Kept {
    fn drop(&mut self) {
        // The same bytes: what counts is when they were written.
        drop(self.note.write_all_at(&self.text, 0));
    }
}

/// A login that stays.
#[derive(Debug, Clone)]
pub struct WarmLogin {
    /// The host that it was made for.
    pub host: String,
    /// Address that `ssh` was called with.
    pub address: String,
    /// The cluster of the inventory.
    pub cluster: String,
    /// When the login was made.
    pub since: SystemTime,
    /// When it was used last.
    pub used: SystemTime,
    /// Time that it stays after that.
    pub persist: Duration,
    /// Whether a run uses it now.
    pub busy: bool,
    socket: Utf8PathBuf,
}

impl WarmLogin {
    /// All that are there, by host; what the dead have left is removed.
    pub async fn all(runtime_dir: Option<&Utf8Path>) -> std::io::Result<Vec<Self>> {
        let mut all = Vec::new();
        for dir in run_dir::bases(runtime_dir)?.iter().map(|base| base.join(FOLDER)) {
            // One of somebody else has nothing of ours.
            if !dir.is_dir() || disk::private_directory(&dir).is_err() {
                continue;
            }
            for ending in ["json", "old"] {
                for socket in sockets(&dir, ending) {
                    if tokio::net::UnixStream::connect(&socket).await.is_err() {
                        remove(&socket);
                    } else if let Ok(login) = Self::read(&socket, ending) {
                        all.push(login);
                    }
                }
            }
        }
        all.sort_by(|a, b| (&a.cluster, &a.host, a.since).cmp(&(&b.cluster, &b.host, b.since)));
        Ok(all)
    }

    fn read(socket: &Utf8Path, ending: &str) -> std::io::Result<Self> {
        let path = beside(socket, ending);
        let note: Note = serde_json::from_slice(&disk::read(&path, 64 << 10)?)?;
        let file = File::open(&path)?;
        Ok(Self {
            since: socket.symlink_metadata()?.modified()?,
            used: file.metadata()?.modified()?,
            persist: Duration::from_secs(note.persist),
            busy: file.try_lock().is_err(),
            host: note.host,
            address: note.address,
            cluster: note.cluster,
            socket: socket.to_owned(),
        })
    }

    /// Ends it, whoever uses it.
    pub async fn end(&self) {
        drop(tokio::time::timeout(GRACE, exit_master(&self.socket)).await);
        // One that did not answer.
        kill_master(&self.socket);
        remove(&self.socket);
    }
}

/// Returns a name for what decides where and how a login goes: what `ssh -G` says of it, which keys of hosts
/// are recorded, and whether the private keys are still the same files. `None` where that cannot be read
/// here.
fn digest(asked: &str, known_hosts: Option<&Utf8Path>, home: Option<&Utf8Path>) -> Option<String> {
    let mut digest = Sha256::new();
    let mut add = |bytes: &[u8]| {
        digest.update((bytes.len() as u64).to_le_bytes());
        digest.update(bytes);
    };
    add(asked.as_bytes());
    let mut keys: Vec<Utf8PathBuf> = known_hosts.into_iter().map(Utf8Path::to_owned).collect();
    for line in asked.lines() {
        let (key, value) = line.split_once(' ').unwrap_or((line, ""));
        match key {
            "userknownhostsfile" | "globalknownhostsfile" if known_hosts.is_none() => {
                for word in value.split(' ').filter(|word| *word != "none") {
                    keys.push(path(word, home)?);
                }
            }
            "revokedhostkeys" if value != "none" => keys.push(path(value, home)?),
            // Nobody knows what they would say now.
            "knownhostscommand" if value != "none" => return None,
            "verifyhostkeydns" if value != "false" => return None,
            "identityfile" | "certificatefile" => {
                let found = path(value, home).and_then(|path| path.metadata().ok());
                let found = found.map(|found| (found.ino(), found.len(), found.mtime(), found.mtime_nsec()));
                add(format!("{found:?}").as_bytes());
            }
            _ => {}
        }
    }
    for file in keys {
        match disk::read(&file, MOST) {
            Ok(bytes) => add(&bytes),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => add(b"none"),
            Err(_) => return None,
        }
    }
    hex(&digest.finalize()).get(..DIGITS).map(str::to_owned)
}

/// A path as `ssh -G` says it; `None` where only ssh itself knows what it stands for.
fn path(word: &str, home: Option<&Utf8Path>) -> Option<Utf8PathBuf> {
    if word.contains(['%', '$']) {
        return None;
    }
    match word.strip_prefix("~/") {
        Some(rest) => Some(home?.join(rest)),
        None => word.starts_with('/').then(|| word.into()),
    }
}

/// Sockets whose note ends so. Notes that have lost their socket are removed.
fn sockets(dir: &Utf8Path, ending: &str) -> Vec<Utf8PathBuf> {
    let Ok(entries) = dir.read_dir_utf8() else { return Vec::new() };
    let notes = entries.flatten().map(|entry| entry.path().to_owned());
    let mut found = Vec::new();
    for note in notes.filter(|path| path.extension() == Some(ending)) {
        let socket = note.with_extension("");
        if socket.symlink_metadata().is_ok() {
            found.push(socket);
        } else {
            drop(std::fs::remove_file(note));
        }
    }
    found
}

fn name_of(socket: &Utf8Path) -> &str {
    socket.file_name().and_then(|name| name.split('.').next()).unwrap_or_default()
}

fn beside(socket: &Utf8Path, ending: &str) -> Utf8PathBuf {
    format!("{socket}.{ending}").into()
}

fn retire(socket: &Utf8Path) {
    drop(std::fs::rename(beside(socket, "json"), beside(socket, "old")));
}

fn remove(socket: &Utf8Path) {
    for path in [socket.to_owned(), beside(socket, "json"), beside(socket, "old")] {
        drop(std::fs::remove_file(path));
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    fn folder() -> (tempfile::TempDir, Utf8PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let path = Utf8Path::from_path(folder.path()).unwrap().to_owned();
        (folder, path)
    }

    /// Everything that decides a login is in its name.
    #[test]
    fn each_change_makes_another_name() {
        let (_folder, dir) = folder();
        let write = |name: &str, text: &str| std::fs::write(dir.join(name), text).unwrap();
        for name in ["id", "cert", "hosts", "hosts2", "all", "revoked", "ours"] {
            write(name, "one");
        }
        let asked = format!(
            "user me\nhostname gpu0\nport 22\nidentityfile ~/id\ncertificatefile {dir}/cert\n\
             userknownhostsfile ~/hosts {dir}/hosts2\nglobalknownhostsfile {dir}/all {dir}/none\n\
             revokedhostkeys {dir}/revoked\nverifyhostkeydns false\n"
        );
        let own = |asked: &str| digest(asked, None, Some(&dir)).unwrap();
        let first = own(&asked);
        assert_eq!((first.len(), &own(&asked)), (DIGITS, &first));
        let mut names = BTreeSet::from([first]);
        for (from, to) in [("me", "you"), ("gpu0", "gpu1"), ("22", "2222"), ("/id", "/cert")] {
            assert!(names.insert(own(&asked.replace(from, to))), "{to}");
        }
        for name in ["id", "cert", "hosts", "hosts2", "all", "none", "revoked"] {
            write(name, "another");
            assert!(names.insert(own(&asked)), "{name}");
        }
        // The file of the inventory is the only one then.
        let ours = || digest(&asked, Some(&dir.join("ours")), Some(&dir)).unwrap();
        let before = ours();
        assert!(names.insert(before.clone()));
        write("hosts", "yet another");
        assert_eq!(ours(), before);
        write("ours", "another");
        assert!(names.insert(ours()));
    }

    #[test]
    fn what_cannot_be_read_has_no_name() {
        let (_folder, dir) = folder();
        for asked in [
            "userknownhostsfile /keys/%h\n",
            "globalknownhostsfile ${KEYS}\n",
            "userknownhostsfile relative\n",
            "knownhostscommand /bin/keys %H\n",
            "verifyhostkeydns true\n",
            "revokedhostkeys %d/keys\n",
        ] {
            assert_eq!(digest(asked, None, Some(&dir)), None, "{asked}");
        }
        assert_eq!(digest("userknownhostsfile ~/keys\n", None, None), None);
        assert_eq!(digest("", Some(&dir), None), None);
    }

    #[test]
    fn a_path_fits_into_a_socket() {
        let (_folder, dir) = folder();
        let keep = Keep { cluster: "c".to_owned(), home: None };
        let warm = Warm::open(Some(&dir), keep).unwrap();
        assert_eq!(warm.dir.metadata().unwrap().permissions().mode() & 0o777, 0o700);
        let host = crate::transport::testing::host("gpu0");
        let place = warm.place(&host, "", Duration::from_mins(1)).unwrap();
        let base = warm.dir.parent().unwrap();
        assert_eq!(place.socket().as_str().len(), base.as_str().len() + ROOM);
    }
}
