//! `maintenance:`: how a host is taken out of service for what interrupts it, and given back.

use std::collections::BTreeMap;
use std::time::Duration;

use super::file::{Busy, Policy, Share, unknown};
use crate::config::{Diagnostic, Diagnostics, Period, Sp};

/// How long jobs may go on, unless the inventory says it.
const WAIT: Duration = Duration::from_hours(24);

crate::record! {
    /// How hosts are taken out of service for changes that interrupt, and given back. `apply` drains only hosts whose
    /// plan holds a change of class gpu, network or reboot.
    MaintenanceFile("`maintenance`") {
        /// The hosts are nodes of Slurm, by the same names.
        req slurm: Sp<SlurmFile>,
        /// How many nodes Slurm can use at any time while others are changed: a number, or `"80%"` of the nodes,
        /// rounded up. It is counted by Slurm's own states. Default: none.
        opt keep_up: Share,
    }
}

crate::record! {
    /// Nodes of Slurm.
    SlurmFile("`slurm`") {
        /// The host of this inventory on which `scontrol`, `sinfo` and `squeue` are run. Its login, or who it becomes,
        /// must be allowed to drain nodes: root and operators are.
        req controller: Sp<String>,
        /// The partition whose nodes `keep_up` counts. Default: all nodes.
        opt partition: String,
        /// How long the jobs of a drained host may go on, and how long a host waits for its turn. After that
        /// it is given back as it was. Running jobs are never ended.
        /// Default: `24h`.
        opt wait: Period,
    }
}

/// `maintenance:` with its defaults.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Maintenance {
    /// The host that has the scheduler's commands.
    pub at: String,
    /// The partition that is counted.
    pub partition: Option<String>,
    /// How long a host is waited for.
    pub wait: Duration,
    /// How many nodes stay in service.
    pub keep_up: Option<Share>,
}

impl MaintenanceFile {
    pub(super) fn resolve(
        self,
        hosts: &BTreeMap<String, usize>,
        diagnostics: &mut Diagnostics,
    ) -> Maintenance {
        let slurm = self.slurm.value;
        if !hosts.contains_key(&slurm.controller.value) {
            unknown("host", &slurm.controller, hosts.keys().map(String::as_str), diagnostics);
        }
        Maintenance {
            at: slurm.controller.value,
            partition: slurm.partition,
            wait: slurm.wait.map_or(WAIT, |wait| wait.0),
            keep_up: self.keep_up,
        }
    }
}

/// Whether what the policy asks for can be done.
pub(super) fn check(policy: &Sp<Policy>, maintenance: bool, diagnostics: &mut Diagnostics) {
    if policy.value.busy == Busy::Drain && !maintenance {
        let help = "say how, with `maintenance: { slurm: { controller: HOST } }`";
        diagnostics.push(
            Diagnostic::error(policy.span, "`busy: drain` needs to know how a host is drained").help(help),
        );
    }
}
