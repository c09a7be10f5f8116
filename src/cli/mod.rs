//! The command line: what was typed, what it means, and one file per command.

mod args;
mod commands;
mod complete;
mod dispatch;
mod inventory_file;
mod load;
mod on_hosts;
mod parts;
mod results;
mod run;
mod settings;
mod slurm_job;
mod this_machine;

pub use args::Cli;
pub use dispatch::main_impl;

/// Whether these bytes are a plan as `plan --out` writes it. For `make fuzz` alone.
#[doc(hidden)]
pub fn is_plan(bytes: &[u8]) -> bool {
    commands::plan::PlanFile::parse(bytes).is_ok()
}
