//! The page of an acceptance record, for the two sides that sign it: on a screen and on paper.
//!
//! ```text
//!   accept::Record ─┬─ page: the result, stages ───────────────┐
//!                   ├─ hosts: failed, not tested, passed       │
//!                   ├─ figures: a histogram for each name      ├─> page.html (tera)
//!                   ├─ pairs: hosts by hosts, in blocks        │
//!                   ├─ samples: lines, or bands of all GPUs    │
//!                   └─ parts: serials, and versions of software┘
//!       numbers: where most of them lie; draw: what becomes SVG; text: what may stand in HTML
//! ```
//!
//! Its style begins with that of `report::html`. It has no script: nothing in it moves, it is printed, and a browser
//! may obey nothing of a host. What grows with the fleet is aggregated or has a budget of text, so that the page of a
//! thousand hosts is one that a browser opens at once; the JSON beside it has every figure.

mod draw;
mod figures;
mod histogram;
mod hosts;
mod numbers;
mod page;
mod pairs;
mod parts;
mod samples;
#[cfg(test)]
mod test_record;
#[cfg(test)]
mod tests;
mod text;

pub use page::page;
