//! Kernel locks of this controller: two runs never work on the same host of a cluster.
//!
//! Every run that changes something holds `locks/<run>` with the names of its hosts in it. The
//! lock is free the moment the process ends, however that happens.

use std::collections::BTreeSet;
use std::fs::{self, File, TryLockError};
use std::io::{Read as _, Write as _};

use camino::Utf8Path;

use crate::{disk, put};

/// Reason why the lock was not taken.
#[derive(Debug, thiserror::Error)]
pub enum LockError {
    /// Another run works on some of the hosts.
    #[error("run {run} works on {hosts}")]
    Held {
        /// Id of that run.
        run: String,
        /// The hosts that both want, folded.
        hosts: String,
    },
    /// The lock file cannot be used.
    #[error(
        "cannot lock {path} (network file systems may not have locks; set XDG_STATE_HOME to a local directory)"
    )]
    Unusable {
        /// The file.
        path: String,
        /// The underlying error.
        #[source]
        source: std::io::Error,
    },
}

/// The lock of a run; free when dropped.
#[derive(Debug)]
pub struct RunLock {
    _file: File,
    path: camino::Utf8PathBuf,
}

impl Drop for RunLock {
    fn drop(&mut self) {
        if let Err(error) = fs::remove_file(&self.path) {
            tracing::debug!(%error, "remove lock");
        }
    }
}

impl RunLock {
    /// Takes the lock for some hosts of a cluster.
    ///
    /// # Errors
    /// [`LockError::Held`] when another live run has one of the hosts.
    pub fn take(cluster: &Utf8Path, run: &str, hosts: &BTreeSet<String>) -> Result<Self, LockError> {
        let directory = cluster.join("locks");
        let unusable = |path: &Utf8Path| {
            let path = path.to_string();
            move |source| LockError::Unusable { path, source }
        };
        disk::private_directory(&directory).map_err(unusable(&directory))?;
        // Only one run at a time looks and enters.
        let gate_path = directory.join("gate");
        let gate = disk::open_lock(&gate_path).map_err(unusable(&gate_path))?;
        gate.lock().map_err(unusable(&gate_path))?;
        for entry in directory.read_dir_utf8().map_err(unusable(&directory))?.filter_map(Result::ok) {
            let other = entry.file_name().to_owned();
            if other == "gate" {
                continue;
            }
            let Ok(mut file) = File::open(entry.path()) else { continue };
            match file.try_lock() {
                Ok(()) => {
                    // Its run is dead.
                    if let Err(error) = fs::remove_file(entry.path()) {
                        tracing::debug!(%error, "remove stale lock");
                    }
                }
                Err(TryLockError::WouldBlock) => {
                    let mut text = String::new();
                    if let Err(error) = file.read_to_string(&mut text) {
                        tracing::debug!(%error, "read lock");
                    }
                    let both: Vec<String> =
                        text.lines().filter(|host| hosts.contains(*host)).map(str::to_owned).collect();
                    if !both.is_empty() {
                        return Err(LockError::Held {
                            run: other,
                            hosts: crate::hostlist::fold(both.iter().map(String::as_str)),
                        });
                    }
                }
                Err(TryLockError::Error(source)) => {
                    return Err(LockError::Unusable { path: entry.path().to_string(), source });
                }
            }
        }
        let path = directory.join(run);
        let mut file = disk::create(&path).map_err(unusable(&path))?;
        file.try_lock().map_err(|error| match error {
            TryLockError::WouldBlock => LockError::Held { run: run.to_owned(), hosts: "all".to_owned() },
            TryLockError::Error(source) => LockError::Unusable { path: path.to_string(), source },
        })?;
        let mut text = String::new();
        for host in hosts {
            put!(text, "{host}\n");
        }
        file.write_all(text.as_bytes()).map_err(unusable(&path))?;
        Ok(Self { _file: file, path })
    }
}

/// A run of this controller that works on the cluster now. Nothing is locked by looking: the gate keeps runs
/// that begin away from their own lock, which a look may hold for a moment.
pub fn running(cluster: &Utf8Path) -> Option<String> {
    let directory = cluster.join("locks");
    let gate = File::open(directory.join("gate")).ok()?;
    gate.lock().ok()?;
    let entries = directory.read_dir_utf8().ok()?.filter_map(Result::ok);
    let mut runs = entries.map(|entry| entry.file_name().to_owned()).filter(|name| name != "gate");
    runs.find(|run| is_alive(cluster, run))
}

/// Whether a run of this controller is still alive.
pub fn is_alive(cluster: &Utf8Path, run: &str) -> bool {
    File::open(cluster.join("locks").join(run))
        .is_ok_and(|file| matches!(file.try_lock(), Err(TryLockError::WouldBlock)))
}

/// The same for a run of any cluster: inventories may share hosts.
pub fn is_alive_anywhere(state: &Utf8Path, run: &str) -> bool {
    let Ok(entries) = state.read_dir_utf8() else { return false };
    entries.filter_map(Result::ok).any(|cluster| is_alive(cluster.path(), run))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn overlapping_runs_are_kept_apart() {
        let directory = tempfile::tempdir().unwrap();
        let cluster = Utf8Path::from_path(directory.path()).unwrap();
        assert_eq!(running(cluster), None);
        let hosts = |names: &[&str]| names.iter().map(|n| (*n).to_owned()).collect::<BTreeSet<_>>();
        let first = RunLock::take(cluster, "r1", &hosts(&["gpu0", "gpu1"])).unwrap();
        assert!(is_alive(cluster, "r1"));
        assert_eq!(running(cluster).as_deref(), Some("r1"));
        assert!(is_alive_anywhere(cluster.parent().unwrap(), "r1"));
        let error = RunLock::take(cluster, "r2", &hosts(&["gpu1", "gpu2"])).unwrap_err();
        assert_eq!(error.to_string(), "run r1 works on gpu1");
        let other = RunLock::take(cluster, "r3", &hosts(&["gpu2"])).unwrap();
        drop(first);
        assert!(!is_alive(cluster, "r1"));
        RunLock::take(cluster, "r4", &hosts(&["gpu0", "gpu1"])).unwrap();
        drop(other);
        assert_eq!(running(cluster), None);
    }
}
