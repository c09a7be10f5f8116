//! An inventory and its playbooks as one checked whole: what every command starts from.
//!
//! [`load`] reads the files, resolves hosts and variables and flattens entries and includes into
//! [`Step`]s. [`Project::instantiate`] fills a step in for one host with
//! what is known by then.

mod alone;
mod budget;
#[cfg(test)]
mod cases;
mod check;
mod expand;
mod instantiate;
mod load;
mod looped;
mod model;
mod outside;
mod program;
mod reads;
mod schedule;
mod step;
#[cfg(test)]
pub(crate) mod testing;
#[cfg(test)]
mod tests;
mod validate;
mod world;

pub use alone::FilesRead;
pub use budget::Budget;
pub use load::{Language, LoadError, LoadOptions, load, load_with};
pub use model::{Project, Rollout};
pub use outside::Outside;
pub use schedule::Slot;
pub use step::{Conduct, Instance, InstanceState, Part, Retries, RunOnce, Step, Unit};
pub use world::{Fleet, Inputs, Registered, Registers};
