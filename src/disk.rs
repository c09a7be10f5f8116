//! Files of this machine.
//!
//! What a user names is read without waiting for ever and without end. What the program keeps is made
//! so that nobody else reads it, and so that nobody else's link or directory leads it astray.

use std::fs::{DirBuilder, File, Metadata, OpenOptions, Permissions};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::{
    DirBuilderExt as _, FileTypeExt as _, MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _,
};

use camino::Utf8Path;

/// Opens a file to read it. Only a regular one: a pipe may wait for ever, a device may never end or
/// do something because it is opened.
///
/// # Errors
/// When it cannot be opened or is something else.
pub fn open(path: &Utf8Path) -> io::Result<File> {
    regular(&std::fs::metadata(path)?)?;
    // It may have become a pipe meanwhile.
    let file = File::options().read(true).custom_flags(libc::O_NONBLOCK).open(path)?;
    regular(&file.metadata()?)?;
    Ok(file)
}

fn regular(metadata: &Metadata) -> io::Result<()> {
    let kind = metadata.file_type();
    let what = if kind.is_file() {
        return Ok(());
    } else if kind.is_dir() {
        "directory"
    } else if kind.is_fifo() {
        "pipe"
    } else if kind.is_socket() {
        "socket"
    } else {
        "device"
    };
    Err(io::Error::other(format!("it is a {what}, not a file")))
}

/// The bytes of a file that has at most `most` of them.
///
/// # Errors
/// When it cannot be read, is no regular file or has more.
pub fn read(path: &Utf8Path, most: u64) -> io::Result<Vec<u8>> {
    let file = open(path)?;
    let mut bytes = Vec::new();
    // Of a growing file and of those in /proc the length says nothing.
    if file.metadata()?.len() <= most
        && file.take(most.saturating_add(1)).read_to_end(&mut bytes)? as u64 <= most
    {
        return Ok(bytes);
    }
    let most = if most < 1 << 20 { format!("{} KiB", most >> 10) } else { format!("{} MiB", most >> 20) };
    Err(io::Error::other(format!("it is larger than {most}")))
}

/// The same for text.
///
/// # Errors
/// Also when it is not UTF-8.
pub fn read_text(path: &Utf8Path, most: u64) -> io::Result<String> {
    String::from_utf8(read(path, most)?).map_err(|error| {
        let before = error.as_bytes().get(..error.utf8_error().valid_up_to()).unwrap_or_default();
        let line = before.split(|byte| *byte == b'\n').count();
        io::Error::other(format!("it is not UTF-8 text from line {line} on"))
    })
}

/// An error of the system without its number.
pub fn short(error: &io::Error) -> String {
    let text = error.to_string();
    let text = text.split(" (os error").next().unwrap_or(&text);
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |c| c.to_lowercase().chain(chars).collect())
}

/// The user that this program runs as.
pub fn user() -> io::Result<u32> {
    Ok(std::fs::metadata("/proc/self")?.uid())
}

/// Makes a directory that only its owner can enter, with those above it that are not there. One that
/// is there must be ours, and nobody else may write in it: /tmp is everybody's.
///
/// # Errors
/// When it cannot be made, or belongs to somebody else.
pub fn private_directory(path: &Utf8Path) -> io::Result<()> {
    private_directory_of(path, user()?)
}

fn private_directory_of(path: &Utf8Path, user: u32) -> io::Result<()> {
    let made = DirBuilder::new().recursive(true).mode(0o700).create(path);
    // Why it could not be made says more than that it is not there.
    if path.symlink_metadata().is_err() {
        made?;
    }
    let found = own_directory(path, user)?;
    if found.mode() & 0o077 != 0 {
        std::fs::set_permissions(path, Permissions::from_mode(0o700))?;
    }
    Ok(())
}

/// Whether a directory that is there would do as a private one; changes nothing.
///
/// # Errors
/// Why not.
pub fn check_private(path: &Utf8Path) -> io::Result<()> {
    own_directory(path, user()?).map(drop)
}

fn own_directory(path: &Utf8Path, user: u32) -> io::Result<Metadata> {
    let found = path.symlink_metadata()?;
    // A link of our own may lead to another disk.
    let (link, found) = if found.is_symlink() { (Some(found), path.metadata()?) } else { (None, found) };
    if let Some(other) = link.iter().chain([&found]).find(|found| found.uid() != user) {
        return Err(io::Error::other(format!("it belongs to another user (number {})", other.uid())));
    }
    if !found.is_dir() {
        return Err(io::Error::other("it is no directory"));
    }
    if found.mode() & 0o022 != 0 {
        return Err(io::Error::other(format!("others may write in it; `chmod 700 {path}` takes that away")));
    }
    Ok(found)
}

/// How a private file is opened to write: made with mode 0600, and never through a link.
fn private() -> OpenOptions {
    let mut options = File::options();
    options.mode(0o600).custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK);
    options
}

/// Makes a new private file.
///
/// # Errors
/// Also when something of this name is there.
pub fn create(path: &Utf8Path) -> io::Result<File> {
    private().write(true).create_new(true).open(path)
}

/// Opens a private file for a lock of the kernel; makes it when it is not there, changes nothing in it.
///
/// # Errors
/// Also when it is a link.
pub fn open_lock(path: &Utf8Path) -> io::Result<File> {
    let file = private().read(true).write(true).create(true).truncate(false).open(path)?;
    regular(&file.metadata()?)?;
    Ok(file)
}

/// Writes a private file as a whole or not at all: a reader sees the old one or the new one.
///
/// # Errors
/// When it cannot be written.
pub fn replace(path: &Utf8Path, bytes: &[u8]) -> io::Result<()> {
    replace_with_mode(path, bytes, 0o600)
}

