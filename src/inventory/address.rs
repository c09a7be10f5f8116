//! Addresses and other words that are handed to ssh.

use std::borrow::Cow;

use serde_json::Value as Json;

use crate::template::lookup::{Lookup, Missing, descend};
use crate::template::shape::PathError;
use crate::template::text::Values;
use crate::template::{PathUse, Segment};

/// Values that an address may read: the host's own name and numbers.
pub(super) struct AddressValues(pub(super) Json);

impl Lookup for AddressValues {
    fn resolve(&self, root: &str, path: &[Segment]) -> Result<Cow<'_, Json>, Missing> {
        if root == "host" {
            return descend("host", &self.0, path);
        }
        Err(Missing::Undefined(PathError {
            help: Some("an address may read `host.name`, `host.number` and `host.index`".to_owned()),
            ..PathError::new(format!("`{root}` is not known in an address"))
        }))
    }
}

impl Values for AddressValues {
    fn variable(&self, root: &str, uses: &[&PathUse]) -> Result<tera::Value, Missing> {
        for path in uses {
            self.resolve(root, &path.segments).map_err(|missing| match missing {
                Missing::Undefined(ref error) => Missing::Failed(error.message.clone()),
                Missing::Waiting(_) | Missing::Failed(_) => missing,
            })?;
        }
        self.resolve(root, &[]).map(|value| tera::Value::from_serializable(&value))
    }
}

/// `[user@]host[:port]` taken apart, with brackets around an IPv6 address that has a port. Nothing is checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Endpoint<'a> {
    /// User of the login.
    pub user: Option<&'a str>,
    /// Name or address, without brackets.
    pub host: &'a str,
    /// Whether the host is an IPv6 address, or in brackets like one.
    pub is_literal: bool,
    /// Port.
    pub port: Option<&'a str>,
}

impl<'a> Endpoint<'a> {
    /// Takes a text apart.
    ///
    /// # Errors
    /// With what stands behind the brackets, where that is no `:port`.
    pub fn split(text: &'a str) -> Result<Self, &'a str> {
        let (user, rest) = text.rsplit_once('@').map_or((None, text), |(user, rest)| (Some(user), rest));
        if let Some((host, end)) = rest.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
            let port = if end.is_empty() { None } else { Some(end.strip_prefix(':').ok_or(end)?) };
            return Ok(Self { user, host, is_literal: true, port });
        }
        Ok(match rest.split_once(':') {
            // More than one colon is a bare IPv6 address.
            Some((_, port)) if port.contains(':') => Self { user, host: rest, is_literal: true, port: None },
            Some((host, port)) => Self { user, host, is_literal: false, port: Some(port) },
            None => Self { user, host: rest, is_literal: false, port: None },
        })
    }

