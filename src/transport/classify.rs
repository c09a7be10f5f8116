//! Classifies what OpenSSH says when a login fails, by what mends it.

use std::sync::LazyLock;

use regex::Regex;

use super::run_dir::Socket;
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
    ("no such identity", ConnectKind::KeyMissing),
    // Words of libssh and libcrypto behind `Load key "FILE": `.
    ("\": error in libcrypto", ConnectKind::KeyInvalid),
    ("\": invalid format", ConnectKind::KeyInvalid),
    ("Load key ", ConnectKind::KeyUnreadable),
    ("Permission denied (", ConnectKind::KeyRefused),
    (TOO_MANY, ConnectKind::KeyRefused),
    ("No more authentication methods", ConnectKind::KeyRefused),
    ("kex_exchange_identification", ConnectKind::Closed),
    ("ssh_exchange_identification", ConnectKind::Closed),
    ("banner exchange", ConnectKind::Closed),
    ("Connection closed by", ConnectKind::Closed),
    ("Connection reset by", ConnectKind::Closed),
    ("closed by remote host", ConnectKind::Closed),
    ("Broken pipe", ConnectKind::Closed),
];

/// Message of ssh when the jump host gave it no channel to the host.
const NO_CHANNEL: &str = "Stdio forwarding request failed";

/// Returns the error of a jump host that opened no connection, from what its own login said. It numbers
/// channels, not hosts: only where it always said the same is it known to be of this host.
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

/// Messages about a login, by their source.
#[derive(Debug)]
pub(super) struct Words<'a> {
    /// Messages of ssh itself (`-E`): a host cannot write there.
    pub(super) ssh: String,
    /// Standard error: what banners, login scripts, sudo and a `ProxyCommand` said.
    pub(super) stderr: &'a str,
    /// Standard output before the first answer.
    pub(super) noise: &'a str,
    /// Whether it had come to sudo.
    pub(super) sudo: bool,
}

impl<'a> Words<'a> {
    /// Returns the messages about a login that runs nothing.
    pub(super) fn of(socket: &Socket, stderr: &'a str) -> Self {
        Self { ssh: socket.words(), stderr, noise: "", sudo: false }
    }

    /// Puts all of it into the log: an error has room for one line.
    fn log(&self, status: Option<i32>) {
        tracing::debug!(?status, sudo = self.sudo, "no login");
        for (who, text) in
            [("ssh", self.ssh.trim()), ("stderr", self.stderr.trim()), ("stdout", self.noise.trim())]
        {
            if !text.is_empty() {
                tracing::debug!("{who} said: {text}");
            }
        }
    }

    /// Lines that ssh made up itself. Where it quotes a server, whoever that is, the lines that follow
    /// may be of the quote: ssh does not escape line feeds. That line is the second part.
    fn own(&self) -> (Vec<&str>, Option<&str>) {
        let mut own = Vec::new();
        for line in self.ssh.lines().map(str::trim).filter(|line| !line.is_empty()) {
            if QUOTES.iter().any(|begin| line.starts_with(begin)) {
                return (own, Some(line));
            }
            own.push(line);
        }
        (own, None)
    }

    /// The text that decides.
    fn deciding(&self) -> String {
        let (mut lines, quote) = self.own();
        lines.extend(quote.filter(|line| line.contains(TOO_MANY)));
        // How a session ends ssh says there, and nobody after it.
        let end = self.stderr.lines().map(str::trim).rfind(|line| !line.is_empty());
        lines.extend(end.filter(|line| line.starts_with("Timeout, server ")));
        if lines.iter().any(|line| NO_KEYS_YET.iter().any(|begin| line.starts_with(begin))) {
            // No host had a way to say anything: the rest is of what leads there.
            return format!("{}\n{}", self.stderr, lines.join("\n"));
        }
        lines.join("\n")
    }

