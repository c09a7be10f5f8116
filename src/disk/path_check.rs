//! The way to a file: whose links and directories lead there.

use std::ffi::OsString;
use std::fs::{File, Metadata};
use std::io;
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _};
use std::path::{Component, Path, PathBuf};

use camino::{Utf8Path, Utf8PathBuf};
use rustix::fs::{CWD, Mode, OFlags, ResolveFlags, openat2};
use rustix::io::Errno;

/// The most links on a way, as the kernel has it.
const LINKS: usize = 40;

/// Place where something is written.
pub(super) enum Place {
    /// In a file that this process was handed open, as `/dev/stdout`.
    Handed,
    /// Under a name without links.
    Named(PathBuf),
}

/// Whether a user is us, root, or the one who stands for all that our user namespace does not know.
fn is_trusted(owner: u32, user: u32) -> bool {
    owner == user || owner == 0 || is_unknown(owner)
}

fn is_unknown(owner: u32) -> bool {
    let read = |path| std::fs::read_to_string(path).unwrap_or_default();
    let whole = || read("/proc/self/uid_map").split_whitespace().nth(2) == Some("4294967295");
    read("/proc/sys/kernel/overflowuid").trim().parse() == Ok(owner) && !whole()
}

fn of_another(what: &str, path: &Path, owner: u32) -> io::Error {
    io::Error::other(format!("{} is a {what} of another user (number {owner})", path.display()))
}

fn parts(path: &Path) -> impl DoubleEndedIterator<Item = OsString> {
    path.components()
        .filter(|part| matches!(part, Component::Normal(_) | Component::ParentDir))
        .map(|part| part.as_os_str().to_owned())
}

/// The path without links. None of another user is followed; what is not there yet has none.
/// `seen` is shown each part that is there and no link.
fn resolve(
    path: &Path,
    user: u32,
    mut seen: impl FnMut(&Path, &Metadata) -> io::Result<()>,
) -> io::Result<Place> {
    let mut ahead: Vec<OsString> = parts(&std::path::absolute(path)?).rev().collect();
    let (mut way, mut links) = (PathBuf::from("/"), 0);
    while let Some(part) = ahead.pop() {
        if part == ".." {
            way.pop();
            continue;
        }
        let next = way.join(part);
        let Ok(found) = next.symlink_metadata() else {
            way = next;
            continue;
        };
        if !found.is_symlink() {
            seen(&next, &found)?;
            way = next;
            continue;
        }
        // Such a link is an open file, whatever its text says.
        if way.starts_with("/proc") && way.ends_with("fd") {
            return Ok(Place::Handed);
        }
        links += 1;
        if links > LINKS {
            return Err(io::Error::other(format!("{} goes over too many links", path.display())));
        }
        if !is_trusted(found.uid(), user) {
            return Err(of_another("link", &next, found.uid()));
        }
        let target = std::fs::read_link(&next)?;
        if target.is_absolute() {
            way = PathBuf::from("/");
        }
        ahead.extend(parts(&target).rev());
    }
    Ok(Place::Named(way))
}

/// A path without links, of which none is another user's.
pub(super) fn of_ours(path: &Utf8Path, user: u32) -> io::Result<Utf8PathBuf> {
    match resolve(path.as_std_path(), user, |_, _| Ok(()))? {
        Place::Handed => Ok(path.to_owned()),
        Place::Named(way) => {
            Utf8PathBuf::from_path_buf(way).map_err(|_| io::Error::other("its real name is not UTF-8"))
        }
    }
}

/// Whether every directory above a path belongs to us or to root, and nobody else takes a name away there.
pub(super) fn is_held(path: &Utf8Path, user: u32) -> io::Result<()> {
    let above = path.parent().filter(|parent| *parent != "").unwrap_or(Utf8Path::new("."));
    let check = |part: &Path, found: &Metadata| {
        if !is_trusted(found.uid(), user) {
            return Err(of_another("directory", part, found.uid()));
        }
        // In a sticky one each name belongs to who made it.
        if found.mode() & 0o1002 == 0o002 {
            return Err(io::Error::other(format!("others may take names away in {}", part.display())));
        }
        Ok(())
    };
    resolve(above.as_std_path(), user, check).map(drop)
}

/// Returns the place where a result is written; nothing of another user is there.
pub(super) fn result(path: &Utf8Path, user: u32) -> io::Result<Place> {
    let place = resolve(path.as_std_path(), user, |_, _| Ok(()))?;
    if let Place::Named(path) = &place
        && let Ok(found) = path.symlink_metadata()
    {
        // Before it is opened: who opens a pipe waits for its reader.
        is_ours_to_write(&found, user)?;
    }
    Ok(place)
}

/// Whether what is there is ours or root's, or a device: nobody else makes those.
pub(super) fn is_ours_to_write(found: &Metadata, user: u32) -> io::Result<()> {
    let kind = found.file_type();
    if kind.is_char_device() || kind.is_dir() {
        return Ok(());
    }
    if !is_trusted(found.uid(), user) {
        let text =
            format!("it belongs to another user (number {}): remove it, or name another file", found.uid());
        return Err(io::Error::other(text));
    }
    // Where the kernel lets them, others give any file a second name.
    if kind.is_file() && found.nlink() > 1 {
        return Err(io::Error::other("it has other names (hard links): remove it, or name another file"));
    }
    Ok(())
}

/// Opens a file to write it, and makes it where it is not there. No link is followed, not even one that has come
/// meanwhile.
pub(super) fn open(path: &Path, mode: u32) -> io::Result<File> {
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::NOCTTY;
    let mode = Mode::from_raw_mode(mode);
    match openat2(CWD, path, flags, mode, ResolveFlags::NO_SYMLINKS) {
        Ok(file) => Ok(file.into()),
        // Before Linux 5.6, and where a sandbox does not know it.
        Err(Errno::NOSYS | Errno::PERM) => Ok(rustix::fs::open(path, flags, mode)?.into()),
        Err(error) => Err(error.into()),
    }
}
