//! The `provision` program.

use std::process::ExitCode;

fn main() -> ExitCode {
    provision::cli::main_impl()
}
