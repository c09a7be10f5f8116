//! Memory. Format: proc(5) `meminfo`.

use serde::{Deserialize, Serialize};
use serde_json::{Value as Json, json};

use super::{BaseFact, Fact};

pub(super) const FACT: BaseFact = BaseFact {
    name: "memory",
    doc: "memory, swap and huge pages",
    script: crate::shell!("facts/base/memory/memory.sh"),
    parse,
    touched_by: |touches| touches.units() || touches.paths(&["/proc/sys", "/sys", "/etc/fstab"]),
    specimen: |_| {
        json!({
            "total_mib": 2_063_872,
            "swap_mib": 0,
            "hugepages": { "total": 0, "free": 0, "size_kib": 2048 }
        })
    },
};

/// Memory.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Memory {
    /// All of it in MiB.
    pub total_mib: u64,
    /// Swap in MiB.
    pub swap_mib: u64,
    /// Huge pages.
    pub hugepages: HugePages,
}

/// Huge pages of the default size.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct HugePages {
    /// Their number.
    pub total: u64,
}

impl Fact for Memory {
    const NAME: &'static str = "memory";
}

fn parse(output: &str) -> Result<Json, String> {
    let number = |key: &str| -> Option<u64> {
        output.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(':')?.trim().parse().ok())
    };
    let total = number("MemTotal").ok_or("the host did not report its memory")?;
    Ok(json!({
        "total_mib": total / 1024,
        "swap_mib": number("SwapTotal").unwrap_or(0) / 1024,
        "hugepages": {
            "total": number("HugePages_Total").unwrap_or(0),
            "free": number("HugePages_Free").unwrap_or(0),
            "size_kib": number("Hugepagesize").unwrap_or(0),
        },
    }))
}
