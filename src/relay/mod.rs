//! A run that Slurm carries: program and bundle go to the nodes by `sbcast`, `srun` starts one task on each, and the
//! events come back over srun's own tree. One controller shows, records and counts them like those of its own engine.
//!
//! ```text
//!   controller ── login ──> host with Slurm ── salloc, sbcast, srun ──> provision ... --here on each node
//!              <─ events as lines ─────────────────────────────────────
//! ```

mod job;
mod keep;
mod lines;
mod nodes;
mod run;

pub use job::{Job, sort};
pub use keep::keep;
pub use lines::{Assembly, Line, Lines};
pub use run::run;
