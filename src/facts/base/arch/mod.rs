//! Architecture.

use serde_json::{Value as Json, json};

use super::BaseFact;
use crate::facts::Touches;

pub(super) const FACT: BaseFact = BaseFact {
    name: "arch",
    doc: "architecture: x86_64, aarch64",
    script: crate::shell!("facts/base/arch/arch.sh"),
    parse,
    touched_by: |touches| *touches == Touches::Everything,
    specimen: |_| json!("x86_64"),
};

/// Values of `uname -m` on Linux where there are GPUs.
pub(super) const WORDS: &[&str] = &["aarch64", "ppc64le", "riscv64", "s390x", "x86_64"];

fn parse(output: &str) -> Result<Json, String> {
    let arch = output.trim();
    if arch.is_empty() {
        return Err("`uname` is not installed".to_owned());
    }
    Ok(json!(arch))
}
