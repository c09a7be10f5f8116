//! State of one host in the run.

use tokio::time::Instant;

use super::connection::Connection;
use crate::events::{EventKind, HostStatus, Outcome, TaskCounts, TaskRef};
use crate::plan::StageDigest;

/// State of one host in the run.
#[derive(Debug)]
pub(super) struct Progress {
    counts: TaskCounts,
    status: Option<HostStatus>,
    failed: bool,
    /// The first task that failed, and why.
    trouble: Option<String>,
    finished: bool,
    pending: u64,
    drift: bool,
    digests: Vec<StageDigest>,
    started: Instant,
}

impl Progress {
    /// Nothing was done yet.
    pub(super) fn new() -> Self {
        Self {
            counts: TaskCounts::default(),
            status: None,
            failed: false,
            trouble: None,
            finished: false,
            pending: 0,
            drift: false,
            digests: Vec::new(),
            started: Instant::now(),
        }
    }

    pub(super) fn status(&self) -> Option<&HostStatus> {
        self.status.as_ref()
    }

    /// The run is over for it.
    pub(super) fn end(&mut self, status: HostStatus) {
        self.status = Some(status);
    }

    pub(super) fn is_gone(&self) -> bool {
        matches!(self.status, Some(HostStatus::Unreachable { .. } | HostStatus::Quarantined { .. }))
    }

    /// A task failed on it.
    pub(super) fn fail(&mut self) {
        self.failed = true;
    }

    pub(super) fn has_failed(&self) -> bool {
        self.failed
    }

    pub(super) fn trouble(&self) -> Option<&str> {
        self.trouble.as_deref()
    }

    pub(super) fn has_finished(&self) -> bool {
        self.finished
    }

    pub(super) fn count(&mut self, outcome: &Outcome) {
        self.counts.count(outcome);
    }

    pub(super) fn counts(&self) -> TaskCounts {
        self.counts
    }

    /// Its plan holds one more change.
    pub(super) fn add_pending(&mut self) {
        self.pending += 1;
        self.drift = true;
    }

    pub(super) fn pending(&self) -> u64 {
        self.pending
    }

    /// It is not as it should be.
    pub(super) fn drifted(&mut self) {
        self.drift = true;
    }

    pub(super) fn has_drift(&self) -> bool {
        self.drift
    }

    /// Takes the digest of one stage's plan.
    pub(super) fn add_digest(&mut self, digest: StageDigest) {
        self.digests.push(digest);
    }

    /// The digests of the stages that were planned so far.
    pub(super) fn digests(&self) -> &[StageDigest] {
        &self.digests
    }

    /// Counts how a task ended and says so.
    pub(super) fn finish_task(
        &mut self,
        connection: &Connection,
        task: TaskRef,
        outcome: Outcome,
        seconds: f64,
        attached: bool,
    ) {
        self.count(&outcome);
        if let Outcome::Failed(failure) = &outcome {
            self.trouble.get_or_insert_with(|| format!("`{}`: {}", task.name, failure.message));
        }
        let host = connection.host().name.clone();
        connection.emit(EventKind::TaskFinished { host, task, outcome, seconds, attached });
    }

    /// Says how it ended.
    pub(super) fn finish(&mut self, host: &str) -> EventKind {
        let status = match self.status.take() {
            Some(status) => status,
            None if self.failed => HostStatus::Failed,
            None => HostStatus::Ok,
        };
        self.status = Some(status.clone());
        self.finished = true;
        EventKind::HostFinished {
            host: host.to_owned(),
            status,
            tasks: self.counts,
            seconds: self.started.elapsed().as_secs_f64(),
        }
    }
}
