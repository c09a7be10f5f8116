//! The signature of a record, made and checked by ssh-keygen(1): both sides need nothing but a key of ssh.
//!
//! ```text
//!   record.json, private key                          ─ sign ──> record.json.sig
//!   record.json, record.json.sig, allowed signers     ─ check ─> who signed, and with which key
//! ```
//!
//! It covers the bytes of the file. It says who vouches for them, not whether a host told the truth.

use std::io;
use std::process::{Command, Output};
use std::time::Duration;

use camino::{Utf8Path, Utf8PathBuf};

use crate::disk;
use crate::process::{heard, run};

/// The namespace of a record's signature: one that was made for something else, such as a commit, does not count.
pub const NAMESPACE: &str = "provision-acceptance";

/// Time for a person to type a passphrase, or to touch a key of hardware.
const SIGN: Duration = Duration::from_mins(3);
/// Time to read a record of the largest fleet from a slow disk.
const CHECK: Duration = Duration::from_mins(1);

/// The first line of a signature (PROTOCOL.sshsig of OpenSSH).
const FIRST_LINE: &[u8] = b"-----BEGIN SSH SIGNATURE-----";
/// Bytes of a signature at most; one of RSA with 16384 bits has 6 KiB.
const LONGEST: u64 = 64 << 10;

/// Reason why a record was not signed, or why a signature does not hold.
#[derive(Debug, thiserror::Error)]
pub enum SignatureError {
    /// There is a signature already. ssh-keygen would ask whether to overwrite it, and it may be the other side's.
    #[error("there is a signature already: {0}")]
    AlreadySigned(Utf8PathBuf),
    /// The record cannot be read.
    #[error("cannot read {record}")]
    Read {
        /// The record.
        record: Utf8PathBuf,
        /// Reason of the system.
        source: io::Error,
    },
    /// The program did not start, or did not end in time.
    #[error("cannot run ssh-keygen")]
    Run(#[source] io::Error),
    /// It did not sign.
    #[error("ssh-keygen did not sign {record}: {said}")]
    NotSigned {
        /// The record.
        record: Utf8PathBuf,
        /// Text of ssh-keygen.
        said: String,
    },
    /// The signature is of other bytes, of another namespace, or of nobody who may sign.
    #[error("{signature} is no signature of `{identity}` for {record}: {said}")]
    DoesNotHold {
        /// The record.
        record: Utf8PathBuf,
        /// File of the signature.
        signature: Utf8PathBuf,
        /// Name of the signer that was asked for.
        identity: String,
        /// Text of ssh-keygen.
        said: String,
    },
}

/// Whether a record with this name can be signed: nothing is overwritten.
///
/// # Errors
/// When there is a signature of that name.
pub fn may_sign(record: &Utf8Path) -> Result<(), SignatureError> {
    let signature = Utf8PathBuf::from(format!("{record}.sig"));
    if signature.symlink_metadata().is_ok() { Err(SignatureError::AlreadySigned(signature)) } else { Ok(()) }
}

/// Signs a record with a private key, or with a public one whose other half an agent has; gives the new file, whose
/// name is the record's with `.sig` behind it. A passphrase is asked for by ssh-keygen, on the terminal.
///
/// # Errors
/// When there is a signature of that name, and when ssh-keygen made none.
pub fn sign(record: &Utf8Path, key: &Utf8Path) -> Result<Utf8PathBuf, SignatureError> {
    let signature = Utf8PathBuf::from(format!("{record}.sig"));
    // Where the file is there, ssh-keygen asks, hears nothing, writes nothing and ends with 0.
    may_sign(record)?;
    disk::open(record).map_err(|source| SignatureError::Read { record: record.to_owned(), source })?;
    let done = run(heard("ssh-keygen").args(sign_words(record, key)), b"", SIGN);
    let done = done.map_err(SignatureError::Run)?;
    let made = disk::read(&signature, LONGEST).is_ok_and(|bytes| bytes.starts_with(FIRST_LINE));
    if done.status.success() && made {
        return Ok(signature);
    }
    Err(SignatureError::NotSigned { record: record.to_owned(), said: said(&done) })
}

/// Whether `identity`, who stands in the file of allowed signers, signed exactly these bytes; gives what ssh-keygen
/// says of it, which names the key.
///
/// # Errors
/// When the signature does not hold, and when that cannot be found out.
pub fn check(
    record: &Utf8Path,
    signature: &Utf8Path,
    allowed_signers: &Utf8Path,
    identity: &str,
) -> Result<String, SignatureError> {
    let file =
        disk::open(record).map_err(|source| SignatureError::Read { record: record.to_owned(), source })?;
    let mut command: Command = heard("ssh-keygen");
    command.args(check_words(signature, allowed_signers, identity)).stdin(file);
    let done = run(&mut command, b"", CHECK).map_err(SignatureError::Run)?;
    if done.status.success() {
        return Ok(said(&done));
    }
    Err(SignatureError::DoesNotHold {
        record: record.to_owned(),
        signature: signature.to_owned(),
        identity: identity.to_owned(),
        said: said(&done),
    })
}

/// Arguments of ssh-keygen(1), `-Y sign`.
fn sign_words<'a>(record: &'a Utf8Path, key: &'a Utf8Path) -> [&'a str; 8] {
    ["-Y", "sign", "-n", NAMESPACE, "-f", key.as_str(), "--", record.as_str()]
}

