//! The text of a host to a fabric. No text makes it panic: what is not understood is left out, and a part that is
//! missing is said.

mod counters;
mod links;
mod managers;
mod nodes;
#[cfg(test)]
mod tests;
mod text;
mod words;

pub use text::read;
