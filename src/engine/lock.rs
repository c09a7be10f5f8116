//! The host's kernel lock: nobody else changes the host while this run does.

use std::collections::BTreeSet;
use std::time::Duration;

use super::connection::{Connection, Gone, LOSSES, Stuck};
use super::context::Context;
use super::known::Known;
use super::state::{self, LockOwner};
use crate::events::HostStatus;
use crate::facts::{self, BatchPart, Query};
use crate::project::{Instance, InstanceState};
use crate::resources::{Change, Unplannable};
use crate::transport::{Frame, Part, PartEnd, TransportError};

/// The lock, as this session holds it.
#[derive(Debug, Default)]
pub(super) struct Lock {
    held: Option<LockHold>,
    refused: bool,
    /// Tools that the host lacks and every change needs.
    lacking: Option<String>,
}

#[derive(Debug)]
struct LockHold {
    /// The shell that holds it: without that it is free.
    shell: u64,
    /// Directory below which large files go.
    uploads: String,
}

impl Lock {
    /// Returns the directory for large files while the lock is held.
    pub(super) fn uploads(&self, connection: &Connection) -> Option<&str> {
        let held = self.held.as_ref().filter(|held| held.shell == connection.shell())?;
        Some(&held.uploads)
    }

    /// Whether another run held it.
    pub(super) fn was_refused(&self) -> bool {
        self.refused
    }

    /// Refuses a host where another run is at work, before anything of that one is followed. A run of this controller
    /// that is dead is no other: its tasks are followed, and its lock is taken over.
    pub(super) fn refuse(&mut self, connection: &Connection, holder: Option<LockOwner>) -> Result<(), Gone> {
        let context = connection.context();
        // Runs of other clusters write on the same controller; each is short.
        let Some(owner) = holder.filter(|_| connection.host().index < context.project.hosts.len()) else {
            return Ok(());
        };
        if owner.run == context.emitter.run() || is_dead(context, &owner) {
            return Ok(());
        }
        self.refused = true;
        Err(Gone(HostStatus::NotStarted(busy(&owner))))
    }

    /// The host lacks tools that every change needs, so there is no lock for one.
    pub(super) fn lacks(&mut self, tools: String) {
        self.lacking = Some(tools);
    }

    /// Takes the host's lock before the first change, asks again what that change was planned on
    /// and refuses when it moved.
    pub(super) async fn take(
        &mut self,
        connection: &mut Connection,
        known: &mut Known,
        instance: &Instance,
        own: &BTreeSet<Query>,
        planned: &[Change],
    ) -> Result<(), Stuck> {
        if self.uploads(connection).is_some() {
            return Ok(());
        }
        self.take_and_ask(connection, known, own).await?;
        let changed = match &instance.state {
            InstanceState::Ready { resource, .. } => match resource.plan(known.facts()) {
                Ok(now) | Err(Unplannable::Partly(now, _)) => now != planned,
                Err(_) => false,
            },
            InstanceState::Skipped(_) | InstanceState::Waiting(_) | InstanceState::Failed(_) => false,
        };
        if changed {
            return Err(Stuck::Failed(
                "the host changed between plan and apply: something else is changing it; run apply again"
                    .to_owned(),
            ));
        }
        Ok(())
    }

