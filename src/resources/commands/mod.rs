//! Commands of a playbook, assertions and waiting.

pub mod assert;
pub mod command;
pub mod wait_for;
