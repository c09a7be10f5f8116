//! Looks at hosts on disk: `$XDG_STATE_HOME/provision/<cluster>/looks/<id>.json.gz`, by which a host is compared with its
//! own past.

use std::fs;

use camino::{Utf8Path, Utf8PathBuf};

use super::saved_state::JournalError;
use crate::disk;

/// Looks that are kept for a cluster.
const KEPT: usize = 100;
const DIRECTORY: &str = "looks";
const END: &str = ".json.gz";

/// Keeps a look under an id, which is one of a run, and forgets the oldest ones.
///
/// # Errors
/// When the state directory cannot be written.
pub fn keep_look(cluster: &Utf8Path, id: &str, bytes: &[u8]) -> Result<(), JournalError> {
    let directory = cluster.join(DIRECTORY);
    disk::private_directory(&directory).map_err(JournalError::new("use", &directory))?;
    let path = directory.join(format!("{id}{END}"));
    disk::replace(&path, bytes).map_err(JournalError::new("write", &path))?;
    let ids = looks(cluster);
    for old in ids.iter().take(ids.len().saturating_sub(KEPT)) {
        if let Err(error) = fs::remove_file(directory.join(format!("{old}{END}"))) {
            tracing::debug!(%error, old, "forget look");
        }
    }
    Ok(())
}

/// Ids of the looks of a cluster, oldest first.
pub fn looks(cluster: &Utf8Path) -> Vec<String> {
    let Ok(entries) = cluster.join(DIRECTORY).read_dir_utf8() else { return Vec::new() };
    let names = entries.filter_map(Result::ok);
    let mut ids: Vec<String> =
        names.filter_map(|entry| Some(entry.file_name().strip_suffix(END)?.to_owned())).collect();
    ids.sort();
    ids
}

/// Path of the newest look that was taken until a run or a day: `20261130-225540-12345`, `20261130`.
pub fn look_until(cluster: &Utf8Path, until: &str) -> Option<Utf8PathBuf> {
    let is_until = |id: &String| id.as_str() <= until || id.starts_with(until);
    let id = looks(cluster).into_iter().rfind(is_until)?;
    Some(cluster.join(DIRECTORY).join(format!("{id}{END}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_look_until_a_day_or_a_run_is_found() {
        let directory = tempfile::tempdir().unwrap();
        let cluster = Utf8Path::from_path(directory.path()).unwrap();
        for id in ["20261128-100000-00000", "20261129-100000-00000", "20261129-120000-00000"] {
            keep_look(cluster, id, b"look").unwrap();
        }
        let until = |text: &str| look_until(cluster, text).map(|path| path.file_name().unwrap().to_owned());
        for (text, found) in [
            ("20261129-110000-12345", Some("20261129-100000-00000.json.gz")),
            ("20261129-100000-00000", Some("20261129-100000-00000.json.gz")),
            ("20261129", Some("20261129-120000-00000.json.gz")),
            ("20261128", Some("20261128-100000-00000.json.gz")),
            ("20261127", None),
        ] {
            assert_eq!(until(text).as_deref(), found, "{text}");
        }
    }

    #[test]
    fn the_oldest_looks_are_forgotten() {
        let directory = tempfile::tempdir().unwrap();
        let cluster = Utf8Path::from_path(directory.path()).unwrap();
        for number in 0..=KEPT {
            keep_look(cluster, &format!("look{number:03}"), b"look").unwrap();
        }
        let ids = looks(cluster);
        assert_eq!((ids.len(), ids.first().map(String::as_str)), (KEPT, Some("look001")));
    }
}
