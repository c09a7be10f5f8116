//! Events of nodes, as far as they are believed. A node speaks for itself alone, once, and in numbers that
//! are possible.

use std::collections::{BTreeMap, BTreeSet};

use super::job::NO_NODE;
use crate::engine::{Context, Stop};
use crate::events::{CheckCounts, EventKind, HostStatus, RunStats, TaskCounts};
use crate::exit;
use crate::transport::ConnectKind;

/// Maximum number of tasks, checks or questions of a host.
const MOST: u64 = 100_000;
/// Seconds that anything can take: a year.
const LONGEST: f64 = 31_536_000.0;
/// Warnings of one node that are shown.
const WARNINGS: u64 = 1000;

/// Final status that a node reports before its run has ended.
#[derive(Debug)]
struct Told {
    status: HostStatus,
    tasks: TaskCounts,
    seconds: f64,
}

/// Reports of one node that has not ended.
#[derive(Debug, Default)]
struct Own {
    told: Option<Told>,
    checks: CheckCounts,
    /// Whether it needs a reboot.
    reboot: bool,
    warnings: u64,
}

/// State of the nodes.
#[derive(Debug, Default)]
pub(super) struct Nodes {
    /// Nodes that have not ended.
    pub(super) open: BTreeSet<String>,
    /// Nodes that have said something.
    pub(super) spoke: BTreeSet<String>,
    /// Last output of their programs, by node.
    pub(super) said: BTreeMap<String, String>,
    own: BTreeMap<String, Own>,
    pub(super) stats: RunStats,
    pub(super) codes: BTreeSet<u8>,
}

impl Nodes {
    /// These nodes, of which nothing is known.
    pub(super) fn new(hosts: &[String]) -> Self {
        Self { open: hosts.iter().cloned().collect(), ..Self::default() }
    }

    /// Takes what the program on a node said besides events.
    pub(super) fn hear(&mut self, node: &str, text: String) {
        if self.open.contains(node) {
            self.spoke.insert(node.to_owned());
            self.said.insert(node.to_owned(), text);
        }
    }

    /// Takes an event of a node. One that cannot be true ends the node, and nothing else.
    pub(super) fn take(&mut self, context: &Context, node: &str, kind: EventKind) {
        if !self.open.contains(node) {
            return;
        }
        self.spoke.insert(node.to_owned());
        if let Err(reason) = self.believe(context, node, kind) {
            let reason = format!("what it says cannot be: {reason}");
            self.distrust(context, node, reason);
        }
    }

    /// A node ends of which nothing is believed, not even how it ended.
    pub(super) fn distrust(&mut self, context: &Context, node: &str, reason: String) {
        self.own.remove(node);
        self.end(context, node, HostStatus::Quarantined { reason });
    }

    fn believe(&mut self, context: &Context, node: &str, mut kind: EventKind) -> Result<(), String> {
        possible(&kind)?;
        if let EventKind::Warning { host: host @ None, .. } = &mut kind {
            *host = Some(node.to_owned());
        }
        if kind.host().is_some_and(|host| host != node) {
            return Err("it speaks for another host".to_owned());
        }
        let own = self.own.entry(node.to_owned()).or_default();
        match kind {
            EventKind::RunFinished { stats, exit_code, .. } => {
                return self.finish(context, node, &stats, exit_code);
            }
            EventKind::HostFinished { status: HostStatus::Offline(_), .. } => {
                return Err("it is not offline".to_owned());
            }
            EventKind::HostFinished { status, tasks, seconds, .. } => {
                if own.told.replace(Told { status, tasks, seconds }).is_some() {
                    return Err("it ended twice".to_owned());
                }
                // It is told when the run of the node has ended in the same way.
                return Ok(());
            }
            EventKind::Warning { .. } => {
                own.warnings += 1;
                if own.warnings > WARNINGS {
                    return Err(format!("it has more than {WARNINGS} warnings"));
                }
            }
            EventKind::HostChecked { ref checks, .. } => {
                own.checks = CheckCounts::default();
                for check in checks {
                    own.checks.count(check.status);
                }
            }
            EventKind::RebootPending { .. } => own.reboot = true,
            EventKind::HostConnecting { .. }
            | EventKind::HostConnected { .. }
            | EventKind::HostGathered { .. }
            | EventKind::HostPlanned { .. }
            | EventKind::HostLost { .. }
            | EventKind::HostRebooted { .. }
            | EventKind::Attached { .. }
            | EventKind::TasksUnchanged { .. }
            | EventKind::TaskStarted { .. }
            | EventKind::TaskFinished { .. }
            | EventKind::HandlersPending { .. }
            | EventKind::HostFacts { .. } => {}
            // About the run of the node, which is a part of this one.
            EventKind::RunStarted { .. }
            | EventKind::BatchStarted { .. }
            | EventKind::Stopping { .. }
            | EventKind::JournalLost { .. } => return Ok(()),
            // They may name commands and other hosts, and no node tells them.
            EventKind::HostMaintenance { .. }
            | EventKind::CommandEnded { .. }
            | EventKind::HostSeenThrough { .. }
            | EventKind::PairsTested { .. } => return Err("no node can know that".to_owned()),
        }
        context.emitter.emit(kind);
        Ok(())
    }

