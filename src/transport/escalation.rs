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

use super::password_trial::{Trial, Trials};
use super::quote::quote;
use super::shell::{HostShell, ShellError};
use super::sudo::{is_wrong, refused};
use super::{ConnectKind, TransportError};
use crate::inventory::{Become, Host};
use crate::secrets::Secrets;

/// Time for which the others wait for the host that tries the password: sudo may hang there.
const TRIAL: Duration = Duration::from_secs(15);

/// The way in which a session on a host becomes root.
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
    /// Returns the way of a host; its password is tried as the `trials` of the run say.
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

    /// Returns the output before sudo's turn, and whether the turn came: banners, login scripts and shells
    /// that refuse may say what they like before it.
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

/// The error of a host whose password another one has refused.
fn untried(first: &str) -> TransportError {
    let message = format!("{first} refused the sudo password, so it is not tried here");
    TransportError::Connect { kind: ConnectKind::PasswordUntried, message }
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
///
/// sudo takes the end of its input for the end of its questions. For sudo-rs it is a wrong password again (0.2.15), or two
/// (0.2.5), and three lock an account on many sites: its input is held open until it asks again, and then it is ended,
/// which the account may do as long as sudo-rs has not made itself root.
const PROVE: &str = r#"{
provision_prove() {
case $(sudo --version 2>&1) in
sudo-rs*) if provision_why=$(provision_once "$1"); then return; fi ;;
*) if provision_why=$(provision_say "$1" | sudo -k -S -p '' /bin/sh -c : 2>&1); then return; fi ;;
esac
printf '\n%s:\n%s\n\n%s sudo none\n' NONCE "$provision_why" NONCE
exit 1
}
provision_once() {
{
{ provision_say "$1"; exec /bin/sh -c 'printf "%s holds %s\n" NONCE $$ >&3; exec sleep 30 3>&-'; } | {
/bin/sh -c 'printf "%s asks %s\n" NONCE $$; exec sudo -k -S -p "" /bin/sh -c :' 2>&1
printf '\n%s ended %s\n' NONCE $?
} 3>&-
} 3>&1 | {
provision_holds='' provision_asks='' provision_ended=''
while [ -z "$provision_holds" ] || [ -z "$provision_ended" ]; do
IFS= read -r provision_line || break
case $provision_line in
NONCE' holds '*) provision_holds=${provision_line##* } ;;
NONCE' asks '*) provision_asks=${provision_line##* } ;;
NONCE' ended '*) provision_ended=${provision_line##* } ;;
*) printf '%s\n' "$provision_line" ;;
esac
case $provision_line in *'try again'*) kill "$provision_asks" || provision_ended=1 ;; esac
done
kill $provision_holds
exit "${provision_ended:-1}"
} 2>/dev/null
}
provision_prove PASSWORD </dev/null
{ provision_say PASSWORD; exec cat; } | {
sudo -k -S -p '' /bin/sh -c 'printf "\n%s sudo password\n" NONCE; exec /bin/sh -s'
kill -TERM $$
}
exit
}
"#;

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    /// Two programs as sudo, by what each made of a wrong password and the end of its input on 2026-11-29: sudo 1.9.13
    /// asks no more, sudo-rs 0.2.5 takes the end for a wrong password, three in all.
    const PLAYED: &str = r#"#!/bin/sh
case $1 in --version) echo "$KIND 0.2.5"; exit ;; esac
case $* in *" -S "*) ;; *) exit 2 ;; esac
tries=0
while [ "$tries" -lt 3 ]; do
    password=''
    if ! read -r password && [ "$KIND" != sudo-rs ]; then
        echo "sudo: no password was provided" >&2
        exit 1
    fi
    tries=$((tries + 1))
    echo "$password" >>"$0.tries"
    if [ "$password" = right ]; then
        while [ "$1" != /bin/sh ]; do shift; done
        exec "$@"
    fi
    [ "$tries" = 3 ] || echo "sudo: Authentication failed, try again." >&2
done
echo "sudo-rs: Maximum 3 incorrect authentication attempts" >&2
exit 1
"#;

    /// The answer of the host, and the number of passwords that sudo was given.
    #[expect(
        clippy::disallowed_methods,
        reason = "the tools of this machine stand behind the sudo that is played"
    )]
    fn tried(shell: &[&str], kind: &str, password: &str) -> (String, usize) {
        let directory = tempfile::tempdir().unwrap();
        let sudo = directory.path().join("sudo");
        std::fs::write(&sudo, PLAYED).unwrap();
        std::fs::set_permissions(&sudo, std::fs::Permissions::from_mode(0o755)).unwrap();
        let say = "provision_say() { printf '%s\\n' \"$1\"; }\n";
        let text = PROVE.replace("NONCE", "n0nce").replace("PASSWORD", &quote(password));
        let path = format!("{}:{}", directory.path().display(), std::env::var("PATH").unwrap());
        let mut child = crate::process::heard(shell[0])
            .args(&shell[1..])
            .env("PATH", path)
            .env("KIND", kind)
            .stdin(std::process::Stdio::piped())
            .stdout(std::process::Stdio::piped())
            .spawn()
            .unwrap();
        let mut stdin = child.stdin.take().unwrap();
        std::io::Write::write_all(&mut stdin, format!("{say}{text}").as_bytes()).unwrap();
        drop(stdin);
        let output = child.wait_with_output().unwrap();
        let tries = std::fs::read_to_string(directory.path().join("sudo.tries")).unwrap_or_default();
        (String::from_utf8(output.stdout).unwrap(), tries.lines().count())
    }

    /// Three wrong passwords lock an account on many sites.
    #[test]
    fn a_wrong_password_counts_once() {
        for shell in [&["bash"][..], &["dash"], &["busybox", "sh"]] {
            for kind in ["sudo", "sudo-rs"] {
                let began = std::time::Instant::now();
                let (said, tries) = tried(shell, kind, "wrong");
                assert_eq!(tries, 1, "{shell:?} {kind}: {said}");
                assert!(said.contains("try again") && said.ends_with("n0nce sudo none\n"), "{said}");
                assert!(began.elapsed() < Duration::from_secs(50), "its input is held for too long");
                // It proves the password and then opens the shell.
                let (said, tries) = tried(shell, kind, "right");
                assert_eq!((said.as_str(), tries), ("\nn0nce sudo password\n", 2), "{shell:?} {kind}");
            }
        }
    }
}
