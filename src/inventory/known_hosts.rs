//! Files of host keys: what ssh reads, and `inventory trust` writes.

use std::io::ErrorKind;

use camino::Utf8Path;

use crate::disk;

/// The most bytes of such a file: a line has some hundred.
pub const LONGEST: u64 = 64 << 20;

/// Content of a file of host keys.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KnownHosts {
    /// Its bytes: comments are in any encoding.
    pub bytes: Vec<u8>,
    /// Number of lines that say something of a host.
    pub keys: usize,
    /// The number of the first line that is none of such a file, from 1.
    pub strange: Option<usize>,
}

/// Reads a file of host keys.
///
/// # Errors
/// When it cannot be read, and when it is called as a file of another kind that ssh reads.
pub fn read(path: &Utf8Path) -> std::io::Result<KnownHosts> {
    let real = path.canonicalize_utf8()?;
    // `no-pty ssh-ed25519 AAAA...` is a line of either: there it lets somebody in.
    for path in [path, &real] {
        if path.file_name().is_some_and(|name| name.starts_with("authorized_keys")) {
            return Err(std::io::Error::other("it says who may log in, and not which keys hosts have"));
        }
    }
    let bytes = disk::read(path, LONGEST)?;
    let (mut keys, mut strange) = (0, None);
    for (line, number) in bytes.split(|byte| *byte == b'\n').zip(1..) {
        match is_key(line) {
            None => {}
            Some(true) => keys += 1,
            Some(false) => strange = strange.or(Some(number)),
        }
    }
    Ok(KnownHosts { bytes, keys, strange })
}

/// Whether ssh can look for host keys in a file: before a login waits for a pipe, and before a key is written to a
/// file that is something else.
pub(super) fn suits(file: &Utf8Path) -> Result<(), String> {
    match read(file) {
        Ok(found) if found.keys == 0 && found.strange.is_some() => Err("none of its lines is one".to_owned()),
        Ok(_) => Ok(()),
        // It may be another machine's, or another user's.
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::PermissionDenied) => Ok(()),
        Err(error) => Err(disk::short(&error)),
    }
}

/// Whether a line is one as sshd(8) has it under "`SSH_KNOWN_HOSTS` FILE FORMAT"; nothing for one without a meaning.
fn is_key(line: &[u8]) -> Option<bool> {
    let mut words = line.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty()).peekable();
    let first = words.peek()?;
    if first.starts_with(b"#") {
        return None;
    }
    if first.starts_with(b"@")
        && !words.next().is_some_and(|mark| [&b"@cert-authority"[..], b"@revoked"].contains(&mark))
    {
        return Some(false);
    }
    let (Some(_), Some(kind), Some(key)) = (words.next(), words.next(), words.next()) else {
        return Some(false);
    };
    let digits = |word: &[u8]| word.iter().all(u8::is_ascii_digit);
    let kinds: [&[u8]; 3] = [b"ssh-", b"ecdsa-sha2-", b"sk-"];
    let base64 = |byte: &u8| byte.is_ascii_alphanumeric() || b"+/=".contains(byte);
    let named = kinds.iter().any(|start| kind.starts_with(start)) && key.iter().all(base64);
    // Bits, exponent and modulus: keys of the first version of the protocol, which old files still have.
    Some(named || digits(kind) && digits(key))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_known_hosts() {
        for (line, expected) in [
            ("", None),
            ("  # a comment", None),
            ("gpu0,10.0.0.1 ssh-ed25519 AAAAC3Nz comment", Some(true)),
            ("|1|c2FsdA==|aGFzaA== ecdsa-sha2-nistp256 AAAA", Some(true)),
            ("@cert-authority *.example.org ssh-rsa AAAA", Some(true)),
            ("@revoked * sk-ssh-ed25519@openssh.com AAAA", Some(true)),
            ("old 1024 35 1234567", Some(true)),
            ("ssh-ed25519 AAAA me@here", Some(false)),
            ("command=\"x\" ssh-ed25519", Some(false)),
            ("@other h ssh-rsa AAAA", Some(false)),
            ("Host gpu0", Some(false)),
            ("root:x:0:0:root:/root:/bin/bash", Some(false)),
            ("alias ll='ls -l'", Some(false)),
        ] {
            assert_eq!(is_key(line.as_bytes()), expected, "{line}");
        }
        assert_eq!(is_key(b"h ssh-rsa AAAA Universit\xe4t"), Some(true));
    }
}
