//! The kinds of events, and the record of a run that is folded from them.
//!
//! An event is defined here, with what is kept of it; `docs/contributing/adding-an-event.md`.

use std::collections::{BTreeMap, BTreeSet};
use std::hash::Hash;
use std::sync::Arc;

use indexmap::{IndexMap, IndexSet};
use serde::{Deserialize, Serialize};

use super::check::{CheckResult, PairTest, SeenThrough};
use super::values::{
    ChangeView, CommandEnd, HostStatus, MaintenancePhase, Outcome, PlannedTask, RunStats, TaskCounts, TaskRef,
};
use crate::inventory::RECORDED;

/// One thing that happened.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Event {
    /// The run it belongs to.
    pub run: String,
    /// Counts up from 0 without gaps.
    pub seq: u64,
    /// When, in UTC.
    pub at: jiff::Timestamp,
    /// Seconds since the run started.
    pub elapsed: f64,
    /// The event itself, with its data.
    pub kind: EventKind,
}

/// Kind of event.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EventKind {
    /// First event of a run.
    RunStarted {
        /// The subcommand.
        command: String,
        /// The inventory as the user named it.
        inventory: String,
        /// Options that say what the run is about, and that its continuation needs as well.
        #[serde(default)]
        options: Vec<String>,
        /// The cluster.
        cluster: String,
        /// Version of provision.
        version: String,
        /// Selected hosts that are not offline, in the order of the inventory.
        hosts: Vec<String>,
        /// Selected hosts that are offline, with the reason.
        offline: BTreeMap<String, String>,
        /// Playbooks used.
        playbooks: u64,
        /// Steps, before loops and hosts.
        tasks: u64,
        /// For how many hosts each step is, by step id, in the order of the playbooks.
        steps: IndexMap<String, u64>,
        /// Number of stages.
        stages: u64,
    },
    /// A host is being opened.
    HostConnecting {
        /// The host.
        host: String,
    },
    /// A host is open.
    HostConnected {
        /// The host.
        host: String,
        /// Duration in seconds.
        seconds: f64,
    },
    /// All queries of a host were asked.
    HostGathered {
        /// The host.
        host: String,
        /// Number of queries.
        queries: u64,
        /// In how many execs.
        execs: u64,
        /// Number of queries that have no answer.
        unknown: u64,
        /// Duration in seconds.
        seconds: f64,
    },
    /// The plan of a host for one stage.
    HostPlanned {
        /// The host.
        host: String,
        /// Its tasks without those that need nothing or are not for the host.
        tasks: Vec<PlannedTask>,
    },
    /// A batch of a rollout starts.
    BatchStarted {
        /// `canary`, `batch 1` ...
        name: String,
        /// Its hosts.
        hosts: Vec<String>,
    },
    /// The connection was lost and is being opened anew.
    HostLost {
        /// The host.
        host: String,
        /// Reason for the loss.
        reason: String,
        /// Time limit for opening it anew, in seconds.
        #[serde(default)]
        within: f64,
    },
    /// The host came back from a lost connection as another boot of itself. The run ends for it.
    HostRebooted {
        /// The host.
        host: String,
        /// The boot that the run knew.
        before: String,
        /// The boot that it is now.
        after: String,
    },
    /// Work of an earlier connection or run is still going on and is followed.
    Attached {
        /// The host.
        host: String,
        /// Its name as recorded on the host.
        task: String,
    },
    /// Tasks that needed nothing.
    TasksUnchanged {
        /// The host.
        host: String,
        /// The tasks.
        tasks: Vec<TaskRef>,
    },
    /// A task that changes something starts. Written before the first byte is sent.
    TaskStarted {
        /// The host.
        host: String,
        /// The task.
        task: TaskRef,
        /// Changes that it is going to make.
        changes: Vec<ChangeView>,
    },
    /// A task that was started ended, or one ended without being started.
    TaskFinished {
        /// The host.
        host: String,
        /// The task.
        task: TaskRef,
        /// Outcome of the task.
        outcome: Outcome,
        /// Duration in seconds.
        seconds: f64,
        /// Whether an earlier connection or run had started it.
        attached: bool,
    },
    /// The command of `exec` ended on a host.
    CommandEnded {
        /// The host.
        host: String,
        /// Its exit status and output.
        command: CommandEnd,
    },
    /// Something the user should know.
    Warning {
        /// The host, when it is about one.
        host: Option<String>,
        /// Text of the warning.
        message: String,
    },
    /// A host still needs a reboot when the run ends for it.
    RebootPending {
        /// The host.
        host: String,
        /// Reasons for the reboot.
        reasons: Vec<String>,
    },
    /// Handlers of a host that were notified and did not run when the run ends for it.
    HandlersPending {
        /// The host.
        host: String,
        /// Their names.
        handlers: Vec<String>,
    },
    /// Bandwidths between pairs of hosts were measured.
    PairsTested {
        /// Every test, rail by rail.
        pairs: Vec<PairTest>,
    },
    /// A host was looked at behind a launcher.
    HostSeenThrough {
        /// The host.
        host: String,
        /// The view that was found there.
        seen: SeenThrough,
    },
    /// The checks of `verify` have judged a host.
    HostChecked {
        /// The host.
        host: String,
        /// Every check, in the order of the catalogue.
        checks: Vec<CheckResult>,
    },
    /// Facts that a node tells of itself to the controller whose job it is.
    HostFacts {
        /// The host.
        host: String,
        /// Its facts, by name.
        facts: serde_json::Value,
    },
    /// A host enters a phase of being taken out of service for a change. The host may be a node that is no
    /// part of the run.
    HostMaintenance {
        /// The host.
        host: String,
        /// The phase that it is in.
        phase: MaintenancePhase,
        /// Reason for the phase, or what the host waits for; may be empty.
        why: String,
        /// Of one that stays drained by us: the command that gives it back.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        by_hand: Option<String>,
    },
    /// A signal or a spent budget stops the run.
    Stopping {
        /// Reason why the run stops.
        reason: String,
    },
    /// The journal takes no more events, so it never holds this one.
    JournalLost {
        /// The file, and the reason.
        reason: String,
    },
    /// A host is done.
    HostFinished {
        /// The host.
        host: String,
        /// Final status of the host.
        status: HostStatus,
        /// Its tasks by outcome.
        tasks: TaskCounts,
        /// Duration in seconds.
        seconds: f64,
    },
    /// Last event of a run.
    RunFinished {
        /// The sums.
        stats: RunStats,
        /// The exit code of the command.
        exit_code: u8,
        /// Duration in seconds.
        seconds: f64,
    },
}

