//! A bundle back to a directory, and which of its hosts this machine is.

use std::fs::{DirBuilder, File};
use std::io::{self, BufRead as _, BufReader, Read, Write as _};
use std::os::unix::fs::DirBuilderExt as _;

use camino::{Utf8Path, Utf8PathBuf};
use sha2::{Digest as _, Sha256};

use super::format::{Entry, FORMAT, HEAD, Index, LONGEST, MAGIC, is_inside};
use crate::disk;
use crate::exit::{self, Exit};
use crate::inventory::Host;
use crate::words::hex;

/// Reason why a bundle is not used.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub struct Refused {
    /// Description of the problem.
    pub message: String,
    /// Advice for the user.
    pub hint: String,
}

impl From<Refused> for Exit {
    fn from(error: Refused) -> Self {
        Self::new(exit::CONFIG, error.message).hint(error.hint)
    }
}

/// A bundle that was unpacked. Its directory goes with this.
#[derive(Debug)]
pub struct Opened {
    /// Contents of the bundle.
    pub index: Index,
    directory: Utf8PathBuf,
    /// Held as long as the directory is in use.
    _lock: File,
}

impl Opened {
    /// Returns the directory that its files were unpacked into.
    pub fn directory(&self) -> Utf8PathBuf {
        // Beside the lock, whatever the files are called.
        self.directory.join("project")
    }

    /// The inventory in it.
    pub fn inventory(&self) -> Utf8PathBuf {
        self.directory().join(&self.index.inventory)
    }
}

impl Drop for Opened {
    fn drop(&mut self) {
        drop(std::fs::remove_dir_all(&self.directory));
    }
}

const AGAIN: &str = "copy it again, or make it anew: provision bundle INVENTORY -o FILE";

/// Unpacks a bundle below `place`, checking every byte. It says what this machine does as this user, so nobody
/// else but `also` may have written it.
///
/// # Errors
/// When it is no bundle, one of another version, changed, or another user's.
pub fn open(path: &Utf8Path, place: &Utf8Path, also: Option<u32>) -> Result<Opened, Refused> {
    let refused = |message: String| Refused { message, hint: AGAIN.to_owned() };
    let (index, mut file) = begin(path)?;
    disk::nobody_else_writes(file.get_ref(), also).map_err(|error| Refused {
        message: format!("the bundle `{path}` is not used: {error}"),
        hint: format!(
            "see that it is the one that you packed, then: chown $(id -u) {path} && chmod 600 {path}"
        ),
    })?;
    let unusable = |error: io::Error| Refused {
        message: format!("the bundle `{path}` cannot be unpacked below {place}: {}", disk::short(&error)),
        hint: "set XDG_CACHE_HOME to a directory with room for it".to_owned(),
    };
    let (directory, lock) = directory(place).map_err(unusable)?;
    let opened = Opened { index, directory, _lock: lock };
    let make = |path: &Utf8Path| DirBuilder::new().recursive(true).mode(0o700).create(path);
    for below in &opened.index.directories {
        make(&opened.directory().join(below)).map_err(unusable)?;
    }
    for (name, entry) in &opened.index.files {
        let to = opened.directory().join(name);
        to.parent().map_or(Ok(()), make).map_err(unusable)?;
        let mut out = disk::create(&to).map_err(unusable)?;
        if !unpack(&mut file, entry, &mut out).map_err(unusable)? {
            return Err(refused(format!("`{name}` in the bundle `{path}` is not what was packed")));
        }
    }
    if file.read(&mut [0]).map_or(true, |more| more > 0) {
        return Err(refused(format!("the bundle `{path}` has more in it than was packed")));
    }
    Ok(opened)
}

/// Whether a file begins as a bundle does.
pub fn is_bundle(path: &Utf8Path) -> bool {
    let mut begins = [0; MAGIC.len()];
    disk::open(path).and_then(|mut file| file.read_exact(&mut begins)).is_ok() && begins == *MAGIC.as_bytes()
}

/// Reads what a bundle holds, and unpacks nothing.
///
/// # Errors
/// When it is no bundle, one of another version, or its index was changed.
pub fn peek(path: &Utf8Path) -> Result<Index, Refused> {
    begin(path).map(|(index, _)| index)
}

fn begin(path: &Utf8Path) -> Result<(Index, BufReader<File>), Refused> {
    let read = |error: io::Error| Refused {
        message: format!("cannot read the bundle `{path}`: {}", disk::short(&error)),
        hint: AGAIN.to_owned(),
    };
    let mut file = BufReader::new(disk::open(path).map_err(read)?);
    let mut head = Vec::new();
    (&mut file).take(HEAD).read_until(b'\n', &mut head).map_err(read)?;
    Ok((index(path, &head, &mut file)?, file))
}

