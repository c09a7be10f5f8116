//! `verify --through`: hosts behind a launcher, as jobs find them.

mod launcher;
mod look;

pub use launcher::{Launcher, START};
pub use look::Through;
