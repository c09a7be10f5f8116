//! Records of acceptance on disk: `$XDG_STATE_HOME/provision/<cluster>/acceptance/<id>.json`. They are what both sides
//! agreed on, so none is forgotten.

use std::io::{Read as _, Seek as _, SeekFrom, Write as _};

use camino::{Utf8Path, Utf8PathBuf};

use super::saved_state::JournalError;
use crate::disk;

const DIRECTORY: &str = "acceptance";

/// Keeps a record under the id of its run; where it is.
///
/// # Errors
/// When the state directory cannot be written.
pub fn keep_acceptance(cluster: &Utf8Path, id: &str, bytes: &[u8]) -> Result<Utf8PathBuf, JournalError> {
    let directory = cluster.join(DIRECTORY);
    disk::private_directory(&directory).map_err(JournalError::new("use", &directory))?;
    let path = directory.join(format!("{id}.json"));
    disk::replace(&path, bytes).map_err(JournalError::new("write", &path))?;
    Ok(path)
}

/// Reads the last record of a cluster; none where there is none that can be read.
pub fn last_acceptance<T: serde::de::DeserializeOwned>(cluster: &Utf8Path) -> Option<T> {
    let entries = cluster.join(DIRECTORY).read_dir_utf8().ok()?;
    let last = entries.filter_map(Result::ok).map(|entry| entry.path().to_owned()).max()?;
    serde_json::from_slice(&std::fs::read(last).ok()?).ok()
}

/// The file of what parts of a cluster did, a line for each look at a host.
const LEDGER: &str = "parts.jsonl";

/// Returns the ledger of a cluster; empty where there is none.
///
/// # Errors
/// When it cannot be read.
pub fn ledger(cluster: &Utf8Path) -> Result<Vec<u8>, JournalError> {
    let path = cluster.join(LEDGER);
    match std::fs::read(&path) {
        Ok(bytes) => Ok(bytes),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(Vec::new()),
        Err(error) => Err(JournalError::new("read", &path)(error)),
    }
}

/// Adds lines to the ledger of a cluster. A line that was cut short before is ended first.
///
/// # Errors
/// When it cannot be written.
pub fn add_to_ledger(cluster: &Utf8Path, lines: &[String]) -> Result<(), JournalError> {
    let path = cluster.join(LEDGER);
    if lines.is_empty() {
        return Ok(());
    }
    let add = || {
        disk::private_directory(cluster)?;
        let mut file = disk::open_lock(&path)?;
        file.lock()?;
        let mut last = [0];
        if file.seek(SeekFrom::End(0))? > 0 {
            file.seek(SeekFrom::End(-1))?;
            file.read_exact(&mut last)?;
        }
        let ending = if matches!(last, [0 | b'\n']) { "" } else { "\n" };
        file.write_all(format!("{ending}{}\n", lines.join("\n")).as_bytes())
    };
    add().map_err(JournalError::new("write", &path))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_that_was_cut_short_spoils_no_other() {
        let directory = tempfile::tempdir().unwrap();
        let cluster = Utf8Path::from_path(directory.path()).unwrap().join("lab");
        assert_eq!(ledger(&cluster).unwrap(), b"");
        add_to_ledger(&cluster, &["one".to_owned()]).unwrap();
        std::fs::write(cluster.join(LEDGER), "one\ntw").unwrap();
        add_to_ledger(&cluster, &["three".to_owned(), "four".to_owned()]).unwrap();
        assert_eq!(ledger(&cluster).unwrap(), b"one\ntw\nthree\nfour\n");
    }
}
