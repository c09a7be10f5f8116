//! `maintenance:`: how a host is taken out of service for what interrupts it, and given back.

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::Value as Json;

use super::address::AddressValues;
use super::file::{Busy, Policy, PowerCycle, Share, unknown};
use super::host::Host;
use crate::config::{Diagnostic, Diagnostics, Period, Sp, Span};
use crate::template::{Text, Unresolved};

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

impl PowerCycle {
    /// The words for a host.
    ///
    /// # Errors
    /// What is wrong with one of them, and which.
    pub fn words(&self, host: &Host) -> Result<Vec<String>, (Span, String)> {
        let values = AddressValues(host.view());
        let word = |word: &Sp<String>| {
            let wrong = |message: String| (word.span, message);
            let text = Text::parse(&word.value).map_err(|error| wrong(error.message))?;
            match text.render(&values) {
                Ok(Json::String(text)) => Ok(text),
                Ok(other) => Ok(other.to_string()),
                Err(Unresolved::Wrong(error)) => Err(wrong(error.message)),
                Err(Unresolved::Waiting(what)) => Err(wrong(format!("nothing is known of {what:?} here"))),
            }
        };
        self.run.iter().map(word).collect()
    }
}

/// Whether what the policy asks for can be done.
pub(super) fn check(policy: &Sp<Policy>, maintenance: bool, hosts: &[Host], diagnostics: &mut Diagnostics) {
    if let Some(cycle) = &policy.value.power_cycle {
        if cycle.run.is_empty() {
            diagnostics.error(policy.span, "`power_cycle` needs a command");
        }
        if !maintenance {
            let help = "a host is turned off only while it is drained: say how, with `maintenance:`";
            diagnostics
                .push(Diagnostic::error(policy.span, "`power_cycle` without `maintenance:`").help(help));
        }
        if let Some((span, message)) = hosts.iter().find_map(|host| cycle.words(host).err()) {
            diagnostics.error(span, message);
        }
    }
    if policy.value.busy == Busy::Drain && !maintenance {
        let help = "say how, with `maintenance: { slurm: { controller: HOST } }`";
        diagnostics.push(
            Diagnostic::error(policy.span, "`busy: drain` needs to know how a host is drained").help(help),
        );
    }
}
