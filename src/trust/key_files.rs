//! Files that host keys are recorded in.

use std::collections::{BTreeMap, BTreeSet};
use std::io::ErrorKind;
use std::os::unix::fs::PermissionsExt as _;

use camino::{Utf8Path, Utf8PathBuf};

use super::key::HostKey;
use crate::exit::Exit;
use crate::inventory::known_hosts;
use crate::{disk, exit};

/// A key to record, and the numbers of the lines that it replaces.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    pub(super) file: Utf8PathBuf,
    pub(super) key: HostKey,
    pub(super) instead: BTreeSet<usize>,
}

/// Reads a file of host keys, if keys may be recorded in it. Refuses a file that holds other things, or that
/// something else reads: it is somebody's, and an inventory of others may have named it. `site` is the
/// directory of the inventory.
///
/// # Errors
/// Why nothing is recorded there.
pub fn held(file: &Utf8Path, site: &Utf8Path) -> Result<Vec<u8>, Exit> {
    let refuse = |why: String| {
        Exit::new(exit::CONFIG, format!("no key is recorded in {file}: {why}"))
            .hint("`ssh: { known_hosts: ./known_hosts }` in the inventory names a file for its hosts alone")
    };
    let (bytes, empty) = match known_hosts::read(file) {
        Ok(found) => {
            if let Some(line) = found.strange {
                return Err(refuse(format!("line {line} is none of a file of host keys")));
            }
            (found.bytes, found.keys == 0)
        }
        Err(error) if error.kind() == ErrorKind::NotFound => (Vec::new(), true),
        Err(error) => return Err(refuse(disk::short(&error))),
    };
    // A word and a key may mean something to whatever reads the file, as `~/.profile` is read by a shell.
    if empty {
        let whole = |path: &Utf8Path| {
            let directory = path.parent().filter(|parent| *parent != "").unwrap_or(Utf8Path::new("."));
            let name = path.file_name().unwrap_or_default();
            directory.canonicalize_utf8().map_or_else(|_| path.to_owned(), |directory| directory.join(name))
        };
        let real = file.canonicalize_utf8().unwrap_or_else(|_| whole(file));
        let named = real.file_name().is_some_and(|name| name.contains("known_hosts"));
        if !named && !real.starts_with(whole(&site.join("x")).with_file_name("")) {
            return Err(refuse(
                "it has none yet, it is not beside the inventory, and its name does not say `known_hosts`"
                    .to_owned(),
            ));
        }
    }
    Ok(bytes)
}

/// The files of some keys as words.
pub fn names(entries: &[Entry]) -> String {
    let names: BTreeSet<&str> = entries.iter().map(|entry| entry.file.as_str()).collect();
    names.into_iter().collect::<Vec<_>>().join(" and ")
}

