//! The way in is never lost: a change that may cut it starts a timer on the host that puts back what
//! was there, and only a new login, become included, stops that timer.

use std::collections::BTreeSet;
use std::time::Duration;

use tokio::time::Instant;

use super::connection::{Connection, Gone, LOSSES, Stuck};
use super::hints::human;
use super::known::Known;
use super::{lock, state};
use crate::backoff::Backoff;
use crate::facts::Query;
use crate::resources::Undo;
use crate::transport::{Part, Script, TransportError};

/// Time that a host waits for the confirmation of a change before it takes it back. Shorter than the time
/// that a lost host is given to come back.
const UNDO: Duration = Duration::from_mins(1);
/// Time for which new logins are tried: what does not work by then is taken back at once, where that can
/// still be said.
const TRIES: Duration = Duration::from_secs(30);
/// For the timer to fire and put things back.
const GRACE: Duration = Duration::from_secs(8);
/// Bytes that a new login carries each way before it proves anything: more than one packet of the
/// largest MTU. A path that drops what is too large for it lets short commands pass.
const LARGE: usize = 20_000;
/// Deadline for carrying them.
const CARRIED: Duration = Duration::from_secs(10);

/// Result of a change: its output, or what is wrong and its output.
pub(super) type Done = Result<String, (String, String)>;

/// A change that may cut the way in; the host keeps what it replaces.
#[derive(Debug)]
pub(super) struct RollbackTimer<'a> {
    undo: &'a Undo,
    armed: Instant,
}

impl<'a> RollbackTimer<'a> {
    /// Keeps on the host what a change may break, and starts the timer when it is in force at once.
    pub(super) async fn arm(connection: &mut Connection, undo: &'a Undo) -> Result<Self, Stuck> {
        let script = state::undo_keep(undo, undo.in_force.then_some(UNDO));
        let mut losses = 0;
        loop {
            match run(connection, script.clone()).await {
                Ok(said) if matches!(said.as_str(), "kept" | "armed") => {
                    return Ok(Self { undo, armed: Instant::now() });
                }
                Ok(other) => {
                    return Err(Stuck::Failed(format!(
                        "not changed, because the host could not take the change back later: {other}"
                    )));
                }
                Err(Stuck::Failed(reason)) => return Err(Stuck::Failed(reason)),
                Err(Stuck::Gone(TransportError::Lost { message })) if losses < LOSSES => {
                    losses += 1;
                    connection.reconnect(&message).await?;
                }
                Err(Stuck::Gone(error)) => {
                    return Err(Stuck::Failed(format!(
                        "not changed, because the host could not take the change back later: {error}"
                    )));
                }
            }
        }
    }

    /// Confirms a change over a new login, or sees to it that it is taken back. `again` is asked when
    /// it was.
    pub(super) async fn confirm(
        self,
        connection: &mut Connection,
        known: &mut Known,
        done: Done,
        again: &BTreeSet<Query>,
    ) -> Result<Done, Gone> {
        let (what, output) = match done {
            Err(failed) => failed,
            Ok(output) => match log_in_until(connection, known, self.armed + TRIES.min(UNDO)).await {
                Ok(()) => return self.confirmed(connection, known, output, again).await,
                Err(stuck) => {
                    let reason = stuck.reason()?;
                    (format!("no new login was possible after the change: {reason}"), output)
                }
            },
        };
        let how = self.take_back(connection, known).await?;
        known.ask(connection, again).await?;
        Ok(Err((format!("{what}; {how}"), output)))
    }

    /// Confirms a change over the login that proves it.
    async fn confirmed(
        self,
        connection: &mut Connection,
        known: &mut Known,
        output: String,
        again: &BTreeSet<Query>,
    ) -> Result<Done, Gone> {
        let answer = match run(connection, state::undo_end("confirm", self.undo.name)).await {
            Ok(answer) | Err(Stuck::Failed(answer)) => answer,
            Err(Stuck::Gone(error)) => error.to_string(),
        };
        if answer == "confirmed" {
            return Ok(Ok(output));
        }
        known.ask(connection, again).await?;
        let after = human(UNDO);
        let reason = if answer.starts_with("undone") {
            format!("the change cut off all logins: the host took it back by itself after {after}")
        } else {
            format!("the change could not be confirmed, so the host takes it back after {after}: {answer}")
        };
        Ok(Err((reason, output)))
    }

