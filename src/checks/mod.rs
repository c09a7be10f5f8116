//! The checks of `verify`: observations and expectations to results. Pure.
//!
//! ```text
//!   facts, probes ─┐
//!   expect, nics ──┼─> Subject ── Check::run ──> Verdict ──> CheckResult (events)
//!   baseline ──────┘                 fleet: all subjects of a group against each other
//! ```
//!
//! A check never passes on what it did not see. A new check is a function in the file of its field and
//! an entry in that file's table; `provision explain ID` and the reference show it by themselves.

mod compare;
mod delta;
mod driver;
mod evaluate;
mod fleet;
mod gdr;
mod gpu;
mod gpu_state;
mod log;
mod models;
mod network;
mod pcie;
mod rdma;
mod rdma_state;
mod software;
mod subject;
mod system;
mod verdict;

pub use compare::Fleet;
pub use delta::{Baseline, Baselines};
pub use evaluate::{Conclusion, evaluate, queries};
pub use subject::Subject;
pub use verdict::{Checked, Findings, Verdict};

use crate::events::CheckStatus;

/// What a check needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Any time.
    Idle,
    /// A host under load; without it the check is skipped.
    Load,
    /// The observation of the last `verify`.
    Delta,
    /// The other hosts of the group.
    Fleet,
    /// Traffic between hosts: `verify --active`.
    Active,
}

impl Kind {
    /// The word used in references.
    pub fn word(self) -> &'static str {
        match self {
            Self::Idle => "idle",
            Self::Load => "load",
            Self::Delta => "delta",
            Self::Fleet => "fleet",
            Self::Active => "active",
        }
    }
}

/// A check.
#[derive(Debug, Clone, Copy)]
pub struct Check {
    /// Its id: `rdma.port_active`.
    pub id: &'static str,
    /// What is proven, in one line.
    pub title: &'static str,
    /// What it needs.
    pub kind: Kind,
    /// What a finding counts as: fail or warn.
    pub severity: CheckStatus,
    /// What is expected when nothing is declared, and the key that declares it.
    pub expects: &'static str,
    /// Why it matters.
    pub why: &'static str,
    /// What to do about a finding.
    pub hint: &'static str,
    /// Where formats and values are from.
    pub source: &'static str,
    /// Looks at one host; `Err` is a verdict too, reached early.
    pub run: fn(&Subject<'_>) -> Checked,
}

/// All checks in the order of reports.
pub static TABLE: std::sync::LazyLock<Vec<Check>> = std::sync::LazyLock::new(|| {
    [
        driver::CHECKS,
        gpu::CHECKS,
        gpu_state::CHECKS,
        log::CHECKS,
        gdr::CHECKS,
        rdma::CHECKS,
        rdma_state::CHECKS,
        delta::CHECKS,
        pcie::CHECKS,
        network::CHECKS,
        system::CHECKS,
        software::CHECKS,
        fleet::CHECKS,
        crate::active::catalogue::CHECKS,
        evaluate::CHECKS,
    ]
    .concat()
});

/// The check of this id.
pub fn find(id: &str) -> Option<&'static Check> {
    TABLE.iter().find(|check| check.id == id)
}

#[cfg(test)]
mod tests;
