//! Writing and reading recorded runs.

use std::fs::{self, File};
use std::io::{BufRead as _, BufReader, Write as _};
use std::time::{Duration, Instant};

use camino::{Utf8Path, Utf8PathBuf};

use super::saved_state::JournalError;
use crate::disk;
use crate::events::{Event, EventKind, Outcome, Sink};

/// Recorded runs that are kept for a cluster.
const KEPT: usize = 100;

/// `fsync` at most this often, and at the end; a run that changed nothing needs none.
const SYNC_EVERY: Duration = Duration::from_millis(200);

/// Directory below which all state of this user stands.
pub fn state_home(home: Option<&str>, xdg_state_home: Option<&str>, user: u32) -> Utf8PathBuf {
    match (xdg_state_home.filter(|path| path.starts_with('/')), home) {
        (Some(path), _) => Utf8PathBuf::from(path).join("provision"),
        (None, Some(home)) => Utf8PathBuf::from(home).join(".local/state/provision"),
        (None, None) => Utf8PathBuf::from(format!("/var/tmp/provision-{user}")),
    }
}

/// Directory below which all that can be made again stands.
pub fn cache_home(home: Option<&str>, xdg_cache_home: Option<&str>, user: u32) -> Utf8PathBuf {
    match (xdg_cache_home.filter(|path| path.starts_with('/')), home) {
        (Some(path), _) => Utf8PathBuf::from(path).join("provision"),
        (None, Some(home)) => Utf8PathBuf::from(home).join(".cache/provision"),
        (None, None) => Utf8PathBuf::from(format!("/var/tmp/provision-{user}/cache")),
    }
}

/// A new run's id: its start in UTC with milliseconds, by which runs are ordered, and two hex digits
/// against two at once.
pub fn new_run_id(now: jiff::Timestamp) -> String {
    let random = uuid::Uuid::now_v7().simple().to_string();
    let tail = random.get(random.len() - 2..).unwrap_or("00").to_owned();
    format!("{}-{:03}{tail}", now.strftime("%Y%m%d-%H%M%S"), now.subsec_millisecond())
}

/// The journal of one run.
#[derive(Debug)]
pub struct Journal {
    file: File,
    path: Utf8PathBuf,
    synced: Instant,
    unsynced: bool,
}

impl Journal {
    /// Starts the journal of a run and forgets the oldest runs of its cluster.
    ///
    /// # Errors
    /// When the state directory cannot be written.
    pub fn create(cluster: &Utf8Path, run: &str) -> Result<Self, JournalError> {
        let directory = cluster.join(run);
        disk::private_directory(&directory).map_err(JournalError::new("use", &directory))?;
        let path = directory.join("events.jsonl");
        let file = disk::create(&path).map_err(JournalError::new("create", &path))?;
        let runs = run_names(cluster);
        for old in runs.iter().take(runs.len().saturating_sub(KEPT)) {
            if let Err(error) = fs::remove_dir_all(cluster.join(old)) {
                tracing::debug!(%error, old, "forget run");
            }
        }
        Ok(Self { file, path, synced: Instant::now(), unsynced: false })
    }

    /// Returns the path of the journal.
    pub fn path(&self) -> &Utf8Path {
        &self.path
    }
}

impl Sink for Journal {
    fn write(&mut self, event: &Event) -> Result<(), String> {
        let lost = |error| format!("the journal {} cannot be written any more: {error}", self.path);
        let mut line = serde_json::to_vec(event).map_err(|error| lost(error.into()))?;
        line.push(b'\n');
        self.file.write_all(&line).map_err(lost)?;
        let end = matches!(event.kind, EventKind::RunFinished { .. });
        let act = matches!(
            event.kind,
            EventKind::TaskFinished {
                outcome: Outcome::Changed { .. } | Outcome::Ran { .. } | Outcome::Failed(_),
                ..
            }
        );
        self.unsynced |= act;
        if self.unsynced && (end || self.synced.elapsed() >= SYNC_EVERY) {
            self.synced = Instant::now();
            self.unsynced = false;
            self.file.sync_data().map_err(lost)?;
        }
        Ok(())
    }
}

/// A recorded run in a list.
#[derive(Debug, Clone)]
pub struct RunInfo {
    /// Its id.
    pub run: String,
    /// Its first event.
    pub first: Option<Event>,
    /// Its last event; anything but `RunFinished` says that it was killed.
    pub last: Option<Event>,
}

/// The recorded runs of a cluster, oldest first.
pub fn list(cluster: &Utf8Path) -> Vec<RunInfo> {
    run_names(cluster)
        .into_iter()
        .map(|run| {
            let events = read(cluster, &run).unwrap_or_default();
            RunInfo { first: events.first().cloned(), last: events.last().cloned(), run }
        })
        .collect()
}

/// The newest recorded run of a cluster.
pub fn last_run(cluster: &Utf8Path) -> Option<String> {
    run_names(cluster).pop()
}

/// The events of a run. A line that cannot be read ends the reading: a killed run may have left
/// half a line.
///
/// # Errors
/// When there is no such run.
pub fn read(cluster: &Utf8Path, run: &str) -> Result<Vec<Event>, JournalError> {
    let path = cluster.join(run).join("events.jsonl");
    let file = File::open(&path).map_err(JournalError::new("open", &path))?;
    let mut events = Vec::new();
    for line in BufReader::new(file).lines() {
        let line = line.map_err(JournalError::new("read", &path))?;
        match serde_json::from_str(&line) {
            Ok(event) => events.push(event),
            Err(_) => break,
        }
    }
    Ok(events)
}

/// Names of the recorded runs of a cluster, oldest first.
pub fn run_names(cluster: &Utf8Path) -> Vec<String> {
    let Ok(entries) = cluster.read_dir_utf8() else { return Vec::new() };
    let mut names: Vec<String> = entries
        .filter_map(Result::ok)
        .filter(|entry| entry.path().join("events.jsonl").exists())
        .map(|entry| entry.file_name().to_owned())
        .collect();
    names.sort();
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_old_run_goes_with_all_that_belongs_to_it() {
        let directory = tempfile::tempdir().unwrap();
        let cluster = Utf8Path::from_path(directory.path()).unwrap();
        for number in 0..=KEPT {
            let run = format!("run{number:03}");
            Journal::create(cluster, &run).unwrap();
            super::super::RunLog::create(&cluster.join(run)).unwrap();
        }
        assert!(!cluster.join("run000").exists());
        assert!(cluster.join("run001/log").exists());
    }
}
