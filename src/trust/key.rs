//! Keys of hosts: as ssh writes them, and judged by what is recorded.

use base64::Engine as _;
use camino::{Utf8Path, Utf8PathBuf};
use sha2::{Digest as _, Sha256};

/// One line of a `known_hosts` file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HostKey {
    /// The whole line: `[127.0.0.1]:2222 ssh-ed25519 AAAA...`.
    pub line: String,
    /// Its first field.
    pub name: String,
    /// `ssh-ed25519 AAAA...`.
    pub key: String,
}

impl HostKey {
    pub(super) fn parse(line: &str) -> Option<Self> {
        let line = line.trim();
        let (name, rest) = line.split_once(' ')?;
        let mut words = rest.split_whitespace();
        let key = format!("{} {}", words.next()?, words.next()?);
        (!name.starts_with(['#', '@'])).then(|| Self { line: line.to_owned(), name: name.to_owned(), key })
    }

    /// `ED25519 SHA256:...` as `ssh` shows it.
    pub fn fingerprint(&self) -> String {
        let (kind, blob) = self.key.split_once(' ').unwrap_or((&self.key, ""));
        let bytes = base64::engine::general_purpose::STANDARD.decode(blob).unwrap_or_default();
        let digest = base64::engine::general_purpose::STANDARD_NO_PAD.encode(Sha256::digest(bytes));
        let kind = kind.trim_start_matches("ssh-").trim_start_matches("ecdsa-sha2-").to_uppercase();
        format!("{kind} SHA256:{digest}")
    }
}

/// A line of a file of host keys that is about a host.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Recorded {
    /// The file.
    pub file: Utf8PathBuf,
    /// Its number, from 1.
    pub line: usize,
    /// `@cert-authority` or `@revoked`.
    pub marker: Option<String>,
    /// The key.
    pub key: HostKey,
}

impl Recorded {
    /// The answer of `ssh-keygen -F`: `# Host NAME found: line 7`, then the line.
    pub(super) fn parse(file: &Utf8Path, answer: &str) -> Vec<Self> {
        let mut number = None;
        let mut all = Vec::new();
        for line in answer.lines() {
            if let Some((_, found)) = line.strip_prefix("# Host ").and_then(|rest| rest.rsplit_once(" line "))
            {
                number = found.split_whitespace().next().and_then(|number| number.parse().ok());
                continue;
            }
            let (marker, rest) = match line.split_once(' ') {
                Some((marker, rest)) if marker.starts_with('@') => (Some(marker.to_owned()), rest),
                _ => (None, line),
            };
            if let (Some(line), Some(key)) = (number.take(), HostKey::parse(rest)) {
                all.push(Self { file: file.to_owned(), line, marker, key });
            }
        }
        all
    }

    fn revokes(&self, key: &HostKey) -> bool {
        self.marker.as_deref() == Some("@revoked") && self.key.key == key.key
    }

    fn is(&self, key: &HostKey) -> bool {
        self.marker.is_none() && self.key.key == key.key
    }

    /// Whether it says something of this host: what is revoked for many does not.
    fn tells(&self) -> bool {
        self.marker.as_deref() != Some("@revoked") || !self.key.name.contains(['*', '?'])
    }
}

/// Result of comparing a key with those recorded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum KeyState {
    /// It is recorded.
    Known,
    /// Nothing is recorded, or the same key under another name.
    New,
    /// Other keys are recorded.
    Changed(Vec<Recorded>),
    /// A line says that nobody may show it.
    Revoked(Recorded),
}

/// Judges a key by what is recorded under the name that ssh looks for, and under other names of the host.
pub(super) fn judge(key: &HostKey, own: Vec<Recorded>, others: Vec<Recorded>) -> KeyState {
    if let Some(line) = own.iter().chain(&others).find(|line| line.revokes(key)) {
        return KeyState::Revoked(line.clone());
    }
    if own.iter().any(|line| line.is(key)) {
        return KeyState::Known;
    }
    let same = !own.iter().any(Recorded::tells) && others.iter().any(|line| line.is(key));
    let mut other_keys: Vec<Recorded> = Vec::new();
    for line in own.into_iter().chain(others).filter(Recorded::tells) {
        // A line with a pattern is found under several names.
        if !other_keys.contains(&line) {
            other_keys.push(line);
        }
    }
    if same || other_keys.is_empty() { KeyState::New } else { KeyState::Changed(other_keys) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_recorded_key_makes_another_one_a_changed_one() {
        let recorded = |line: &str| {
            let answer = format!("# Host h found: line 7 \n{line}\n");
            Recorded::parse("f".into(), &answer)
        };
        let key = HostKey::parse("alias ssh-ed25519 AAAA").unwrap();
        let of = |own: &str, others: &str| judge(&key, recorded(own), recorded(others));
        assert_eq!(of("alias ssh-ed25519 AAAA", ""), KeyState::Known);
        assert_eq!(of("", ""), KeyState::New);
        assert_eq!(of("", "10.0.0.1 ssh-ed25519 AAAA"), KeyState::New);
        assert_eq!(of("@revoked * ssh-rsa BBBB", ""), KeyState::New);
        assert!(matches!(of("h ssh-rsa BBBB", "10.0.0.1 ssh-ed25519 AAAA"), KeyState::Changed(_)));
        for line in
            ["h ssh-ed25519 BBBB", "h ssh-rsa BBBB", "@cert-authority * ssh-rsa B", "@revoked h ssh-rsa B"]
        {
            assert_eq!(of(line, ""), KeyState::Changed(recorded(line)), "{line}");
            assert_eq!(of("", line), KeyState::Changed(recorded(line)), "{line}");
        }
        let revoked = "@revoked * ssh-ed25519 AAAA";
        assert!(matches!(of("alias ssh-ed25519 AAAA", revoked), KeyState::Revoked(line) if line.line == 7));
    }

    #[test]
    fn fingerprints_are_those_of_ssh() {
        let line = "h ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIOMqqnkVzrm0SdG6UOoqKLsabgH5C9okWi0dh2l9GKJl";
        let key = HostKey::parse(line).unwrap();
        assert_eq!(key.fingerprint(), "ED25519 SHA256:+DiY3wvvV6TuJJhbpZisF/zLDA0zPMSvHdkr4UvCOqU");
    }
}
