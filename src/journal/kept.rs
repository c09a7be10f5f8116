//! What one run keeps for the next, beside the runs of its cluster.

use anyhow::Context as _;
use camino::Utf8Path;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::disk;

/// Reads what was kept; nothing, where there is no file or one that is not understood.
pub fn read_state<T: Default + DeserializeOwned>(path: &Utf8Path) -> T {
    let Ok(bytes) = std::fs::read(path) else { return T::default() };
    serde_json::from_slice(&bytes).unwrap_or_else(|error| {
        tracing::warn!(%path, %error, "begun anew, for it is not understood");
        T::default()
    })
}

/// Keeps a value; readers see the old one or the new one, never a part.
///
/// # Errors
/// When the file cannot be written.
pub fn write_state(path: &Utf8Path, value: &impl Serialize) -> anyhow::Result<()> {
    let bytes = serde_json::to_vec(value).context("cannot be kept")?;
    disk::replace(path, &bytes).with_context(|| format!("cannot write {path}"))
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
