//! Classifies what sudo and sudo-rs say when they refuse.

use super::classify::last_line;
use super::{ConnectKind, TransportError};

/// Whether sudo says that the password is wrong.
pub(super) fn is_wrong(words: &str) -> bool {
    !is_not_allowed(words) && WRONG.iter().any(|phrase| words.contains(phrase))
}

/// Whether no password would help. A warning about a file of sudoers, such as one that went while it was read, says
/// nothing of that.
fn is_not_allowed(words: &str) -> bool {
    let refuses = |line: &str| NOT_ALLOWED.iter().any(|phrase| line.contains(phrase));
    words.lines().any(|line| !line.contains("/etc/sudoers") && refuses(line))
}

/// Beginnings of the lines of sudo and sudo-rs: the latter called itself by its name until 0.2.8.
const NAMES: &[&str] = &["sudo: ", "sudo-rs: "];
/// Phrases of sudo when no password would help. The sentence of an old film is that of sudo-rs.
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
/// Phrases of sudo about a wrong password.
const WRONG: &[&str] = &["try again", "incorrect password", "ncorrect authentication"];
/// Phrases of sudo when it has got no password: sudo 1.8 to 1.9, sudo-rs 0.2.5 to 0.2.15.
const WANTED: &[&str] = &[
    "a password is required",
    "a terminal is required to read the password",
    "interactive authentication is required",
    "Interaction is required",
    "Authentication required but not attempted",
    "A terminal is required to authenticate",
];

/// The error behind sudo's own words.
pub(super) fn refused(words: &str) -> TransportError {
    let said = |phrases: &[&str]| phrases.iter().any(|phrase| words.contains(phrase));
    let known = |line: &str| of_sudo(line) || line.contains("sudo");
    let line = last_line(words, known).or_else(|| last_line(words, |_| true)).unwrap_or_default();
    let (kind, message) = if is_not_allowed(words) {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_warning_about_a_file_of_sudoers_hides_no_wrong_password() {
        let kind = |words: &str| {
            let TransportError::Connect { kind, .. } = refused(words) else { panic!("{words}") };
            kind
        };
        let warning = "sudo: /etc/sudoers.d/site: No such file or directory\n";
        let wrong = "sudo: Authentication failed, try again.\n";
        assert_eq!(kind(&format!("{warning}{wrong}")), ConnectKind::PasswordRefused);
        assert_eq!(kind(wrong), ConnectKind::PasswordRefused);
        let unknown = "ops is not in the sudoers file.\n";
        assert_eq!(kind(&format!("{warning}{wrong}{unknown}")), ConnectKind::SudoRefused);
        assert_eq!(kind("sudo: no valid sudoers sources found, quitting\n"), ConnectKind::SudoRefused);
    }
}
