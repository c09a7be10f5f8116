//! Everything that tells of a run: consumers of the one stream of events.
//!
//! ```text
//!   events ─> Reporter: Terminal (stderr), events::Record ─> JSON, JUnit, HTML, Prometheus
//!             terminal: what is said when; screen, rows: lines and columns; progress, bars: what moves; fold: many hosts, one line
//! ```
//!
//! Only this module writes to the terminal. stdout is data, stderr is everything else.

pub mod accept;
pub mod acceptance;
mod bars;
pub mod checks;
pub mod compare;
mod differences;
pub mod exec;
pub mod findings;
pub mod fold;
pub mod html;
mod interrupts;
pub mod json;
pub mod junit;
pub mod last_line;
mod leftovers;
mod line;
pub mod log;
pub mod output;
pub mod parts;
pub mod plan;
mod progress;
pub mod prometheus;
pub mod prompt;
mod recap;
pub mod rows;
pub mod screen;
pub mod show;
pub mod style;
pub mod terminal;
mod unreachable;
pub use unreachable::reason as unreachable_reason;
pub mod why;
mod wording;

use crate::events::Event;

/// Takes the events of a run one by one.
pub trait Reporter: Send {
    /// Takes one event.
    fn event(&mut self, event: &Event);

    /// Called about four times a second while nothing happens.
    fn tick(&mut self) {}
}
