//! The emitter, to which the engine reports each event.

use std::sync::Mutex;
use std::time::Instant;

use serde_json::Value as Json;
use tokio::sync::mpsc;

use super::kind::{Event, EventKind};
use super::values::{Failure, HostStatus, Outcome};
use crate::secrets::Secrets;

/// Returns the current time.
#[expect(clippy::disallowed_methods, reason = "the one place that reads the clock")]
pub fn now() -> jiff::Timestamp {
    jiff::Timestamp::now()
}

/// Returns the current day, in UTC.
pub fn today() -> jiff::civil::Date {
    day(now())
}

/// Returns the day of a time, in UTC.
pub fn day(time: jiff::Timestamp) -> jiff::civil::Date {
    time.to_zoned(jiff::tz::TimeZone::UTC).date()
}

/// Takes events before anything else sees them: the journal.
pub trait Sink: Send {
    /// Writes one event; returns when it is written.
    ///
    /// # Errors
    /// What cannot be written, and why. It is not asked again.
    fn write(&mut self, event: &Event) -> Result<(), String>;
}

struct Inner {
    seq: u64,
    sink: Option<Box<dyn Sink>>,
    lost: bool,
}

/// Numbers events, writes them to the journal and hands them to the reporters.
pub struct Emitter {
    run: String,
    started: Instant,
    secrets: Secrets,
    inner: Mutex<Inner>,
    channel: mpsc::UnboundedSender<Event>,
}

impl std::fmt::Debug for Emitter {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Emitter").field("run", &self.run).finish_non_exhaustive()
    }
}

impl Emitter {
    /// An emitter for a run and the end of its channel.
    pub fn new(
        run: impl Into<String>,
        sink: Option<Box<dyn Sink>>,
    ) -> (Self, mpsc::UnboundedReceiver<Event>) {
        let (channel, receiver) = mpsc::unbounded_channel();
        let inner = Mutex::new(Inner { seq: 0, sink, lost: false });
        let secrets = Secrets::default();
        (Self { run: run.into(), started: Instant::now(), secrets, inner, channel }, receiver)
    }

    /// Takes the values of secrets out of every text that it is given: whatever a host sent back,
    /// nobody behind this sees them.
    #[must_use]
    pub fn hiding(self, secrets: Secrets) -> Self {
        Self { secrets, ..self }
    }

    /// Id of the run.
    pub fn run(&self) -> &str {
        &self.run
    }

    /// Whether the journal ended before the run.
    pub fn has_lost_journal(&self) -> bool {
        self.inner.lock().unwrap_or_else(std::sync::PoisonError::into_inner).lost
    }

    /// Seconds since the run started.
    pub fn elapsed(&self) -> f64 {
        self.started.elapsed().as_secs_f64()
    }

    /// Says that something happened. When this returns it is in the journal.
    pub fn emit(&self, kind: EventKind) {
        let kind = self.hide(kind);
        trace(&kind);
        let mut inner = self.inner.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let event = self.number(&mut inner, kind);
        let written = inner.sink.as_mut().map_or(Ok(()), |sink| sink.write(&event));
        // Nobody listening is fine: the journal has it.
        let _unsent = self.channel.send(event);
        if let Err(reason) = written {
            // A journal with a hole would tell another story than the run.
            inner.sink = None;
            inner.lost = true;
            let kind = EventKind::JournalLost { reason };
            trace(&kind);
            let _unsent = self.channel.send(self.number(&mut inner, kind));
        }
    }

    fn number(&self, inner: &mut Inner, kind: EventKind) -> Event {
        let event = Event { run: self.run.clone(), seq: inner.seq, at: now(), elapsed: self.elapsed(), kind };
        inner.seq += 1;
        event
    }

    fn hide(&self, kind: EventKind) -> EventKind {
        if self.secrets.is_empty() {
            return kind;
        }
        let Ok(mut json) = serde_json::to_value(&kind) else { return kind };
        if !redact(&mut json, &self.secrets) {
            return kind;
        }
        serde_json::from_value(json).unwrap_or_else(|_| EventKind::Warning {
            host: None,
            message: "an event is left out: it could not be written without the secret in it".to_owned(),
        })
    }
}

