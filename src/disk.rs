//! Files of this machine: what a user names is read without waiting for ever and without end.

use std::fs::{File, Metadata};
use std::io::{self, Read as _};
use std::os::unix::fs::{FileTypeExt as _, OpenOptionsExt as _};

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
    String::from_utf8(read(path, most)?).map_err(|_| io::Error::other("it is not UTF-8 text"))
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
        std::fs::write(folder.join("odd"), [0xff]).unwrap();
        for (path, why) in [
            (Utf8Path::new("/dev/zero"), "it is a device, not a file"),
            (&pipe, "it is a pipe, not a file"),
            (&link, "it is a pipe, not a file"),
            (folder, "it is a directory, not a file"),
            (&full, "it is larger than 1 KiB"),
            (&folder.join("odd"), "it is not UTF-8 text"),
        ] {
            assert_eq!(read_text(path, 1024).unwrap_err().to_string(), why, "{path}");
        }
        assert_eq!(read_text(&full, 2048).unwrap().len(), 2048);
        // Its length is told as 0.
        assert!(read_text(Utf8Path::new("/proc/self/status"), 1 << 20).unwrap().contains("Name:"));
    }
}
