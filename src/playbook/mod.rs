//! What is to be done, in order: playbook files, built-in playbooks, steps of a run.

pub mod builtin;
pub mod file;
pub mod files;
pub mod library;
pub mod step;

pub use library::{Library, Origin, Playbook};
pub use step::{Conduct, Instance, InstanceState, OnDeadline, OnFailure, Retries, RunOnce, Step};