    /// Takes the host's lock, where this session does not have it, and asks; what is in its way, if so.
    pub(super) async fn take_and_ask(
        &mut self,
        connection: &mut Connection,
        known: &mut Known,
        own: &BTreeSet<Query>,
    ) -> Result<(), Stuck> {
        if let Some(tools) = &self.lacking {
            return Err(Stuck::Failed(format!(
                "it lacks {tools}, and no change is safe without: install what is missing"
            )));
        }
        if self.uploads(connection).is_some() {
            return Ok(());
        }
        let context = connection.context().clone();
        let mut taken_over = false;
        let mut losses = 0;
        // Runs of other clusters write on the same controller; each is short.
        let mut patience = if connection.host().index >= context.project.hosts.len() { 60 } else { 0 };
        let mut batch = facts::batch(own, context.deadlines.query);
        loop {
            let (result, report) = ask(connection, known, &batch).await;
            match result {
                Ok(()) => {}
                Err(TransportError::PartTimedOut { index, .. }) if index > 0 => {
                    go_on_without(connection, known, &mut batch, index, &report).await?;
                    continue;
                }
                Err(TransportError::Lost { message }) if losses < LOSSES => {
                    losses += 1;
                    connection.reconnect(&message).await?;
                    continue;
                }
                Err(error) => {
                    return Err(Gone::quarantined(format!("its lock could not be taken: {error}")).into());
                }
            }
            let mut lines = report.lines();
            let state = lines.next().unwrap_or("").to_owned();
            let uploads = format!("{}/upload", lines.next().unwrap_or("/run/provision"));
            let why = lines.next().filter(|why| !why.is_empty());
            let why = why.unwrap_or("there is no `flock` on this host").to_owned();
            match state.as_str() {
                "held" | "shared" => self.held = Some(LockHold { shell: connection.shell(), uploads }),
                "none" => {
                    connection.warn(format!("{why}: nothing stops two runs from changing it at once"));
                    self.held = Some(LockHold { shell: connection.shell(), uploads });
                }
                other if other.starts_with("lost") => return Err(Stuck::Failed(text(other))),
                other => {
                    if patience > 0 && other.starts_with("busy") {
                        patience -= 1;
                        tokio::time::sleep(Duration::from_secs(1)).await;
                        continue;
                    }
                    let owner = other.strip_prefix("busy ").and_then(LockOwner::parse);
                    match owner {
                        Some(owner) if !taken_over && is_dead(&context, &owner) => {
                            taken_over = true;
                            connection.warn(format!(
                                "its lock was still held by run {}, whose controller is dead; taken over",
                                owner.run
                            ));
                            if let Err(error) =
                                connection.run_short("take-over", state::take_over(&owner)).await
                            {
                                tracing::debug!(host = %connection.host().name, %error, "take over");
                            }
                            continue;
                        }
                        _ => {
                            self.refused = other.starts_with("busy");
                            return Err(Stuck::Failed(text(other)));
                        }
                    }
                }
            }
            connection.has_lock();
            return Ok(());
        }
    }
}

/// Takes the lock again after a lost connection, before anything else is asked: that ends the shell of the lost
/// one, where a frame may still be under way. Then asks these; what is in the way of the lock, if it is.
pub(super) async fn take_again(
    connection: &mut Connection,
    known: &mut Known,
    queries: &BTreeSet<Query>,
) -> Result<Option<String>, Gone> {
    let mut batch = facts::batch(queries, connection.context().deadlines.query);
    let mut losses = 0;
    loop {
        let (result, report) = ask(connection, known, &batch).await;
        match result {
            Ok(()) => {
                let state = report.lines().next().unwrap_or_default();
                return Ok((!is_held(state)).then(|| state.to_owned()));
            }
            Err(TransportError::PartTimedOut { index, .. }) if index > 0 => {
                go_on_without(connection, known, &mut batch, index, &report).await?;
            }
            Err(TransportError::Lost { message }) if losses < LOSSES => {
                losses += 1;
                connection.reconnect(&message).await?;
            }
            Err(error) => {
                return Err(Gone::quarantined(format!("its lock could not be taken again: {error}")));
            }
        }
    }
}

/// Whether the first line of a report says that this shell works under the lock, or that there is none.
fn is_held(state: &str) -> bool {
    matches!(state, "held" | "shared" | "none")
}

/// One of the questions behind the lock hangs: its answer is unknown, which its task tells. The others are asked by
/// another shell, which takes the lock from the one that waits for the answer.
async fn go_on_without(
    connection: &mut Connection,
    known: &mut Known,
    batch: &mut Vec<BatchPart>,
    index: usize,
    report: &str,
) -> Result<(), Gone> {
    if report.lines().next().is_some_and(is_held) {
        connection.has_lock();
    }
    let mut done = batch.drain(..batch.len().min(index));
    let reason = done.next_back().map(|hung| known.hangs(connection, &hung)).unwrap_or_default();
    drop(done);
    connection.revive_once(&reason).await
}

