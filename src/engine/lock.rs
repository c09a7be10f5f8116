//! The host's kernel lock: nobody else changes the host while this run does.

use std::collections::BTreeSet;
use std::time::Duration;

use super::connection::{Connection, Gone};
use super::context::Context;
use super::known::Known;
use super::state::{self, LockOwner};
use crate::facts::{self, BatchPart, Query};
use crate::project::{Instance, InstanceState};
use crate::resources::Change;
use crate::transport::{Frame, Part, TransportError};

/// The lock, as this session holds it.
#[derive(Debug, Default)]
pub(super) struct Lock {
    held: Option<Held>,
    refused: bool,
}

#[derive(Debug)]
struct Held {
    /// The shell that holds it: without that it is free.
    shell: u64,
    /// Directory below which large files go.
    uploads: String,
}

impl Lock {
    /// Where large files go while it is held.
    pub(super) fn uploads(&self, connection: &Connection) -> Option<&str> {
        let held = self.held.as_ref().filter(|held| held.shell == connection.shell())?;
        Some(&held.uploads)
    }

    /// Whether another run held it.
    pub(super) fn was_refused(&self) -> bool {
        self.refused
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
    ) -> Result<Result<(), String>, Gone> {
        if self.uploads(connection).is_some() {
            return Ok(Ok(()));
        }
        let context = connection.context().clone();
        let mut taken_over = false;
        // Runs of other clusters write on the same controller; each is short.
        let mut patience = if connection.host().index >= context.project.hosts.len() { 60 } else { 0 };
        loop {
            let batch = facts::batch(own, context.deadlines.query);
            let frame = frame(&context, connection.short("lock", state::report_lock()), &batch);
            let (result, ends) = connection.run_frame(&frame).await;
            let (report, _) = known.take_behind(&batch, &ends);
            let report =
                report.map_or_else(String::new, |end| String::from_utf8_lossy(&end.output).into_owned());
            match result {
                Ok(()) => {}
                Err(TransportError::Lost { message }) => {
                    connection.reconnect(&message).await?;
                    continue;
                }
                Err(error) => {
                    return Err(Gone::quarantined(format!("its lock could not be taken: {error}")));
                }
            }
            let mut lines = report.lines();
            let state = lines.next().unwrap_or("").to_owned();
            let uploads = format!("{}/upload", lines.next().unwrap_or("/run/provision"));
            let why = lines.next().filter(|why| !why.is_empty());
            let why = why.unwrap_or("there is no `flock` on this host").to_owned();
            match state.as_str() {
                "held" | "shared" => self.held = Some(Held { shell: connection.shell(), uploads }),
                "none" => {
                    connection.warn(format!("{why}: nothing stops two runs from changing it at once"));
                    self.held = Some(Held { shell: connection.shell(), uploads });
                }
                other => {
                    if patience > 0 && other.starts_with("busy") {
                        patience -= 1;
                        tokio::time::sleep(Duration::from_secs(1)).await;
                        continue;
                    }
                    let owner = other.strip_prefix("busy ").and_then(LockOwner::parse);
                    match owner {
                        Some(owner)
                            if !taken_over
                                && owner.controller == context.controller
                                && !(context.alive)(&owner.run) =>
                        {
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
                            return Ok(Err(text(other)));
                        }
                    }
                }
            }
            if let InstanceState::Ready { resource, .. } = &instance.state
                && resource.plan(known.facts()).is_ok_and(|now| now != planned)
            {
                return Ok(Err(
                    "the host changed between plan and apply: something else is changing it; run apply again"
                        .to_owned(),
                ));
            }
            return Ok(Ok(()));
        }
    }
}

/// A frame that runs under the lock, which its first one takes: a part, and questions behind it.
pub(super) fn frame(context: &Context, first: Part, batch: &[BatchPart]) -> Frame {
    let prelude =
        format!("{}\nprovision_lock {} {}\n", state::FUNCTIONS, context.emitter.run(), context.controller);
    let mut parts = vec![first];
    parts.extend(batch.iter().map(|part| part.part.clone()));
    Frame { prelude, parts, secrets: context.secrets.clone() }
}

/// What stands in the way of the lock, for people.
pub(super) fn text(state: &str) -> String {
    if let Some(reason) = state.strip_prefix("unwritable ") {
        return format!("cannot write the state directory {reason}");
    }
    match state.strip_prefix("busy ").and_then(LockOwner::parse) {
        Some(owner) => {
            format!("another run works on this host: run {} of controller {}", owner.run, owner.controller)
        }
        None if state.starts_with("busy") => "another run works on this host".to_owned(),
        None => format!("its lock could not be taken: {state}"),
    }
}
