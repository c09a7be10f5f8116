//! The password of a login, handed to `ssh` without a terminal.
//!
//! ```text
//!   provision ── ssh ── provision "me@gpu0's password: "     $SSH_ASKPASS, with the prompt
//!       └───── socket of this login ─────┘                   prompt there, password back
//! ```
//!
//! The password is in no argument, no environment and no file: it goes through a socket in the directory of
//! the run, which is this user's alone. Each login gets it once, and only where `ssh` asks for a password: a
//! second answer would count as a second try, and a new password is nobody's to choose here.

use std::collections::BTreeMap;
use std::io::{self, Read as _, Write as _};
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::time::Duration;

use camino::{Utf8Path, Utf8PathBuf};
use secrecy::{ExposeSecret as _, SecretString};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::UnixListener;

use super::run_dir::Socket;

/// Tells the program that `ssh` has started it, and which socket has the answer.
pub const ASKPASS: &str = "PROVISION_ASKPASS";
/// Longest prompt that is read.
const PROMPT: u64 = 4096;
/// Time limit for a helper to say its prompt.
const PATIENCE: Duration = Duration::from_secs(5);

/// Logins by password, for hosts that have no key yet.
#[derive(Debug, Clone)]
pub struct PasswordLogins {
    /// The password of all of them.
    pub password: SecretString,
    /// This program, which `ssh` starts to ask for it.
    pub program: Utf8PathBuf,
    /// Method by which each host takes it, by host name: `password` or `keyboard-interactive`. Others are
    /// logged in to as ever.
    pub methods: BTreeMap<String, &'static str>,
}

impl PasswordLogins {
    /// The way in which a server takes a password, from what `ssh` says when it refused all keys:
    /// `Permission denied (publickey,password).` One of them: a wrong one would be tried by each.
    pub fn method(refusal: &str) -> Option<&'static str> {
        let (_, methods) = refusal.rsplit_once('(')?;
        let (methods, _) = methods.split_once(')')?;
        ["password", "keyboard-interactive"]
            .into_iter()
            .find(|wanted| methods.split(',').any(|m| m == *wanted))
    }

    /// Options of an `ssh` that logs in by it.
    pub(super) fn options(method: &str) -> Vec<String> {
        let method = format!("PreferredAuthentications {method}");
        ["BatchMode no", "PubkeyAuthentication no", &method, "NumberOfPasswordPrompts 1"]
            .into_iter()
            .flat_map(|option| ["-o".to_owned(), option.to_owned()])
            .collect()
    }
}

/// Listener that answers the `ssh` of one login.
#[derive(Debug)]
pub(super) struct Answer {
    listener: UnixListener,
    socket: Socket,
    password: SecretString,
}

impl Answer {
    pub(super) fn new(socket: Socket, password: SecretString) -> io::Result<Self> {
        Ok(Self { listener: UnixListener::bind(socket.path())?, socket, password })
    }

    /// Variables of the `ssh` that asks. Before OpenSSH 8.4 it asks only where there is a display and no terminal.
    pub(super) fn environment(&self, program: &Utf8Path) -> [(&'static str, String); 4] {
        [
            ("SSH_ASKPASS", program.to_string()),
            ("SSH_ASKPASS_REQUIRE", "force".to_owned()),
            ("DISPLAY", ":0".to_owned()),
            (ASKPASS, self.socket.path().to_string()),
        ]
    }

    /// Answers as long as the login goes on.
    pub(super) async fn give(self) -> std::convert::Infallible {
        let mut left = Some(&self.password);
        loop {
            let Ok((mut stream, _)) = self.listener.accept().await else {
                tokio::time::sleep(PATIENCE).await;
                continue;
            };
            let mut prompt = Vec::new();
            let mut bounded = (&mut stream).take(PROMPT);
            let read = tokio::time::timeout(PATIENCE, bounded.read_to_end(&mut prompt)).await;
            if !matches!(read, Ok(Ok(_))) || !wants_password(&String::from_utf8_lossy(&prompt)) {
                continue;
            }
            if let Some(password) = left.take() {
                // A helper that is gone has asked for nothing.
                drop(stream.write_all(password.expose_secret().as_bytes()).await);
            }
        }
    }
}

/// `me@gpu0's password: ` and `(me@gpu0) Password: ` do; passphrases, codes and new passwords do not.
fn wants_password(prompt: &str) -> bool {
    let prompt = prompt.to_lowercase();
    prompt.contains("password")
        && !["new password", "retype", "passphrase"].iter().any(|no| prompt.contains(no))
}

/// Asks for the password, when `ssh` started this program to do so: the prompt goes to the socket, the answer
/// to `out`.
///
/// # Errors
/// When nobody is there, or there is no answer to this prompt.
pub fn ask(socket: &str, prompt: &str, out: &mut impl io::Write) -> io::Result<()> {
    let mut stream = UnixStream::connect(socket)?;
    stream.write_all(prompt.as_bytes())?;
    stream.shutdown(Shutdown::Write)?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer)?;
    if answer.is_empty() {
        return Err(io::ErrorKind::PermissionDenied.into());
    }
    let answer = SecretString::from(answer);
    out.write_all(answer.expose_secret().as_bytes())?;
    out.write_all(b"\n")?;
    out.flush()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_way_to_take_a_password() {
        let of = |methods: &str| PasswordLogins::method(&format!("me@h: Permission denied ({methods})."));
        assert_eq!(of("publickey,password,keyboard-interactive"), Some("password"));
        assert_eq!(of("publickey,keyboard-interactive"), Some("keyboard-interactive"));
        assert_eq!(of("publickey,gssapi-with-mic"), None);
        assert_eq!(PasswordLogins::method("Too many authentication failures"), None);
    }

    #[test]
    fn only_a_password_is_answered() {
        for (prompt, wanted) in [
            ("me@gpu0's password: ", true),
            ("(me@gpu0) Password: ", true),
            ("Enter passphrase for key '/home/me/password': ", false),
            ("(me@gpu0) New password: ", false),
            ("(me@gpu0) Retype new password: ", false),
            ("(me@gpu0) Verification code: ", false),
            ("Are you sure you want to continue connecting (yes/no/[fingerprint])? ", false),
        ] {
            assert_eq!(wants_password(prompt), wanted, "{prompt}");
        }
    }
}
