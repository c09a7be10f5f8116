//! Where the engine says what happens.

use std::sync::Mutex;
use std::time::Instant;

use tokio::sync::mpsc;

use super::kind::{Event, EventKind};

/// Takes events before anything else sees them: the journal.
pub trait Sink: Send {
    /// Writes one event; returns when it is written.
    fn write(&mut self, event: &Event);
}

struct Inner {
    seq: u64,
    sink: Option<Box<dyn Sink>>,
}

/// Numbers events, writes them to the journal and hands them to the reporters.
pub struct Emitter {
    run: String,
    started: Instant,
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
        let inner = Mutex::new(Inner { seq: 0, sink });
        (Self { run: run.into(), started: Instant::now(), inner, channel }, receiver)
    }

    /// Id of the run.
    pub fn run(&self) -> &str {
        &self.run
    }

    /// Seconds since the run started.
    pub fn elapsed(&self) -> f64 {
        self.started.elapsed().as_secs_f64()
    }

    /// Says that something happened. When this returns it is in the journal.
    pub fn emit(&self, kind: EventKind) {
        let mut inner = self.inner.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let event = Event {
            run: self.run.clone(),
            seq: inner.seq,
            at: jiff::Timestamp::now(),
            elapsed: self.elapsed(),
            kind,
        };
        inner.seq += 1;
        if let Some(sink) = inner.sink.as_mut() {
            sink.write(&event);
        }
        // Nobody listening is fine: the journal has it.
        let _unsent = self.channel.send(event);
    }
}
