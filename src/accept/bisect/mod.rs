//! A collective that is slow or hangs is taken apart until a host, a link or a boundary is named.
//!
//! Halves first: one of them is slow by itself, or both are good and only together slow. The halves of an odd group share
//! the host in the middle, so that both are of one size and can be compared. What is left are two hosts; each is tested
//! with others, of its own place and of another one, and then either is bad with all of them or only the way between
//! the two is. The way is a boundary where other hosts of both sides are slow together as well.
//!
//! The whole is a function of the answers so far: [`Bisection::step`] says what to test next, and who keeps the answers
//! can go on after a crash.

mod growing;
mod outcome;
mod search;

#[cfg(test)]
mod tests;

pub use growing::growing;
pub use outcome::{Answer, Culprit, Outcome, Step};
pub use search::{Bisection, bound};
