//! Playbook files and built-in playbooks: tasks in the order in which they are done.

pub mod builtin;
pub mod file;
pub mod files;
pub mod library;
mod task;
pub mod versions;

pub use file::{OnDeadline, OnFailure};
pub use files::Origin;
pub use library::{Library, Playbook};
