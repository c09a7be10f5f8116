//! Files of this machine and compiled-in files that tasks name as `src`.

use std::collections::BTreeMap;
use std::io::Read as _;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use camino::{Utf8Component, Utf8Path, Utf8PathBuf};
use sha2::{Digest as _, Sha256};

use super::builtin;
use crate::config::did_you_mean;
use crate::config::yaml::MAX_FILE;
use crate::disk::{self, short};
use crate::resources::Local;
use crate::words::hex;

/// Location of a playbook's file; paths in the playbook are relative to it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Origin {
    /// Compiled in: path below `playbooks/`.
    BuiltIn(String),
    /// A file of this machine.
    Disk(Utf8PathBuf),
}

/// The largest file that travels inside a frame.
const SMALL: u64 = 1 << 20;
/// The most entries of a directory.
const MAX_TREE: usize = 10_000;
/// The most bytes of small files that are kept: those beyond are read again when they are sent, as large ones are.
const MOST_KEPT: u64 = 64 << 20;

/// A path without `.` and `..` where they can be taken away.
pub fn normal(path: &Utf8Path) -> String {
    let mut parts: Vec<&str> = Vec::new();
    for component in path.components() {
        match component {
            Utf8Component::Normal(part) => parts.push(part),
            Utf8Component::ParentDir => {
                parts.pop();
            }
            Utf8Component::CurDir | Utf8Component::RootDir | Utf8Component::Prefix(_) => {}
        }
    }
    parts.join("/")
}

/// A text file of a user.
///
/// # Errors
/// What is wrong with it, for the user.
pub fn read_text(path: &Utf8Path) -> Result<String, String> {
    disk::read_text(path, MAX_FILE).map_err(|error| short(&error))
}

/// The help for a file that is not there: one beside it that is called almost so.
pub fn near(path: &Utf8Path) -> Option<String> {
    let folder = path.parent().filter(|folder| *folder != "").unwrap_or(Utf8Path::new("."));
    let wanted = path.file_name().filter(|_| !path.exists())?;
    let entries = folder.read_dir_utf8().ok()?.flatten();
    let names: Vec<String> = entries.map(|entry| entry.file_name().to_owned()).collect();
    let found = did_you_mean(wanted, names.iter().map(String::as_str))?;
    Some(format!("did you mean `{}`?", path.with_file_name(found)))
}

/// Files that were read; a file is read once per run.
#[derive(Debug, Default)]
pub struct Files {
    known: Mutex<BTreeMap<Origin, Result<Local, String>>>,
    /// First mention of each file of this machine: the text that names it, and the playbook that it stands
    /// in.
    asked: Mutex<BTreeMap<Utf8PathBuf, (String, Origin)>>,
    /// The bytes that are kept.
    kept: AtomicU64,
}

impl Files {
    /// Reads the file or directory that `src` names, seen from a playbook's file.
    ///
    /// # Errors
    /// A text for the user.
    pub fn get(&self, src: &str, from: &Origin) -> Result<Local, String> {
        let origin = match from {
            Origin::BuiltIn(file) => {
                let base = Utf8Path::new(file).parent().unwrap_or(Utf8Path::new(""));
                Origin::BuiltIn(normal(&base.join(src)))
            }
            Origin::Disk(file) => Origin::Disk(file.parent().unwrap_or(Utf8Path::new("")).join(src)),
        };
        if let Origin::Disk(path) = &origin {
            let mut asked = self.asked.lock().unwrap_or_else(PoisonError::into_inner);
            asked.entry(path.clone()).or_insert_with(|| (src.to_owned(), from.clone()));
        }
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.entry(origin).or_insert_with_key(|origin| read(origin, &self.kept)).clone()
    }
}

impl Files {
    /// Returns the first mention of a file or of a directory that it is in: the text that names it, and the
    /// playbook that the text stands in.
    pub fn asked(&self, path: &Utf8Path) -> Option<(String, Origin)> {
        let asked = self.asked.lock().unwrap_or_else(PoisonError::into_inner);
        path.ancestors().find_map(|path| asked.get(path).cloned())
    }

