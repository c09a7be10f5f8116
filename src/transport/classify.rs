//! What OpenSSH says when a login fails, by what mends it.

use super::wire::Expected;
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
    ("Name or service not known", ConnectKind::NameUnknown),
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

/// What ssh says when the jump host gave it no channel to the host.
const NO_CHANNEL: &str = "Stdio forwarding request failed";

/// Why a jump host opened no connection, from what its own login said. It numbers channels, not
/// hosts: only where it always said the same is it known to be of this host.
pub(super) fn refused_channel(error: TransportError, jump: &str, master: &str) -> TransportError {
    let TransportError::Connect { kind: ConnectKind::Jump, message } = error else { return error };
    let mut reasons: Vec<&str> =
        master.lines().filter_map(|line| Some(line.split_once(": open failed: ")?.1)).collect();
    let last = reasons.last().and_then(|reason| last_line(reason, |_| true));
    reasons.sort_unstable();
    reasons.dedup();
    let kind = match reasons.as_slice() {
        [reason] => PHRASES.iter().find(|(phrase, _)| reason.contains(phrase)).map(|(_, kind)| *kind),
        _ => None,
    };
    let last = last.map(|last| format!(", it last said: {last}")).unwrap_or_default();
    connect(kind.unwrap_or(ConnectKind::Jump), format!("{message} ({jump}{last})"))
}

