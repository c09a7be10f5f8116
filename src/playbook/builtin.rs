//! Files under `playbooks/`, compiled in.

/// The file of versions beside the playbooks, which is no playbook.
pub const VERSIONS_FILE: &str = "versions.yaml";

/// Path below `playbooks/` and content, in order of the paths.
const FILES: &[(&str, &[u8])] = include!(concat!(env!("OUT_DIR"), "/playbooks.rs"));

/// A compiled-in file by its path below `playbooks/`.
pub fn file(path: &str) -> Option<&'static [u8]> {
    FILES.iter().find(|(name, _)| *name == path).map(|(_, content)| *content)
}

/// Compiled-in files below a directory: path within it and content.
pub fn below(directory: &str) -> impl Iterator<Item = (&'static str, &'static [u8])> {
    let directory = format!("{}/", directory.trim_end_matches('/'));
    FILES.iter().filter_map(move |(name, content)| Some((name.strip_prefix(directory.as_str())?, *content)))
}

/// Names of the built-in playbooks.
pub fn names() -> impl Iterator<Item = &'static str> {
    let files = FILES.iter().map(|(name, _)| *name).filter(|name| *name != VERSIONS_FILE);
    files.filter_map(|name| name.strip_suffix(".yaml")).filter(|name| !name.contains('/'))
}
