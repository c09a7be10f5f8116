//! What is to be done, in order.
pub mod step;

pub use step::{Conduct, Instance, InstanceState, OnDeadline, OnFailure, Retries, RunOnce, Step};
