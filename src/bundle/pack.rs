//! A loaded project to a bundle.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Read as _, Write};
use std::os::unix::fs::MetadataExt as _;

use camino::{Utf8Path, Utf8PathBuf};
use sha2::{Digest as _, Sha256};

use super::format::{Entry, FORMAT, Index, MAGIC, list_key};
use crate::disk;
use crate::exit::{self, Exit};
use crate::inventory::Origin;
use crate::playbook::files::normal;
use crate::project::Project;
use crate::secrets::SecretSource;
use crate::words::hex;

/// Reason why a project cannot be packed.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub struct PackError {
    /// Description of the problem.
    pub message: String,
    /// Advice for the user.
    pub hint: Option<String>,
}

impl From<PackError> for Exit {
    fn from(error: PackError) -> Self {
        let exit = Self::new(exit::CONFIG, error.message);
        match error.hint {
            Some(hint) => exit.hint(hint),
            None => exit,
        }
    }
}

/// A bundle that can be written.
#[derive(Debug)]
pub struct Packed {
    /// Contents of the bundle.
    pub index: Index,
    /// Path that each file is read from, in the order of the index.
    from: Vec<Utf8PathBuf>,
}

/// The files that may be packed, by where they really are.
#[derive(Debug, Clone, Copy)]
pub enum Reach<'a> {
    /// Files below the directory of the inventory.
    Inventory,
    /// Files below a directory that a person named.
    Below(&'a Utf8Path),
    /// Files that the project names by relative paths: for a run, which sends them in any case.
    Named,
}

/// Packs what the loading and the validation of a project read.
///
/// # Errors
/// A file outside of the project, or one that is a secret.
pub fn pack(project: &Project, set: &[String], reach: Reach<'_>) -> Result<Packed, PackError> {
    let bounds = Bounds::new(project, reach)?;
    let mut found: BTreeMap<Utf8PathBuf, Utf8PathBuf> = BTreeMap::new();
    let mut directories = BTreeSet::new();
    let read = project.files_read();
    let lists = project.lists.iter().filter_map(|(origin, _)| match origin {
        Origin::File(path) => Some(path.clone()),
        Origin::Program { .. } => None,
    });
    let keys = project.site_sources().key_files().iter().cloned();
    for path in read.files.into_iter().chain(lists).chain(keys) {
        bounds.check(&path)?;
        found.insert(absolute(&path), path);
    }
    for path in read.directories {
        bounds.check(&path)?;
        directories.insert(absolute(&path));
    }
    let secret_files = project.secrets.iter().filter_map(|(name, source)| match source {
        SecretSource::File(path) => Some((name, identity(path)?)),
        SecretSource::Command(_) | SecretSource::Env(_) => None,
    });
    for (name, secret) in secret_files {
        // Under whatever name: it may be reached by a link as well.
        if let Some(source) = found.values().find(|path| identity(path) == Some(secret)) {
            return Err(PackError {
                message: format!("`{source}` is the secret `{name}`, and a bundle holds no secrets"),
                hint: Some(format!("use `{{{{ secrets.{name} }}}}` in the task that reads the file")),
            });
        }
    }
    let root = common(found.keys().filter_map(|path| path.parent()).chain(directories.iter().map(|d| &**d)));
    let below = |path: &Utf8Path| path.strip_prefix(&root).unwrap_or(path).to_owned();
    let mut files = BTreeMap::new();
    for (path, source) in &found {
        let (size, sha256) = copy(source, &mut io::sink()).map_err(|error| unread(source, &error))?;
        files.insert(below(path), Entry { size, sha256 });
    }
    let lists = project.lists.iter().filter_map(|(origin, text)| Some((list_key(origin)?, text.clone())));
    let index = Index {
        program: env!("CARGO_PKG_VERSION").to_owned(),
        cluster: project.cluster.clone(),
        inventory: below(&absolute(&project.path)),
        set: set.to_vec(),
        lists: lists.collect(),
        directories: directories.iter().map(|path| below(path)).filter(|path| path != "").collect(),
        files,
    };
    Ok(Packed { index, from: found.into_values().collect() })
}

impl Packed {
    /// Writes the bundle; its SHA-256.
    ///
    /// # Errors
    /// When it cannot be written, and when a file has changed meanwhile.
    pub fn write(&self, out: &mut impl Write) -> Result<String, PackError> {
        let cannot = |error: io::Error| PackError {
            message: format!("the bundle cannot be written: {}", disk::short(&error)),
            hint: None,
        };
        let mut out = Hashing { out, hash: Sha256::new() };
        let index = serde_json::to_vec(&self.index).map_err(|error| cannot(error.into()))?;
        let digest = hex(&Sha256::digest(&index));
        writeln!(out, "{MAGIC} {FORMAT} {} {digest}", index.len()).map_err(cannot)?;
        out.write_all(&index).map_err(cannot)?;
        for (source, entry) in self.from.iter().zip(self.index.files.values()) {
            let (_, sha256) = copy(source, &mut out).map_err(|error| unread(source, &error))?;
            if sha256 != entry.sha256 {
                let message = format!("`{source}` was changed while it was packed");
                return Err(PackError { message, hint: Some("run the command again".to_owned()) });
            }
        }
        out.flush().map_err(cannot)?;
        Ok(hex(&out.hash.finalize()))
    }
}

