//! The directory of a run's sockets: short, private, gone with the run.
//!
//! A lock inside is held as long as the process lives, so the leftovers of a killed run are told
//! from those of a running one without guessing about process numbers.

use std::fs::{DirBuilder, File};
use std::io::{self, Read as _};
use std::os::unix::fs::DirBuilderExt as _;
use std::sync::atomic::{AtomicU64, Ordering};

use camino::{Utf8Path, Utf8PathBuf};

use crate::disk;

/// A socket's path may have 107 bytes, and ssh appends 17 to it while it binds.
const LONGEST: usize = 107 - 17;
/// The directory of a run, `/s` and digits.
const ROOM: usize = 9 + 10;

/// Bytes of what an `ssh` says that are read.
const LOG: u64 = 256 << 10;

/// A directory of mode 0700 for sockets. Removed when dropped.
#[derive(Debug)]
pub(super) struct RunDir {
    path: Utf8PathBuf,
    _lock: File,
    next: AtomicU64,
}

impl RunDir {
    /// Makes one under `$XDG_RUNTIME_DIR/provision`, else under `/tmp/provision-UID`.
    pub(super) fn create(runtime_dir: Option<&Utf8Path>) -> io::Result<Self> {
        let base = base(runtime_dir, ROOM)?;
        for _ in 0..16 {
            let name = super::wire::nonce();
            // The end of a version 7 UUID is random, its beginning the time.
            let path = base.join(name.get(24..).unwrap_or(&name));
            DirBuilder::new().mode(0o700).create(&path)?;
            // Another run that cleans up may take the lock of a directory that is this young.
            if let Ok(lock) = disk::create(&path.join("lock"))
                && lock.try_lock().is_ok()
                && path.join("lock").exists()
            {
                return Ok(Self { path, _lock: lock, next: AtomicU64::new(0) });
            }
        }
        Err(io::Error::other(format!("no directory for sockets could be made in {base}")))
    }

    pub(super) fn path(&self) -> &Utf8Path {
        &self.path
    }

    /// A path for a new socket.
    pub(super) fn socket(&self, prefix: char) -> Socket {
        Socket(self.path.join(format!("{prefix}{}", self.next.fetch_add(1, Ordering::Relaxed))))
    }

    /// Directories of runs that are dead, with the sockets of masters that may outlive them.
    pub(super) fn stale(&self) -> Vec<(Utf8PathBuf, Vec<Utf8PathBuf>)> {
        let Some(base) = self.path.parent() else { return Vec::new() };
        let dead = |path: &Utf8Path| {
            *path != self.path && File::open(path.join("lock")).is_ok_and(|lock| lock.try_lock().is_ok())
        };
        let list = |path: &Utf8Path| -> Vec<Utf8PathBuf> {
            let Ok(entries) = path.read_dir_utf8() else { return Vec::new() };
            entries.flatten().map(|entry| entry.path().to_owned()).collect()
        };
        // `s0` or `j0`: a login stays as long as its frame runs on the host.
        let master = |path: &Utf8PathBuf| {
            path.file_name()
                .and_then(|name| name.strip_prefix(['j', 's']))
                .is_some_and(|number| !number.is_empty() && number.chars().all(|char| char.is_ascii_digit()))
        };
        list(base)
            .into_iter()
            .filter(|path| dead(path))
            .map(|path| {
                let sockets = list(&path).into_iter().filter(master).collect();
                (path, sockets)
            })
            .collect()
    }
}

impl Drop for RunDir {
    fn drop(&mut self) {
        drop(std::fs::remove_dir_all(&self.path));
    }
}

/// Returns the directories in which sockets may be: below `$XDG_RUNTIME_DIR`, else below /tmp.
///
/// # Errors
/// When nothing says which user this is.
pub fn bases(runtime_dir: Option<&Utf8Path>) -> io::Result<Vec<Utf8PathBuf>> {
    let given = runtime_dir.filter(|dir| dir.is_dir()).map(|dir| dir.join("provision"));
    let usual = Utf8PathBuf::from(format!("/tmp/provision-{}", disk::user()?));
    Ok(given.into_iter().chain([usual]).collect())
}

