//! Some hosts at once, each on its own.

use std::ops::Range;
use std::sync::Arc;

use tokio::sync::Semaphore;
use tokio::task::{JoinError, JoinSet};
use tracing::Instrument as _;

use super::context::Context;
use super::rollout::Budget;
use super::session::Session;
use super::work::Leaders;
use crate::events::EventKind;
use crate::project::RunOnce;

/// Chooses the host for each step that only one host does: the one that the step names, else the first that
/// is well, in the order of `hosts`.
pub(super) fn leaders(context: &Context, hosts: &[usize], range: Range<usize>) -> Leaders {
    let mut leaders = Leaders::new();
    for step in context.project.steps.get(range).unwrap_or_default() {
        let leader = match step.conduct.run_once {
            None => None,
            Some(RunOnce::First) => hosts.iter().find(|host| step.hosts.contains(*host)),
            Some(RunOnce::Host(host)) => hosts.iter().find(|index| **index == host),
        };
        if let Some(leader) = leader {
            leaders.insert(step.index, *leader);
        }
    }
    leaders
}

/// Says before a stage whose facts are old or missing.
pub(super) fn warn_of_absent(context: &Context, range: Range<usize>) {
    for message in context.fleet.absent(&context.project, range) {
        context.emitter.emit(EventKind::Warning { host: None, message });
    }
}

/// Hosts that are well so far.
pub(super) fn healthy(sessions: &[Session]) -> Vec<usize> {
    sessions.iter().filter(|s| !s.is_over() && !s.has_failed()).map(Session::index).collect()
}

/// Some hosts at once, each on its own. Each is started only while the budget lasts.
#[expect(clippy::disallowed_methods, reason = "the one place that spawns tasks of hosts")]
pub(super) async fn together(
    context: &Arc<Context>,
    batch: Vec<Session>,
    range: Range<usize>,
    leaders: &Leaders,
    budget: &Arc<Budget>,
    last: bool,
) -> Vec<Session> {
    let permits = Arc::new(Semaphore::new(context.project.rollout.parallel.max(1)));
    let mut tasks = JoinSet::new();
    let mut done = Vec::new();
    for mut session in batch {
        let permit = permits.clone().acquire_owned().await;
        // A task that has ended keeps its memory until it is joined.
        while let Some(joined) = tasks.try_join_next() {
            done.extend(session_of(joined));
        }
        if !session.under_way
            && session.has_more(range.start)
            && let Some(reason) = budget.refusal()
        {
            session.not_started(&reason);
        }
        let (range, leaders, budget) = (range.clone(), leaders.clone(), budget.clone());
        let span = tracing::info_span!("host", host = session.name());
        let work = async move {
            session.stage(range, &leaders).await;
            budget.note(&session);
            if last || session.is_over() || session.has_failed() {
                session.take_rest_of_promises();
                session.finish().await;
            }
            drop(permit);
            session
        };
        tasks.spawn(work.instrument(span));
    }
    while let Some(joined) = tasks.join_next().await {
        done.extend(session_of(joined));
    }
    done
}

/// The host of a task that has ended. A panic goes on here.
fn session_of(joined: Result<Session, JoinError>) -> Option<Session> {
    match joined {
        Ok(session) => Some(session),
        Err(error) if error.is_panic() => std::panic::resume_unwind(error.into_panic()),
        Err(_) => None,
    }
}
