//! One host of a run, put together from its parts.

use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::Arc;

use tokio::time::Instant;

use super::batch::Ahead;
use super::boot::Boot;
use super::connection::{Connection, Gone, Stuck};
use super::context::{Context, Drains, Mode};
use super::handlers::Handlers;
use super::known::Known;
use super::lock::Lock;
use super::progress::Progress;
use super::spool::Spool;
use super::state::HostState;
use super::tasks::Tasks;
use super::upload::Uploads;
use super::{login, rollback};
use crate::events::{EventKind, Failure, HostStatus, Outcome, TaskCounts, TaskRef};
use crate::facts::login::LoginQuery;
use crate::facts::state::StateQuery;
use crate::facts::{Facts, Query};
use crate::inventory::{Host, Promises};
use crate::plan::{Planner, StageDigest};
use crate::project::Project;

/// One host of a run.
pub struct Session {
    pub(super) context: Arc<Context>,
    pub(super) host: Arc<Host>,
    pub(super) connection: Connection,
    pub(super) known: Known,
    pub(super) tasks: Tasks,
    pub(super) spool: Spool,
    pub(super) ahead: Ahead,
    pub(super) notified: Handlers,
    pub(super) uploads: Uploads,
    pub(super) lock: Lock,
    pub(super) boot: Boot,
    pub(super) progress: Progress,
    pub(super) containers: Containers,
    /// Whether it carries jobs of a scheduler.
    pub(super) service: Service,
    /// Drains it where that turns out to be needed.
    pub(super) drains: Option<Arc<dyn Drains>>,
    /// Whether it may have been turned off and on already.
    pub(super) cycled: bool,
    /// Whether a rollout has begun with it, so that it goes on to its end.
    pub(super) under_way: bool,
    /// Planner with what earlier stages of a plan will touch; only a plan has it, an apply has done it.
    pub(super) planner: Option<Planner>,
    /// Promises of its tasks; only a plan asks for them.
    pub(super) promises: Promises,
    /// The first step that was not asked what it promises.
    pub(super) next_promise: usize,
}

/// Whether a host carries jobs of a scheduler while it is changed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) enum Service {
    /// Nobody takes it out of service; who is on it is asked.
    #[default]
    Unmanaged,
    /// It is a node whose plan interrupts nothing.
    Working,
    /// It is a node that is not drained: why.
    Carries(String),
    /// It is drained for this run, and no job is on it.
    Drained,
}

/// Effect on the containers of a host when systemd reads its units again.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) enum Containers {
    /// It was not asked.
    #[default]
    Unasked,
    /// None of them loses a GPU that it uses.
    Safe,
    /// These do.
    LoseGpus(String),
}

impl std::fmt::Debug for Session {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Session").field("host", &self.host.name).finish_non_exhaustive()
    }
}

impl Session {
    /// A host that was not touched yet.
    pub fn new(context: Arc<Context>, host: Host) -> Self {
        let host = Arc::new(host);
        Self {
            connection: Connection::new(context.clone(), host.clone()),
            known: Known::nothing(),
            tasks: Tasks::new(context.clone(), host.clone()),
            context,
            host,
            spool: Spool::default(),
            ahead: Ahead::default(),
            notified: Handlers::default(),
            uploads: Uploads::default(),
            lock: Lock::default(),
            boot: Boot::default(),
            progress: Progress::new(),
            containers: Containers::default(),
            service: Service::default(),
            drains: None,
            cycled: false,
            under_way: false,
            planner: None,
            promises: Promises::default(),
            next_promise: 0,
        }
    }

    /// Name of the host.
    pub fn name(&self) -> &str {
        &self.host.name
    }

    /// Returns the project: all that is to be done.
    pub fn project(&self) -> &Project {
        &self.context.project
    }

    /// Index of the host in the inventory.
    pub fn index(&self) -> usize {
        self.host.index
    }

    /// The host.
    pub(super) fn host(&self) -> &Host {
        &self.host
    }

    /// Whether it was said how it ended.
    pub(super) fn has_finished(&self) -> bool {
        self.progress.has_finished()
    }

