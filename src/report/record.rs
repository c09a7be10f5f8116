//! A whole run as one value, folded from its events.

use std::collections::{BTreeMap, BTreeSet};

use indexmap::IndexMap;

use crate::events::{
    CheckResult, Event, EventKind, HostStatus, Outcome, PairTest, PlannedTask, RunStats, TaskRef,
};
use crate::inventory::RECORDED;

/// One task of a host.
#[derive(Debug, Clone)]
pub struct TaskRecord {
    /// The task.
    pub task: TaskRef,
    /// How it ended.
    pub outcome: Outcome,
    /// How long it took.
    pub seconds: f64,
    /// Whether an earlier connection or run had started it.
    pub attached: bool,
}

/// One host.
#[derive(Debug, Clone, Default)]
pub struct HostRecord {
    /// How it ended; `None` while it runs, or when the run was killed.
    pub status: Option<HostStatus>,
    /// Its tasks in the order they ended.
    pub tasks: Vec<TaskRecord>,
    /// Its plan.
    pub plan: Vec<PlannedTask>,
    /// Why it still needs a reboot.
    pub reboot: Vec<String>,
    /// Handlers that were notified and did not run.
    pub handlers: Vec<String>,
    /// What `verify` found.
    pub checks: Vec<CheckResult>,
    /// What was warned about.
    pub warnings: Vec<String>,
    /// How long it took.
    pub seconds: f64,
}

/// A whole run.
#[derive(Debug, Clone, Default)]
pub struct Record {
    /// Its id.
    pub run: String,
    /// When it started.
    pub at: Option<jiff::Timestamp>,
    /// The subcommand.
    pub command: String,
    /// The inventory as the user named it.
    pub inventory: String,
    /// The cluster.
    pub cluster: String,
    /// The hosts in the order of the inventory.
    pub hosts: IndexMap<String, HostRecord>,
    /// What pairs of hosts carry, when `verify` tested them.
    pub pairs: Vec<PairTest>,
    /// Hosts that are offline, with the reason.
    pub offline: BTreeMap<String, String>,
    /// The sums; `None` when the run did not end.
    pub stats: Option<RunStats>,
    /// The exit code.
    pub exit_code: Option<u8>,
    /// How long it took.
    pub seconds: f64,
}

impl Record {
    /// A record of these events.
    pub fn of<'a>(events: impl IntoIterator<Item = &'a Event>) -> Self {
        let mut record = Self::default();
        for event in events {
            record.add(event);
        }
        record
    }

    /// Takes one event.
    pub fn add(&mut self, event: &Event) {
        self.seconds = event.elapsed;
        match &event.kind {
            EventKind::RunStarted { command, inventory, cluster, hosts, offline, .. } => {
                self.run.clone_from(&event.run);
                self.at = Some(event.at);
                self.command.clone_from(command);
                self.inventory.clone_from(inventory);
                self.cluster.clone_from(cluster);
                self.offline.clone_from(offline);
                self.hosts = hosts.iter().map(|host| (host.clone(), HostRecord::default())).collect();
            }
            EventKind::HostPlanned { host, tasks } => self.host(host).plan.extend(tasks.iter().cloned()),
            EventKind::TasksUnchanged { host, tasks } => {
                let unchanged = |task: &TaskRef| TaskRecord {
                    task: task.clone(),
                    outcome: Outcome::Unchanged,
                    seconds: 0.0,
                    attached: false,
                };
                self.host(host).tasks.extend(tasks.iter().map(unchanged));
            }
            EventKind::TaskFinished { host, task, outcome, seconds, attached } => {
                let record = TaskRecord {
                    task: task.clone(),
                    outcome: outcome.clone(),
                    seconds: *seconds,
                    attached: *attached,
                };
                self.host(host).tasks.push(record);
            }
            EventKind::Warning { host: Some(host), message } => {
                self.host(host).warnings.push(message.clone());
            }
            EventKind::RebootPending { host, reasons } => self.host(host).reboot.clone_from(reasons),
            EventKind::HandlersPending { host, handlers } => self.host(host).handlers.clone_from(handlers),
            EventKind::HostFinished { host, status, seconds, .. } => {
                let record = self.host(host);
                record.status = Some(status.clone());
                record.seconds = *seconds;
            }
            EventKind::RunFinished { stats, exit_code, .. } => {
                self.stats = Some(stats.clone());
                self.exit_code = Some(*exit_code);
            }
            EventKind::PairsTested { pairs } => self.pairs.clone_from(pairs),
            EventKind::HostChecked { host, checks } => self.host(host).checks.clone_from(checks),
            EventKind::HostConnecting { .. }
            | EventKind::HostConnected { .. }
            | EventKind::HostGathered { .. }
            | EventKind::BatchStarted { .. }
            | EventKind::HostLost { .. }
            | EventKind::Attached { .. }
            | EventKind::TaskStarted { .. }
            | EventKind::Warning { host: None, .. }
            | EventKind::Stopping { .. } => {}
        }
    }

    fn host(&mut self, name: &str) -> &mut HostRecord {
        self.hosts.entry(name.to_owned()).or_default()
    }

    /// Hosts that need another run, by the name that `--hosts @NAME` has for them.
    pub fn again(&self) -> BTreeMap<&'static str, BTreeSet<String>> {
        let mut again: BTreeMap<_, BTreeSet<String>> =
            RECORDED.iter().map(|name| (*name, BTreeSet::new())).collect();
        for (name, host) in &self.hosts {
            // Where the run was killed no host has a status that did not end before.
            let word = host.status.as_ref().map_or(Some("not-started"), HostStatus::again);
            if let Some(hosts) = word.and_then(|word| again.get_mut(word)) {
                hosts.insert(name.clone());
            }
        }
        again
    }
}
