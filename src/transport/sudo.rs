//! Becoming root by sudo, without ever letting a password stray.
//!
//! Measured: `sudo -S` for a user who needs no password leaves it to the shell as a command. So
//! the host first finds out whether one is wanted, and only then it is sent there. It is proven on a
//! pipe of its own (a wrong one cannot eat what follows as further tries), and then starts the shell
//! behind it. Nothing is sent before that shell has spoken: sudo-rs 0.2.5 (Debian 13) keeps for itself
//! whatever has come behind the password when it reads that.

use std::sync::Arc;
use std::time::Duration;

use secrecy::{ExposeSecret as _, SecretString};

use super::classify::last_line;
use super::quote::quote;
use super::shell::{HostShell, ShellError};
use super::trial::{Trial, Trials};
use super::{ConnectKind, TransportError};
use crate::inventory::{Become, Host};
use crate::secrets::Secrets;

/// How long the others wait for the host that tries the password: sudo may hang there. sudo-rs 0.2.5 takes the end of
/// its input for two more wrong ones, and PAM has each wait for two seconds.
const TRIAL: Duration = Duration::from_secs(15);

/// How a session on a host becomes root.
#[derive(Debug, Clone)]
pub(super) enum Way {
    /// Not at all.
    None,
    /// `sudo -n`.
    Free,
    /// A bootstrap that asks sudo whether it wants the password.
    Password(Password),
}

/// The password of sudo on a host.
#[derive(Debug, Clone)]
pub(super) struct Password {
    value: SecretString,
    host: String,
    trial: Arc<Trial>,
}

impl Way {
    /// That of a host; its password is tried as the `trials` of the run say.
    pub(super) fn new(host: &Host, secrets: &Secrets, trials: &Trials) -> Self {
        let Become::Sudo { password } = &host.ssh.become_method else { return Self::None };
        let Some(name) = password.as_deref() else { return Self::Free };
        match secrets.get(name) {
            Some(value) => Self::Password(Password {
                value: value.clone(),
                host: host.name.clone(),
                trial: trials.of(name),
            }),
            None => Self::Free,
        }
    }

    /// The command line of a host shell: a constant without quotes, so that every login shell takes
    /// it. Sudo's messages are told apart in English; `SetEnv` of the connection asks for that.
    pub(super) fn shell(&self) -> &'static str {
        match self {
            Self::None | Self::Password(_) => "exec /bin/sh -s",
            Self::Free => "exec sudo -n /bin/sh -s",
        }
    }

    /// The same behind a login, which shows that it has come to sudo.
    pub(super) fn login(&self) -> &'static str {
        match self {
            Self::None | Self::Password(_) => self.shell(),
            Self::Free => "echo provision-sudo; exec sudo -n /bin/sh -s",
        }
    }

    /// What came before that, and whether it was there: banners, login scripts and shells that
    /// refuse may say what they like before sudo's turn.
    pub(super) fn turn<'a>(&self, noise: &'a str) -> (&'a str, bool) {
        match (self, noise.trim_end().strip_suffix("provision-sudo")) {
            (Self::Free, Some(before)) => (before, true),
            (Self::None | Self::Password(_) | Self::Free, _) => (noise, false),
        }
    }

    /// Whether it ends with root.
    pub(super) fn becomes_root(&self) -> bool {
        match self {
            Self::None => false,
            Self::Free | Self::Password(_) => true,
        }
    }

    /// Runs the bootstrap where there is one: the streams are then those of a root shell.
    pub(super) async fn pass(&self, shell: &mut HostShell) -> Result<(), ShellError> {
        let Self::Password(Password { value, host, trial }) = self else { return Ok(()) };
        let text = LOOK.replace("NONCE", shell.nonce());
        if shell.bootstrap(&text).await?.0 == "free" {
            return Ok(());
        }
        let mut turn = trial.turn().await.map_err(|first| ShellError::Other(untried(&first)))?;
        let nonce = shell.nonce().to_owned();
        let text = PROVE.replace("NONCE", &nonce).replace("PASSWORD", &quote(value.expose_secret()));
        let (verdict, words) = {
            let mut answer = std::pin::pin!(shell.bootstrap(&text));
            if let Ok(answer) = tokio::time::timeout(TRIAL, &mut answer).await {
                answer?
            } else {
                turn.leave();
                answer.await?
            }
        };
        if verdict == "password" {
            turn.accepted();
            return Ok(());
        }
        // What login scripts said comes before.
        let words = words.rsplit_once(&format!("{nonce}:\n")).map_or("", |(_, words)| words);
        if is_wrong(words) {
            turn.refused(host);
        }
        Err(ShellError::Other(refused(words)))
    }
}