    /// Its first task that failed, and why.
    pub(super) fn trouble(&self) -> Option<&str> {
        self.progress.trouble()
    }

    /// Whether the run is over for this host.
    pub fn is_over(&self) -> bool {
        self.progress.status().is_some()
    }

    /// Whether its queries were asked and it was not lost since.
    pub fn was_gathered(&self) -> bool {
        self.known.is_gathered() && !self.is_gone()
    }

    /// Returns the facts that are known of the host.
    pub fn facts(&self) -> &Facts {
        self.known.facts()
    }

    /// Returns the host's status at its end, its tasks by outcome, and the number of changes that its plan
    /// still holds.
    pub fn result(&self) -> (HostStatus, TaskCounts, u64) {
        let status = self.progress.status().cloned().unwrap_or(HostStatus::Ok);
        (status, self.progress.counts(), self.progress.pending())
    }

    /// Whether a task failed on it.
    pub fn has_failed(&self) -> bool {
        self.progress.has_failed()
    }

    /// Whether it could not be reached or was lost.
    pub fn is_gone(&self) -> bool {
        self.progress.is_gone()
    }

    /// Whether another run held its lock.
    pub fn locked(&self) -> bool {
        self.lock.was_refused()
    }

    /// Whether some steps are for it.
    pub(super) fn has_work(&self, range: Range<usize>) -> bool {
        let steps = self.context.project.steps.get(range).unwrap_or_default();
        steps.iter().any(|step| step.hosts.contains(&self.host.index))
    }

    /// Whether the run still has something for it, from a step on.
    pub(super) fn has_more(&self, from: usize) -> bool {
        !self.known.is_gathered() || self.has_work(from..self.context.project.steps.len())
    }

    /// Ends it before its end, because the run is stopped.
    pub(super) fn not_started(&mut self, reason: &str) {
        if !self.is_over() {
            self.progress.end(HostStatus::NotStarted(reason.to_owned()));
        }
    }

    /// Takes the host's lock, where no task has; without it the run is over for this host.
    pub(super) async fn hold(&mut self) {
        match self.lock.take_and_ask(&mut self.connection, &mut self.known, &BTreeSet::new()).await {
            Ok(()) => {}
            Err(Stuck::Failed(reason)) => self.not_started(&reason),
            Err(Stuck::Gone(Gone(status))) => self.progress.end(status),
        }
    }

    /// It was changed, and is not as it should be.
    pub(super) fn fails_gate(&mut self, findings: &[String], seconds: f64) {
        let failure = Failure {
            hint: Some("repair it and run `apply` again, which goes on from here".to_owned()),
            ..Failure::new(findings.join("; "))
        };
        let task = TaskRef {
            id: "rollout/gate".to_owned(),
            item: None,
            name: "verify after the change".to_owned(),
            resource: "verify".to_owned(),
        };
        self.progress.fail();
        self.progress.finish_task(&self.connection, task, Outcome::Failed(failure), seconds, false);
    }

    /// Digests of its plan, one of each stage; `None` when it was not planned to the end.
    pub fn plan_digests(&self) -> Option<&[StageDigest]> {
        Some(self.progress.digests()).filter(|digests| !digests.is_empty() && !self.is_gone())
    }

    /// Returns the promises of its tasks.
    pub fn promises(&self) -> &Promises {
        &self.promises
    }

    /// Whether it still needs a reboot.
    pub fn needs_reboot(&self) -> bool {
        !self.boot.pending().is_empty()
    }

    /// Whether its plan holds changes.
    pub fn has_drift(&self) -> bool {
        self.progress.has_drift()
    }

    pub(super) fn emit(&self, kind: EventKind) {
        self.connection.emit(kind);
    }

    pub(super) fn warn(&self, message: impl Into<String>) {
        self.connection.warn(message);
    }

    pub(super) async fn ask(&mut self, queries: &BTreeSet<Query>) -> Result<(), Gone> {
        self.known.ask(&mut self.connection, queries).await
    }

