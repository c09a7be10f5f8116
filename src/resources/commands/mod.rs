//! Commands of a playbook and waiting.

pub mod command;
pub mod wait_for;