    /// The run of a node has ended. How the run of all ends follows from how its hosts end, and no number of a node
    /// makes it better.
    fn finish(&mut self, context: &Context, node: &str, stats: &RunStats, code: u8) -> Result<(), String> {
        let own = self.own.remove(node).unwrap_or_default();
        let Some(told) = own.told else {
            let said = format!("its program ended with {code} and did not tell how the host ended");
            self.said.insert(node.to_owned(), said);
            return Ok(());
        };
        let well = [exit::OK, exit::DRIFT, exit::PENDING, exit::INTERRUPTED, exit::TERMINATED];
        let agrees = if told.status == HostStatus::Ok { well.contains(&code) } else { code != exit::OK };
        if !agrees {
            return Err(format!("it is {}, and its run ended with {code}", told.status.word()));
        }
        if own.checks.fail > 0 || code == exit::DRIFT {
            self.codes.insert(exit::DRIFT);
        }
        if own.reboot || code == exit::PENDING {
            self.codes.insert(exit::PENDING);
        }
        if code == exit::LOCKED && told.status != HostStatus::Ok {
            self.codes.insert(exit::LOCKED);
        }
        self.stats.pending = self.stats.pending.saturating_add(stats.pending);
        self.stats.checks.add(&own.checks);
        self.close(context, node, told);
        Ok(())
    }

    /// Ends all of these hosts that have not ended.
    pub(super) fn leave(&mut self, context: &Context, hosts: &[String], reason: &str) {
        for host in hosts.iter().filter(|host| self.open.contains(*host)).cloned().collect::<Vec<_>>() {
            let reason = self.said.get(&host).map_or(reason, String::as_str).to_owned();
            let status = if self.spoke.contains(&host) {
                HostStatus::Quarantined { reason }
            } else if context.cancel.now() > Stop::No {
                HostStatus::NotStarted("the run was stopped before it".to_owned())
            } else {
                unreachable(&reason)
            };
            self.end(context, &host, status);
        }
    }

    /// A host ends as it told, or else so.
    pub(super) fn end(&mut self, context: &Context, host: &str, status: HostStatus) {
        let told = self.own.remove(host).and_then(|own| own.told);
        let told = told.unwrap_or(Told { status, tasks: TaskCounts::default(), seconds: 0.0 });
        self.close(context, host, told);
    }

    fn close(&mut self, context: &Context, host: &str, told: Told) {
        if !self.open.remove(host) {
            return;
        }
        let Told { status, tasks, seconds } = told;
        self.stats.count(&status);
        self.stats.tasks.add(&tasks);
        context.emitter.emit(EventKind::HostFinished { host: host.to_owned(), status, tasks, seconds });
    }
}

/// Whether the numbers of an event can be true.
fn possible(kind: &EventKind) -> Result<(), String> {
    let (numbers, seconds): (Vec<u64>, f64) = match kind {
        EventKind::HostConnected { seconds, .. } => (Vec::new(), *seconds),
        EventKind::HostGathered { queries, execs, unknown, seconds, .. } => {
            (vec![*queries, *execs, *unknown], *seconds)
        }
        EventKind::HostLost { within, .. } => (Vec::new(), *within),
        EventKind::TaskFinished { task, seconds, .. } => {
            (task.item.iter().map(|item| *item as u64).collect(), *seconds)
        }
        EventKind::HostFinished { tasks, seconds, .. } => (counts(tasks), *seconds),
        EventKind::RunFinished { stats, seconds, .. } => {
            ([counts(&stats.tasks), vec![stats.pending]].concat(), *seconds)
        }
        EventKind::RunStarted { .. }
        | EventKind::HostConnecting { .. }
        | EventKind::HostPlanned { .. }
        | EventKind::BatchStarted { .. }
        | EventKind::HostRebooted { .. }
        | EventKind::Attached { .. }
        | EventKind::TasksUnchanged { .. }
        | EventKind::TaskStarted { .. }
        | EventKind::Warning { .. }
        | EventKind::RebootPending { .. }
        | EventKind::HandlersPending { .. }
        | EventKind::PairsTested { .. }
        | EventKind::HostSeenThrough { .. }
        | EventKind::CommandEnded { .. }
        | EventKind::HostChecked { .. }
        | EventKind::HostFacts { .. }
        | EventKind::HostMaintenance { .. }
        | EventKind::Stopping { .. }
        | EventKind::JournalLost { .. } => return Ok(()),
    };
    if let Some(number) = numbers.into_iter().find(|number| *number > MOST) {
        return Err(format!("a host has no {number} tasks or questions"));
    }
    if !(0.0..LONGEST).contains(&seconds) {
        return Err(format!("nothing takes {seconds} s"));
    }
    Ok(())
}

fn counts(tasks: &TaskCounts) -> Vec<u64> {
    let TaskCounts { unchanged, changed, ran, skipped, blocked, failed } = *tasks;
    vec![unchanged, changed, ran, skipped, blocked, failed]
}

/// Text of sbcast and srun 26.05 where a slurmd of 24.11 closed the connection: "Incompatible versions of client and
/// server code" stands in its own log.
const NOT_UNDERSTOOD: &str = "Zero Bytes were transmitted or received";

pub(super) fn unreachable(reason: &str) -> HostStatus {
    let hint = if reason == NO_NODE {
        "leave it out with `--hosts`, and reach it over ssh"
    } else if reason.contains(NOT_UNDERSTOOD) {
        "the slurmd there may be of an older release than Slurm's commands on the host of `--engine-at`: `sinfo -N -o '%N %v'` has the one, `srun --version` the other. It takes no step from newer ones: name a host whose commands are as old, such as a node"
    } else {
        "`scontrol show node NAME` has its state and the reason, `squeue -w NAME` the jobs there: one called `provision` is an earlier run that goes on"
    };
    HostStatus::Unreachable {
        kind: ConnectKind::Other,
        reason: reason.to_owned(),
        hint: Some(hint.to_owned()),
    }
}