/// Arguments of ssh-keygen(1), `-Y verify`; it reads the record from its standard input.
fn check_words<'a>(signature: &'a Utf8Path, allowed: &'a Utf8Path, identity: &'a str) -> [&'a str; 10] {
    ["-Y", "verify", "-f", allowed.as_str(), "-I", identity, "-n", NAMESPACE, "-s", signature.as_str()]
}

/// Its text as one line: first the reason, which is in its errors.
fn said(done: &Output) -> String {
    let (errors, output) = (String::from_utf8_lossy(&done.stderr), String::from_utf8_lossy(&done.stdout));
    let lines = errors.lines().chain(output.lines()).map(str::trim).filter(|line| !line.is_empty());
    let text = lines.collect::<Vec<_>>().join("; ");
    if text.is_empty() { format!("it said nothing ({})", done.status) } else { text }
}

#[cfg(test)]
mod tests {
    use std::os::unix::process::ExitStatusExt as _;
    use std::process::ExitStatus;

    use super::*;

    /// A folder with a record, a key and the file of allowed signers.
    struct Desk {
        _folder: tempfile::TempDir,
        record: Utf8PathBuf,
        key: Utf8PathBuf,
        allowed: Utf8PathBuf,
    }

    impl Desk {
        fn new(passphrase: &str) -> Self {
            let folder = tempfile::tempdir().unwrap();
            let path = |name: &str| Utf8PathBuf::from_path_buf(folder.path().join(name)).unwrap();
            let (record, key, allowed) = (path("record.json"), path("key"), path("allowed"));
            write(&record, br#"{"format":1,"cluster":"lab"}"#);
            let mut keygen = heard("ssh-keygen");
            keygen.args(["-q", "-t", "ed25519", "-N", passphrase, "-C", "a", "-f", key.as_str()]);
            assert!(run(&mut keygen, b"", CHECK).unwrap().status.success());
            let public = disk::read_text(Utf8Path::new(&format!("{key}.pub")), 4096).unwrap();
            write(&allowed, format!("vendor@example.org {public}").as_bytes());
            Self { _folder: folder, record, key, allowed }
        }

        fn check(&self, signature: &Utf8Path, identity: &str) -> Result<String, SignatureError> {
            check(&self.record, signature, &self.allowed, identity)
        }
    }

    fn write(path: &Utf8Path, bytes: &[u8]) {
        disk::replace(path, bytes).unwrap();
    }