    /// The same of a jump host, which may be a URL: `ssh://bastion/`.
    ///
    /// # Errors
    /// As [`Self::split`].
    pub fn jump(text: &'a str) -> Result<Self, &'a str> {
        Self::split(text.strip_prefix("ssh://").unwrap_or(text).trim_end_matches('/'))
    }
}

/// Characters of an address beside letters and digits of ASCII: those of names, IPv4, IPv6 and its zone.
const ADDRESS: &str = "._-:%";
/// Characters of a user name beside letters and digits: `DOMAIN\user`, `user@realm`.
const USER: &str = "._-+@\\:,=/#";

/// Whether a word may be handed to ssh as an address. A user's own `ProxyCommand` and `Match exec` paste
/// it into shell text, as `%h`: what a shell reads as more than itself has no place in it.
pub fn is_address(word: &str) -> bool {
    address(word).is_ok()
}

/// The same for a user name, which is pasted as `%r`.
pub fn is_user(word: &str) -> bool {
    user(word).is_ok()
}

pub(super) fn address(word: &str) -> Result<(), String> {
    if let Some((user, host)) = word.split_once('@').filter(|(user, _)| is_user(user)) {
        return Err(format!("`{word}` has a user: write `address: {host}` and `ssh: {{ user: {user} }}`"));
    }
    if word.contains('[') && !word.starts_with('[') {
        return Err(format!(
            "`{word}` is no address: a range is for names, and `{{{{ host.number }}}}` in its place gives each host its own"
        ));
    }
    plain("an address", word, |c| c.is_ascii_alphanumeric() || ADDRESS.contains(c))?;
    if let Some((host, port)) = word.split_once(':').filter(|(_, port)| !port.contains(':')) {
        return Err(format!("`{word}` has a port: write `address: {host}` and `ssh: {{ port: {port} }}`"));
    }
    let numbers = word.contains('.') && word.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    if numbers && word.parse::<std::net::Ipv4Addr>().is_err() {
        return Err(format!("`{word}` is no IPv4 address, which is four numbers from 0 to 255"));
    }
    Ok(())
}

pub(super) fn user(word: &str) -> Result<(), String> {
    plain("a user name", word, |c| c.is_alphanumeric() || USER.contains(c))
}

pub(super) fn jump(word: &str) -> Result<(), String> {
    let no_port = |port: &str| format!("`{word}` cannot be a jump host: `{port}` is no port behind its name");
    let jump = Endpoint::jump(word).map_err(no_port)?;
    if let Some(login) = jump.user {
        user(login)?;
    }
    plain("a jump host", jump.host, |c| c.is_ascii_alphanumeric() || ADDRESS.contains(c))?;
    match jump.port {
        Some(port) if port.parse::<u16>().is_err() => Err(no_port(port)),
        Some(_) | None => Ok(()),
    }
}

pub(super) fn algorithms(word: &str) -> Result<(), String> {
    plain("a list of key exchanges", word, |c| c.is_ascii_alphanumeric() || "-@.,+^*?_".contains(c))
}

/// Whether a word can be taken for nothing but itself: no option, no second word, nothing for a shell.
fn plain(what: &str, word: &str, fits: impl Fn(char) -> bool) -> Result<(), String> {
    if word.is_empty() {
        return Err(format!("{what} cannot be empty"));
    }
    if word.starts_with('-') {
        return Err(format!("`{word}` cannot be {what}: it begins with `-`"));
    }
    if word.contains(|c: char| c.is_whitespace() || c.is_control()) {
        return Err(format!("`{}` cannot be {what}: it contains white space", word.escape_default()));
    }
    match word.chars().find(|c| !fits(*c)) {
        Some(c) => Err(format!("`{word}` cannot be {what}: `{c}` is not allowed there")),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_shell_reads_more_than_a_word() {
        for good in ["gpu0", "gpu-0.example.org", "10.0.0.1", "fe80::1%eth0", "::1", "a_b"] {
            assert_eq!(address(good), Ok(()), "{good}");
        }
        for good in ["ubuntu", "DOM\\ubuntu", "me@realm.org", "jos\u{e9}", "a+b", "me@you#dom@target"] {
            assert_eq!(user(good), Ok(()), "{good}");
        }
        for good in ["bastion", "me@bastion:22", "ssh://me@[::1]:22/", "a@b@fe80::1"] {
            assert_eq!(jump(good), Ok(()), "{good}");
        }
        for c in "'`\"$;&<>|(){}*?!~ \t\n\r\0\u{a0}".chars() {
            let word = format!("x{c}id");
            assert!(address(&word).is_err() && user(&word).is_err(), "{word:?}");
            assert!(jump(&word).is_err() && jump(&format!("{word}@bastion")).is_err(), "{word:?}");
        }
        for wrong in ["", "-x", "x\\", "x/y", "\u{ff1b}", "a@b", "x#y"] {
            assert!(address(wrong).is_err(), "{wrong:?}");
        }
        assert!(user("-l").is_err() && user("%r").is_err() && jump("-x@b").is_err() && jump("@b").is_err());
    }
}
