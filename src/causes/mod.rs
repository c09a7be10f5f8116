//! The causes of trouble that tools and the kernel tell of: one catalogue, as data.
//!
//! ```text
//!   lines of a log ── message ──> messages ── table ──> what is said, by which cause ──> checks
//!   table ── sift ──> the pattern that a host searches its log with
//! ```
//!
//! A cause is a row: the sign that a tool prints, what it means, how much it counts, what to do, and by which
//! signs beside it that changes. What a host sifts out of its log and what is judged here are the same rows. A
//! sign stands at the beginning of a message, so that a name of a program or a file within one is no sign. Patterns
//! are linear in time: texts come from strangers.

mod cause;
mod message;
mod needles;
mod reading;
mod table;
mod kernel {
    pub(super) mod disk;
    pub(super) mod faults;
    pub(super) mod gpu;
    pub(super) mod memory;
    pub(super) mod network;
    pub(super) mod pcie;
    pub(super) mod stalls;
    pub(super) mod xid;
}
mod tools {
    pub(super) mod access;
    pub(super) mod apptainer;
    pub(super) mod bmc;
    pub(super) mod builds;
    pub(super) mod containers;
    pub(super) mod cuda;
    pub(super) mod dcgm;
    pub(super) mod disks;
    pub(super) mod fabric;
    pub(super) mod firmware;
    pub(super) mod gds;
    pub(super) mod general;
    pub(super) mod help_texts;
    pub(super) mod kernel;
    pub(super) mod kube;
    pub(super) mod mlx5;
    pub(super) mod modules;
    pub(super) mod mpi;
    pub(super) mod munge;
    pub(super) mod nccl;
    pub(super) mod network;
    pub(super) mod nvidia;
    pub(super) mod oci;
    pub(super) mod packages;
    pub(super) mod runtimes;
    pub(super) mod shares;
    pub(super) mod slurm;
    pub(super) mod steps;
    pub(super) mod storage;
    pub(super) mod system;
    pub(super) mod torch;
    pub(super) mod verbs;
}

pub use cause::{Apart, Cause, Counts, Output, Remedy, Role, Source, Sure, When, Worse};
pub use message::{Message, messages};
pub use reading::{Finding, Place, Reading};
pub use table::{Said, TABLE, find, read, sift};

#[cfg(test)]
mod tests;
