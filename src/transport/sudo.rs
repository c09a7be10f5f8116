//! Becoming root by sudo, without ever letting a password stray.
//!
//! Measured: `sudo -S` for a user who needs no password leaves it to the shell as a command. So
//! the host first finds out whether one is wanted, then proves it on a pipe of its own (a wrong
//! one cannot eat what follows as further tries), and only then starts the shell behind it.

use secrecy::{ExposeSecret as _, SecretString};

use super::classify::last_line;
use super::quote::quote;
use super::shell::{HostShell, ShellError};
use super::{ConnectKind, TransportError};
use crate::inventory::Become;
use crate::secrets::Secrets;

/// How a session on a host becomes root.
#[derive(Debug, Clone)]
pub(super) enum Way {
    /// Not at all.
    None,
    /// `sudo -n`.
    Free,
    /// A bootstrap that has the password.
    Password(SecretString),
}

impl Way {
    pub(super) fn new(wanted: &Become, secrets: &Secrets) -> Self {
        match wanted {
            Become::None => Self::None,
            Become::Sudo { password } => match password.as_deref().and_then(|name| secrets.get(name)) {
                Some(password) => Self::Password(password.clone()),
                None => Self::Free,
            },
        }
    }

    /// The command line of a host shell: a constant without quotes, so that every login shell takes
    /// it. Sudo's messages are told apart in English; `SetEnv` of the connection asks for that.
    pub(super) fn shell(&self) -> &'static str {
        match self {
            Self::None | Self::Password(_) => "exec sh -s",
            Self::Free => "exec sudo -n sh -s",
        }
    }

    /// The same behind a login, which shows that it has come to sudo.
    pub(super) fn login(&self) -> &'static str {
        match self {
            Self::None | Self::Password(_) => self.shell(),
            Self::Free => "echo provision-sudo; exec sudo -n sh -s",
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
        let Self::Password(password) = self else { return Ok(()) };
        let text = bootstrap(shell.nonce(), password);
        let (verdict, words) = shell.bootstrap(&text).await?;
        if verdict == "none" {
            // What login scripts said comes before.
            let mark = format!("{}:\n", shell.nonce());
            let words = words.rsplit_once(&mark).map_or("", |(_, words)| words);
            return Err(ShellError::Other(refused(words)));
        }
        Ok(())
    }
}

/// The error behind sudo's own words.
pub(super) fn refused(words: &str) -> TransportError {
    let said = |phrases: &[&str]| phrases.iter().any(|phrase| words.contains(phrase));
    let line = last_line(words, |line| line.contains("sudo")).or_else(|| last_line(words, |_| true));
    let line = line.unwrap_or_default();
    let (kind, message) = if said(&["sudoers", "may not run", "not allowed", "must have a tty"]) {
        (ConnectKind::SudoRefused, format!("sudo refused: {line}"))
    } else if said(&["try again", "incorrect password"]) {
        (ConnectKind::SudoRefused, "sudo refused the password".to_owned())
    } else if said(&["a password is required"]) {
        let help =
            "give one with `--ask-become-pass` or `become: { method: sudo, password: { secret: NAME } }`";
        (ConnectKind::SudoPassword, format!("sudo wants a password and none was given: {help}"))
    } else {
        (ConnectKind::SudoRefused, format!("sudo refused: {line}"))
    };
    TransportError::Connect { kind, message }
}

/// The error of a sudo that gave up: it has the last word, whatever came before.
pub(super) fn refusal(stderr: &str) -> Option<TransportError> {
    let of_sudo = |line: &str| {
        line.starts_with("sudo: ")
            || ["is not in the sudoers file", "'sudo'", "sudo: not found", "may not run sudo"]
                .iter()
                .any(|phrase| line.contains(phrase))
    };
    last_line(stderr, of_sudo).map(|line| refused(&line))
}

fn bootstrap(nonce: &str, password: &SecretString) -> String {
    BOOTSTRAP.replace("NONCE", nonce).replace("PASSWORD", &quote(password.expose_secret()))
}

/// `$1` is the password. It is in no argument list: where `printf` is not built in (mksh), `print` is.
/// When the shell behind sudo ends, the waiting one is ended; else it would hold the connection open.
const BOOTSTRAP: &str = r#"{
provision_say() { printf '%s\n' "$1"; }
provision_sudo() {
PATH=$PATH:/usr/sbin:/sbin:/usr/local/sbin LC_ALL=C
export PATH LC_ALL
case $(command -v printf) in /*) provision_say() { print -r -- "$1"; } ;; esac
provision_way=none
if provision_why=$(sudo -k -n sh -c : 2>&1); then provision_way=free
elif provision_more=$(provision_say "$1" | sudo -k -S -p '' sh -c : 2>&1); then provision_way=password
else provision_why=$provision_more
fi
printf '\n%s:\n%s\n\n%s sudo %s\n' NONCE "$provision_why" NONCE "$provision_way"
}
provision_sudo PASSWORD </dev/null
case $provision_way in
free) exec sudo -n sh -s ;;
password) { provision_say PASSWORD; exec cat; } | { sudo -k -S -p '' sh -s; kill -TERM $$; }; exit ;;
esac
exit 1
}
"#;