impl EventKind {
    /// The host that it is about, where it is about one.
    pub fn host(&self) -> Option<&str> {
        match self {
            Self::HostConnecting { host }
            | Self::HostConnected { host, .. }
            | Self::HostGathered { host, .. }
            | Self::HostPlanned { host, .. }
            | Self::HostLost { host, .. }
            | Self::HostRebooted { host, .. }
            | Self::Attached { host, .. }
            | Self::TasksUnchanged { host, .. }
            | Self::TaskStarted { host, .. }
            | Self::TaskFinished { host, .. }
            | Self::CommandEnded { host, .. }
            | Self::RebootPending { host, .. }
            | Self::HandlersPending { host, .. }
            | Self::HostSeenThrough { host, .. }
            | Self::HostChecked { host, .. }
            | Self::HostFacts { host, .. }
            | Self::HostMaintenance { host, .. }
            | Self::HostFinished { host, .. } => Some(host),
            Self::Warning { host, .. } => host.as_deref(),
            Self::RunStarted { .. }
            | Self::BatchStarted { .. }
            | Self::PairsTested { .. }
            | Self::Stopping { .. }
            | Self::JournalLost { .. }
            | Self::RunFinished { .. } => None,
        }
    }
}

/// One task of a host. What it shares with those of other hosts is held once.
#[derive(Debug, Clone)]
pub struct TaskRecord {
    /// The task.
    pub task: Arc<TaskRef>,
    /// Outcome of the task.
    pub outcome: Arc<Outcome>,
    /// Duration in seconds.
    pub seconds: f64,
    /// Whether an earlier connection or run had started it.
    pub attached: bool,
}

