//! Links: which pairs of hosts are tested when, and what their figures say of ports and of what is between them.
//!
//! ```text
//!   entrants ── tour ──> rounds of disjoint pairs ── active::Fleet ──> trials
//!   trials ── verdict ──> figures of ports, ports that keep silent, pairs that no port explains
//! ```
//!
//! A port is judged by what it does with most of its partners: one slow host makes all pairs slow that it has a part
//! in, and no other host is blamed for that. A pair that is slow though both ports are good with others is tested once more.

mod entrants;
mod tour;
mod verdict;

#[cfg(test)]
mod tests;

pub use entrants::{Entrant, limits};
pub use tour::Tour;
pub use verdict::{Suspect, Verdict, counted, verdict};