/// The same for a file that others read, too.
///
/// # Errors
/// When it cannot be written.
pub fn replace_with_mode(path: &Utf8Path, bytes: &[u8], mode: u32) -> io::Result<()> {
    let directory = path.parent().filter(|parent| *parent != "").unwrap_or(Utf8Path::new("."));
    // Collectors that read by the end of a name do not see it.
    let mut draft = tempfile::Builder::new().suffix(".part").tempfile_in(directory)?;
    draft.write_all(bytes)?;
    draft.as_file().set_permissions(Permissions::from_mode(mode))?;
    draft.persist(path)?;
    Ok(())
}

/// Opens a file that a user asked for, to write it anew. A new one is private, for results hold what
/// files of hosts hold; one that is there keeps its mode, and may be a link, a pipe or a terminal.
///
/// # Errors
/// When it cannot be opened.
pub fn create_result(path: &Utf8Path) -> io::Result<File> {
    File::options().write(true).create(true).truncate(true).mode(0o600).open(path)
}

/// Makes a named pipe.
#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "the standard library makes no pipes with a name")]
pub(crate) fn make_pipe(path: &Utf8Path) {
    assert!(std::process::Command::new("mkfifo").arg(path).status().unwrap().success());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_never_ends_is_not_read() {
        let folder = tempfile::tempdir().unwrap();
        let folder = Utf8Path::from_path(folder.path()).unwrap();
        let pipe = folder.join("pipe");
        make_pipe(&pipe);
        let link = folder.join("link");
        std::os::unix::fs::symlink(&pipe, &link).unwrap();
        let full = folder.join("full");
        std::fs::write(&full, [b'x'; 2048]).unwrap();
        std::fs::write(folder.join("odd"), b"a\nb\xff").unwrap();
        for (path, why) in [
            (Utf8Path::new("/dev/zero"), "it is a device, not a file"),
            (&pipe, "it is a pipe, not a file"),
            (&link, "it is a pipe, not a file"),
            (folder, "it is a directory, not a file"),
            (&full, "it is larger than 1 KiB"),
            (&folder.join("odd"), "it is not UTF-8 text from line 2 on"),
        ] {
            assert_eq!(read_text(path, 1024).unwrap_err().to_string(), why, "{path}");
        }
        assert_eq!(read_text(&full, 2048).unwrap().len(), 2048);
        // Its length is told as 0.
        assert!(read_text(Utf8Path::new("/proc/self/status"), 1 << 20).unwrap().contains("Name:"));
    }

    fn mode(path: &Utf8Path) -> u32 {
        path.metadata().unwrap().mode() & 0o777
    }

    #[test]
    fn what_is_made_is_private() {
        let folder = tempfile::tempdir().unwrap();
        let folder = Utf8Path::from_path(folder.path()).unwrap();
        let below = folder.join("state/provision");
        private_directory(&below).unwrap();
        assert_eq!((mode(&below), mode(&folder.join("state"))), (0o700, 0o700));
        let file = below.join("file");
        create(&file).unwrap();
        assert_eq!(mode(&file), 0o600);
        assert_eq!(create(&file).unwrap_err().kind(), io::ErrorKind::AlreadyExists);
        replace_with_mode(&file, b"shown", 0o644).unwrap();
        assert_eq!((mode(&file), std::fs::read(&file).unwrap()), (0o644, b"shown".to_vec()));
        replace(&file, b"again").unwrap();
        assert_eq!(mode(&file), 0o600);
        open_lock(&file).unwrap();
        assert_eq!(std::fs::read(&file).unwrap(), b"again");
        assert_eq!(below.read_dir().unwrap().count(), 1);
        let result = folder.join("result");
        create_result(&result).unwrap();
        assert_eq!(mode(&result), 0o600);
        std::fs::set_permissions(&result, Permissions::from_mode(0o640)).unwrap();
        create_result(&result).unwrap();
        assert_eq!(mode(&result), 0o640);
    }

    #[test]
    fn no_link_is_followed() {
        let folder = tempfile::tempdir().unwrap();
        let folder = Utf8Path::from_path(folder.path()).unwrap();
        let (target, link) = (folder.join("target"), folder.join("link"));
        std::fs::write(&target, "dear").unwrap();
        std::os::unix::fs::symlink(&target, &link).unwrap();
        create(&link).unwrap_err();
        open_lock(&link).unwrap_err();
        // The link is replaced, not what it leads to.
        replace(&link, b"new").unwrap();
        assert_eq!(std::fs::read(&target).unwrap(), b"dear");
        make_pipe(&folder.join("pipe"));
        open_lock(&folder.join("pipe")).unwrap_err();
    }

    #[test]
    fn a_directory_of_others_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let folder = Utf8Path::from_path(folder.path()).unwrap();
        let own = user().unwrap();
        let directory = folder.join("d");
        std::fs::create_dir(&directory).unwrap();
        let link = folder.join("link");
        std::os::unix::fs::symlink(&directory, &link).unwrap();
        let set = |mode| std::fs::set_permissions(&directory, Permissions::from_mode(mode)).unwrap();
        for (bits, good) in [(0o700, true), (0o755, true), (0o770, false), (0o702, false), (0o1777, false)] {
            set(bits);
            assert_eq!(private_directory(&directory).is_ok(), good, "{bits:o}");
            // What others may read only is shut.
            assert_eq!(mode(&directory), if good { 0o700 } else { bits & 0o777 });
        }
        set(0o700);
        private_directory(&link).unwrap();
        for path in [&directory, &link] {
            let error = private_directory_of(path, own + 1).unwrap_err();
            assert!(error.to_string().contains("belongs to another user"), "{error}");
        }
        std::fs::write(folder.join("file"), "").unwrap();
        private_directory(&folder.join("file")).unwrap_err();
    }
}
