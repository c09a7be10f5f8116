//! A whole run: stages, batches, the sums.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use tracing::Instrument as _;

use super::cancel::Stop;
use super::context::{Context, Mode};
use super::drained_rollout;
use super::hosts::{healthy, leaders, together, warn_of_absent};
use super::rollout::{Batch, Budget};
use super::session::Session;
use super::work::Leaders;
use crate::events::{EventKind, RunStats};
use crate::exit;
use crate::project::Step;

/// Result of a run.
#[derive(Debug)]
pub struct Report {
    /// The sums.
    pub stats: RunStats,
    /// The hosts with what is known of them, in the order of the inventory.
    pub sessions: Vec<Session>,
    /// Whether a host's lock was held by another run.
    pub locked: bool,
    /// Whether the run was stopped before its end.
    pub stopped: bool,
    /// Number of nodes that stay drained.
    pub left_drained: usize,
}

/// Runs the project on its selected hosts. Ends with every host finished; the caller decides the
/// exit code and says `RunFinished`.
#[tracing::instrument(level = "info", skip_all, fields(run = context.emitter.run(), command = command))]
pub async fn run(context: Arc<Context>, command: &str) -> Report {
    let project = context.project.clone();
    let mut sessions = Vec::new();
    let mut offline = BTreeMap::new();
    // Where all is done on the controller no host is touched, whether it can be reached or not.
    let central = context.mode != Mode::Gather
        && context.queries.is_empty()
        && !project.steps.is_empty()
        && project.steps.iter().all(|step| step.seen_as.is_some() && !step.asks_all());
    for index in &project.selected {
        let Some(host) = project.hosts.get(*index).filter(|_| !central) else { continue };
        match &host.offline {
            Some(reason) => {
                offline.insert(host.name.clone(), reason.clone());
            }
            None => sessions.push(Session::new(context.clone(), host.clone())),
        }
    }
    if let Some(controller) = project.controller.as_ref().filter(|_| context.mode != Mode::Gather) {
        sessions.push(Session::new(context.clone(), controller.clone()));
    }
    let stages = match context.mode {
        Mode::Gather => std::iter::once(0..0).collect(),
        Mode::Plan | Mode::Apply => project.stages(),
    };
    let stages = match stages.as_slice() {
        // Without any task there may still be something to ask.
        [] if !context.queries.is_empty() => std::iter::once(0..0).collect(),
        _ => stages,
    };
    let selected: Vec<(usize, String)> =
        sessions.iter().map(|session| (session.index(), session.name().to_owned())).collect();
    let skipped = offline.len() as u64;
    started(&context, command, selected, offline, stages.len());
    let budget = Arc::new(Budget::new(context.clone(), &sessions));
    let last = stages.len().saturating_sub(1);
    let mut left_drained = 0;
    if drained_rollout::is_for(&context) {
        (sessions, left_drained) =
            Box::pin(drained_rollout::roll(&context, sessions, &stages, &budget)).await;
    } else {
        for (number, range) in stages.iter().enumerate() {
            warn_of_absent(&context, range.clone());
            let leaders = leaders(&context, &healthy(&sessions), range.clone());
            sessions = stage(&context, sessions, range.clone(), &leaders, &budget, number == last)
                .instrument(tracing::info_span!("stage", stage = number + 1))
                .await;
        }
    }
    sessions.sort_by_key(Session::index);
    if context.mode == Mode::Plan {
        drained_rollout::preview(&context, &sessions).await;
    }
    context.transport.close().await;
    let mut stats = RunStats { offline: skipped, ..RunStats::default() };
    let mut locked = false;
    for session in &sessions {
        let (status, tasks, pending) = session.result();
        stats.count(&status);
        stats.tasks.add(&tasks);
        stats.pending += pending;
        locked |= session.locked();
    }
    let stopped = context.cancel.now() > Stop::No || budget.stopped();
    Report { stats, sessions, locked, stopped, left_drained }
}

/// Says that a run starts on some hosts, by index and name.
pub fn started(
    context: &Context,
    command: &str,
    hosts: Vec<(usize, String)>,
    offline: BTreeMap<String, String>,
    stages: usize,
) {
    let project = &context.project;
    let of = |step: &Step| hosts.iter().filter(|(index, _)| step.hosts.contains(index)).count() as u64;
    context.emitter.emit(EventKind::RunStarted {
        command: command.to_owned(),
        inventory: project.path.to_string(),
        options: project.options.clone(),
        cluster: project.cluster.clone(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        offline,
        playbooks: project.playbooks.len() as u64,
        tasks: project.steps.len() as u64,
        steps: project.steps.iter().map(|step| (step.id.clone(), of(step))).collect(),
        stages: stages as u64,
        hosts: hosts.into_iter().map(|(_, name)| name).collect(),
    });
}

/// The exit code that the sums alone give; the command adds its own (drift, pending).
pub fn exit_code(stats: &RunStats, allow_unreachable: u64, locked: bool) -> Vec<u8> {
    let mut codes = Vec::new();
    if stats.failed > 0 {
        codes.push(exit::FAILED);
    }
    if stats.unreachable > allow_unreachable {
        codes.push(exit::UNREACHABLE);
    }
    if stats.not_started > 0 {
        codes.push(exit::PENDING);
    }
    if locked {
        codes.push(exit::LOCKED);
    }
    codes
}

/// One stage on all hosts: canaries first, then batches; only an apply is rolled out.
async fn stage(
    context: &Arc<Context>,
    sessions: Vec<Session>,
    range: Range<usize>,
    leaders: &Leaders,
    budget: &Arc<Budget>,
    last: bool,
) -> Vec<Session> {
    let (mut done, waiting): (Vec<_>, Vec<_>) = sessions.into_iter().partition(Session::is_over);
    for Batch { name, sessions } in budget.batches(waiting, range.clone()) {
        let more = sessions.iter().any(|session| session.has_more(range.start));
        let refused = more && budget.refusal().is_some();
        if let Some(name) = name.filter(|_| !refused) {
            let hosts = sessions.iter().map(|session| session.name().to_owned()).collect();
            context.emitter.emit(EventKind::BatchStarted { name, hosts });
        }
        done.extend(together(context, sessions, range.clone(), leaders, budget, last).await);
    }
    done.sort_by_key(Session::index);
    done
}
