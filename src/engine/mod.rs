//! Runs a project on its hosts.
//!
//! A host is a [`Session`]: parts with owners, put together in `session.rs`. One task from its plan to its
//! proof is read in `task.rs`. A host never waits for another one inside a stage; every wait has a deadline,
//! and everything that happens is said to the `Emitter`.
//!
//! Each file imports only what stands below it; `tests/engine_order.rs` reads this list.
//!
//! ```text
//!   run            stages and batches of all hosts, the sums
//!   live           the same on a cluster that carries jobs
//!   gate             what checks find on hosts after they were changed
//!   maintenance    hosts taken out of service, and given back
//!   scheduler_host   the host that has the scheduler's commands
//!   hosts          some hosts at once; the only file that spawns tasks
//!   rollout        who goes first, and when nobody starts any more
//!   stage          one stage of one host: asks, plans, carries out
//!   execute        its tasks one after another, then its handlers
//!   task           one task from plan to proof
//!   together       which short tasks after one are sent with it
//!   session        one host, put together from its parts
//!   standing         how it stands: counts, status, digests of its plan
//!   tasks            its tasks by what is known, and what they register
//!   boot             what asks for a reboot, and how the host comes back
//!   notified         what is notified: handlers that are due, and those the host has noted
//!   batch            what is written: short changes that are sent together
//!   spool            what is written: changes that outlive their connection
//!   guard            what is written: changes of the way in, taken back unless a new login works
//!   upload           what is sent: large files, gone on with after a loss
//!   lock             what is locked: the kernel lock, as one shell holds it
//!   turn             who writes what several hosts see as one file
//!   login            what a new login of the user gets
//!   known            what is known: questions, answers, what is unknown
//!   connection     the connection to one host
//!   context        what all hosts share
//!   fleet          what all hosts know of each other
//!   holders        who gives what from host to host
//!   writers        who writes what, for one run
//!   held           which tasks are not started because one failed
//!   work           the tasks of one step
//!   state          the state directory of a host: its scripts and their answers
//!   deadline       the time that a change has
//!   hints          what is said of a failure
//!   causes         why a program failed, by what it said
//!   cancel         how a run is stopped
//! ```

mod batch;
mod boot;
mod cancel;
mod causes;
mod connection;
mod context;
mod deadline;
mod execute;
mod fleet;
mod gate;
mod guard;
mod held;
mod hints;
mod holders;
mod hosts;
mod known;
mod live;
mod lock;
mod login;
mod maintenance;
mod notified;
mod rollout;
mod run;
mod scheduler_host;
mod session;
mod spool;
mod stage;
mod standing;
pub mod state;
mod task;
mod tasks;
mod together;
mod turn;
mod upload;
mod work;
mod writers;

pub use cancel::{Cancel, Stop, Stopper, channel};
pub use context::{Consent, Context, Deadlines, Mode};
pub use fleet::SharedFacts;
pub use hints::{connect as what_mends, put_key};
pub use run::{Report, exit_code, run, started};
pub use session::Session;
pub use work::Leaders;
