//! The contract between the engine and everything that tells of it.
//!
//! ```text
//!   engine ── Emitter ──> journal (written before `emit` returns)
//!                    └──> channel ──> terminal, JSON, JUnit, HTML
//! ```
//!
//! Guarantees: `seq` counts up without gaps; for every `TaskStarted` there is exactly one
//! `TaskFinished` of the same host and task; every host of `RunStarted` has exactly one
//! `HostFinished`; `RunFinished` is last. Events are plain data and can be read back.

mod check;
mod emitter;
mod kind;
mod values;

pub use check::{
    Acknowledged, CheckCounts, CheckResult, CheckStatus, Difference, Evidence, PairTest, SeenThrough,
};
pub use emitter::{Emitter, Sink, day, now, today};
pub use kind::{Event, EventKind, HostRecord, Outage, Record, TaskRecord};
pub use values::{
    Attempt, ChangeView, CommandEnd, Failure, HostStatus, MaintenancePhase, Outcome, PlannedTask,
    PlannedVerdict, RunStats, TaskCounts, TaskRef,
};
