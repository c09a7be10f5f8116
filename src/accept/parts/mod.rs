//! Parts of hosts by their serial numbers: which ones a host has, what they counted and did, and where they were before.
//!
//! ```text
//!   parts.sh ── text of a host ──> read ──┬──> changes between two moments
//!                                         └──> ledger: one line for each host and moment ──> rma: the bundle for a vendor
//! ```
//!
//! A host may lie about its parts: it is a record of what hosts said, made safe to show.

mod board;
mod card;
mod changes;
mod gathered;
mod gpu;
mod ledger;
mod read;
mod rma;
#[cfg(test)]
mod tests;
mod text;

pub use changes::{Change, ChangeKind, Grown, changes, grown, summary};
pub use gathered::{Counter, Event, can_be_followed, noun};
pub use ledger::{Entry, History, Ledger, Measured, Past, Point, Seen, Skipped, Stay, Told, entry};
pub use read::{HostParts, of_record, read};
pub use rma::{Content, Item, Request, history_lines, kept, plan};
pub use text::address;

/// Script that prints the parts of a host. It is run as root, without arguments, and changes nothing.
pub const PARTS: &str = crate::shell!("accept/parts/parts.sh");
