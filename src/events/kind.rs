//! The kinds of events and the values in them.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::check::{CheckCounts, CheckResult, PairTest};
use crate::transport::ConnectKind;

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
    /// What.
    pub kind: EventKind,
}

/// A task of the run on one host.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct TaskRef {
    /// Stable id of its step.
    pub id: String,
    /// Place in its loop.
    pub item: Option<usize>,
    /// Name with everything filled in.
    pub name: String,
    /// Its resource key.
    pub resource: String,
}

/// A change as people see it: no script, no secret.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChangeView {
    /// What changes, in words.
    pub object: String,
    /// One short line.
    pub summary: String,
    /// Unified diff, attribute lines or the command; may be empty.
    pub diff: String,
    /// What it interrupts: a word of [`Disruption`](crate::resources::Disruption).
    pub disruption: String,
}

/// Why a task failed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failure {
    /// What happened, in one line.
    pub message: String,
    /// What was run, when something was.
    pub command: Option<String>,
    /// The last lines it printed.
    pub output: String,
    /// The likely cause and what to do.
    pub hint: Option<String>,
}

/// How a task ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// All was as it should be.
    Unchanged,
    /// Something was changed, and a second plan was empty.
    Changed {
        /// What.
        changes: Vec<ChangeView>,
        /// What the commands printed, bounded.
        output: String,
    },
    /// A command ran that cannot be proven.
    Ran {
        /// What.
        changes: Vec<ChangeView>,
        /// What it printed, bounded.
        output: String,
    },
    /// Not for this host: why.
    Skipped(String),
    /// Could not be done now, though nothing failed: why.
    Blocked(String),
    /// Failed.
    Failed(Failure),
}

impl Outcome {
    /// The word used in `--json`.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Unchanged => "unchanged",
            Self::Changed { .. } => "changed",
            Self::Ran { .. } => "ran",
            Self::Skipped(_) => "skipped",
            Self::Blocked(_) => "blocked",
            Self::Failed(_) => "failed",
        }
    }
}

/// How a host ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum HostStatus {
    /// Everything on it ended well.
    Ok,
    /// A task failed.
    Failed,
    /// It was never reached.
    Unreachable {
        /// By what mends it.
        kind: ConnectKind,
        /// What happened.
        reason: String,
        /// The one command that mends it.
        hint: Option<String>,
    },
    /// It was reached and then missed a deadline or was lost for good.
    Quarantined {
        /// What happened.
        reason: String,
    },
    /// Marked `offline` in the inventory: not touched, not counted.
    Offline(String),
    /// Not started or not taken to its end: the run was stopped, its canary failed or its budget of
    /// failures was spent.
    NotStarted(String),
}

impl HostStatus {
    /// The word used in `--json`.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Failed => "failed",
            Self::Unreachable { .. } => "unreachable",
            Self::Quarantined { .. } => "quarantined",
            Self::Offline(_) => "offline",
            Self::NotStarted(_) => "not_started",
        }
    }

    /// What `--hosts @NAME` calls a host that needs another run.
    pub fn again(&self) -> Option<&'static str> {
        match self {
            Self::Ok | Self::Offline(_) => None,
            Self::Failed => Some("failed"),
            Self::Unreachable { .. } | Self::Quarantined { .. } => Some("unreachable"),
            Self::NotStarted(_) => Some("not-started"),
        }
    }
}

/// What a plan says of one task.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PlannedVerdict {
    /// Nothing to do.
    Unchanged,
    /// These changes.
    Changes(Vec<ChangeView>),
    /// A command that always runs.
    Runs(Vec<ChangeView>),
    /// Not for this host: why.
    Skipped(String),
    /// Cannot be done now: why.
    Blocked(String),
    /// Will be known after an earlier task.
    KnownAfter(String),
    /// Cannot be planned.
    Failed(Failure),
}

/// One task of a plan.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlannedTask {
    /// The task.
    pub task: TaskRef,
    /// What the plan says.
    pub verdict: PlannedVerdict,
    /// Why it is planned though nothing is to be changed: a notification that an earlier run left.
    pub pending_since: Option<String>,
    /// For a handler: names of the tasks in this plan that notify it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notified_by: Vec<String>,
}

