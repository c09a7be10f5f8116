//! The plan of a run as a value: per host and task the exact changes. Pure.
//!
//! ```text
//!   Instance (resource with all fields) ┐
//!   Facts                               ├─> Planner ─> TaskPlan ─> shown, digested, executed
//!   what earlier tasks will touch       ┘
//! ```

pub mod diff;
mod planner;
mod view;

pub use planner::{Planner, TaskPlan, TaskVerdict, reboots};
pub use view::{StageDigest, change_view, digest, spool_key};
