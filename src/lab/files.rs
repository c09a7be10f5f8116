//! Keys and configuration files of a lab.

use std::fmt::Write as _;
use std::io::Read as _;

use anyhow::{Context as _, Result};
use base64::Engine as _;
use camino::Utf8Path;

use super::engine;
use crate::disk;
use crate::process::heard;

/// Makes a folder that only its owner sees.
pub(crate) fn private_folder(path: &Utf8Path) -> Result<()> {
    disk::private_directory(path).with_context(|| format!("cannot use {path}"))
}

/// Writes a file as a whole or not at all.
pub(crate) fn write(path: &Utf8Path, text: &str, mode: u32) -> Result<()> {
    disk::replace_with_mode(path, text.as_bytes(), mode).with_context(|| format!("cannot write {path}"))
}

/// The lab's client key: made once. Gives the public line.
pub(crate) fn client_key(private: &Utf8Path, comment: &str) -> Result<String> {
    let public = Utf8Path::new(&format!("{private}.pub")).to_owned();
    if !(private.exists() && public.exists()) {
        // A half-made pair makes ssh-keygen ask.
        for path in [private, &public] {
            drop(std::fs::remove_file(path));
        }
        let mut keygen = heard("ssh-keygen");
        keygen.args(["-q", "-t", "ed25519", "-N", "", "-C", comment, "-f", private.as_str()]);
        engine::text(&mut keygen, b"", engine::USUAL).context("cannot make the lab's key")?;
    }
    let line = std::fs::read_to_string(&public).with_context(|| format!("cannot read {public}"))?;
    Ok(line.trim().to_owned())
}

/// The password that sudo wants in this lab: made once.
pub(crate) fn password(path: &Utf8Path) -> Result<String> {
    if let Ok(text) = std::fs::read_to_string(path)
        && !text.trim().is_empty()
    {
        return Ok(text.trim().to_owned());
    }
    let mut random = [0_u8; 15];
    std::fs::File::open("/dev/urandom")
        .and_then(|mut file| file.read_exact(&mut random))
        .context("no randomness")?;
    let text = base64::engine::general_purpose::URL_SAFE_NO_PAD.encode(random);
    write(path, &format!("{text}\n"), 0o600)?;
    Ok(text)
}

/// Returns the name of a host in `known_hosts`.
pub(crate) fn place(address: &str, port: u16) -> String {
    if port == 22 { address.to_owned() } else { format!("[{address}]:{port}") }
}

/// `known_hosts` lines of one host from the `type key` lines that it told itself.
pub(crate) fn known_hosts(address: &str, port: u16, keys: &str) -> String {
    let place = place(address, port);
    keys.lines().filter(|line| !line.trim().is_empty()).fold(String::new(), |mut text, key| {
        // Infallible for a String.
        let _ = writeln!(text, "{place} {key}");
        text
    })
}

/// Takes a lock of the kernel: free the moment its holder ends, however that happens.
pub(crate) fn lock(
    path: &Utf8Path,
    waiting_for: &str,
    progress: &mut dyn FnMut(&str),
) -> Result<std::fs::File> {
    let file = disk::open_lock(path).with_context(|| format!("cannot open {path}"))?;
    if file.try_lock().is_err() {
        progress(&format!("waiting: {waiting_for}"));
        file.lock().with_context(|| format!("cannot lock {path}"))?;
    }
    Ok(file)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn host_keys_are_recorded_under_the_published_port() {
        assert_eq!(
            known_hosts("127.0.0.1", 20001, "ssh-ed25519 AAAA\n\necdsa-sha2-nistp256 BBBB\n"),
            "[127.0.0.1]:20001 ssh-ed25519 AAAA\n[127.0.0.1]:20001 ecdsa-sha2-nistp256 BBBB\n"
        );
    }

    #[test]
    fn a_password_is_made_once_and_is_private() {
        use std::os::unix::fs::PermissionsExt as _;
        let folder = tempfile::tempdir().expect("folder");
        let path = Utf8Path::from_path(folder.path()).expect("UTF-8").join("sudo-password");
        let first = password(&path).expect("password");
        assert!(first.len() >= 20);
        assert_eq!(password(&path).expect("password"), first);
        assert_eq!(std::fs::metadata(&path).expect("file").permissions().mode() & 0o777, 0o600);
    }
}
