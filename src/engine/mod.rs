//! Runs a project on its hosts.
//!
//! ```text
//!   run ── stages ── batches ──> Session (one per host)
//!                                  open ─> gather ─> plan ─> execute ─> handlers ─> close
//!   every step of that is said to the Emitter and bounded by a deadline
//! ```
//!
//! A host never waits for another one inside a stage. Only this module spawns tasks.

mod boot;
mod cancel;
mod change;
mod context;
mod execute;
mod fleet;
mod guard;
mod hints;
mod login;
mod pending;
mod register;
mod rollout;
mod run;
mod session;
mod spread;
mod stage;
pub mod state;
mod writers;

pub use cancel::{Cancel, Stop, Stopper, channel};
pub use context::{Consent, Context, Deadlines, Mode};
pub use fleet::SharedFacts;
pub use run::{Report, exit_code, run};
pub use session::Session;
pub use stage::Leaders;
