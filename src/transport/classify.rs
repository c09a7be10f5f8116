//! What OpenSSH says when a login fails, by what mends it.

use super::{ConnectKind, TransportError, sudo};

/// Longest text of a host that is shown in a message.
const SHOWN: usize = 300;

/// Phrases of OpenSSH in the order in which they decide: the cause stands before its consequence.
const PHRASES: &[(&str, ConnectKind)] = &[
    ("REMOTE HOST IDENTIFICATION HAS CHANGED", ConnectKind::HostKeyChanged),
    ("REVOKED HOST KEY", ConnectKind::HostKeyChanged),
    ("host key is known for", ConnectKind::HostKeyUnknown),
    ("Host key verification failed", ConnectKind::HostKeyUnknown),
    ("Could not resolve hostname", ConnectKind::NameUnknown),
    ("Connection refused", ConnectKind::Refused),
    ("No route to host", ConnectKind::NoRoute),
    ("Network is unreachable", ConnectKind::NoRoute),
    ("Host is down", ConnectKind::NoRoute),
    ("timed out", ConnectKind::TimedOut),
    ("not responding", ConnectKind::TimedOut),
    ("UNPROTECTED PRIVATE KEY FILE", ConnectKind::KeyUnreadable),
    ("no such identity", ConnectKind::KeyUnreadable),
    ("Load key ", ConnectKind::KeyUnreadable),
    ("Permission denied (", ConnectKind::KeyRefused),
    ("Too many authentication failures", ConnectKind::KeyRefused),
    ("No more authentication methods", ConnectKind::KeyRefused),
    ("kex_exchange_identification", ConnectKind::Closed),
    ("ssh_exchange_identification", ConnectKind::Closed),
    ("banner exchange", ConnectKind::Closed),
    ("Connection closed by", ConnectKind::Closed),
    ("Connection reset by", ConnectKind::Closed),
    ("closed by remote host", ConnectKind::Closed),
    ("Broken pipe", ConnectKind::Closed),
];

/// What the lines mean that only a jump host causes.
const JUMP_PHRASES: &[&str] = &[
    "administratively prohibited",
    "stdio forwarding failed",
    "mux_client_request_stdio_fwd",
    "Control socket connect",
];

/// The error behind a session that ended before its shell answered.
///
/// `status` is that of the local `ssh`: 255 is its own, anything else came from the host.
pub(super) fn classify(status: Option<i32>, stderr: &str, noise: &str, jump: bool) -> TransportError {
    if sudo::is_refusal(stderr) && status != Some(255) {
        return sudo::refused(stderr);
    }
    let own = status.is_none_or(|status| status == 255);
    if own {
        if let Some((phrase, kind)) = PHRASES.iter().find(|(phrase, _)| stderr.contains(phrase)) {
            let line = last_line(stderr, |line| line.contains(phrase)).unwrap_or_default();
            return connect(*kind, explain(*kind, &line, stderr));
        }
        if jump && JUMP_PHRASES.iter().any(|phrase| stderr.contains(phrase)) {
            let line = last_line(stderr, |_| true).unwrap_or_default();
            return connect(ConnectKind::Jump, format!("the jump host does not forward: {line}"));
        }
    }
    let words = last_line(noise, |_| true).or_else(|| last_line(stderr, |_| true));
    match (own, words) {
        (true, Some(words)) => connect(ConnectKind::Other, words),
        (true, None) => connect(ConnectKind::Closed, "ssh ended without a word".to_owned()),
        (false, words) => connect(
            ConnectKind::NoShell,
            format!(
                "the login shell ran no command (status {}): {}",
                status.unwrap_or_default(),
                words.as_deref().unwrap_or("it said nothing")
            ),
        ),
    }
}

/// The deadline passed before the shell answered.
pub(super) fn timed_out(deadline: std::time::Duration, stderr: &str, noise: &str) -> TransportError {
    if let Some(words) = last_line(noise, |_| true) {
        let message = format!("the login shell took no command within {deadline:?}, it said: {words}");
        return connect(ConnectKind::NoShell, message);
    }
    let words = last_line(stderr, |_| true).map(|line| format!(": {line}")).unwrap_or_default();
    connect(ConnectKind::TimedOut, format!("no login within {deadline:?}{words}"))
}

/// The error behind a host shell that ended while a part ran.
pub(super) fn ended(stderr: &str) -> TransportError {
    // The shell's own complaint: a bug of ours, not a lost connection.
    if let Some(line) = last_line(stderr, |line| line.to_ascii_lowercase().contains("syntax error")) {
        return TransportError::Protocol { message: format!("the host shell refused a frame: {line}") };
    }
    let of_ssh = |line: &str| {
        [
            "Connection ",
            "Timeout, server",
            "client_loop:",
            "packet_write_",
            "Broken pipe",
            "Received disconnect",
        ]
        .iter()
        .any(|phrase| line.contains(phrase))
    };
    let message = last_line(stderr, of_ssh).unwrap_or_else(|| "the host shell ended".to_owned());
    TransportError::Lost { message }
}

/// A connection error.
pub(super) fn connect(kind: ConnectKind, message: String) -> TransportError {
    TransportError::Connect { kind, message }
}

fn explain(kind: ConnectKind, line: &str, stderr: &str) -> String {
    // The line that names the file or the host stands beside the phrase for these.
    let beside = |needle: &str| last_line(stderr, |line| line.contains(needle));
    match kind {
        ConnectKind::HostKeyUnknown => beside("host key is known for").unwrap_or_else(|| line.to_owned()),
        ConnectKind::HostKeyChanged => beside("has changed and you have")
            .or_else(|| beside("has been revoked"))
            .unwrap_or_else(|| line.to_owned()),
        ConnectKind::KeyUnreadable => {
            beside("are too open").or_else(|| beside("Load key ")).unwrap_or_else(|| line.to_owned())
        }
        ConnectKind::NameUnknown
        | ConnectKind::NoRoute
        | ConnectKind::Refused
        | ConnectKind::TimedOut
        | ConnectKind::KeyRefused
        | ConnectKind::Closed
        | ConnectKind::NoShell
        | ConnectKind::SudoPassword
        | ConnectKind::SudoRefused
        | ConnectKind::Jump
        | ConnectKind::Other => line.to_owned(),
    }
}

/// The last line that fits, fit to be shown: no control characters, not too long.
pub(super) fn last_line(text: &str, fits: impl Fn(&str) -> bool) -> Option<String> {
    let line = text.lines().rev().map(str::trim).find(|line| !line.is_empty() && fits(line))?;
    let mut shown: String =
        line.chars().map(|char| if char.is_control() { ' ' } else { char }).take(SHOWN).collect();
    if shown.len() < line.len() && shown.chars().count() == SHOWN {
        shown.push('…');
    }
    Some(shown)
}
