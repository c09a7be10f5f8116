//! Files of this machine.
//!
//! What a user names is read without waiting for ever and without end. What the program keeps is made
//! so that nobody else reads it, and so that nobody else's link or directory leads it astray.

mod path_check;

use std::fs::{DirBuilder, File, Metadata, OpenOptions, Permissions};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::{
    DirBuilderExt as _, FileTypeExt as _, MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _,
};

use camino::{Utf8Path, Utf8PathBuf};

/// Whether an open file is what its user left there: it belongs to this user, to root or to `also`, and nobody else may
/// write it.
///
/// # Errors
/// Whose it is, or who may write it.
pub fn nobody_else_writes(file: &File, also: Option<u32>) -> io::Result<()> {
    let (found, user) = (file.metadata()?, user()?);
    if ![Some(user), Some(0), also].contains(&Some(found.uid())) {
        return Err(io::Error::other(format!("it belongs to another user (number {})", found.uid())));
    }
    if found.mode() & 0o022 != 0 {
        return Err(io::Error::other(format!("others may write it (mode {:04o})", found.mode() & 0o7777)));
    }
    Ok(())
}

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
/// is there must be ours, and nobody else may write in it: /tmp is everybody's. Those above it belong to us or to
/// root, and nobody else takes a name away there.
///
/// # Errors
/// When it cannot be made, or belongs to somebody else.
pub fn private_directory(path: &Utf8Path) -> io::Result<()> {
    private_directory_of(path, user()?)
}

fn private_directory_of(path: &Utf8Path, user: u32) -> io::Result<()> {
    path_check::is_held(path, user)?;
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
    let user = user()?;
    own_directory(path, user).and_then(|_| path_check::is_held(path, user))
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

/// Returns the options that open a private file to write: made with mode 0600, and never through a link.
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
    let mut draft = Draft::new(path)?;
    draft.file.write_all(bytes)?;
    draft.file.as_file().set_permissions(Permissions::from_mode(mode))?;
    draft.keep()
}

/// A private file that appears in its place once it is whole.
#[derive(Debug)]
pub struct Draft {
    /// Temporary file that it is written to until then.
    pub file: tempfile::NamedTempFile,
    path: Utf8PathBuf,
}

impl Draft {
    /// Begins what becomes the file `path`. A link of that name is replaced, and none of another user leads there.
    ///
    /// # Errors
    /// When nothing can be written where it belongs.
    pub fn new(path: &Utf8Path) -> io::Result<Self> {
        let name = path.file_name().ok_or_else(|| io::Error::other("it is no name of a file"))?;
        let directory = path.parent().filter(|parent| *parent != "").unwrap_or(Utf8Path::new("."));
        let directory = path_check::of_ours(directory, user()?)?;
        // Collectors that read by the end of a name do not see it.
        let file = tempfile::Builder::new().suffix(".part").tempfile_in(&directory)?;
        Ok(Self { file, path: directory.join(name) })
    }

    /// Puts it in its place.
    ///
    /// # Errors
    /// When that cannot be done.
    pub fn keep(self) -> io::Result<()> {
        self.file.persist(&self.path)?;
        Ok(())
    }
}

/// Opens a file that a user asked for, to write it anew. A new one is private, for results hold what
/// files of hosts hold; one that is there keeps its mode, and may be a link, a pipe or a terminal. Nothing of
/// another user is taken, for that user chose who reads it, or what it leads to.
///
/// # Errors
/// When it cannot be opened, or another user made it.
pub fn create_result(path: &Utf8Path) -> io::Result<File> {
    create_result_with(path, 0o600)
}

/// The same with the mode of a new file, less the umask.
///
/// # Errors
/// When it cannot be opened, or another user made it.
pub fn create_result_with(path: &Utf8Path, mode: u32) -> io::Result<File> {
    create_result_of(path, mode, user()?)
}

/// Whether a file that is there may be written anew; changes nothing.
///
/// # Errors
/// Why not.
pub fn check_result(path: &Utf8Path) -> io::Result<()> {
    path_check::result(path, user()?)?;
    File::options().append(true).custom_flags(libc::O_NONBLOCK).open(path).map(drop)
}