/// Takes the lock, asks, and gives what was said of the lock.
async fn ask(
    connection: &mut Connection,
    known: &mut Known,
    batch: &[BatchPart],
) -> (Result<(), TransportError>, String) {
    let frame = frame(connection, connection.short("lock", state::report_lock()), batch);
    let (result, ends) = connection.run_frame(&frame).await;
    known.take_after(1, batch, &ends);
    let report = ends.iter().find(|end| end.index == 0);
    (result, report.map_or_else(String::new, |end| String::from_utf8_lossy(&end.output).into_owned()))
}

/// A frame that runs under the lock, which its first one takes: a part, and questions behind it.
pub(super) fn frame(connection: &Connection, first: Part, batch: &[BatchPart]) -> Frame {
    // What a batch left open is no pipe of what starts now.
    frame_of(connection, "exec 8>&-", vec![first], batch)
}

/// The same with several parts before the questions; `before` runs first and is constant text.
pub(super) fn frame_of(
    connection: &Connection,
    before: &'static str,
    mut parts: Vec<Part>,
    batch: &[BatchPart],
) -> Frame {
    let context = connection.context();
    let prelude = format!(
        "{}\n{before}\nprovision_lock {} {} {} {}{}\n",
        state::FUNCTIONS,
        context.emitter.run(),
        context.controller,
        connection.host().index,
        connection.shell(),
        if connection.had_lock() { " again" } else { "" },
    );
    parts.extend(batch.iter().map(|part| part.part.clone()));
    Frame { prelude, parts, secrets: context.secrets.clone(), ..Frame::default() }
}

/// Runs one part under the lock, and only there: one that is stuck on a lost connection does nothing once a newer
/// shell, or another run, has the lock. Gives what is in the way of the lock, if it is.
pub(super) async fn run_fenced(
    connection: &mut Connection,
    part: Part,
) -> Result<PartEnd, Stuck<String, TransportError>> {
    let part = Part { script: state::fenced(part.script), ..part };
    let (result, ends) = connection.run_frame(&frame(connection, part, &[])).await;
    result.map_err(Stuck::Gone)?;
    let end = ends.into_iter().next().ok_or_else(|| {
        let message = "a part of the script did not report its end".to_owned();
        Stuck::Gone(TransportError::Protocol { message })
    })?;
    match String::from_utf8_lossy(&end.output).strip_prefix("refused ") {
        Some(state) => Err(Stuck::Failed(text(state.trim_end()))),
        None => Ok(end),
    }
}

/// Whether it is a run of this controller whose process is gone.
fn is_dead(context: &Context, owner: &LockOwner) -> bool {
    owner.controller == context.controller && !(context.alive)(&owner.run)
}

/// Another run has the lock, for people.
fn busy(owner: &LockOwner) -> String {
    let LockOwner { run, controller, since, .. } = owner;
    let since = if since.is_empty() { String::new() } else { format!(", since {since}") };
    format!(
        "another run works on this host: run {run} of controller {controller}{since}; if that one is cut off, `provision unlock` takes its lock"
    )
}

/// Describes what stands in the way of the lock, for people.
pub(super) fn text(state: &str) -> String {
    if let Some(reason) = state.strip_prefix("unwritable ") {
        return format!("cannot write the state directory {reason}");
    }
    if let Some(owner) = state.strip_prefix("lost") {
        return match LockOwner::parse(owner) {
            Some(owner) if owner.is_unlock() => format!(
                "`provision unlock` of controller {} took its lock while it was out of reach: run apply again",
                owner.controller
            ),
            Some(owner) => format!(
                "while it was out of reach, run {} of controller {} worked on this host: run apply again",
                owner.run, owner.controller
            ),
            None => "while it was out of reach, its state directory went away, and with it what became of the task: run apply again".to_owned(),
        };
    }
    if state.starts_with("late") {
        return "a newer connection of this run works on this host".to_owned();
    }
    match state.strip_prefix("busy ").and_then(LockOwner::parse) {
        Some(owner) if owner.is_unlock() => {
            "a task of a run whose lock was taken away still runs on this host; the next run follows it"
                .to_owned()
        }
        Some(owner) => busy(&owner),
        None if state.starts_with("busy") => "another run works on this host".to_owned(),
        None => format!("its lock could not be taken: {state}"),
    }
}
