//! The order in which hosts start, and the point from which no host starts any more.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use super::cancel::Stop;
use super::context::{Context, Mode};
use super::session::Session;
use crate::events::{EventKind, HostStatus};
use crate::project::Slot;

/// Hosts that are worked on at the same time.
pub(super) struct Batch {
    /// Name of the batch, where it is not everybody.
    pub name: Option<String>,
    pub sessions: Vec<Session>,
}

/// The budget of failures of a run, and its canaries.
#[derive(Debug)]
pub(super) struct Budget {
    context: Arc<Context>,
    canaries: OnceLock<BTreeSet<usize>>,
    /// Number of hosts that may fail; `None`: any number.
    allowed: Option<usize>,
    failed: Mutex<BTreeSet<usize>>,
    /// Reason why no host is started any more.
    spent: OnceLock<String>,
    said: OnceLock<()>,
}

impl Budget {
    /// Nothing of it is spent.
    pub(super) fn new(context: Arc<Context>, sessions: &[Session]) -> Self {
        let project = &context.project;
        let controller = project.controller.as_ref().map(|host| host.index);
        let hosts = || sessions.iter().map(Session::index).filter(|index| Some(*index) != controller);
        let canaries = OnceLock::new();
        let applies = context.mode == Mode::Apply;
        // Where jobs run they are found by the plans.
        if !(applies && project.is_live()) {
            let works = |host: &usize| applies && project.steps.iter().any(|step| step.hosts.contains(host));
            canaries.get_or_init(|| project.canaries(&hosts().filter(works).collect::<Vec<_>>()));
        }
        let allowed = project.rollout.may_fail(hosts().count()).filter(|_| applies);
        Self {
            context,
            canaries,
            allowed,
            failed: Mutex::default(),
            spent: OnceLock::new(),
            said: OnceLock::new(),
        }
    }

    /// Takes the canaries.
    pub(super) fn begin_with(&self, canaries: BTreeSet<usize>) {
        self.canaries.get_or_init(|| canaries);
    }

    fn is_canary(&self, session: &Session) -> bool {
        self.canaries.get().is_some_and(|canaries| canaries.contains(&session.index()))
    }

    /// A host was left as it was; without its canaries nothing is known to be good.
    pub(super) fn note_left(&self, session: &Session, why: &str) {
        if self.is_canary(session) {
            self.spent.get_or_init(|| format!("the canary {} was not changed: {why}", session.name()));
        }
    }

    /// Takes note of how a host stands at the end of a stage.
    pub(super) fn note(&self, session: &Session) {
        if session.locked() && !session.has_failed() {
            self.note_left(session, "another run works there");
        }
        let how = match session.result().0 {
            _ if session.has_failed() => "failed".to_owned(),
            status @ (HostStatus::Unreachable { .. } | HostStatus::Quarantined { .. }) => {
                format!("is {}", status.word())
            }
            HostStatus::Ok | HostStatus::Failed | HostStatus::Offline(_) | HostStatus::NotStarted(_) => {
                return;
            }
        };
        let mut failed = self.failed.lock().unwrap_or_else(PoisonError::into_inner);
        failed.insert(session.index());
        let number = failed.len();
        // What was said first stays the reason.
        if self.is_canary(session) {
            self.spent.get_or_init(|| format!("the canary {} {how}", session.name()));
        } else if let Some(allowed) = self.allowed.filter(|allowed| number > *allowed) {
            let hosts = if number == 1 { "1 host".to_owned() } else { format!("{number} hosts") };
            self.spent
                .get_or_init(|| format!("{hosts} failed, more than rollout.max_failed allows ({allowed})"));
        }
    }

    /// Returns the reason why a host may not start what the run has for it, if there is one. A spent budget
    /// is announced the first time.
    pub(super) fn refusal(&self) -> Option<String> {
        if self.context.cancel.now() > Stop::No {
            return Some("the run was stopped before it".to_owned());
        }
        let reason = self.spent.get()?;
        self.said.get_or_init(|| {
            let reason = format!("{reason}: nothing else is started");
            self.context.emitter.emit(EventKind::Stopping { reason });
        });
        Some(reason.clone())
    }

    /// Whether it kept a host from starting.
    pub(super) fn stopped(&self) -> bool {
        self.said.get().is_some()
    }

    /// The batches of a stage in their order: the canaries alone, then the others. Only what changes
    /// many hosts is rolled out.
    pub(super) fn batches(&self, sessions: Vec<Session>, range: Range<usize>) -> Vec<Batch> {
        let project = &self.context.project;
        let steps = project.steps.get(range.clone()).unwrap_or_default();
        let rolled =
            self.context.mode == Mode::Apply && steps.iter().any(|step| step.conduct.run_once.is_none());
        if !rolled {
            return vec![Batch { name: None, sessions }];
        }
        let (first, rest): (Vec<_>, Vec<_>) = sessions
            .into_iter()
            .partition(|session| self.is_canary(session) && session.has_work(range.clone()));
        let mut batches = Vec::new();
        if !first.is_empty() {
            batches.push(Batch { name: Some("canary".to_owned()), sessions: first });
        }
        let indexes: Vec<usize> = rest.iter().map(Session::index).collect();
        let mut rest: BTreeMap<usize, Session> =
            rest.into_iter().map(|session| (session.index(), session)).collect();
        for Slot { name, hosts, .. } in project.batches(&indexes) {
            let sessions: Vec<Session> = hosts.iter().filter_map(|host| rest.remove(host)).collect();
            if !sessions.is_empty() {
                batches.push(Batch { name, sessions });
            }
        }
        batches
    }
}