fn create_result_of(path: &Utf8Path, mode: u32, user: u32) -> io::Result<File> {
    let file = match path_check::result(path, user)? {
        path_check::Place::Handed => return File::options().write(true).open(path),
        path_check::Place::Named(path) => path_check::open(&path, mode)?,
    };
    let found = file.metadata()?;
    path_check::is_ours_to_write(&found, user)?;
    if found.is_file() {
        file.set_len(0)?;
    }
    Ok(file)
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

    /// A user to whom what `give` is called with belongs to somebody else.
    fn somebody(give: impl Fn(&dyn Fn(&Utf8Path))) -> u32 {
        let own = user().unwrap();
        if own == 0 {
            give(&|path| std::os::unix::fs::lchown(path, Some(12345), None).unwrap());
            return 0;
        }
        own + 1
    }

    #[test]
    fn a_result_is_written_to_nothing_of_another_user() {
        let folder = tempfile::tempdir().unwrap();
        let folder = Utf8Path::from_path(folder.path()).unwrap();
        let link = |to: &Utf8Path, name: &str| {
            let link = folder.join(name);
            std::os::unix::fs::symlink(to, &link).unwrap();
            link
        };
        let (file, pipe) = (folder.join("file"), folder.join("pipe"));
        std::fs::write(&file, "theirs").unwrap();
        make_pipe(&pipe);
        let (new, below) = (folder.join("new"), folder.join("below"));
        std::fs::create_dir(&below).unwrap();
        let (to_new, to_below) = (link(&new, "to_new"), link(&below, "to_below"));
        let user = somebody(|give| [&file, &pipe, &to_new, &to_below].iter().for_each(|path| give(path)));
        for path in [&file, &pipe, &to_new, &to_below.join("x"), &link(&to_below, "ours").join("x")] {
            let error = create_result_of(path, 0o600, user).unwrap_err().to_string();
            assert!(
                error.contains("of another user") || error.contains("to another user"),
                "{path}: {error}"
            );
        }
        assert_eq!(std::fs::read(&file).unwrap(), b"theirs");
        assert!(!new.exists() && !below.join("x").exists());
        assert_eq!(Draft::new(&file).unwrap().path, file);
        if user == 0 {
            Draft::new(&to_below.join("x")).unwrap_err();
        }
    }

    #[test]
    fn a_result_goes_where_our_own_links_and_open_files_lead() {
        let folder = tempfile::tempdir().unwrap();
        let folder = Utf8Path::from_path(folder.path()).unwrap();
        let (file, link) = (folder.join("file"), folder.join("link"));
        std::os::unix::fs::symlink("./file", &link).unwrap();
        for text in ["a long text", "new"] {
            create_result(&link).unwrap().write_all(text.as_bytes()).unwrap();
            assert_eq!(std::fs::read(&file).unwrap(), text.as_bytes());
        }
        // A name for a file of ours that others made, as they can where the kernel lets them.
        std::fs::hard_link(&file, folder.join("second")).unwrap();
        assert!(create_result(&file).unwrap_err().to_string().contains("hard links"));
        create_result(Utf8Path::new("/dev/null")).unwrap();
        create_result(Utf8Path::new("/dev/stderr")).unwrap();
        std::os::unix::fs::symlink("loop", folder.join("loop")).unwrap();
        assert!(create_result(&folder.join("loop")).unwrap_err().to_string().contains("too many links"));
    }

    #[test]
    fn a_private_directory_stands_below_no_directory_of_others() {
        let folder = tempfile::tempdir().unwrap();
        let folder = Utf8Path::from_path(folder.path()).unwrap();
        let theirs = folder.join("theirs");
        std::fs::create_dir(&theirs).unwrap();
        let user = somebody(|give| give(&theirs));
        let error = private_directory_of(&theirs.join("state/provision"), user).unwrap_err();
        assert!(error.to_string().contains("of another user"), "{error}");
        assert_eq!(theirs.read_dir().unwrap().count(), 0);
        let open = folder.join("open");
        std::fs::create_dir(&open).unwrap();
        for (mode, good) in [(0o777, false), (0o1777, true), (0o775, true)] {
            std::fs::set_permissions(&open, Permissions::from_mode(mode)).unwrap();
            assert_eq!(private_directory(&open.join("a/b")).is_ok(), good, "{mode:o}");
        }
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