/// Reads the index, and everything that keeps a bundle from being used here.
fn index(path: &Utf8Path, head: &[u8], file: &mut impl Read) -> Result<Index, Refused> {
    let refused = |message: String| Refused { message, hint: AGAIN.to_owned() };
    let head = std::str::from_utf8(head).unwrap_or_default();
    let Some(rest) = head.strip_suffix('\n').and_then(|head| head.strip_prefix(MAGIC)) else {
        return Err(Refused {
            message: format!("`{path}` is no bundle"),
            hint: "make one: provision bundle INVENTORY -o FILE".to_owned(),
        });
    };
    let words: Vec<&str> = rest.split_whitespace().collect();
    let (format, length, digest) = match words.as_slice() {
        [format, length, digest] => (*format, length.parse().unwrap_or(u64::MAX), *digest),
        [format, ..] => (*format, u64::MAX, ""),
        [] => ("", u64::MAX, ""),
    };
    if format != FORMAT.to_string() {
        return Err(Refused {
            message: format!("the bundle `{path}` has the format {format}, and this program reads {FORMAT}"),
            hint: format!(
                "make it anew with provision {}, or take the program that made it",
                env!("CARGO_PKG_VERSION")
            ),
        });
    }
    let damaged = || refused(format!("the index of the bundle `{path}` is not what was packed"));
    if length > LONGEST {
        return Err(damaged());
    }
    let mut bytes = Vec::new();
    file.take(length).read_to_end(&mut bytes).map_err(|_| damaged())?;
    if bytes.len() as u64 != length || hex(&Sha256::digest(&bytes)) != digest {
        return Err(damaged());
    }
    let index: Index = serde_json::from_slice(&bytes).map_err(|_| damaged())?;
    let paths = index.files.keys().chain(&index.directories).chain([&index.inventory]);
    if !{ paths }.all(|path| is_inside(path)) {
        return Err(damaged());
    }
    if index.program != env!("CARGO_PKG_VERSION") {
        return Err(Refused {
            message: format!(
                "the bundle `{path}` was made by provision {}, and this is {}: built-in playbooks are a part of \
                 the program",
                index.program,
                env!("CARGO_PKG_VERSION")
            ),
            hint: "make it anew with this version, or take the program that made it".to_owned(),
        });
    }
    Ok(index)
}

/// Copies a file out of a bundle; whether it is what the index says.
fn unpack(file: &mut impl Read, entry: &Entry, out: &mut File) -> io::Result<bool> {
    let mut hash = Sha256::new();
    let mut buffer = vec![0_u8; 1 << 16];
    let mut left = entry.size;
    while left > 0 {
        let most = usize::try_from(left).unwrap_or(usize::MAX).min(buffer.len());
        let read = file.read(buffer.get_mut(..most).unwrap_or_default())?;
        let bytes = buffer.get(..read).unwrap_or_default();
        if bytes.is_empty() {
            return Ok(false);
        }
        hash.update(bytes);
        out.write_all(bytes)?;
        left = left.saturating_sub(bytes.len() as u64);
    }
    Ok(hex(&hash.finalize()) == entry.sha256)
}

/// A new private directory with its lock; those that killed runs left are removed.
fn directory(place: &Utf8Path) -> io::Result<(Utf8PathBuf, File)> {
    disk::private_directory(place)?;
    let turn = disk::open_lock(&place.join("lock"))?;
    turn.lock()?;
    for old in place.read_dir_utf8()?.flatten().filter(|entry| entry.path().is_dir()) {
        let free = disk::open_lock(&old.path().join("lock")).is_ok_and(|lock| lock.try_lock().is_ok());
        if free {
            drop(std::fs::remove_dir_all(old.path()));
        }
    }
    let made = tempfile::Builder::new().prefix("bundle-").tempdir_in(place)?;
    let above = Utf8PathBuf::from_path_buf(made.keep()).map_err(|_| io::Error::other("its name is odd"))?;
    let lock = disk::open_lock(&above.join("lock"))?;
    lock.lock()?;
    Ok((above, lock))
}

/// Finds the host that this machine is: the one that is named, else the one that has its name, with or
/// without a domain.
///
/// # Errors
/// When it is none of them, or could be several.
pub fn which<'a>(hosts: &'a [Host], named: Option<&str>, hostname: &str) -> Result<&'a Host, Refused> {
    let say = "say which host this is: --as NAME".to_owned();
    if let Some(name) = named {
        return hosts.iter().find(|host| host.name == name).ok_or_else(|| Refused {
            message: format!("there is no host `{name}` in it"),
            hint: "`--as` wants a name of the inventory that was packed".to_owned(),
        });
    }
    let hostname = hostname.trim();
    let short = |name: &str| name.split('.').next().unwrap_or_default().to_ascii_lowercase();
    if let Some(host) = hosts.iter().find(|host| host.name.eq_ignore_ascii_case(hostname)) {
        return Ok(host);
    }
    let mut alike = hosts.iter().filter(|host| !hostname.is_empty() && short(&host.name) == short(hostname));
    match (alike.next(), alike.next()) {
        (Some(host), None) => Ok(host),
        (Some(first), Some(second)) => Err(Refused {
            message: format!(
                "this machine is called `{hostname}`: that may be {} or {}",
                first.name, second.name
            ),
            hint: say,
        }),
        (None, _) => Err(Refused {
            message: format!("this machine is called `{hostname}`, and no host of the inventory is"),
            hint: say,
        }),
    }
}
