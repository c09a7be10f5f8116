//! What is to be done, in order: playbook files and built-in playbooks.

pub mod builtin;
pub mod file;
pub mod files;
pub mod library;

pub use file::{OnDeadline, OnFailure};
pub use library::{Library, Origin, Playbook};
