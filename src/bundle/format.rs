//! Format of a bundle: one line that identifies it, an index, and the files one after another.

use std::collections::{BTreeMap, BTreeSet};

use camino::{Utf8Component, Utf8Path, Utf8PathBuf};
use serde::{Deserialize, Serialize};

use crate::inventory::Origin;

/// First words of every bundle; then come the number of its format, the length of the index and its SHA-256.
pub(super) const MAGIC: &str = "provision bundle";
/// The format that is written and read here.
pub(super) const FORMAT: u32 = 1;
/// The longest first line.
pub(super) const HEAD: u64 = 160;
/// The longest index, in bytes.
pub(super) const LONGEST: u64 = 256 << 20;

/// Contents of a bundle. Everything is in order, so that the same project gives the same bytes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Index {
    /// Version of the program that made it: built-in playbooks are a part of the program.
    pub program: String,
    /// Name of the cluster.
    pub cluster: String,
    /// Path of the inventory among the files.
    pub inventory: Utf8PathBuf,
    /// `--set` of the command that made it.
    pub set: Vec<String>,
    /// Output of the programs of `hosts_from`, by their command lines.
    pub lists: BTreeMap<String, String>,
    /// Directories, for those that hold no file.
    pub directories: BTreeSet<Utf8PathBuf>,
    /// The files, in the order of their contents.
    pub files: BTreeMap<Utf8PathBuf, Entry>,
}

/// A file in a bundle.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entry {
    /// Bytes.
    pub size: u64,
    /// SHA-256 in hex.
    pub sha256: String,
}

/// Whether a path of an index leads nowhere but below the directory that it is unpacked in.
pub(super) fn is_inside(path: &Utf8Path) -> bool {
    path != "" && path.components().all(|part| matches!(part, Utf8Component::Normal(_)))
}

/// Returns the key of a program of `hosts_from` in [`Index::lists`]; `None` for a file.
pub(super) fn list_key(origin: &Origin) -> Option<String> {
    match origin {
        Origin::Program { argv, .. } => serde_json::to_string(argv).ok(),
        Origin::File(_) => None,
    }
}