/// The error behind a session that ended before its shell answered.
///
/// `status` is that of the local `ssh`: 255 is its own, anything else came from the host.
pub(super) fn classify(status: Option<i32>, stderr: &str, noise: &str, jump: bool) -> TransportError {
    if sudo::is_refusal(stderr) && status != Some(255) {
        return sudo::refused(stderr);
    }
    let own = status.is_none_or(|status| status == 255);
    if own && jump && stderr.contains(NO_CHANNEL) {
        return connect(ConnectKind::Jump, "the jump host opened no connection to it".to_owned());
    }
    if own && let Some((phrase, kind)) = PHRASES.iter().find(|(phrase, _)| stderr.contains(phrase)) {
        let line = last_line(stderr, |line| line.contains(phrase)).unwrap_or_default();
        return connect(*kind, explain(*kind, &line, stderr));
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

/// Whether sshd refused a login because too many others are under way (`MaxStartups`): it closes the
/// connection before it says who it is. OpenSSH 9.6 and later say so in its place.
pub(super) fn is_crowded(error: &TransportError) -> bool {
    let TransportError::Connect { kind: ConnectKind::Closed, message } = error else { return false };
    let ended = ["Connection closed", "Connection reset"].iter().any(|end| message.contains(end));
    ended && message.contains("exchange_identification") || message.contains("Exceeded MaxStartups")
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
    // The shell's own complaint is its last word: a bug of ours, not a lost connection.
    if let Some(line) = last_line(stderr, |_| true)
        && line.to_ascii_lowercase().contains("syntax error")
    {
        return TransportError::Protocol { message: format!("the host shell refused a frame: {line}") };
    }
    // What parts wrote to standard error stands in between.
    let of_ssh = |line: &str| {
        [
            "Connection to ",
            "Connection closed by ",
            "Connection reset by ",
            "Timeout, server ",
            "Received disconnect ",
            "Read from remote host ",
            "client_loop: ",
            "packet_write_",
            "ssh_packet_",
        ]
        .iter()
        .any(|phrase| line.starts_with(phrase))
    };
    let message = last_line(stderr, of_ssh).unwrap_or_else(|| "the host shell ended".to_owned());
    TransportError::Lost { message }
}

/// The host shell is somebody else.
pub(super) fn stranger(expected: Expected, uid: &str, gid: &str) -> TransportError {
    let wanted = match expected {
        Expected::Root => "not root".to_owned(),
        Expected::User(wanted) => format!("and was user {wanted} before"),
        Expected::Anyone => "and nobody knows why".to_owned(),
    };
    connect(ConnectKind::WrongUser, format!("the host shell is user {uid} in group {gid}, {wanted}"))
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
        ConnectKind::HostKeyChanged => {
            let message = beside("has changed and you have")
                .or_else(|| beside("has been revoked"))
                .unwrap_or_else(|| line.to_owned());
            // `Offending ED25519 key in FILE:LINE`
            match beside("Offending ").and_then(|line| Some(line.split_once(" key in ")?.1.to_owned())) {
                Some(place) => format!("{} The recorded key: {place}", message.trim_end()),
                None => message,
            }
        }
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
        | ConnectKind::WrongUser
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

#[cfg(test)]
mod tests {
    use super::*;

    fn kind(error: TransportError) -> (ConnectKind, String) {
        match error {
            TransportError::Connect { kind, message } => (kind, message),
            TransportError::Lost { message } | TransportError::Protocol { message } => panic!("{message}"),
            TransportError::PartTimedOut { part, .. } => panic!("{part}"),
        }
    }

    #[test]
    fn messages_that_no_test_server_says() {
        for (stderr, expected) in [
            ("ssh: connect to host gpu0 port 22: No route to host", ConnectKind::NoRoute),
            ("ssh: connect to host gpu0 port 22: Network is unreachable", ConnectKind::NoRoute),
            ("ssh: connect to host gpu0 port 22: Connection timed out", ConnectKind::TimedOut),
            (
                "Connection timed out during banner exchange\nConnection to 10.0.0.1 port 22 timed out",
                ConnectKind::TimedOut,
            ),
            ("Timeout, server gpu0 not responding.", ConnectKind::TimedOut),
            (
                "Received disconnect from 10.0.0.1 port 22:2: Too many authentication failures\nDisconnected",
                ConnectKind::KeyRefused,
            ),
            ("ssh_exchange_identification: Connection closed by remote host", ConnectKind::Closed),
            ("kex_exchange_identification: read: Connection reset by peer", ConnectKind::Closed),
            ("/home/me/.ssh/config: line 3: Bad configuration option: foo", ConnectKind::Other),
            ("", ConnectKind::Closed),
        ] {
            let (seen, message) = kind(classify(Some(255), stderr, "", false));
            assert_eq!(seen, expected, "{message}");
        }
    }

    #[test]
    fn a_crowded_server_is_told_apart() {
        let crowded = |stderr: &str| is_crowded(&classify(Some(255), stderr, "", false));
        for stderr in [
            "kex_exchange_identification: read: Connection reset by peer\nConnection reset by 10.0.0.1 port 22",
            "kex_exchange_identification: Connection closed by remote host\nConnection closed by 10.0.0.1 port 22",
            "ssh_exchange_identification: Connection closed by remote host",
        ] {
            assert!(crowded(stderr), "{stderr}");
        }
        for stderr in [
            "Connection closed by 10.0.0.1 port 22",
            "kex_exchange_identification: banner line contains invalid characters",
            "Connection to gpu0 closed by remote host.",
            "ssh: connect to host gpu0 port 22: Connection refused",
        ] {
            assert!(!crowded(stderr), "{stderr}");
        }
    }

    #[test]
    fn text_of_a_host_is_made_harmless() {
        let noise = format!("\u{1b}[2J\u{1b}]0;title\u{7}{}", "x".repeat(1000));
        let (seen, message) = kind(classify(Some(1), "", &noise, false));
        assert_eq!(seen, ConnectKind::NoShell);
        assert!(!message.contains(char::is_control) && message.chars().count() < 400, "{message}");
    }

    #[test]
    fn sudo_is_told_apart_from_ssh() {
        let seen = |stderr: &str| kind(classify(Some(1), stderr, "", false)).0;
        assert_eq!(seen("sudo: a password is required"), ConnectKind::SudoPassword);
        assert_eq!(seen("sudo: sorry, you must have a tty to run sudo"), ConnectKind::SudoRefused);
        assert_eq!(seen("env: 'sudo': No such file or directory"), ConnectKind::SudoRefused);
        assert_eq!(seen("me is not in the sudoers file."), ConnectKind::SudoRefused);
        assert_eq!(seen("bash: line 1: exec: sh: not found"), ConnectKind::NoShell);
    }

    #[test]
    fn the_end_of_a_shell() {
        let lost = |stderr: &str| match ended(stderr) {
            TransportError::Lost { message } => message,
            TransportError::Protocol { message } | TransportError::Connect { message, .. } => {
                panic!("{message}")
            }
            TransportError::PartTimedOut { part, .. } => panic!("{part}"),
        };
        assert_eq!(lost("curl: (7) Connection refused\n"), "the host shell ended");
        assert_eq!(
            lost("noise\nConnection to gpu0 closed by remote host.\n"),
            "Connection to gpu0 closed by remote host."
        );
        assert_eq!(lost("awk: syntax error\nbye\n"), "the host shell ended");
        assert!(matches!(ended("sh: 7: Syntax error: \"}\" unexpected\n"), TransportError::Protocol { .. }));
    }

    #[test]
    fn a_jump_host_that_always_says_the_same() {
        let error = || connect(ConnectKind::Jump, "no".to_owned());
        let seen = |master: &str| kind(refused_channel(error(), "bastion", master)).0;
        let line = |reason: &str| format!("channel 2: open failed: {reason}\n");
        assert_eq!(seen(&line("connect failed: No route to host").repeat(2)), ConnectKind::NoRoute);
        assert_eq!(seen(&line("administratively prohibited: open failed")), ConnectKind::Jump);
        let mixed = line("connect failed: No route to host") + &line("connect failed: Connection refused");
        assert_eq!(seen(&mixed), ConnectKind::Jump);
    }
}