/// Whether sudo says that the password is wrong.
fn is_wrong(words: &str) -> bool {
    !NOT_ALLOWED.iter().any(|phrase| words.contains(phrase))
        && WRONG.iter().any(|phrase| words.contains(phrase))
}

/// How lines of sudo and sudo-rs begin: the latter called itself by its name until 0.2.8.
const NAMES: &[&str] = &["sudo: ", "sudo-rs: "];
/// What sudo says when no password would help. The sentence of an old film is that of sudo-rs.
const NOT_ALLOWED: &[&str] =
    &["sudoers", "may not run", "not allowed", "must have a tty", "I'm afraid I can't do that"];
/// The same, and that there is no sudo, in lines that need not begin with its name.
const REFUSED: &[&str] = &[
    "is not in the sudoers file",
    "may not run ",
    "is not allowed to ",
    "I'm afraid I can't do that",
    "'sudo'",
    "sudo: not found",
];
/// What it says of a wrong password.
const WRONG: &[&str] = &["try again", "incorrect password", "ncorrect authentication"];
/// What it says when it has got none: sudo 1.8 to 1.9, sudo-rs 0.2.5 to 0.2.15.
const WANTED: &[&str] = &[
    "a password is required",
    "a terminal is required to read the password",
    "interactive authentication is required",
    "Interaction is required",
    "Authentication required but not attempted",
    "A terminal is required to authenticate",
];

/// The error of a host whose password another one has refused.
fn untried(first: &str) -> TransportError {
    let message = format!("{first} refused the sudo password, so it is not tried here");
    TransportError::Connect { kind: ConnectKind::PasswordUntried, message }
}

/// The error behind sudo's own words.
pub(super) fn refused(words: &str) -> TransportError {
    let said = |phrases: &[&str]| phrases.iter().any(|phrase| words.contains(phrase));
    let known = |line: &str| of_sudo(line) || line.contains("sudo");
    let line = last_line(words, known).or_else(|| last_line(words, |_| true)).unwrap_or_default();
    let (kind, message) = if said(NOT_ALLOWED) {
        (ConnectKind::SudoRefused, format!("sudo refused: {line}"))
    } else if is_wrong(words) {
        (ConnectKind::PasswordRefused, "sudo refused the password".to_owned())
    } else if said(WANTED) {
        (ConnectKind::SudoPassword, "sudo wants a password and none was given".to_owned())
    } else {
        (ConnectKind::SudoRefused, format!("sudo refused: {line}"))
    };
    TransportError::Connect { kind, message }
}

/// Whether a line is one of sudo, with its name before it or without.
fn of_sudo(line: &str) -> bool {
    let mut sentences = WANTED.iter().chain(REFUSED);
    NAMES.iter().any(|name| line.starts_with(name)) || sentences.any(|phrase| line.contains(phrase))
}

/// The error of a sudo that gave up: it has the last word, whatever came before.
pub(super) fn refusal(stderr: &str) -> Option<TransportError> {
    last_line(stderr, of_sudo).map(|line| refused(&line))
}

/// Whether sudo wants a password; where it wants none, the shell goes on as root.
const LOOK: &str = r#"{
provision_say() { printf '%s\n' "$1"; }
provision_sudo() {
PATH=$PATH:/usr/sbin:/sbin:/usr/local/sbin LC_ALL=C
export PATH LC_ALL
case $(command -v printf) in /*) provision_say() { print -r -- "$1"; } ;; esac
provision_way=wanted
if provision_why=$(sudo -k -n /bin/sh -c : 2>&1); then provision_way=free; fi
printf '\n%s:\n%s\n\n%s sudo %s\n' NONCE "$provision_why" NONCE "$provision_way"
}
provision_sudo </dev/null
case $provision_way in free) exec sudo -n /bin/sh -s ;; esac
}
"#;

/// `$1` is the password. It is in no argument list: where `printf` is not built in (mksh), `print` is.
/// That it was taken is said by the shell behind sudo, so that nothing else is there to be read before. When that
/// ends, the waiting one is ended; else it would hold the connection open.
const PROVE: &str = r#"{
provision_prove() {
if provision_why=$(provision_say "$1" | sudo -k -S -p '' /bin/sh -c : 2>&1); then return; fi
printf '\n%s:\n%s\n\n%s sudo none\n' NONCE "$provision_why" NONCE
exit 1
}
provision_prove PASSWORD </dev/null
{ provision_say PASSWORD; exec cat; } | {
sudo -k -S -p '' /bin/sh -c 'printf "\n%s sudo password\n" NONCE; exec /bin/sh -s'
kill -TERM $$
}
exit
}
"#;
