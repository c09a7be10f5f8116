//! The command line: what was typed, what it means, and one file per command.

mod args;
mod commands;
mod dispatch;
mod launch;
mod settings;

pub use args::Cli;
pub use dispatch::main_impl;
