//! The name of the host.

use serde::{Deserialize, Serialize};
use serde_json::{Value as Json, json};

use super::{BaseFact, Fact};

pub(super) const FACT: BaseFact = BaseFact {
    name: "hostname",
    doc: "name of the host",
    script: crate::shell!("facts/base/hostname/hostname.sh"),
    parse,
    touched_by: |touches| touches.units() || touches.paths(&["/etc/hostname"]),
    specimen: |_| json!("gpu0"),
};

/// The name of the host.
#[derive(Debug, Serialize, Deserialize)]
pub struct Hostname(pub String);

impl Fact for Hostname {
    const NAME: &'static str = "hostname";
}

fn parse(output: &str) -> Result<Json, String> {
    let name = output.trim();
    // It is written into files of other programs.
    let good = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_');
    match name {
        "" => Err("the host has no name".to_owned()),
        name if name.chars().all(good) => Ok(json!(name)),
        _ => Err("what the host calls itself is no name of a host".to_owned()),
    }
}
