//! An inventory and its playbooks as one checked whole: what every command starts from.
//!
//! [`load`] reads the files, resolves hosts and variables and flattens entries and includes into
//! [`Step`]s. [`Project::instantiate`] fills a step in for one host with
//! what is known by then.

mod budget;
#[cfg(test)]
mod cases;
mod check;
mod expand;
mod external_hosts;
mod inputs;
mod instantiate;
mod lifetimes;
mod load;
mod loops;
mod model;
mod program;
mod schedule;
mod single_host;
mod step;
mod task;
#[cfg(test)]
pub(crate) mod testing;
#[cfg(test)]
mod tests;
mod validate;
mod world;

pub use budget::Budget;
pub use external_hosts::Outside;
pub use load::{LoadError, LoadOptions, load, load_with};
pub use model::{Project, Rollout};
pub use schedule::Slot;
pub use single_host::FilesRead;
pub use step::{Conduct, Instance, InstanceState, Part, Retries, RunOnce, Step, Unit};
pub use world::{Fleet, Inputs, Language, Registered, Registers};
