//! Processors. Format: proc(5) `cpuinfo`, `/sys/devices/system/cpu/online`,
//! Documentation/admin-guide/cputopology.rst.

use serde::{Deserialize, Serialize};
use serde_json::{Value as Json, json};

use super::{BaseFact, Fact, field};
use crate::facts::Touches;

pub(super) const FACT: BaseFact = BaseFact {
    name: "cpu",
    doc: "online CPUs, model name, sockets, threads of a core",
    script: crate::shell!("facts/base/cpu/cpu.sh"),
    parse,
    touched_by: |touches| *touches == Touches::Everything,
    specimen: |_| json!({ "count": 128, "model": "Intel(R) Xeon(R) Platinum 8480+", "sockets": 2, "threads_per_core": 2 }),
};

/// Processors.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Cpu {
    /// Number of online CPUs.
    pub count: u64,
    /// Name of the model.
    pub model: String,
}

impl Fact for Cpu {
    const NAME: &'static str = "cpu";
}

/// `0-63,128-191` of `/sys/devices/system/cpu/online`, `0,128` of `topology/thread_siblings_list`.
fn count_cpus(online: &str) -> Option<u64> {
    online.split(',').try_fold(0_u64, |sum, range| {
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        let (first, last): (u64, u64) = (first.trim().parse().ok()?, last.trim().parse().ok()?);
        sum.checked_add(last.checked_sub(first)?)?.checked_add(1)
    })
}

fn parse(output: &str) -> Result<Json, String> {
    let count = field(output, "online").and_then(count_cpus).ok_or("the host did not report its CPUs")?;
    let sockets = output.lines().filter(|line| line.starts_with("socket=")).count().max(1);
    let threads = field(output, "siblings").and_then(count_cpus).unwrap_or(1);
    let model = field(output, "model").unwrap_or("unknown");
    Ok(json!({ "count": count, "model": model, "sockets": sockets, "threads_per_core": threads }))
}