    /// The files of this machine that were read, and the directories that were looked through.
    pub fn on_disk(&self) -> (Vec<Utf8PathBuf>, Vec<Utf8PathBuf>) {
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let (mut files, mut directories) = (Vec::new(), Vec::new());
        for (origin, local) in known.iter() {
            let (Origin::Disk(path), Ok(local)) = (origin, local) else { continue };
            let Local::Tree(entries) = local else {
                files.push(path.clone());
                continue;
            };
            directories.push(path.clone());
            for (name, entry) in entries {
                let list = if entry.is_some() { &mut files } else { &mut directories };
                list.push(path.join(name));
            }
        }
        (files, directories)
    }
}

fn read(origin: &Origin, kept: &AtomicU64) -> Result<Local, String> {
    match origin {
        Origin::BuiltIn(path) => built_in(path),
        Origin::Disk(path) => on_disk(path, kept).map_err(|error| format!("cannot read `{path}`: {error}")),
    }
}

fn built_in(path: &str) -> Result<Local, String> {
    if let Some(bytes) = builtin::file(path) {
        return Ok(Local::Bytes(bytes.into()));
    }
    let mut tree: BTreeMap<String, Option<Local>> = BTreeMap::new();
    for (name, bytes) in builtin::below(path) {
        for (slash, _) in name.match_indices('/') {
            tree.insert(name.get(..slash).unwrap_or("").to_owned(), None);
        }
        tree.insert(name.to_owned(), Some(Local::Bytes(bytes.into())));
    }
    if tree.is_empty() {
        return Err(format!("there is no built-in file `playbooks/{path}`"));
    }
    Ok(Local::Tree(tree.into_iter().collect()))
}

fn on_disk(path: &Utf8Path, kept: &AtomicU64) -> Result<Local, String> {
    if path.is_dir() {
        let mut tree = Vec::new();
        walk(path, path, &mut tree, kept)?;
        tree.sort_by(|(a, _), (b, _)| a.cmp(b));
        return Ok(Local::Tree(tree));
    }
    let mut file = disk::open(path).map_err(|error| short(&error))?;
    let length = file.metadata().map_err(|error| short(&error))?.len();
    if length <= SMALL && kept.fetch_add(length, Ordering::Relaxed) <= MOST_KEPT {
        return Ok(Local::Bytes(disk::read(path, SMALL).map_err(|error| short(&error))?.into()));
    }
    let mut hash = Sha256::new();
    let mut buffer = vec![0_u8; 1 << 16];
    let mut size = 0_u64;
    loop {
        let read = file.read(&mut buffer).map_err(|error| short(&error))?;
        if read == 0 {
            break;
        }
        hash.update(buffer.get(..read).unwrap_or(&[]));
        size += read as u64;
    }
    Ok(Local::Large { path: path.to_owned(), size, sha256: hex(&hash.finalize()) })
}

fn walk(
    root: &Utf8Path,
    directory: &Utf8Path,
    tree: &mut Vec<(String, Option<Local>)>,
    kept: &AtomicU64,
) -> Result<(), String> {
    for entry in directory.read_dir_utf8().map_err(|error| short(&error))? {
        let path: Utf8PathBuf = entry.map_err(|error| short(&error))?.into_path();
        let name = path.strip_prefix(root).map_or_else(|_| path.to_string(), ToString::to_string);
        if tree.len() >= MAX_TREE {
            return Err(format!("it has more than {MAX_TREE} entries"));
        }
        if path.is_dir() {
            tree.push((name, None));
            walk(root, &path, tree, kept)?;
        } else {
            tree.push((name, Some(on_disk(&path, kept)?)));
        }
    }
    Ok(())
}

/// The text of a small file.
pub fn text(local: &Local) -> Option<Arc<str>> {
    match local {
        Local::Bytes(bytes) => std::str::from_utf8(bytes).ok().map(Arc::from),
        Local::Large { .. } | Local::Tree(_) => None,
    }
}
