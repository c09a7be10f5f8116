//! Public host keys of sshd.

use serde::{Deserialize, Serialize};
use serde_json::{Value as Json, json};

use super::{BaseFact, Fact};

pub(super) const FACT: BaseFact = BaseFact {
    name: "ssh",
    doc: "public host keys of sshd",
    script: crate::shell!("facts/base/ssh/ssh.sh"),
    parse,
    touched_by: |touches| touches.paths(&["/etc/ssh"]),
    specimen: |_| {
        json!({
            "host_keys": [
                {
                    "type": "ssh-ed25519",
                    "key": "AAAAC3NzaC1lZDI1NTE5AAAAIKTEK/qu0DYVv1OWlNF0IJIP8HLsusbUGeMhFoEzcs0b"
                }
            ]
        })
    },
};

/// Host keys.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Ssh {
    /// Public halves.
    pub host_keys: Vec<HostKey>,
}

/// The public half of a host key.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct HostKey {
    /// `ssh-ed25519`.
    #[serde(rename = "type")]
    pub kind: String,
    /// Base64.
    pub key: String,
}

impl Fact for Ssh {
    const NAME: &'static str = "ssh";
}

/// Type and base64 of a public key, which others write into files of theirs.
pub fn public_key(line: &str) -> Option<(&str, &str)> {
    let mut words = line.split_whitespace();
    let (kind, key) = (words.next()?, words.next()?);
    let of_kind = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '@' | '.');
    let of_key = |c: char| c.is_ascii_alphanumeric() || matches!(c, '+' | '/' | '=');
    let good = kind.len() <= 64 && key.len() <= 4096 && key.starts_with("AAAA");
    (good
        && kind.starts_with(|c: char| c.is_ascii_lowercase())
        && kind.chars().all(of_kind)
        && key.chars().all(of_key))
    .then_some((kind, key))
}

/// The public halves of host keys, a line each: type, base64, comment.
fn parse(output: &str) -> Result<Json, String> {
    let text = output.strip_suffix("end\n").ok_or("the list of host keys was cut short")?;
    let keys: Vec<Json> = text
        .lines()
        .filter_map(|line| public_key(line).map(|(kind, key)| json!({ "type": kind, "key": key })))
        .collect();
    Ok(json!({ "host_keys": keys }))
}
