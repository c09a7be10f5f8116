//! The way in is never lost: a change that may cut it starts a timer on the host that puts back what
//! was there, and only a new login, become included, stops that timer.

use std::collections::BTreeSet;
use std::time::Duration;

use tokio::time::Instant;

use super::change::Done;
use super::session::{Gone, Lock, Session, human};
use super::state;
use crate::facts::Query;
use crate::resources::Undo;
use crate::transport::{Part, PartEnd, Script, TransportError};

/// How long a host waits for the confirmation of a change before it takes it back. Shorter than the
/// time that a lost host is given to come back.
const UNDO: Duration = Duration::from_mins(1);
/// How long new logins are tried: what does not work by then is taken back at once, where that can
/// still be said.
const TRIES: Duration = Duration::from_secs(30);
/// For the timer to fire and put things back.
const GRACE: Duration = Duration::from_secs(8);
/// Bytes that a new login carries each way before it proves anything: more than one packet of the
/// largest MTU. A path that drops what is too large for it lets short commands pass.
const LARGE: usize = 20_000;
/// How long that may take.
const CARRIED: Duration = Duration::from_secs(10);

impl Session {
    /// Logs in anew and goes on there.
    ///
    /// # Errors
    /// What keeps the new login from working; the old one is still there.
    pub(super) async fn log_in_anew(&mut self) -> Result<(), TransportError> {
        let fresh = self.context.transport.open(&self.host, self.context.deadlines.connect).await?;
        if let Some(mut old) = self.remote.replace(fresh) {
            old.close().await;
        }
        // The shell that held it is gone.
        self.lock = Lock::Free;
        self.stale = false;
        // What a session gets was asked in the old one.
        self.facts.forget_asked();
        Ok(())
    }

    /// Keeps on the host what a change may break, and starts the timer when it is in force at once.
    pub(super) async fn arm(&mut self, undo: &Undo) -> Result<Result<(), String>, Gone> {
        let script = state::undo_keep(undo, undo.in_force.then_some(UNDO));
        let mut losses = 0;
        loop {
            match self.guard_part(script.clone()).await {
                Ok(end) => {
                    let text = String::from_utf8_lossy(&end.output).trim().to_owned();
                    return Ok(match text.as_str() {
                        "kept" | "armed" => Ok(()),
                        other => Err(format!("not changed, it could not be taken back later: {other}")),
                    });
                }
                Err(TransportError::Lost { message }) if losses < 3 => {
                    losses += 1;
                    self.reconnect(&message).await?;
                }
                Err(error) => {
                    return Ok(Err(format!("not changed, it could not be taken back later: {error}")));
                }
            }
        }
    }

    /// Confirms a change over a new login, or sees to it that it is taken back. `again` is asked when
    /// it was.
    pub(super) async fn confirm(
        &mut self,
        undo: &Undo,
        done: Done,
        armed: Instant,
        again: &BTreeSet<Query>,
    ) -> Result<Done, Gone> {
        let (what, output) = match done {
            Err(failed) => failed,
            Ok(output) => match self.log_in_until(armed + TRIES.min(UNDO)).await {
                Ok(()) => return self.confirmed(undo, output, again).await,
                Err(reason) => (format!("no new login was possible after the change: {reason}"), output),
            },
        };
        let how = self.take_back(undo, armed).await?;
        self.ask(again).await?;
        Ok(Err((format!("{what}; {how}"), output)))
    }

    /// Confirms a change over the login that proves it.
    async fn confirmed(
        &mut self,
        undo: &Undo,
        output: String,
        again: &BTreeSet<Query>,
    ) -> Result<Done, Gone> {
        let answer = match self.guard_part(state::undo_end("confirm", undo.name)).await {
            Ok(end) => String::from_utf8_lossy(&end.output).trim().to_owned(),
            Err(error) => error.to_string(),
        };
        if answer == "confirmed" {
            return Ok(Ok(output));
        }
        self.ask(again).await?;
        let after = human(UNDO);
        let reason = if answer.starts_with("undone") {
            format!("it cut the way in: the host took it back by itself after {after}")
        } else {
            format!("it could not be confirmed, the host takes it back after {after}: {answer}")
        };
        Ok(Err((reason, output)))
    }

    /// Takes a change back through what is still open, else waits until the host has done it.
    async fn take_back(&mut self, undo: &Undo, armed: Instant) -> Result<&'static str, Gone> {
        let part = self.guard_part(state::undo_end("undo", undo.name)).await;
        let by_host = "the host took it back by itself";
        let error = match part {
            Ok(_) if self.log_in_anew().await.is_ok() => return Ok("it was taken back"),
            Ok(_) => "no new login".to_owned(),
            Err(error) => error.to_string(),
        };
        tokio::time::sleep_until(armed + UNDO + GRACE).await;
        self.reconnect(&error).await?;
        Ok(by_host)
    }

    /// Sends and reads back large packets.
    async fn carries(&mut self) -> Result<(), TransportError> {
        let text = "x".repeat(LARGE);
        let script = Script::new("printf '%s' \"$1\"\n").arg(text.clone());
        let part = Part { name: "carry".to_owned(), script, deadline: CARRIED, limit: 2 * LARGE };
        let end = self.run_part(part, String::new()).await?;
        if end.output == text.as_bytes() {
            return Ok(());
        }
        Err(TransportError::Lost { message: "large packets do not pass whole".to_owned() })
    }

    /// Tries new logins until one works.
    async fn log_in_until(&mut self, end: Instant) -> Result<(), String> {
        let mut pause = Duration::from_millis(500);
        loop {
            let tried = match self.log_in_anew().await {
                Ok(()) => self.carries().await,
                Err(error) => Err(error),
            };
            match tried {
                Ok(()) => return Ok(()),
                Err(error) if Instant::now() + pause >= end => return Err(error.to_string()),
                Err(_) => {
                    tokio::time::sleep(pause).await;
                    pause = (pause * 2).min(Duration::from_secs(5));
                }
            }
        }
    }

    /// What earlier runs left: a change that this login proves is confirmed, one that the host took
    /// back is told once.
    pub(super) async fn settle_guards(&mut self) {
        let armed = std::mem::take(&mut self.state.armed);
        let undone = std::mem::take(&mut self.state.undone);
        for name in armed {
            if let Err(error) = self.guard_part(state::undo_end("confirm", &name)).await {
                self.warn(format!("an earlier change of {name} could not be confirmed: {error}"));
            }
        }
        for name in undone {
            self.warn(format!(
                "the host took back an earlier change of {name} by itself: no new login had confirmed it"
            ));
            if let Err(error) = self.guard_part(state::undo_end("forget", &name)).await {
                tracing::debug!(host = %self.host.name, %error, "forget");
            }
        }
    }

    async fn guard_part(&mut self, script: Script) -> Result<PartEnd, TransportError> {
        let part = Part {
            name: "guard".to_owned(),
            script,
            deadline: self.context.deadlines.query,
            limit: 64 << 10,
        };
        self.run_part(part, state::FUNCTIONS.to_owned()).await
    }
}
