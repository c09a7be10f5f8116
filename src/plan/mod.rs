//! What will be done, as a value: per host and task the exact changes. Pure.
//!
//! ```text
//!   Instance (resource with all fields) ┐
//!   Facts                               ├─> Planner ─> TaskPlan ─> shown, digested, executed
//!   what earlier tasks will touch       ┘
//! ```

pub mod diff;
mod planner;
mod view;

pub use planner::{Planner, TaskPlan, Verdict, reboots};
pub use view::{change_view, digest, hex, spool_key};
