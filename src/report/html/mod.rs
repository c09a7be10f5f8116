//! The result as one HTML file that needs nothing else: for people who were not there.
//!
//! ```text
//!   Record ─┬─ what failed, hosts that are away, findings, outliers, changes
//!           │                                        ─> page.html (tera), readable without scripts
//!           └─ matrix: equal results and texts once ─> JSON in the page ─> script.js
//! ```
//!
//! Everything is folded: hosts that say the same are one row, equal results and texts stand in the
//! file once. What would not fit a budget of text is left to `--json`, so that no fleet makes a file
//! that a browser cannot open. What went wrong is no part of that: it comes first, each host of it is
//! named, and so is the reason, if in short.

pub(in crate::report) mod budget;
mod matrix;
mod page;
mod pairs;
mod tasks;

pub use page::page;