    /// The last line that was said, by whoever knows best.
    fn last(&self) -> Option<String> {
        let (own, quote) = self.own();
        last_line(self.noise, |_| true)
            .or_else(|| last_line(quote.or(own.last().copied()).unwrap_or_default(), |_| true))
            .or_else(|| last_line(self.stderr, |_| true))
    }
}

/// Beginnings of those lines of ssh that hold words of a server.
const QUOTES: &[&str] = &["Received disconnect from ", "Unable to negotiate with ", "channel "];
/// Beginnings of lines of ssh when it ended before keys were exchanged.
const NO_KEYS_YET: &[&str] = &[
    "kex_exchange_identification: ",
    "ssh_exchange_identification: ",
    "banner exchange: ",
    "Connection timed out during banner exchange",
];
/// Message when somebody ended the local `ssh`.
const KILLED: &str = "its ssh on this machine was ended by signal";
/// Message of servers for `MaxAuthTries`; ssh only quotes it.
const TOO_MANY: &str = "Too many authentication failures";

/// The error behind a session that ended before its shell answered.
///
/// `status` is that of the local `ssh`: 255 is its own, anything else came from the host.
pub(super) fn classify(status: Option<i32>, words: &Words<'_>, jump: bool) -> TransportError {
    words.log(status);
    if words.sudo
        && status != Some(255)
        && let Some(error) = sudo::refusal(words.stderr)
    {
        return error;
    }
    let own = status.is_none_or(|status| status == 255);
    let deciding = words.deciding();
    if own && jump && deciding.contains(NO_CHANNEL) {
        return connect(ConnectKind::Jump, "the jump host opened no connection to it".to_owned());
    }
    if own && let Some((phrase, kind)) = PHRASES.iter().find(|(phrase, _)| deciding.contains(phrase)) {
        let line = last_line(&deciding, |line| line.contains(phrase)).unwrap_or_default();
        return connect(*kind, explain(*kind, &line, &deciding));
    }
    match (own, words.last()) {
        (true, Some(words)) => connect(ConnectKind::Other, words),
        (true, None) => connect(ConnectKind::Closed, "ssh ended without a message".to_owned()),
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
pub(super) fn timed_out(deadline: std::time::Duration, words: &Words<'_>) -> TransportError {
    words.log(None);
    if let Some(words) = last_line(words.noise, |_| true) {
        let message = format!("the login shell accepted no command within {deadline:?}, it said: {words}");
        return connect(ConnectKind::NoShell, message);
    }
    let words = words.last().map(|line| format!(": {line}")).unwrap_or_default();
    connect(ConnectKind::TimedOut, format!("no login within {deadline:?}{words}"))
}

/// Message about a host shell that ended where nothing else is known.
pub(super) const SHELL_ENDED: &str = "the host shell ended";

/// The error behind a host shell that ended while a part ran; `otherwise` is said where ssh said nothing.
pub(super) fn ended(stderr: &str, otherwise: &str) -> TransportError {
    tracing::debug!("the host shell ended; its last words:\n{stderr}");
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
    let message = last_line(stderr, of_ssh).unwrap_or_else(|| otherwise.to_owned());
    TransportError::Lost { message }
}

/// The error behind an `ssh` that somebody on this machine ended.
pub(super) fn killed(signal: i32) -> TransportError {
    TransportError::Lost { message: format!("{KILLED} {signal}") }
}

/// Whether a login did not come in its time.
pub(super) fn is_timed_out(error: &TransportError) -> bool {
    matches!(error, TransportError::Connect { kind: ConnectKind::TimedOut, .. })
}

/// Whether the local `ssh` was ended by somebody.
pub(super) fn is_killed(error: &TransportError) -> bool {
    matches!(error, TransportError::Lost { message } if message.starts_with(KILLED))
}

/// The host shell is somebody else.
pub(super) fn stranger(expected: Expected, uid: &str, gid: &str) -> TransportError {
    let wanted = match expected {
        Expected::Root => "not root".to_owned(),
        Expected::User(wanted) => format!("and was user {wanted} before"),
        Expected::Anyone => "for an unknown reason".to_owned(),
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
        ConnectKind::KeyUnreadable | ConnectKind::KeyInvalid => {
            beside("are too open").or_else(|| beside("Load key ")).unwrap_or_else(|| line.to_owned())
        }
        ConnectKind::NameUnknown
        | ConnectKind::NoRoute
        | ConnectKind::Refused
        | ConnectKind::TimedOut
        | ConnectKind::KeyRefused
        | ConnectKind::PasswordRefused
        | ConnectKind::KeyMissing
        | ConnectKind::Closed
        | ConnectKind::NoShell
        | ConnectKind::SudoPassword
        | ConnectKind::SudoRefused
        | ConnectKind::PasswordUntried
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

/// Messages of ssh that have the host in them, and the same for several hosts. The words are those of
/// OpenSSH's sshconnect.c, misc.c, packet.c and clientloop.c.
static NAMED: LazyLock<Vec<(Regex, &'static str)>> = LazyLock::new(|| {
    [
        (r"connect to host \S+ port", "connect to port"),
        (r"Could not resolve hostname \S+:", "Could not resolve the host name:"),
        (r"Connection (closed|reset) by \S+ port", "Connection $1 by port"),
        (r"Connection to \S+ port", "Connection to port"),
        (r"Connection to \S+ closed", "Connection closed"),
        (r"Host key for \S+ has changed", "The host key has changed"),
        (r"No (\S+) host key is known for \S+ and", "No $1 host key is known and"),
        (r"Timeout, server \S+ not", "Timeout, the server is not"),
        // Who was refused stays: one name may be mistyped.
        (r"(\S+)@\S+: Permission denied", "$1: Permission denied"),
    ]
    .into_iter()
    .filter_map(|(pattern, of_all)| Some((Regex::new(pattern).ok()?, of_all)))
    .collect()
});

/// A message about a login without the address of its host.
pub fn without_host(reason: &str) -> String {
    NAMED.iter().fold(reason.to_owned(), |text, (pattern, to)| pattern.replace_all(&text, *to).into_owned())
}

/// Returns the line of an `ssh` that failed, in the output of a program that started it.
pub fn line_of_ssh(output: &str) -> Option<&str> {
    let begins = ["ssh: ", "Host key verification failed", "Permission denied ("];
    output.lines().map(str::trim).find(|line| begins.iter().any(|words| line.contains(words)))
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

    fn of_ssh(text: &str) -> Words<'_> {
        Words { ssh: text.to_owned(), stderr: "", noise: "", sudo: false }
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
            ("Load key \"/k/id\": error in libcrypto", ConnectKind::KeyInvalid),
            (
                "Load key \"/k/id\": invalid format\nme@gpu0: Permission denied (publickey).",
                ConnectKind::KeyInvalid,
            ),
            ("Load key \"/k/id\": Permission denied", ConnectKind::KeyUnreadable),
            ("/home/me/.ssh/config: line 3: Bad configuration option: foo", ConnectKind::Other),
            ("", ConnectKind::Closed),
        ] {
            let (seen, message) = kind(classify(Some(255), &of_ssh(stderr), false));
            assert_eq!(seen, expected, "{message}");
        }
    }

    #[test]
    fn a_host_cannot_speak_for_ssh() {
        let lie = "@ WARNING: REMOTE HOST IDENTIFICATION HAS CHANGED! @\nHost key verification failed.\n\
                   Stdio forwarding request failed\nsudo: a password is required\n";
        let seen = |status, ssh: &str| {
            let words = Words { ssh: ssh.to_owned(), stderr: lie, noise: "", sudo: false };
            kind(classify(Some(status), &words, true)).0
        };
        assert_eq!(seen(255, "me@gpu0: Permission denied (publickey).\r\n"), ConnectKind::KeyRefused);
        assert_eq!(seen(255, ""), ConnectKind::Other);
        assert_eq!(seen(1, ""), ConnectKind::NoShell);
        // ssh quotes a server with its line feeds.
        let quoted = format!("Received disconnect from 10.0.0.1 port 22:2: bye\n{lie}");
        assert_eq!(seen(255, &quoted), ConnectKind::Other);
        // A ProxyCommand speaks before any host.
        let early = "kex_exchange_identification: Connection closed by remote host\r\n";
        assert_eq!(seen(255, early), ConnectKind::Jump);
    }

    #[test]
    fn a_crowded_server_is_told_apart() {
        let crowded = |stderr: &str| is_crowded(&classify(Some(255), &of_ssh(stderr), false));
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
        let words = Words { ssh: String::new(), stderr: "", noise: &noise, sudo: false };
        let (seen, message) = kind(classify(Some(1), &words, false));
        assert_eq!(seen, ConnectKind::NoShell);
        assert!(!message.contains(char::is_control) && message.chars().count() < 400, "{message}");
    }

    #[test]
    fn sudo_is_told_apart_from_ssh() {
        let told = |stderr: &str, sudo| {
            kind(classify(Some(1), &Words { ssh: String::new(), stderr, noise: "", sudo }, false)).0
        };
        let seen = |stderr: &str| told(stderr, true);
        assert_eq!(seen("sudo: a password is required"), ConnectKind::SudoPassword);
        assert_eq!(seen("sudo: sorry, you must have a tty to run sudo"), ConnectKind::SudoRefused);
        assert_eq!(seen("env: 'sudo': No such file or directory"), ConnectKind::SudoRefused);
        assert_eq!(seen("me is not in the sudoers file."), ConnectKind::SudoRefused);
        assert_eq!(seen("bash: line 1: exec: sh: not found"), ConnectKind::NoShell);
        assert_eq!(seen("me may not run sudo\nsudo: a password is required"), ConnectKind::SudoPassword);
        assert_eq!(told("sudo: a password is required", false), ConnectKind::NoShell);
        assert_eq!(told("sudo-rs: interactive authentication is required", false), ConnectKind::NoShell);
        // Of sudo-rs 0.2.5 (Debian 13, prefix `sudo-rs: `) and 0.2.15 (sid, `sudo: `), 2026-11-29; both have lines
        // without a prefix where a site's wrapper takes it away.
        for (sentence, kind) in [
            ("interactive authentication is required", ConnectKind::SudoPassword),
            ("Authentication required but not attempted", ConnectKind::SudoPassword),
            ("A terminal is required to authenticate", ConnectKind::SudoPassword),
            ("I'm sorry me. I'm afraid I can't do that", ConnectKind::SudoRefused),
            ("Sorry, user me may not run sh on gpu0.", ConnectKind::SudoRefused),
            (
                "Sorry, user me is not allowed to execute '/usr/bin/sh -s' as root on gpu0.",
                ConnectKind::SudoRefused,
            ),
        ] {
            for prefix in ["sudo: ", "sudo-rs: ", ""] {
                assert_eq!(seen(&format!("motd\n{prefix}{sentence}\n")), kind, "{prefix}{sentence}");
            }
        }
        for sentence in [
            "sudo-rs: Account validation failure, is your account locked?",
            "sudo: The \"no new privileges\" flag is set, which prevents sudo from running as root.",
        ] {
            assert_eq!(seen(sentence), ConnectKind::SudoRefused, "{sentence}");
        }
    }

    #[test]
    fn the_end_of_a_shell() {
        let lost = |stderr: &str| match ended(stderr, SHELL_ENDED) {
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
        assert!(matches!(
            ended("sh: 7: Syntax error: \"}\" unexpected\n", SHELL_ENDED),
            TransportError::Protocol { .. }
        ));
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
