//! State that one run keeps for the next, beside the runs of its cluster.

use camino::{Utf8Path, Utf8PathBuf};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::disk;

/// Failed operation on a file of the journal.
#[derive(Debug, thiserror::Error)]
#[error("cannot {what} {path}")]
pub struct JournalError {
    what: &'static str,
    path: Utf8PathBuf,
    source: std::io::Error,
}

impl JournalError {
    pub(super) fn new(what: &'static str, path: &Utf8Path) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self { what, path, source }
    }
}

/// Reads what was kept; nothing, where there is no file or one that is not understood.
pub fn read_state<T: Default + DeserializeOwned>(path: &Utf8Path) -> T {
    let Ok(bytes) = std::fs::read(path) else { return T::default() };
    serde_json::from_slice(&bytes).unwrap_or_else(|error| {
        tracing::warn!(%path, %error, "started again empty, because it cannot be understood");
        T::default()
    })
}

/// Keeps a value; readers see the old one or the new one, never a part.
///
/// # Errors
/// When the file cannot be written.
pub fn write_state(path: &Utf8Path, value: &impl Serialize) -> Result<(), JournalError> {
    let bytes = serde_json::to_vec(value).map_err(std::io::Error::from);
    bytes.and_then(|bytes| disk::replace(path, &bytes)).map_err(JournalError::new("write", path))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    #[test]
    fn kept_and_read() {
        let directory = tempfile::tempdir().unwrap();
        let path = Utf8Path::from_path(directory.path()).unwrap().join("counters.json");
        assert_eq!(read_state::<BTreeMap<String, u64>>(&path), BTreeMap::new());
        write_state(&path, &BTreeMap::from([("a".to_owned(), 1_u64)])).unwrap();
        assert_eq!(read_state::<BTreeMap<String, u64>>(&path), BTreeMap::from([("a".to_owned(), 1)]));
        std::fs::write(&path, b"{ cut").unwrap();
        assert_eq!(read_state::<BTreeMap<String, u64>>(&path), BTreeMap::new());
    }
}
