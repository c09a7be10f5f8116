//! A run from a loaded project to its end.
//!
//! ```text
//!   exec      a command on all hosts, beside runs
//!   run       lock, journal, display and outages of one run
//!   signals   what stops it
//!   secrets   values of secrets, and passwords
//!   hosts     ways to hosts, also beside a run
//! ```

mod exec;
mod hosts;
mod run;
mod secrets;
mod signals;

pub use exec::{Exec, Executed, TakeOutput, exec};
pub use hosts::{controller, look, open_transport, ways};
pub use run::{Finished, Launch, run};
pub use secrets::{ask_password, secrets};
pub use signals::Signals;