/// Records keys, in place of the lines that they name. All other bytes stay as they are.
///
/// # Errors
/// When a file cannot be written, or holds other things.
pub fn append(entries: &[Entry], site: &Utf8Path) -> Result<(), Exit> {
    let mut by_file: BTreeMap<&Utf8Path, Vec<&Entry>> = BTreeMap::new();
    for entry in entries {
        by_file.entry(&entry.file).or_default().push(entry);
    }
    for (file, entries) in by_file {
        let old = held(file, site)?;
        if let Some(directory) = file.parent().filter(|directory| !directory.as_str().is_empty()) {
            std::fs::create_dir_all(directory)
                .map_err(|error| Exit::caused(format!("cannot create {directory}"), error))?;
        }
        let gone = |number| entries.iter().any(|entry| entry.instead.contains(&number));
        let kept = old.split_inclusive(|byte| *byte == b'\n').zip(1..).filter(|(_, number)| !gone(*number));
        let mut text: Vec<u8> = kept.flat_map(|(line, _)| line).copied().collect();
        if text.last().is_some_and(|byte| *byte != b'\n') {
            text.push(b'\n');
        }
        for entry in entries {
            text.extend_from_slice(entry.key.line.as_bytes());
            text.push(b'\n');
        }
        // A reader never sees half a file. What it is a link to and its mode stay.
        let mode = file.metadata().map_or(0o644, |there| there.permissions().mode() & 0o777);
        let target = file.canonicalize_utf8().unwrap_or_else(|_| file.to_owned());
        disk::replace_with_mode(&target, &text, mode)
            .map_err(|error| Exit::caused(format!("cannot write {file}"), error))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_replaces_the_lines_that_it_names() {
        let directory = tempfile::tempdir().unwrap();
        let file = Utf8PathBuf::from_path_buf(directory.path().join("known_hosts")).unwrap();
        // Somebody's comment is in Latin-1, and a line of Windows.
        let old = b"# Universit\xe4t\n[127.0.0.1]:2222 ssh-ed25519 AAAA\nother ssh-rsa BBBB dear \xff\r\n@revoked * ssh-rsa CCCC";
        std::fs::write(&file, old).unwrap();
        let key = HostKey::parse("[127.0.0.1]:2222 ssh-ed25519 CCCC").unwrap();
        let link = file.with_extension("link");
        std::os::unix::fs::symlink(&file, &link).unwrap();
        append(&[Entry { file: link.clone(), key, instead: BTreeSet::from([2]) }], "/".into()).unwrap();
        assert!(link.is_symlink());
        assert_eq!(
            std::fs::read(&file).unwrap(),
            b"# Universit\xe4t\nother ssh-rsa BBBB dear \xff\r\n@revoked * ssh-rsa CCCC\n[127.0.0.1]:2222 ssh-ed25519 CCCC\n"
        );
    }

    #[test]
    fn no_key_is_recorded_in_a_file_that_is_something_else() {
        let directory = tempfile::tempdir().unwrap();
        let directory = Utf8Path::from_path(directory.path()).unwrap();
        let write = |name: &str, text: &[u8]| std::fs::write(directory.join(name), text).unwrap();
        write("authorized_keys", b"no-pty ssh-ed25519 AAAA\n");
        write("profile", b"export A=b\n");
        write("late", b"h ssh-ed25519 AAAA\nrm -rf it\n");
        write("empty", b"");
        write("good", b"h ssh-ed25519 AAAA\n");
        std::os::unix::fs::symlink("authorized_keys", directory.join("known_hosts")).unwrap();
        std::os::unix::fs::symlink("empty", directory.join("known_hosts2")).unwrap();
        std::fs::create_dir(directory.join("known_hosts.d")).unwrap();
        disk::make_pipe(&directory.join("known_hosts.pipe"));
        let site = directory.join("known_hosts.d");
        let key = HostKey::parse("h ssh-ed25519 CCCC").unwrap();
        let record = |name: &str, site: &Utf8Path| {
            append(&[Entry { file: directory.join(name), key: key.clone(), instead: BTreeSet::new() }], site)
        };
        for (name, why) in [
            ("authorized_keys", "who may log in"),
            ("known_hosts", "who may log in"),
            ("profile", "line 1 is none"),
            ("late", "line 2 is none"),
            ("empty", "does not say `known_hosts`"),
            ("known_hosts2", "does not say `known_hosts`"),
            (".profile", "does not say `known_hosts`"),
            ("known_hosts.d", "it is a directory"),
            ("known_hosts.pipe", "it is a pipe"),
            ("/dev/null", "it is a device"),
        ] {
            let before = std::fs::symlink_metadata(directory.join(name)).ok().map(|found| found.len());
            let error = record(name, &site).unwrap_err().to_string();
            assert!(error.contains(why), "{name}: {error}");
            let after = std::fs::symlink_metadata(directory.join(name)).ok().map(|found| found.len());
            assert_eq!(before, after, "{name}");
        }
        record("good", &site).unwrap();
        record("new/known_hosts", &site).unwrap();
        // Beside the inventory it is called as its owner likes.
        record("empty", directory).unwrap();
        record("keys", directory).unwrap();
    }
}
