//! Identity of the host and of its present boot.

use serde::{Deserialize, Serialize};
use serde_json::{Value as Json, json};

use super::{BaseFact, Fact, field, need};

pub(super) const FACT: BaseFact = BaseFact {
    name: "ids",
    doc: "machine id, product UUID and boot id",
    script: crate::shell!("facts/base/ids/ids.sh"),
    parse,
    touched_by: |touches| touches.paths(&["/etc/machine-id"]),
    specimen: |_| {
        json!({
            "machine_id": "6a3c1a0d2f7b4b0f9a1d6f0f4f3e2d1c",
            "product_uuid": "4c4c4544-0042-3510-8052-b4c04f4e3633",
            "boot_id": "0d1f7a3e-5b0c-4b5a-9d52-3a6c1f0e9b77"
        })
    },
};

/// Identity of the host.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Ids {
    /// Of its installation.
    pub machine_id: String,
    /// Of its board.
    pub product_uuid: String,
    /// Of its present boot.
    pub boot_id: String,
}

impl Fact for Ids {
    const NAME: &'static str = "ids";
}

fn parse(output: &str) -> Result<Json, String> {
    Ok(json!({
        "machine_id": field(output, "machine").unwrap_or(""),
        "product_uuid": field(output, "product").unwrap_or("").to_ascii_lowercase(),
        "boot_id": need(output, "boot")?,
    }))
}
