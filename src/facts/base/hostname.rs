//! The name of the host.

use serde_json::{Value as Json, json};

use super::BaseFact;

pub(super) const FACT: BaseFact = BaseFact {
    name: "hostname",
    doc: "name of the host",
    script: crate::shell!("facts/hostname.sh"),
    parse,
    touched_by: |touches| touches.units() || touches.paths(&["/etc/hostname"]),
    specimen: |_| json!("gpu0"),
};

fn parse(output: &str) -> Result<Json, String> {
    let name = output.trim();
    if name.is_empty() { Err("the host has no name".to_owned()) } else { Ok(json!(name)) }
}
