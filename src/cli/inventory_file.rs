//! Inventories that `init` and `inventory import` write.

use std::io::Write as _;

use anyhow::Context as _;
use camino::{Utf8Path, Utf8PathBuf};

use crate::cli::args::STDOUT;
use crate::exit::Exit;
use crate::report::output;
use crate::{disk, exit};

/// The most bytes that are kept of a file that is written anew.
const LONGEST: u64 = 64 << 20;

/// Refuses a file that is there, unless `force`, and one that could not be written: before anybody is asked for anything.
///
/// # Errors
/// When it is there, or nothing can be written where it belongs.
pub(super) fn check(file: &Utf8Path, force: bool) -> anyhow::Result<()> {
    if file == STDOUT {
        return Err(Exit::new(exit::USAGE, "an inventory goes to a file: `-` is none").into());
    }
    if is_there(file) && !force {
        return Err(Exit::new(exit::USAGE, format!("{file} is already there"))
            .hint(format!(
                "`--force` writes it anew and keeps what it holds as {}; `--output FILE` writes elsewhere",
                kept(file)
            ))
            .into());
    }
    let mut folder = directory(file);
    while !folder.exists() {
        folder = directory(folder);
    }
    let writable =
        if is_there(file) { disk::check_result(file) } else { tempfile::tempfile_in(folder).map(drop) };
    writable.map_err(|error| Exit::new(exit::USAGE, format!("cannot write {file}: {error}")).into())
}

/// Whether something has this name, a link to nowhere among that.
fn is_there(file: &Utf8Path) -> bool {
    file.symlink_metadata().is_ok()
}

/// Returns the directory of a file.
fn directory(file: &Utf8Path) -> &Utf8Path {
    file.parent().filter(|parent| !parent.as_str().is_empty()).unwrap_or(Utf8Path::new("."))
}

/// Writes it. What it held, perhaps edited by hand, stays beside it.
///
/// # Errors
/// When one of the two cannot be written.
pub(super) fn write(file: &Utf8Path, text: &str) -> anyhow::Result<()> {
    if is_there(file) {
        let held = disk::read(file, LONGEST).with_context(|| format!("cannot keep what {file} holds"))?;
        if held != text.as_bytes() {
            let kept = kept(file);
            let keep = || disk::create_result_with(&kept, 0o666)?.write_all(&held);
            keep().with_context(|| format!("cannot write {kept}; {file} is as it was"))?;
            output::say(&format!("{file} is written anew; what it held is in {kept}"));
        }
    }
    std::fs::create_dir_all(directory(file))
        .and_then(|()| disk::create_result_with(file, 0o666)?.write_all(text.as_bytes()))
        .with_context(|| format!("cannot write {file}"))
}

/// A name that is free: what was kept earlier stays, too.
fn kept(file: &Utf8Path) -> Utf8PathBuf {
    let mut path = Utf8PathBuf::from(format!("{file}.old"));
    let mut number = 2;
    while is_there(&path) {
        path = Utf8PathBuf::from(format!("{file}.old{number}"));
        number += 1;
    }
    path
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_edited_is_kept() {
        let folder = tempfile::tempdir().unwrap();
        let file = Utf8Path::from_path(folder.path()).unwrap().join("inventory.yaml");
        let text = |file: &Utf8Path| std::fs::read_to_string(file).unwrap();
        check(&file, false).unwrap();
        write(&file, "new").unwrap();
        write(&file, "new").unwrap();
        let old = kept(&file);
        assert!(!old.exists());
        std::fs::write(&file, "edited").unwrap();
        assert!(check(&file, false).is_err());
        check(&file, true).unwrap();
        write(&file, "new").unwrap();
        assert_eq!((text(&file).as_str(), text(&old).as_str()), ("new", "edited"));
        assert_eq!(kept(&file), format!("{old}2"));
        // No text is thrown away unseen, and none is written where a link leads.
        std::os::unix::fs::symlink("nowhere", format!("{old}2")).unwrap();
        std::fs::write(&file, b"\xff: edited").unwrap();
        write(&file, "new").unwrap();
        assert_eq!(std::fs::read(format!("{old}3")).unwrap(), b"\xff: edited");
        std::fs::remove_file(&file).unwrap();
        disk::make_pipe(&file);
        assert!(write(&file, "new").unwrap_err().to_string().contains("cannot keep what"));
    }
}
