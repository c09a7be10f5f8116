//! Keys and configuration files of a lab.

use std::fmt::Write as _;
use std::io::Read as _;

use anyhow::{Context as _, Result};
use base64::Engine as _;
use camino::Utf8Path;

use super::engine;
use super::state::LabState;
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

/// An `ssh_config` with which any ssh client reaches the lab's hosts by name.
pub(crate) fn ssh_config(state: &LabState) -> String {
    let mut text = format!("# The lab of {}; written by `provision lab up`.\n", state.inventory);
    for host in &state.hosts {
        let _ = write!(
            text,
            "\nHost {}\n    HostName {}\n    Port {}\n    User {}\n    IdentityFile \"{}\"\n    IdentitiesOnly yes\n    \
             UserKnownHostsFile \"{}\"\n    GlobalKnownHostsFile /dev/null\n    StrictHostKeyChecking yes\n",
            host.name, host.address, host.port, state.user, state.identity_file, state.known_hosts,
        );
    }
    text
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
