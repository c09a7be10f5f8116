//! The time and the memory that a project may take before anything is done with it.
//!
//! A small file can ask for any amount of both: loops in loops, texts that double. The engine of templates cannot
//! be stopped, so the work is done in a thread of its own, which is left behind when it has had its share. Time is
//! that of processors: how busy the machine is does not matter.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

use crate::config::{Diagnostic, Span};

/// Programs that are not optimised are slower.
const PACE: u64 = if cfg!(debug_assertions) { 4 } else { 1 };
/// Time for a project of few hosts, in microseconds. The largest playbooks of ours take a tenth of it.
const TIME: u64 = if cfg!(debug_assertions) { 3_500_000 } else { 1_500_000 };
/// Time to read each host: two or three times what it takes.
const TIME_OF_HOST: u64 = 100 * PACE;
/// Time for each task on each host, ten times what it takes.
const TIME_OF_TASK: u64 = 20 * PACE;
/// Memory for a project of few hosts, the program among that.
const MEMORY: u64 = 200 << 20;
/// Memory for each host, with its cards and what is expected of it.
const MEMORY_OF_HOST: u64 = 64 << 10;
/// Memory for each task on each host.
const MEMORY_OF_TASK: u64 = 512;
/// As many hosts as an inventory may well have, until its names have been read.
const HOSTS: u64 = 10_000;
/// The time between two looks; a memory of 20 MB can be filled in it.
const TICK: Duration = Duration::from_millis(5);
/// As much as the first thread of a program has.
const STACK: usize = 8 << 20;

/// The time and the memory that loading and checking one project may take.
#[derive(Debug, Clone)]
pub struct Budget(Arc<Shares>);

impl Default for Budget {
    fn default() -> Self {
        let budget = Self(Arc::new(Shares::default()));
        budget.hosts(HOSTS);
        budget
    }
}

#[derive(Debug, Default)]
struct Shares {
    /// Microseconds beside [`TIME`].
    time: AtomicU64,
    /// Microseconds of [`TIME`] that work which has ended took.
    taken: AtomicU64,
    /// Bytes for the hosts, and for their tasks.
    hosts: AtomicU64,
    tasks: AtomicU64,
    /// Tasks that are being looked at, the one that takes longest first.
    now: Mutex<BTreeMap<u64, Span>>,
    number: AtomicU64,
}

/// A task is being looked at until this is dropped.
#[derive(Debug)]
pub(super) struct Looking<'a> {
    shares: &'a Shares,
    number: u64,
}

impl Drop for Looking<'_> {
    fn drop(&mut self) {
        self.shares.now.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.number);
    }
}

impl Budget {
    /// So many hosts are read.
    pub(super) fn hosts(&self, number: u64) {
        self.0.time.store(number.saturating_mul(TIME_OF_HOST), Ordering::Relaxed);
        self.0.hosts.store(number.saturating_mul(MEMORY_OF_HOST), Ordering::Relaxed);
    }

    /// The hosts have been read, and so many tasks are filled in, each host's counted.
    pub(super) fn tasks(&self, number: usize) {
        let number = number as u64;
        self.0.time.store(number.saturating_mul(TIME_OF_TASK), Ordering::Relaxed);
        self.0.tasks.store(number.saturating_mul(MEMORY_OF_TASK), Ordering::Relaxed);
    }

    /// This thread looks at a task now.
    #[must_use]
    pub(super) fn looks_at(&self, task: Span) -> Looking<'_> {
        let number = self.0.number.fetch_add(1, Ordering::Relaxed);
        self.0.now.lock().unwrap_or_else(PoisonError::into_inner).insert(number, task);
        Looking { shares: &self.0, number }
    }

    /// Does some work as far as the budget goes.
    ///
    /// # Errors
    /// When it takes more. It is still being done then: the program should end.
    pub fn spend<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, Box<Diagnostic>> {
        let begin = processors();
        let (sender, done) = channel();
        let worker = thread::Builder::new().stack_size(STACK).spawn(move || sender.send(work()));
        let worker = worker.map_err(|error| Diagnostic::error(Span::NONE, format!("no thread: {error}")))?;
        loop {
            match done.recv_timeout(TICK) {
                Ok(result) => {
                    let more =
                        u64::try_from((processors().saturating_sub(begin)).as_micros()).unwrap_or(u64::MAX);
                    let more = more.saturating_sub(self.0.time.load(Ordering::Relaxed));
                    self.0.taken.fetch_add(more, Ordering::Relaxed);
                    return Ok(result);
                }
                // It panicked.
                Err(RecvTimeoutError::Disconnected) => match worker.join() {
                    Err(panic) => std::panic::resume_unwind(panic),
                    Ok(_) => return Err(Box::new(self.too_much("an unknown amount"))),
                },
                Err(RecvTimeoutError::Timeout) => self.look(begin)?,
            }
        }
    }

    fn look(&self, begin: Duration) -> Result<(), Box<Diagnostic>> {
        let left = TIME.saturating_sub(self.0.taken.load(Ordering::Relaxed));
        let time = Duration::from_micros(left.saturating_add(self.0.time.load(Ordering::Relaxed)));
        if processors().saturating_sub(begin) > time {
            let much = format!("{:.1} seconds of a processor", time.as_secs_f64());
            return Err(Box::new(self.too_much(&much)));
        }
        let [hosts, tasks] = [&self.0.hosts, &self.0.tasks].map(|share| share.load(Ordering::Relaxed));
        let memory = MEMORY.saturating_add(hosts).saturating_add(tasks);
        if resident().is_some_and(|bytes| bytes > memory) {
            return Err(Box::new(self.too_much(&crate::words::bytes(memory))));
        }
        Ok(())
    }

    fn too_much(&self, most: &str) -> Diagnostic {
        let now = self.0.now.lock().unwrap_or_else(PoisonError::into_inner);
        let span = now.values().next().copied().unwrap_or(Span::NONE);
        let error = Diagnostic::error(span, format!("this project takes more than {most} to look at"));
        let error = if span == Span::NONE { error } else { error.label("this task was being filled in") };
        error.help(
            "look for loops in loops, texts that are put together again and again, and variables that name each other several times",
        )
    }
}

/// The time that this program has had of all processors.
fn processors() -> Duration {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    let part = |number: i64| u64::try_from(number).unwrap_or(0);
    Duration::from_secs(part(time.tv_sec)) + Duration::from_nanos(part(time.tv_nsec))
}

/// The memory that this program has now, where the system says it.
fn resident() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    Some(line.trim().trim_end_matches("kB").trim().parse::<u64>().ok()? << 10)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Other tests of this program take their share of both meanwhile.
    #[test]
    fn work_that_does_not_end_is_left() {
        let budget = Budget::default();
        budget.hosts(1);
        assert_eq!(budget.spend(|| 7).unwrap(), 7);
        let endless = || {
            loop {
                std::hint::black_box(0);
            }
        };
        let told: Result<(), _> = budget.spend(endless);
        assert!(told.unwrap_err().message.contains("takes more than"));
    }
}
