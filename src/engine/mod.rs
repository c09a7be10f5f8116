//! Runs a project on its hosts.
//!
//! A host is a [`Session`]: parts with owners, put together in `session.rs`. One task from its plan to its
//! proof is read in `task.rs` and `attempt.rs`. A host never waits for another one inside a stage; every wait
//! has a deadline, and everything that happens is said to the `Emitter`.
//!
//! Each file imports only what stands below it; `tests/it/engine_order.rs` reads this list.
//!
//! ```text
//!   exec            one command on all hosts, as it was typed
//!   run             all hosts, stage by stage and batch by batch; totals
//!     drained_rollout  the same on a cluster that carries jobs: hosts are drained first
//!     health_gate     checks of hosts after their change
//!   maintenance     hosts taken out of service, and given back
//!     drain           the next step of a host that is taken out of service
//!     scheduler_host  the host that has the commands of the scheduler
//!   hosts           several hosts at once; the only file that spawns tasks
//!   rollout         the order of hosts, and when no further one starts
//!   stage           one stage of one host: questions, plan, changes
//!   execute         the tasks of a host one after another, then its handlers
//!   task            one task from its plan to its proof
//!     attempt         its changes, carried out and proven
//!     disruption      changes that interrupt: who agrees, who still uses the host
//!   grouping        short tasks that are sent with the one before them
//!   session         one host, put together from its parts
//!     progress        counts, status and digests of the plan of a host
//!     tasks           the tasks of a host by what is known, and what they register
//!     boot            the reasons for a reboot, and how the host comes back
//!     handlers        handlers that were notified and did not run yet
//!     batch           short changes that are sent together
//!     spool           changes that outlive their connection
//!     rollback        changes of the way in, rolled back unless a new login works
//!     row             the runner of changes, through deadlines and lost connections
//!     upload          large files, continued after a lost connection
//!     lock            the kernel lock, as one shell holds it
//!     shared_write    one file that several hosts see is written by one of them
//!     login           the limits and user of a new login
//!     known           questions of a host, answers, and what is unknown
//!   connection      the connection to one host
//!   context         data that all hosts share
//!   fleet           facts that all hosts know of each other
//!   holders         copies from host to host
//!   writers         the writer of each shared file, for one run
//!   blocked         tasks that are not started because one failed
//!   work            the tasks of one step
//!   state           the state directory of a host: its scripts and their answers
//!   deadline        the time that a change has
//!   hints           advice after a failure
//!   causes          the cause of a failure in the output of a program
//!   cancel          the ways in which a run is stopped
//! ```

mod attempt;
mod batch;
mod blocked;
mod boot;
mod cancel;
mod causes;
mod connection;
mod context;
mod deadline;
mod disruption;
mod drain;
mod drained_rollout;
mod exec;
mod execute;
mod fleet;
mod grouping;
mod handlers;
mod health_gate;
mod hints;
mod holders;
mod hosts;
mod known;
mod lock;
mod login;
mod maintenance;
mod progress;
mod rollback;
mod rollout;
mod row;
mod run;
mod scheduler_host;
mod session;
mod shared_write;
mod spool;
mod stage;
pub mod state;
mod task;
mod tasks;
mod upload;
mod work;
mod writers;

pub use cancel::{Cancel, Stop, Stopper, channel};
pub use context::{Consent, Context, Deadlines, Mode};
pub use exec::exec;
pub use fleet::SharedFacts;
pub use hints::{connect as what_mends, put_key};
pub use run::{Report, exit_code, run, started};
pub use session::Session;
pub use work::Leaders;