    /// Takes a change back through what is still open, else waits until the host has done it.
    async fn take_back(self, connection: &mut Connection, known: &mut Known) -> Result<String, Gone> {
        let said = run(connection, state::undo_end("undo", self.undo.name)).await;
        let error = match said {
            Err(Stuck::Failed(reason)) => {
                return Ok(format!("it is not known whether it was taken back: {reason}"));
            }
            Ok(said) if !said.starts_with("undone") => {
                return Ok(format!("it was not taken back: {said}"));
            }
            Ok(_) => {
                // Else the next login takes it for something that the host did by itself.
                let forgotten = run(connection, state::undo_end("forget", self.undo.name)).await;
                tracing::debug!(host = %connection.host().name, ?forgotten, "taken back");
                let Err(stuck) = log_in_anew(connection, known).await else {
                    return Ok("it was taken back".to_owned());
                };
                stuck.reason()?;
                "no new login".to_owned()
            }
            Err(Stuck::Gone(error)) => error.to_string(),
        };
        tokio::time::sleep_until(self.armed + UNDO + GRACE).await;
        connection.reconnect(&error).await?;
        Ok("the host took it back by itself".to_owned())
    }
}

/// Logs in anew and goes on there, with what only a session of its own sees not asked yet.
pub(super) async fn log_in_anew(
    connection: &mut Connection,
    known: &mut Known,
) -> Result<(), Stuck<TransportError>> {
    connection.log_in_anew().await?;
    known.forget_session();
    Ok(())
}

/// Settles changes that earlier runs left: one that this login proves is confirmed, one that the host took
/// back is told once.
pub(super) async fn settle(connection: &mut Connection, armed: &[String], undone: &[String]) {
    for name in armed {
        let said = run(connection, state::undo_end("confirm", name)).await;
        let reason = match said {
            Ok(said) if !said.starts_with("failed") => continue,
            Ok(reason) | Err(Stuck::Failed(reason)) => reason,
            Err(Stuck::Gone(error)) => error.to_string(),
        };
        connection.warn(format!("an earlier change of {name} could not be confirmed: {reason}"));
    }
    for name in undone {
        connection.warn(format!(
            "the host took back an earlier change of {name} by itself: no new login had confirmed it"
        ));
        if let Err(error) = run(connection, state::undo_end("forget", name)).await {
            tracing::debug!(host = %connection.host().name, ?error, "forget");
        }
    }
}

/// Tries new logins until one works; else why none did.
async fn log_in_until(connection: &mut Connection, known: &mut Known, end: Instant) -> Result<(), Stuck> {
    let mut backoff = Backoff::new(Duration::from_millis(500), Duration::from_secs(5));
    loop {
        let mut pause = backoff.pause();
        let tried = match log_in_anew(connection, known).await {
            Ok(()) => carries(connection).await,
            Err(stuck) => Err(stuck.reason()?),
        };
        if let Err(error) = &tried {
            pause = pause.max(error.spacing());
        }
        match tried {
            Ok(()) => return Ok(()),
            Err(error) if Instant::now() + pause >= end => return Err(Stuck::Failed(error.to_string())),
            Err(_) => {
                tokio::time::sleep(pause).await;
            }
        }
    }
}

/// Sends and reads back large packets.
async fn carries(connection: &mut Connection) -> Result<(), TransportError> {
    let text = "x".repeat(LARGE);
    let script = Script::new("printf '%s' \"$1\"\n").arg(text.clone());
    let part = Part { name: "carry".to_owned(), script, deadline: CARRIED, limit: 2 * LARGE };
    let end = connection.run_part(part, String::new()).await?;
    if end.output == text.as_bytes() {
        return Ok(());
    }
    Err(TransportError::Lost { message: "large packets do not get through".to_owned() })
}

/// Runs a script under the lock; what it says, or what is in the way of the lock.
async fn run(connection: &mut Connection, script: Script) -> Result<String, Stuck<String, TransportError>> {
    let part = Part { limit: 64 << 10, ..connection.short("guard", script) };
    let end = lock::run_fenced(connection, part).await?;
    Ok(String::from_utf8_lossy(&end.output).trim().to_owned())
}
