//! The values in events.

use serde::{Deserialize, Serialize};

use super::check::CheckCounts;
use crate::transport::ConnectKind;

/// A task of the run on one host.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, Hash)]
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
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Hash)]
pub struct ChangeView {
    /// The changed object, in words.
    pub object: String,
    /// One short line.
    pub summary: String,
    /// Unified diff, attribute lines or the command; may be empty.
    pub diff: String,
    /// Class of the interruption: a word of [`Disruption`](crate::resources::Disruption).
    pub disruption: String,
}

crate::choice! {
    /// Meaning of the command of a failure.
    Attempt {
        /// The command that ran.
        Command = "command",
        /// The changes that were made, in their own words: their commands say less.
        Changes = "changes",
    }
}

impl Attempt {
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it so")]
    fn is_command(&self) -> bool {
        *self == Self::Command
    }
}

/// Reason why a task failed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Hash)]
pub struct Failure {
    /// Description of the failure, in one line.
    pub message: String,
    /// The command that was run, or the changes that were made, when there was one.
    pub command: Option<String>,
    /// Meaning of `command`.
    #[serde(default = "command", skip_serializing_if = "Attempt::is_command")]
    pub attempt: Attempt,
    /// The last lines it printed.
    pub output: String,
    /// The likely cause and what to do.
    pub hint: Option<String>,
}

fn command() -> Attempt {
    Attempt::Command
}

impl Failure {
    /// A failure without a command and without output.
    pub fn new(message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            command: None,
            attempt: Attempt::Command,
            output: String::new(),
            hint: None,
        }
    }
}

/// Outcome of a task.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Hash)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// All was as it should be.
    Unchanged,
    /// Something was changed, and a second plan was empty.
    Changed {
        /// The changes that were made.
        changes: Vec<ChangeView>,
        /// Output of the commands, bounded.
        output: String,
        /// Reason why the rest of it cannot be done now.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        blocked: Option<String>,
    },
    /// A command ran that cannot be proven.
    Ran {
        /// The commands that ran, described as changes.
        changes: Vec<ChangeView>,
        /// Output of the command, bounded.
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
    /// Returns the reason why the task, or the rest of it, could not be done now.
    pub fn blocked(&self) -> Option<&str> {
        match self {
            Self::Blocked(reason) => Some(reason),
            Self::Changed { blocked, .. } => blocked.as_deref(),
            Self::Unchanged | Self::Ran { .. } | Self::Skipped(_) | Self::Failed(_) => None,
        }
    }

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

/// End of a command that ran as it was typed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CommandEnd {
    /// Its exit status.
    pub status: i32,
    /// Its output, bounded.
    pub output: String,
}

/// Final status of a host.
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
        /// Reason why it was not reached.
        reason: String,
        /// The one command that mends it.
        hint: Option<String>,
    },
    /// It was reached and then missed a deadline or was lost for good.
    Quarantined {
        /// Reason why it was given up.
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

    /// Returns the name behind `--hosts @NAME` that selects the host for another run; `None` when it needs
    /// none.
    pub fn again(&self) -> Option<&'static str> {
        match self {
            Self::Ok | Self::Offline(_) => None,
            Self::Failed => Some("failed"),
            Self::Unreachable { .. } | Self::Quarantined { .. } => Some("unreachable"),
            Self::NotStarted(_) => Some("not-finished"),
        }
    }
}

crate::choice! {
    /// Phase of taking a host out of service for a change.
    MaintenancePhase {
        /// There is no room for it yet.
        Waiting = "waiting",
        /// It gets no new job, and its jobs are waited for.
        Draining = "draining",
        /// It is idle, and the run works on it.
        Changing = "changing",
        /// It was changed and is looked at.
        Verifying = "verifying",
        /// It is in service again.
        Back = "back",
        /// It stays drained.
        LeftDrained = "left_drained",
    }
}

