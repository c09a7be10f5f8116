//! Who goes first, and when nobody starts any more.

use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use super::cancel::Stop;
use super::context::{Context, Mode};
use super::session::Session;
use crate::events::{EventKind, HostStatus};

/// Hosts that are worked on at the same time.
pub(super) struct Batch {
    /// What it is called, where it is not everybody.
    pub name: Option<String>,
    pub sessions: Vec<Session>,
}

/// The budget of failures of a run, and its canaries.
#[derive(Debug)]
pub(super) struct Budget {
    context: Arc<Context>,
    canaries: BTreeSet<usize>,
    /// How many hosts may fail; `None`: any number.
    allowed: Option<usize>,
    failed: Mutex<BTreeSet<usize>>,
    /// Why no host is started any more.
    spent: OnceLock<String>,
    said: OnceLock<()>,
}

impl Budget {
    /// Nothing of it is spent.
    pub(super) fn new(context: Arc<Context>, sessions: &[Session]) -> Self {
        let project = &context.project;
        let controller = project.controller.as_ref().map(|host| host.index);
        let hosts = || sessions.iter().map(Session::index).filter(|index| Some(*index) != controller);
        let (canaries, allowed) = if context.mode == Mode::Apply {
            let working: Vec<usize> =
                hosts().filter(|host| project.steps.iter().any(|step| step.hosts.contains(host))).collect();
            let number = project.rollout.canary.filter(|number| *number < working.len()).unwrap_or(0);
            (working.into_iter().take(number).collect(), project.rollout.may_fail(hosts().count()))
        } else {
            (BTreeSet::new(), None)
        };
        Self {
            context,
            canaries,
            allowed,
            failed: Mutex::default(),
            spent: OnceLock::new(),
            said: OnceLock::new(),
        }
    }

    /// Takes note of how a host stands at the end of a stage.
    pub(super) fn note(&self, session: &Session) {
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
        if self.canaries.contains(&session.index()) {
            self.spent.get_or_init(|| format!("the canary {} {how}", session.name()));
        } else if let Some(allowed) = self.allowed.filter(|allowed| number > *allowed) {
            let hosts = if number == 1 { "1 host".to_owned() } else { format!("{number} hosts") };
            self.spent
                .get_or_init(|| format!("{hosts} failed, more than rollout.max_failed allows ({allowed})"));
        }
    }

    /// Why a host may not start what the run has for it; says so the first time.
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
            .partition(|session| self.canaries.contains(&session.index()) && session.has_work(range.clone()));
        let size = project.rollout.batch.filter(|size| (1..rest.len()).contains(size));
        let mut batches = Vec::new();
        if !first.is_empty() {
            batches.push(Batch { name: Some("canary".to_owned()), sessions: first });
        }
        let mut rest = rest.into_iter().peekable();
        let mut number = 0;
        while rest.peek().is_some() {
            number += 1;
            batches.push(Batch {
                name: size.map(|_| format!("batch {number}")),
                sessions: rest.by_ref().take(size.unwrap_or(usize::MAX)).collect(),
            });
        }
        batches
    }
}
