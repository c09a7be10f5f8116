//! Whether `SELinux` refuses what its policy does not allow. Format: selinux(8).

use serde_json::{Value as Json, json};

use super::{BaseFact, need};
use crate::facts::Touches;

pub(super) const FACT: BaseFact = BaseFact {
    name: "selinux",
    doc: "mode of SELinux, in the words of getenforce, in lower case: enforcing, permissive or disabled",
    script: crate::shell!("facts/base/selinux/selinux.sh"),
    parse,
    touched_by: |touches| *touches == Touches::Everything,
    specimen: |os| json!(if os == "rhel" { "enforcing" } else { "disabled" }),
};

/// Modes.
pub(super) const MODES: &[&str] = &["disabled", "enforcing", "permissive"];

fn parse(output: &str) -> Result<Json, String> {
    match need(output, "selinux")? {
        "1" => Ok(json!("enforcing")),
        "0" => Ok(json!("permissive")),
        "none" => Ok(json!("disabled")),
        other => Err(format!("/sys/fs/selinux/enforce says `{other}`, neither 0 nor 1")),
    }
}
