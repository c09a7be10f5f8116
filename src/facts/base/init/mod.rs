//! Process 1. Format: systemctl(1) `is-system-running`.

use serde_json::{Value as Json, json};

use super::{BaseFact, field, need};

pub(super) const FACT: BaseFact = BaseFact {
    name: "init",
    doc: "name of process 1 and the state that systemd reports",
    script: crate::shell!("facts/base/init/init.sh"),
    parse,
    touched_by: |touches| touches.units() || touches.unit_files(),
    specimen: |_| json!({ "name": "systemd", "state": "running" }),
};

/// The words of `systemctl is-system-running`; nothing where another program is process 1.
pub(super) const STATES: &[&str] =
    &["", "degraded", "initializing", "maintenance", "offline", "running", "starting", "stopping", "unknown"];

fn parse(output: &str) -> Result<Json, String> {
    Ok(json!({ "name": need(output, "name")?, "state": field(output, "state").unwrap_or("") }))
}