/// Verdict of a plan on one task.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Hash)]
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
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Hash)]
pub struct PlannedTask {
    /// The task.
    pub task: TaskRef,
    /// Verdict of the plan.
    pub verdict: PlannedVerdict,
    /// Beside changes: why the rest of the task cannot be done now.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub blocked: Option<String>,
    /// Reason why it is planned though nothing is to be changed: a notification that an earlier run left.
    pub pending_since: Option<String>,
    /// For a handler: names of the tasks in this plan that notify it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notified_by: Vec<String>,
}

impl PlannedTask {
    /// Whether an apply would do something about it.
    pub fn is_to_do(&self) -> bool {
        !matches!(
            self.verdict,
            PlannedVerdict::Unchanged | PlannedVerdict::Skipped(_) | PlannedVerdict::Blocked(_)
        )
    }

    /// Returns the classes of its changes that interrupt a host that carries jobs.
    pub fn interrupts(&self) -> impl Iterator<Item = &str> {
        let changes: &[ChangeView] = match &self.verdict {
            PlannedVerdict::Changes(changes) | PlannedVerdict::Runs(changes) => changes,
            PlannedVerdict::Unchanged
            | PlannedVerdict::Skipped(_)
            | PlannedVerdict::Blocked(_)
            | PlannedVerdict::KnownAfter(_)
            | PlannedVerdict::Failed(_) => &[],
        };
        let classes = changes.iter().map(|change| change.disruption.as_str());
        classes.filter(|class| matches!(*class, "gpu" | "network" | "reboot"))
    }

    /// Its changes in a line, and why there are no more of them.
    pub fn drift(&self, changes: &[ChangeView]) -> String {
        let summaries: Vec<&str> = changes.iter().map(|change| change.summary.as_str()).collect();
        let rest = self.blocked.as_ref().map(|reason| format!("; the rest is blocked: {reason}"));
        summaries.join(", ") + &rest.unwrap_or_default()
    }
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

impl RunStats {
    /// Counts one host by how it ended.
    pub fn count(&mut self, status: &HostStatus) {
        self.hosts += 1;
        match status {
            HostStatus::Ok => self.ok += 1,
            HostStatus::Failed => self.failed += 1,
            HostStatus::Unreachable { .. } | HostStatus::Quarantined { .. } => self.unreachable += 1,
            HostStatus::Offline(_) => self.offline += 1,
            HostStatus::NotStarted(_) => self.not_started += 1,
        }
    }

    /// Adds those of another run.
    pub fn add(&mut self, other: &Self) {
        self.hosts = self.hosts.saturating_add(other.hosts);
        self.ok = self.ok.saturating_add(other.ok);
        self.failed = self.failed.saturating_add(other.failed);
        self.unreachable = self.unreachable.saturating_add(other.unreachable);
        self.offline = self.offline.saturating_add(other.offline);
        self.not_started = self.not_started.saturating_add(other.not_started);
        self.tasks.add(&other.tasks);
        self.pending = self.pending.saturating_add(other.pending);
        self.checks.add(&other.checks);
    }
}

impl TaskCounts {
    /// Adds those of another.
    pub fn add(&mut self, other: &Self) {
        self.unchanged = self.unchanged.saturating_add(other.unchanged);
        self.changed = self.changed.saturating_add(other.changed);
        self.ran = self.ran.saturating_add(other.ran);
        self.skipped = self.skipped.saturating_add(other.skipped);
        self.blocked = self.blocked.saturating_add(other.blocked);
        self.failed = self.failed.saturating_add(other.failed);
    }

    /// Counts one outcome. A task that was changed as far as it can be counts as blocked, too.
    pub fn count(&mut self, outcome: &Outcome) {
        match outcome {
            Outcome::Unchanged => self.unchanged += 1,
            Outcome::Changed { blocked, .. } => {
                self.changed += 1;
                self.blocked += u64::from(blocked.is_some());
            }
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