/// Says in the log what leads to the cause of a failure; the rest is in the journal.
fn trace(kind: &EventKind) {
    const TARGET: &str = "provision::events";
    if let EventKind::TaskFinished { host, task, outcome: Outcome::Failed(failure), .. } = kind {
        let Failure { message, output, .. } = failure;
        tracing::debug!(target: TARGET, %host, task = task.id, "failed: {message}\n{output}");
    } else if let EventKind::HostFinished { host, status, .. } = kind {
        let reason = match status {
            HostStatus::Unreachable { reason, .. }
            | HostStatus::Quarantined { reason }
            | HostStatus::NotStarted(reason)
            | HostStatus::Offline(reason) => reason,
            HostStatus::Ok | HostStatus::Failed => "",
        };
        tracing::debug!(target: TARGET, %host, "{} {reason}", status.word());
    } else if let EventKind::HostLost { host, reason, .. } = kind {
        tracing::debug!(target: TARGET, %host, "lost: {reason}");
    } else if let EventKind::HostRebooted { host, before, after } = kind {
        tracing::debug!(target: TARGET, %host, "rebooted during the run: boot {before} -> {after}");
    } else if let EventKind::Warning { host, message } = kind {
        tracing::debug!(target: TARGET, host, "warning: {message}");
    } else if let EventKind::Stopping { reason } = kind {
        tracing::debug!(target: TARGET, "stopping: {reason}");
    } else if let EventKind::JournalLost { reason } = kind {
        tracing::debug!(target: TARGET, "{reason}");
    }
}

/// Redacts every text that is no name; whether there was anything.
fn redact(json: &mut Json, secrets: &Secrets) -> bool {
    let mut any = false;
    match json {
        Json::String(text) => {
            let redacted = secrets.redact(text);
            any = redacted != *text;
            *text = redacted;
        }
        Json::Array(list) => {
            for entry in list {
                any |= redact(entry, secrets);
            }
        }
        Json::Object(map) => {
            for (key, entry) in map {
                if !matches!(key.as_str(), "host" | "hosts" | "id" | "resource") {
                    any |= redact(entry, secrets);
                }
            }
        }
        Json::Null | Json::Bool(_) | Json::Number(_) => {}
    }
    any
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    /// Has room for some events.
    struct Room(usize);

    impl Sink for Room {
        fn write(&mut self, _: &Event) -> Result<(), String> {
            self.0 = self.0.checked_sub(1).ok_or("no room")?;
            Ok(())
        }
    }

    #[test]
    fn a_journal_that_is_lost_is_told_once_and_every_event_is_heard() {
        let (emitter, mut events) = Emitter::new("r", Some(Box::new(Room(1))));
        for reason in ["one", "two", "three"] {
            emitter.emit(EventKind::Stopping { reason: reason.to_owned() });
        }
        let said = |reason: &str| format!("{:?}", EventKind::Stopping { reason: reason.to_owned() });
        let mut heard = Vec::new();
        while let Ok(event) = events.try_recv() {
            assert_eq!(event.seq, heard.len() as u64);
            heard.push(if let EventKind::JournalLost { reason } = event.kind {
                format!("lost: {reason}")
            } else {
                format!("{:?}", event.kind)
            });
        }
        assert_eq!(heard, [said("one"), said("two"), "lost: no room".to_owned(), said("three")]);
    }

    #[test]
    fn no_event_holds_a_secret() {
        let secrets = Secrets::new(BTreeMap::from([("token".to_owned(), "gpu0-secret".to_owned().into())]));
        let (emitter, mut events) = Emitter::new("r", None);
        let emitter = emitter.hiding(secrets);
        let warning =
            |message: &str| EventKind::Warning { host: Some("gpu0".to_owned()), message: message.to_owned() };
        emitter.emit(warning("it said gpu0-secret"));
        emitter.emit(warning("nothing"));
        let mut texts = Vec::new();
        while let Ok(event) = events.try_recv() {
            texts.push(serde_json::to_string(&event.kind).unwrap());
        }
        assert!(texts[0].contains("it said (secret token)") && texts[0].contains("gpu0"), "{texts:?}");
        assert!(texts[1].contains("nothing"));
    }
}
