//! Hosts as their logins see them.

use std::time::Duration;

use crate::engine::put_key;
use crate::facts::{self, Facts};
use crate::hostlist::dashed;
use crate::inventory::Host;
use crate::transport::{ConnectKind, Frame, Part, Remote, Script, TransportError};
use crate::trust::Contact;

/// A host that was looked at, with the facts found there.
#[derive(Debug)]
pub struct Found {
    /// The host.
    pub host: Host,
    /// Its facts.
    pub facts: Facts,
    /// Whether the login is root, has sudo without a password, or with one.
    pub root: Root,
}

/// Way to root of a login.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Root {
    /// It is root.
    Login,
    /// It has sudo without a password.
    Sudo,
    /// It has sudo with a password.
    SudoWithPassword,
    /// It has none.
    Nothing,
}

/// A host that could not be looked at, and why.
#[derive(Debug)]
pub struct Problem {
    /// The host.
    pub host: Host,
    /// Text that was typed for it.
    pub shown: String,
    /// Reason why it could not be looked at.
    pub text: String,
    /// Advice for the user.
    pub hint: Option<String>,
}

/// Looks at the hosts that a login reached, and tells why the others were not. `asked`: whether a password was
/// tried for logins that take no key.
pub async fn explore(seen: Vec<Contact>, asked: bool) -> (Vec<Found>, Vec<Problem>) {
    let mut found = Vec::new();
    let mut problems = Vec::new();
    for seen in seen {
        match seen.login {
            Ok(mut remote) => {
                let (facts, root) = ask(remote.as_mut()).await;
                remote.close().await;
                found.push(Found { host: seen.host, facts, root });
            }
            Err(error) => {
                let (kind, text) = login_problem(&error);
                let hint = if kind == ConnectKind::KeyRefused && asked {
                    // Hosts that did not get the key are told of before.
                    Some("your key is on the host and was not taken: if it has a passphrase, unlock it by ssh-add in a shell with an ssh-agent, and repeat the command".to_owned())
                } else if kind == ConnectKind::KeyRefused {
                    let more = "or let `provision init` put it there, on all hosts: add --ask-pass";
                    Some(format!("{}; {more}", put_key(&seen.host)))
                } else {
                    let range = dashed(&seen.host.address).filter(|_| kind == ConnectKind::NameUnknown);
                    range.map(|range| format!("a range has brackets: `{range}`")).or_else(|| mend(kind))
                };
                problems.push(Problem { host: seen.host, shown: seen.shown, text, hint });
            }
        }
    }
    (found, problems)
}

/// Returns the advice for a host that was not reached.
fn mend(kind: ConnectKind) -> Option<String> {
    let far = matches!(kind, ConnectKind::NoRoute | ConnectKind::TimedOut | ConnectKind::Closed);
    let text = if kind == ConnectKind::Refused {
        "no sshd on that port: start it, or type the port, as in `gpu0=10.0.0.1:2222`"
    } else if kind == ConnectKind::NameUnknown {
        "type its address, as in `gpu0=10.0.0.1`"
    } else if far {
        "look at its address, and whether it is up: `ssh -v` to it says more"
    } else {
        return None;
    };
    Some(text.to_owned())
}

/// Facts and the way to root, as the login itself sees them.
async fn ask(remote: &mut dyn Remote) -> (Facts, Root) {
    let deadline = Duration::from_secs(20);
    let queries =
        ["os", "hostname", "pci", "network", "arch"].iter().filter_map(|name| facts::base(name)).collect();
    let parts = facts::batch(&queries, deadline);
    let text = "if [ \"$(id -u)\" = 0 ]; then echo login; elif ! command -v sudo >/dev/null 2>&1; then echo nothing; \
                elif sudo -n true 2>/dev/null; then echo sudo; else echo password; fi";
    let mut frame = Frame { parts: parts.iter().map(|part| part.part.clone()).collect(), ..Frame::default() };
    frame.parts.push(Part { name: "sudo".to_owned(), script: Script::new(text), deadline, limit: 4096 });
    let mut facts = Facts::default();
    let mut root = Root::Nothing;
    let result = remote
        .run(&frame, &mut |end| match parts.get(end.index) {
            Some(part) => facts.absorb(part, &end),
            None => {
                root = match String::from_utf8_lossy(&end.output).trim() {
                    "login" => Root::Login,
                    "sudo" => Root::Sudo,
                    "password" => Root::SudoWithPassword,
                    _ => Root::Nothing,
                };
            }
        })
        .await;
    if let Err(error) = result {
        tracing::debug!(%error, "ask");
    }
    (facts, root)
}

/// Returns the kind and the message of a failed login.
fn login_problem(error: &TransportError) -> (ConnectKind, String) {
    match error {
        TransportError::Connect { kind, message } => (*kind, message.clone()),
        TransportError::Lost { message } | TransportError::Protocol { message } => {
            (ConnectKind::Other, message.clone())
        }
        TransportError::PartTimedOut { .. } => (ConnectKind::TimedOut, error.to_string()),
    }
}
