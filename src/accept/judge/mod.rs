//! Figures of a run are held against what is known of the model, against the others of the run, and against what the
//! same part did before.
//!
//! Each of the three sees what the others cannot: a fleet that is slow as a whole falls below the floor, one slow GPU
//! among good ones falls out of the fleet, and one that becomes slower falls below its own past. No clock is read and
//! nothing is fetched here: what is compared is given.

mod fleet;
mod history;
mod judging;
mod measured;
mod robust;
mod sentences;
mod together;

#[cfg(test)]
mod power;
#[cfg(test)]
mod tests;

pub use judging::{Judged, Judgement, judge};
pub use measured::{Better, Floor, Limit, Measured, Note, Past};
pub use together::OF_MEDIAN;