    /// Asks what all tasks of the run need, in one exec, and attaches to work that is going on.
    pub(super) async fn gather(&mut self, wanted: &BTreeSet<Query>) -> Result<(), Gone> {
        let began = Instant::now();
        let execs = self.connection.execs();
        self.known.open(&mut self.connection, wanted).await?;
        let found = match self.facts().get(&StateQuery).answer() {
            Some(text) => HostState::parse(text).map_err(Gone::quarantined)?,
            None => HostState::default(),
        };
        self.connection.works_on(&found.boot);
        if !found.missing.is_empty() {
            let missing = found.missing.join(" and ");
            self.warn(format!("it lacks {missing}: `apply` makes no change there before it has"));
            self.lock.lacks(missing);
        }
        self.notified.found(found.notified, &self.context.project.cluster, &self.boots());
        self.spool = Spool::found(found.spool);
        self.uploads = Uploads::found(found.uploads);
        for name in found.interrupted.values() {
            self.warn(format!(
                "`{name}` was started, and the host went down before anybody saw it end; the plan shows what is left to do"
            ));
        }
        if self.context.mode == Mode::Apply {
            self.lock.refuse(&self.connection, found.holder)?;
            self.spool.forget(found.interrupted.into_keys());
            if self.spool.is_left() {
                self.spool.attach(&mut self.connection).await?;
                // What ended meanwhile may have changed anything.
                self.ask(wanted).await?;
            }
            rollback::settle(&mut self.connection, &found.armed, &found.undone).await;
        }
        if wanted.contains(&LoginQuery.into()) {
            login::look(&self.context, &self.host, &mut self.known).await;
        }
        let unknown = wanted.iter().filter(|query| !self.facts().knows(query)).count();
        self.emit(EventKind::HostGathered {
            host: self.host.name.clone(),
            queries: wanted.len() as u64,
            execs: self.connection.execs() - execs,
            unknown: unknown as u64,
            seconds: began.elapsed().as_secs_f64(),
        });
        self.tell_fleet();
        Ok(())
    }

    /// Handlers that reboot.
    pub(super) fn boots(&self) -> BTreeSet<String> {
        let handlers = self.context.project.handlers.iter();
        handlers.filter(|handler| handler.reboots()).map(|handler| handler.id.clone()).collect()
    }

    /// Tells the others what they may need of this host.
    pub(super) fn tell_fleet(&self) {
        let fleet = &self.context.fleet;
        fleet.publish(self.index(), self.facts().view());
        fleet.publish_answers(self.name(), self.tasks.asked_by_all(), self.facts());
    }

    /// Ends the connection and says how the host ended.
    pub async fn finish(&mut self) {
        // Where all went well nobody wants what is left; elsewhere a later run may go on with it.
        if self.context.mode == Mode::Apply
            && self.connection.is_open()
            && matches!(self.progress.status(), None | Some(HostStatus::Ok))
            && !self.has_failed()
        {
            self.uploads.forget_left(&mut self.connection).await;
        }
        let locked = self.lock.uploads(&self.connection).is_some();
        if self.connection.is_open()
            && !matches!(self.progress.status(), Some(HostStatus::Quarantined { .. }))
            // The run that has the lock may be cut off just now, and comes back for what is there.
            && !self.lock.was_refused()
            && let Err(error) = self.spool.tidy(&mut self.connection, &[], locked).await
        {
            tracing::debug!(host = %self.host.name, %error, "tidy");
        }
        self.connection.leave().await;
        let reasons = self.boot.pending();
        if !reasons.is_empty() && !self.is_gone() {
            self.progress.drifted();
            self.emit(EventKind::RebootPending { host: self.host.name.clone(), reasons });
        }
        if self.context.mode == Mode::Apply {
            self.notified.tell(&self.connection, self.needs_reboot());
        }
        // Nobody asks for those of tasks any more, and a thousand hosts have many.
        self.known.keep(&self.context.queries);
        let finished = self.progress.finish(&self.host.name);
        self.emit(finished);
    }
}
