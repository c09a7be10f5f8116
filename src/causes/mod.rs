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

pub use cause::{Apart, Cause, Counts, Output, Source, When, Worse};
pub use message::{Message, messages};
pub use table::{Said, TABLE, find, read, sift};

#[cfg(test)]
mod tests;
