//! Public host keys of sshd.

use serde_json::{Value as Json, json};

use super::BaseFact;

pub(super) const FACT: BaseFact = BaseFact {
    name: "ssh",
    doc: "public host keys of sshd",
    script: crate::shell!("facts/ssh.sh"),
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

/// The public halves of host keys, a line each: type, base64, comment.
fn parse(output: &str) -> Result<Json, String> {
    let text = output.strip_suffix("end\n").ok_or("the list of host keys was cut short")?;
    let keys: Vec<Json> = text
        .lines()
        .filter_map(|line| {
            let mut words = line.split_whitespace();
            let (kind, key) = (words.next()?, words.next()?);
            key.starts_with("AAAA").then(|| json!({ "type": kind, "key": key }))
        })
        .collect();
    Ok(json!({ "host_keys": keys }))
}
