//! Signals: those that stop a run step by step, and those that end what is no run.

use std::io;
use std::sync::Arc;

use tokio::signal::unix::{Signal, SignalKind, signal};

use crate::engine::{Stop, Stopper};
use crate::events::{Emitter, EventKind};
use crate::exit;
use crate::report::output;

/// The signals that end what is no run.
#[derive(Debug)]
pub struct Signals {
    interrupt: Signal,
    terminate: Signal,
    /// Under `nohup` it stays ignored.
    hang_up: Option<Signal>,
}

impl Signals {
    /// From now on they end nothing by themselves.
    ///
    /// # Errors
    /// When they cannot be taken.
    pub fn new() -> io::Result<Self> {
        let hang_up = if is_hang_up_ignored() { None } else { Some(signal(SignalKind::hangup())?) };
        let (interrupt, terminate) = (signal(SignalKind::interrupt())?, signal(SignalKind::terminate())?);
        Ok(Self { interrupt, terminate, hang_up })
    }

    /// The exit code of the next one.
    pub async fn any(&mut self) -> u8 {
        tokio::select! {
            _ = self.interrupt.recv() => exit::INTERRUPTED,
            _ = self.terminate.recv() => exit::TERMINATED,
            Some(()) = async { self.hang_up.as_mut()?.recv().await } => exit::TERMINATED,
        }
    }
}

/// The exit code of the first signal.
pub(super) static SIGNALLED: std::sync::OnceLock<u8> = std::sync::OnceLock::new();

/// First signal: start nothing new. Second: end the tasks. Third: leave at once.
pub(super) async fn watch_signals(stopper: Stopper, emitter: Arc<Emitter>) -> u8 {
    let (Ok(mut interrupt), Ok(mut terminate)) =
        (signal(SignalKind::interrupt()), signal(SignalKind::terminate()))
    else {
        return std::future::pending().await;
    };
    // Under `nohup` it stays ignored.
    let mut hang_up = if is_hang_up_ignored() { None } else { signal(SignalKind::hangup()).ok() };
    let mut number = 0;
    loop {
        let (code, name) = tokio::select! {
            _ = interrupt.recv() => (exit::INTERRUPTED, "Ctrl-C"),
            _ = terminate.recv() => (exit::TERMINATED, "SIGTERM"),
            Some(()) = async { hang_up.as_mut()?.recv().await } => (exit::TERMINATED, "the terminal is gone"),
        };
        let code = *SIGNALLED.get_or_init(|| code);
        number += 1;
        match number {
            1 => {
                emitter.emit(EventKind::Stopping {
                    reason: format!(
                        "{name}: nothing new is started, and running tasks are finished; a second one ends them"
                    ),
                });
                stopper.ask(Stop::Finish);
            }
            2 => {
                emitter.emit(EventKind::Stopping {
                    reason: format!("{name}: tasks are being ended; a third one exits at once"),
                });
                stopper.ask(Stop::End);
            }
            _ => leave(code),
        }
    }
}

/// Whether whoever started this program let it ignore that its terminal goes, as `nohup` does.
fn is_hang_up_ignored() -> bool {
    // proc_pid_status(5): a mask, in which SIGHUP is the first bit.
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).is_some_and(|mask| mask & 1 == 1)
}

/// Leaves without waiting for anything: what runs on hosts goes on in their spools.
#[expect(clippy::exit, clippy::disallowed_methods, reason = "the third signal asks for exactly this")]
fn leave(code: u8) -> ! {
    output::undraw();
    output::say(
        "left at once: tasks that run on hosts go on there, and the same command again goes on from them",
    );
    std::process::exit(i32::from(code))
}