/// A time out of service, in seconds since the run began.
#[derive(Debug, Clone, PartialEq)]
pub struct Outage {
    /// When it was drained.
    pub drained: f64,
    /// When its jobs had ended.
    pub changing: Option<f64>,
    /// When it was given back.
    pub back: Option<f64>,
}

/// One host.
#[derive(Debug, Clone, Default)]
pub struct HostRecord {
    /// Final status of the host; `None` while it runs, or when the run was killed.
    pub status: Option<HostStatus>,
    /// Its tasks in the order they ended.
    pub tasks: Vec<TaskRecord>,
    /// Its plan.
    pub plan: Vec<Arc<PlannedTask>>,
    /// End of the command of `exec`.
    pub command: Option<CommandEnd>,
    /// Reasons why it still needs a reboot.
    pub reboot: Vec<String>,
    /// Handlers that were notified and did not run.
    pub handlers: Vec<String>,
    /// Results of the checks of `verify`.
    pub checks: Vec<CheckResult>,
    /// View behind a launcher, where one was asked for.
    pub through: Option<SeenThrough>,
    /// Facts that it told of itself, where Slurm carried the question.
    pub facts: serde_json::Value,
    /// Last phase of its maintenance, and the reason for it, when it was taken out of service.
    pub maintenance: Option<(MaintenancePhase, String)>,
    /// Time that it was out of service, where the run drained it.
    pub outage: Option<Outage>,
    /// Texts of its warnings.
    pub warnings: Vec<String>,
    /// Duration in seconds.
    pub seconds: f64,
}

impl HostRecord {
    /// It stands so since then.
    fn take_phase(&mut self, phase: MaintenancePhase, now: f64) {
        match (phase, &mut self.outage) {
            (MaintenancePhase::Draining, None) => {
                self.outage = Some(Outage { drained: now, changing: None, back: None });
            }
            (MaintenancePhase::Changing, Some(outage)) => outage.changing = Some(now),
            (MaintenancePhase::Back, Some(outage)) if outage.changing.is_some() => outage.back = Some(now),
            (MaintenancePhase::Waiting | MaintenancePhase::LeftDrained | MaintenancePhase::Back, _) => {
                self.outage = None;
            }
            (MaintenancePhase::Draining | MaintenancePhase::Changing | MaintenancePhase::Verifying, _) => {}
        }
    }
}

/// Values of which ten thousand hosts have the same, each held once.
#[derive(Debug, Clone, Default)]
struct Shared {
    tasks: IndexSet<Arc<TaskRef>>,
    outcomes: IndexSet<Arc<Outcome>>,
    planned: IndexSet<Arc<PlannedTask>>,
}

