//! Text to typed values, with positions.
//!
//! Every YAML file of a user becomes a tree of [`Node`]s that know where they stand
//! ([`yaml`]); typed values are read out of that tree by [`FromNode`], which reports *all*
//! mistakes of a file as [`Diagnostic`]s instead of stopping at the first. The macros
//! [`record!`](crate::record) and [`choice!`](crate::choice) declare a mapping or a word
//! once: its reader, its JSON Schema and its documentation come from that one place.

pub mod diagnostic;
mod fault;
pub mod locate;
mod node;
mod period;
mod pitfalls;
pub mod read;
pub mod record;
pub mod source;
mod syntax;
mod weight;
pub mod yaml;

pub use diagnostic::{Diagnostic, Diagnostics, Severity};
pub use locate::{Code, TextError, locate};
pub use node::{Node, Yaml};
pub use period::Period;
pub use read::{Entries, FromNode, MapReader, Role, did_you_mean, did_you_mean_text, list_text, near_text};
pub use record::{FieldDoc, Need, Record};
pub use source::{Bases, SourceId, Sources, Sp, Span};
pub use weight::weight;
