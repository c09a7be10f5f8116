//! A project as one file, for machines that have no controller: image builds, nodes of a site that apply by a
//! timer, nodes that Slurm starts on.
//!
//! The file holds what loading read: the inventory, playbooks, files and templates, answers of `hosts_from`. It is
//! unpacked into a private directory and loaded from there by the one loader. Where a secret comes from is in it,
//! as the inventory says it; its value never is.

mod format;
mod open;
mod pack;

pub use format::Index;
pub use open::{Opened, Refused, is_bundle, open, peek, which};
pub use pack::{PackError, Packed, Reach, pack};