/// The one of a set that is equal to a value.
fn shared<T: Clone + Eq + Hash>(set: &mut IndexSet<Arc<T>>, value: &T) -> Arc<T> {
    if let Some(known) = set.get(value) {
        return known.clone();
    }
    let new = Arc::new(value.clone());
    set.insert(new.clone());
    new
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
    /// Bandwidths between pairs of hosts, when `verify` tested them.
    pub pairs: Vec<PairTest>,
    /// Hosts that are offline, with the reason.
    pub offline: BTreeMap<String, String>,
    /// Nodes that stay drained, with the reason; not all of them are hosts of the run.
    pub left_drained: BTreeMap<String, String>,
    /// Ids of the steps in the order of the playbooks; handlers are not among them.
    pub steps: Vec<String>,
    /// The sums; `None` when the run did not end.
    pub stats: Option<RunStats>,
    /// The exit code.
    pub exit_code: Option<u8>,
    /// Duration in seconds.
    pub seconds: f64,
    /// Whether it still goes on.
    pub running: bool,
    shared: Shared,
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
            EventKind::RunStarted { command, inventory, cluster, hosts, offline, steps, .. } => {
                self.run.clone_from(&event.run);
                self.at = Some(event.at);
                self.command.clone_from(command);
                self.inventory.clone_from(inventory);
                self.cluster.clone_from(cluster);
                self.offline.clone_from(offline);
                self.steps = steps.keys().cloned().collect();
                self.hosts = hosts.iter().map(|host| (host.clone(), HostRecord::default())).collect();
            }
            EventKind::HostPlanned { host, tasks } => {
                let tasks: Vec<_> = tasks.iter().map(|task| shared(&mut self.shared.planned, task)).collect();
                self.host(host).plan.extend(tasks);
            }
            EventKind::TasksUnchanged { host, tasks } => {
                for task in tasks {
                    self.take_task(host, task, &Outcome::Unchanged, 0.0, false);
                }
            }
            EventKind::TaskFinished { host, task, outcome, seconds, attached } => {
                self.take_task(host, task, outcome, *seconds, *attached);
            }
            EventKind::Warning { host: Some(host), message } => {
                self.host(host).warnings.push(message.clone());
            }
            EventKind::HostRebooted { host, before, after } => {
                self.host(host)
                    .warnings
                    .push(format!("it rebooted during the run (boot {before} -> {after})"));
            }
            EventKind::CommandEnded { host, command } => self.host(host).command = Some(command.clone()),
            EventKind::RebootPending { host, reasons } => self.host(host).reboot.clone_from(reasons),
            EventKind::HandlersPending { host, handlers } => self.host(host).handlers.clone_from(handlers),
            EventKind::HostFinished { host, status, seconds, .. } => {
                let record = self.host(host);
                record.status = Some(status.clone());
                // It waits no more.
                record.maintenance.take_if(|(phase, _)| *phase == MaintenancePhase::Waiting);
                record.seconds = *seconds;
            }
            EventKind::RunFinished { stats, exit_code, seconds } => {
                self.seconds = *seconds;
                self.stats = Some(stats.clone());
                self.exit_code = Some(*exit_code);
            }
            EventKind::HostMaintenance { host, phase, why, .. } => {
                if *phase == MaintenancePhase::LeftDrained {
                    self.left_drained.insert(host.clone(), why.clone());
                } else {
                    self.left_drained.remove(host);
                }
                if let Some(record) = self.hosts.get_mut(host) {
                    record.maintenance = Some((*phase, why.clone()));
                    record.take_phase(*phase, event.elapsed);
                }
            }
            EventKind::PairsTested { pairs } => self.pairs.clone_from(pairs),
            EventKind::HostSeenThrough { host, seen } => self.host(host).through = Some(seen.clone()),
            EventKind::HostFacts { host, facts } => self.host(host).facts.clone_from(facts),
            EventKind::HostChecked { host, checks } => self.host(host).checks.clone_from(checks),
            EventKind::HostConnecting { .. }
            | EventKind::HostConnected { .. }
            | EventKind::HostGathered { .. }
            | EventKind::BatchStarted { .. }
            | EventKind::HostLost { .. }
            | EventKind::Attached { .. }
            | EventKind::TaskStarted { .. }
            | EventKind::Warning { host: None, .. }
            | EventKind::JournalLost { .. }
            | EventKind::Stopping { .. } => {}
        }
    }

    fn take_task(&mut self, host: &str, task: &TaskRef, outcome: &Outcome, seconds: f64, attached: bool) {
        let task = shared(&mut self.shared.tasks, task);
        let outcome = shared(&mut self.shared.outcomes, outcome);
        self.host(host).tasks.push(TaskRecord { task, outcome, seconds, attached });
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
            let word = host.status.as_ref().map_or(Some("not-finished"), HostStatus::again);
            if let Some(hosts) = word.and_then(|word| again.get_mut(word)) {
                hosts.insert(name.clone());
            }
        }
        again
    }
}
