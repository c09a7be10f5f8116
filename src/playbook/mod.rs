//! Playbook files and built-in playbooks: tasks in the order in which they are done.

pub mod builtin;
pub mod file;
pub mod files;
pub mod library;

pub use file::{OnDeadline, OnFailure};
pub use library::{Library, Origin, Playbook};
