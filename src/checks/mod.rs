//! The checks of `verify`: observations and expectations to results. Pure.
//!
//! ```text
//!   facts ─────────┐
//!   expect, nics ──┼─> Subject ── Check::run ──> Verdict ──> CheckResult (events)
//!   baseline ──────┘                 fleet: all subjects of a group against each other
//! ```
//!
//! A check never passes on what it did not see. `gpu.count` stands in `gpu.rs` or in the folder `gpu/`: its
//! entry in that file's table and its function. What several files need is in `shared/`. How a check is
//! added: `docs/contributing/adding-a-check.md`.

pub mod active;
mod boot;
mod containers;
mod driver;
mod fleet;
mod host;
pub mod job;
mod kernel;
mod learn;
mod network;
mod pcie;
mod peermem;
mod shared;
mod slurm;
mod software;
pub mod ssh;
mod gpu {
    pub(super) mod health;
    pub(super) mod links;
    pub(super) mod log;
    pub(super) mod settings;
}
mod system {
    pub(super) mod faults;
    pub(super) mod limits;
    pub(super) mod machine;
    pub(super) mod reach;
    pub(super) mod upkeep;
}
mod rdma {
    pub(super) mod card_settings;
    pub(super) mod counters;
    pub(super) mod gpudirect;
    pub(super) mod log;
    pub(super) mod pcie;
    pub(super) mod ports;
    pub(super) mod setup;
}

pub use learn::{Learned, learn};
pub use shared::acknowledged::{Acknowledgement, Acknowledgements};
pub use shared::comparison::Comparison;
pub use shared::evaluate::{Conclusion, LEFT_OUT, evaluate, queries};
pub use shared::subject::{Baseline, Baselines, JobView, Subject};
pub use shared::verdict::{Checked, Findings, Verdict};
pub use slurm::NODE;

use crate::events::CheckStatus;

/// Precondition of a check.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Needs {
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
    /// A view behind a launcher: `verify --through`.
    Job,
}

impl Needs {
    /// The word used in references.
    pub fn word(self) -> &'static str {
        match self {
            Self::Idle => "idle",
            Self::Load => "load",
            Self::Delta => "delta",
            Self::Fleet => "fleet",
            Self::Active => "active",
            Self::Job => "job",
        }
    }
}

/// A check.
#[derive(Debug, Clone, Copy)]
pub struct Check {
    /// Its id: `rdma.port_active`.
    pub id: &'static str,
    /// The property that it proves, in one line.
    pub title: &'static str,
    /// Its precondition.
    pub needs: Needs,
    /// Severity of a finding: fail or warn.
    pub severity: CheckStatus,
    /// Expectation when nothing is declared, and the key that declares it.
    pub expects: &'static str,
    /// Reason why it matters.
    pub why: &'static str,
    /// Advice about a finding.
    pub hint: &'static str,
    /// Source of its formats and values.
    pub source: &'static str,
    /// Looks at one host; `Err` is a verdict too, reached early.
    pub run: fn(&Subject<'_>) -> Checked,
}

impl Check {
    /// The keys of `expect:` that it reads, as `expects` names them: `driver.version`.
    pub fn keys(&self) -> Vec<&'static str> {
        let is_key = |c: char| c.is_ascii_lowercase() || c == '_' || c == '.';
        let spans =
            self.expects.split('`').skip(1).step_by(2).filter_map(|span| span.strip_prefix("expect."));
        let mut keys: Vec<&str> =
            spans.map(|key| key.split(|c: char| !is_key(c)).next().unwrap_or(key)).collect();
        let mut seen = std::collections::BTreeSet::new();
        keys.retain(|key| seen.insert(*key));
        keys
    }
}

/// The checks of each file, with its place in this module.
macro_rules! files {
    ($($($part:ident)::+),+ $(,)?) => { &[$((&[$(stringify!($part)),+], $($part::)+CHECKS)),+] };
}

/// Every file with checks, in the order of reports.
const FILES: &[(&[&str], &[Check])] = files![
    driver,
    boot,
    gpu::health,
    gpu::links,
    gpu::settings,
    gpu::log,
    peermem,
    rdma::ports,
    rdma::setup,
    rdma::card_settings,
    rdma::pcie,
    rdma::counters,
    rdma::log,
    rdma::gpudirect,
    pcie,
    network,
    system::limits,
    system::machine,
    system::faults,
    system::reach,
    system::upkeep,
    kernel,
    slurm,
    software,
    containers,
    fleet,
    active,
    job,
    ssh,
    host,
];

/// All checks in the order of reports.
pub static TABLE: std::sync::LazyLock<Vec<Check>> =
    std::sync::LazyLock::new(|| FILES.iter().flat_map(|(_, checks)| *checks).copied().collect());

/// The check of this id.
pub fn find(id: &str) -> Option<&'static Check> {
    TABLE.iter().find(|check| check.id == id)
}

/// Returns the advice about a finding of this check.
pub fn hint(id: &str) -> &'static str {
    find(id).map_or("", |check| check.hint)
}

#[cfg(test)]
mod sites;
#[cfg(test)]
mod tests;