/// Tasks by outcome, summed over hosts and loop items, handlers included.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaskCounts {
    /// As it should be.
    pub unchanged: u64,
    /// Changed and proven.
    pub changed: u64,
    /// Ran, not provable.
    pub ran: u64,
    /// Not for the host.
    pub skipped: u64,
    /// Could not be done now.
    pub blocked: u64,
    /// Failed.
    pub failed: u64,
}

impl TaskCounts {
    /// Counts one outcome.
    pub fn count(&mut self, outcome: &Outcome) {
        match outcome {
            Outcome::Unchanged => self.unchanged += 1,
            Outcome::Changed { .. } => self.changed += 1,
            Outcome::Ran { .. } => self.ran += 1,
            Outcome::Skipped(_) => self.skipped += 1,
            Outcome::Blocked(_) => self.blocked += 1,
            Outcome::Failed(_) => self.failed += 1,
        }
    }
}

/// The sums of a run.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunStats {
    /// Hosts that were selected and are not offline.
    pub hosts: u64,
    /// Of these, ended well.
    pub ok: u64,
    /// A task failed.
    pub failed: u64,
    /// Unreachable or quarantined.
    pub unreachable: u64,
    /// Marked offline.
    pub offline: u64,
    /// Never started.
    pub not_started: u64,
    /// Tasks.
    pub tasks: TaskCounts,
    /// Changes that a plan holds and that were not carried out (`plan`, `verify`).
    pub pending: u64,
    /// Checks (`verify`).
    #[serde(default, skip_serializing_if = "CheckCounts::is_empty")]
    pub checks: CheckCounts,
}

/// What happened.
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
        /// For how many hosts each step is, by step id.
        steps: BTreeMap<String, u64>,
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
        /// How long that took.
        seconds: f64,
    },
    /// All queries of a host were asked.
    HostGathered {
        /// The host.
        host: String,
        /// How many.
        queries: u64,
        /// In how many execs.
        execs: u64,
        /// How many have no answer.
        unknown: u64,
        /// How long that took.
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
        /// What was seen.
        reason: String,
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
        /// What it is going to change.
        changes: Vec<ChangeView>,
    },
    /// A task that was started ended, or one ended without being started.
    TaskFinished {
        /// The host.
        host: String,
        /// The task.
        task: TaskRef,
        /// How.
        outcome: Outcome,
        /// How long it took.
        seconds: f64,
        /// Whether an earlier connection or run had started it.
        attached: bool,
    },
    /// Something the user should know.
    Warning {
        /// The host, when it is about one.
        host: Option<String>,
        /// What.
        message: String,
    },
    /// A host still needs a reboot when the run ends for it.
    RebootPending {
        /// The host.
        host: String,
        /// Why.
        reasons: Vec<String>,
    },
    /// Handlers of a host that were notified and did not run when the run ends for it.
    HandlersPending {
        /// The host.
        host: String,
        /// Their names.
        handlers: Vec<String>,
    },
    /// How much pairs of hosts carry.
    PairsTested {
        /// Every test, rail by rail.
        pairs: Vec<PairTest>,
    },
    /// What the checks of `verify` say of a host.
    HostChecked {
        /// The host.
        host: String,
        /// Every check, in the order of the catalogue.
        checks: Vec<CheckResult>,
    },
    /// A signal or a spent budget stops the run.
    Stopping {
        /// Why.
        reason: String,
    },
    /// A host is done.
    HostFinished {
        /// The host.
        host: String,
        /// How it ended.
        status: HostStatus,
        /// Its tasks by outcome.
        tasks: TaskCounts,
        /// How long it took.
        seconds: f64,
    },
    /// Last event of a run.
    RunFinished {
        /// The sums.
        stats: RunStats,
        /// The exit code of the command.
        exit_code: u8,
        /// How long it took.
        seconds: f64,
    },
}
