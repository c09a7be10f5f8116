//! Detection of changes since the last look at the hosts, and delivery of messages about them.
//!
//! ```text
//!   record of a verify ─> Round ─> Memory ─> changes ─> Message ─> Outbox ─> webhook
//!                                     └────────── one file, replaced as a whole ┘
//! ```
//!
//! Everything but `post` is pure: the time is given. The changes that were told and the messages that are
//! still to be delivered stand in one file, so that a watch that is killed neither forgets a message nor
//! makes it twice.

mod memory;
mod message;
mod outbox;
mod post;
mod round;
mod unit;
mod vendor;

pub use memory::Memory;
pub use message::{Change, ChangeKind, Line, Message};
pub use outbox::{Outbox, Reply};
pub use post::post;
pub use round::{Found, Round};
pub use unit::{Unit, unit};
pub use vendor::{Delivery, Request, delivery, request};