/// The first of them that can be used for paths which are so much longer. It is made when it is not there.
pub(super) fn base(runtime_dir: Option<&Utf8Path>, room: usize) -> io::Result<Utf8PathBuf> {
    let mut bases = bases(runtime_dir)?;
    let usual = bases.pop().unwrap_or_default();
    let fits = |base: &Utf8PathBuf| {
        base.as_str().len() + room <= LONGEST && is_plain(base) && disk::private_directory(base).is_ok()
    };
    if let Some(base) = bases.into_iter().find(fits) {
        return Ok(base);
    }
    disk::private_directory(&usual).map_err(|error| {
        io::Error::other(format!(
            "cannot use {usual}: {error}; set XDG_RUNTIME_DIR to another directory for sockets"
        ))
    })?;
    Ok(usual)
}

/// The path of a socket that is unlinked, with the log beside it, when its owner is dropped.
#[derive(Debug)]
pub(super) struct Socket(Utf8PathBuf);

impl Socket {
    pub(super) fn path(&self) -> &Utf8Path {
        &self.0
    }

    /// The file beside it that its `ssh` writes its own words to (`-E`). No host writes there.
    pub(super) fn log(&self) -> Utf8PathBuf {
        self.0.with_extension("log")
    }

    /// Returns what its `ssh` wrote there.
    pub(super) fn words(&self) -> String {
        let mut bytes = Vec::new();
        if let Ok(file) = File::open(self.log()) {
            drop(file.take(LOG).read_to_end(&mut bytes));
        }
        String::from_utf8_lossy(&bytes).into_owned()
    }
}

impl Drop for Socket {
    fn drop(&mut self) {
        drop(std::fs::remove_file(&self.0));
        drop(std::fs::remove_file(self.log()));
    }
}

/// The path stands in `ssh_config` and in command lines of ssh's own making.
fn is_plain(path: &Utf8Path) -> bool {
    path.is_absolute()
        && path.as_str().chars().all(|char| char.is_ascii_alphanumeric() || "/._-".contains(char))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::MetadataExt as _;

    use super::*;

    #[test]
    fn a_directory_is_private_and_leaves_nothing() {
        let base = tempfile::tempdir().unwrap();
        let base = Utf8Path::from_path(base.path()).unwrap();
        let run = RunDir::create(Some(base)).unwrap();
        let path = run.path().to_owned();
        assert!(path.starts_with(base.join("provision")));
        assert_eq!(path.file_name().unwrap().len(), 8);
        assert_eq!(path.metadata().unwrap().mode() & 0o777, 0o700);
        assert_ne!(run.socket('s').path(), run.socket('s').path());
        drop(run);
        assert!(!path.exists());
    }

    #[test]
    fn only_dead_runs_are_stale() {
        let base = tempfile::tempdir().unwrap();
        let base = Utf8Path::from_path(base.path()).unwrap();
        let dead = base.join("provision/0badcafe");
        let running = RunDir::create(Some(base)).unwrap();
        std::fs::create_dir_all(&dead).unwrap();
        std::fs::write(dead.join("lock"), "").unwrap();
        std::fs::write(dead.join("j0"), "").unwrap();
        std::fs::write(dead.join("s0"), "").unwrap();
        let run = RunDir::create(Some(base)).unwrap();
        std::fs::write(dead.join("ssh_config"), "").unwrap();
        let mut stale = run.stale();
        for (_, masters) in &mut stale {
            masters.sort();
        }
        assert_eq!(stale, [(dead.clone(), vec![dead.join("j0"), dead.join("s0")])]);
        drop(running);
    }

    #[test]
    fn a_long_or_odd_runtime_dir_is_not_used() {
        let base = tempfile::tempdir().unwrap();
        let base = Utf8Path::from_path(base.path()).unwrap();
        for odd in [base.join("x".repeat(80)), base.join("with space")] {
            std::fs::create_dir_all(&odd).unwrap();
            let run = RunDir::create(Some(&odd)).unwrap();
            assert!(run.path().as_str().starts_with("/tmp/provision-"), "{}", run.path());
        }
    }
}