struct Hashing<'a, W> {
    out: &'a mut W,
    hash: Sha256,
}

impl<W: Write> Write for Hashing<'_, W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.out.write(bytes)?;
        self.hash.update(bytes.get(..written).unwrap_or_default());
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

fn unread(path: &Utf8Path, error: &io::Error) -> PackError {
    PackError { message: format!("cannot read `{path}`: {}", disk::short(error)), hint: None }
}

/// Copies a file; its size and digest.
fn copy(path: &Utf8Path, out: &mut impl Write) -> io::Result<(u64, String)> {
    let mut file = disk::open(path)?;
    let mut hash = Sha256::new();
    let mut buffer = vec![0_u8; 1 << 16];
    let mut size = 0_u64;
    loop {
        let read = file.read(&mut buffer)?;
        let bytes = buffer.get(..read).unwrap_or_default();
        if bytes.is_empty() {
            return Ok((size, hex(&hash.finalize())));
        }
        hash.update(bytes);
        out.write_all(bytes)?;
        size += bytes.len() as u64;
    }
}

fn absolute(path: &Utf8Path) -> Utf8PathBuf {
    let whole = std::path::absolute(path).ok().and_then(|path| Utf8PathBuf::from_path_buf(path).ok());
    Utf8Path::new("/").join(normal(whole.as_deref().unwrap_or(path)))
}

/// The file itself, whatever it is called.
fn identity(path: &Utf8Path) -> Option<(u64, u64)> {
    path.metadata().ok().map(|file| (file.dev(), file.ino()))
}

/// Limits on the files of a project that may be packed.
struct Bounds<'a> {
    project: &'a Project,
    /// The directory of the inventory as it was named, and as a whole path.
    base: &'a Utf8Path,
    whole: Utf8PathBuf,
    /// The directory that holds all, without links; missing where all may be packed.
    root: Option<Utf8PathBuf>,
}

impl<'a> Bounds<'a> {
    fn new(project: &'a Project, reach: Reach<'a>) -> Result<Self, PackError> {
        let base = project.path.parent().filter(|base| *base != "").unwrap_or(Utf8Path::new("."));
        let root = match reach {
            Reach::Inventory => Some(base),
            Reach::Below(root) => Some(root),
            Reach::Named => None,
        };
        let real = |path: &Utf8Path| path.canonicalize_utf8().map_err(|error| unread(path, &error));
        let root = root.map(real).transpose()?;
        if let Some(root) = &root
            && !real(base)?.starts_with(root)
        {
            let message = format!("the inventory `{}` is not below {root}", project.path);
            return Err(PackError {
                message,
                hint: Some("name a directory above both: --root DIR".to_owned()),
            });
        }
        Ok(Self { project, base, whole: absolute(base), root })
    }

    /// Refuses what is no file of this project. A path that does not begin at the inventory means another file on
    /// another machine, and one that leads out of the project another file of this one.
    fn check(&self, path: &Utf8Path) -> Result<(), PackError> {
        if *path == self.project.path {
            return Ok(());
        }
        let place = self.project.named_at(path).map(|place| format!("{place}: ")).unwrap_or_default();
        let begins = self.base.is_absolute() && path.starts_with(self.base) || path.starts_with(&self.whole);
        if path.is_absolute() && !begins {
            return Err(PackError {
                message: format!(
                    "{place}`{path}` is no file of this project: it is named by an absolute path or by `~`"
                ),
                hint: Some(
                    "put it beside the inventory, and name it relative to the file that names it".to_owned(),
                ),
            });
        }
        let real = path.canonicalize_utf8().map_err(|error| unread(path, &error))?;
        match &self.root {
            Some(root) if !real.starts_with(root) => Err(PackError {
                message: format!("{place}`{path}` is outside of the project: it is {real}, and not below {root}"),
                hint: Some(
                    "a bundle goes to all machines: look at what the file is, and if it belongs to the project, name \
                     the directory that holds both: --root DIR"
                        .to_owned(),
                ),
            }),
            _ => Ok(()),
        }
    }
}

/// The deepest directory that all are in.
fn common<'a>(mut paths: impl Iterator<Item = &'a Utf8Path>) -> Utf8PathBuf {
    let Some(first) = paths.next() else { return Utf8PathBuf::new() };
    let shared = |root: Utf8PathBuf, path: &Utf8Path| -> Utf8PathBuf {
        root.components().zip(path.components()).take_while(|(a, b)| a == b).map(|(a, _)| a).collect()
    };
    paths.fold(first.to_owned(), shared)
}