    #[test]
    fn a_signature_holds_for_these_bytes_and_this_signer() {
        let desk = Desk::new("");
        let signature = sign(&desk.record, &desk.key).unwrap();
        assert_eq!(signature, format!("{}.sig", desk.record));
        let said = desk.check(&signature, "vendor@example.org").unwrap();
        assert!(
            said.starts_with(
                r#"Good "provision-acceptance" signature for vendor@example.org with ED25519 key"#
            ),
            "{said}"
        );
        for other in ["customer@example.org", "*", ""] {
            let error = desk.check(&signature, other).unwrap_err();
            assert!(matches!(error, SignatureError::DoesNotHold { .. }), "{error}");
        }
    }

    #[test]
    fn each_changed_byte_is_found() {
        let desk = Desk::new("");
        let signature = sign(&desk.record, &desk.key).unwrap();
        let bytes = disk::read(&desk.record, 4096).unwrap();
        for at in 0..bytes.len() {
            let mut changed = bytes.clone();
            changed[at] ^= 1;
            write(&desk.record, &changed);
            let error = desk.check(&signature, "vendor@example.org").unwrap_err();
            assert!(error.to_string().contains("incorrect signature"), "{error}");
        }
        for changed in [[&bytes[..], b"\n"].concat(), bytes[1..].to_vec(), Vec::new()] {
            write(&desk.record, &changed);
            desk.check(&signature, "vendor@example.org").unwrap_err();
        }
        write(&desk.record, &bytes);
        desk.check(&signature, "vendor@example.org").unwrap();
    }

    #[test]
    fn a_signature_for_something_else_does_not_hold() {
        let desk = Desk::new("");
        let mut other = heard("ssh-keygen");
        other.args(["-Y", "sign", "-n", "file", "-f", desk.key.as_str(), desk.record.as_str()]);
        assert!(run(&mut other, b"", CHECK).unwrap().status.success());
        let signature = Utf8PathBuf::from(format!("{}.sig", desk.record));
        let error = desk.check(&signature, "vendor@example.org").unwrap_err();
        assert!(error.to_string().contains("namespace does not match"), "{error}");
    }

    #[test]
    fn a_signature_that_is_there_stays() {
        let desk = Desk::new("");
        let signature = sign(&desk.record, &desk.key).unwrap();
        write(&desk.record, b"another record");
        let error = sign(&desk.record, &desk.key).unwrap_err();
        assert!(matches!(error, SignatureError::AlreadySigned(ref file) if *file == signature), "{error}");
        desk.check(&signature, "vendor@example.org").unwrap_err();
    }

    #[test]
    fn what_is_not_signed_has_no_signature() {
        let desk = Desk::new("");
        let error = sign(&desk.record, &desk.key.with_file_name("none")).unwrap_err();
        assert!(error.to_string().contains("No such file"), "{error}");
        let error = sign(&desk.record.with_file_name("none.json"), &desk.key).unwrap_err();
        assert!(matches!(error, SignatureError::Read { .. }), "{error}");
        let error = desk.check(&desk.record.with_file_name("none.sig"), "vendor@example.org").unwrap_err();
        assert!(matches!(error, SignatureError::DoesNotHold { .. }), "{error}");
        assert!(!Utf8PathBuf::from(format!("{}.sig", desk.record)).exists());
    }

    #[test]
    fn a_name_may_begin_with_a_dash() {
        let words = sign_words(Utf8Path::new("-record.json"), Utf8Path::new("key"));
        assert_eq!(words, ["-Y", "sign", "-n", NAMESPACE, "-f", "key", "--", "-record.json"]);
        let words = check_words(Utf8Path::new("a.sig"), Utf8Path::new("allowed"), "-x");
        assert_eq!(words, ["-Y", "verify", "-f", "allowed", "-I", "-x", "-n", NAMESPACE, "-s", "a.sig"]);
    }

    #[test]
    fn what_it_says_is_one_line() {
        let output = |stdout: &str, stderr: &str| Output {
            status: ExitStatus::from_raw(255 << 8),
            stdout: stdout.as_bytes().to_vec(),
            stderr: stderr.as_bytes().to_vec(),
        };
        assert_eq!(
            said(&output("Could not verify signature.\n", "incorrect\r\n\n")),
            "incorrect; Could not verify signature."
        );
        assert_eq!(said(&output("", "")), "it said nothing (exit status: 255)");
    }
}
