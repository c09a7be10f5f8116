//! Findings about a fabric. Each one about a cable names both of its ends.

mod absent;
mod cabling;
mod errors;
mod finding;
mod keys;
mod links;
mod managers;
mod plan;
#[cfg(test)]
mod tests;
mod uplinks;
mod verdict;
mod view;
mod wanted;

pub use finding::{CableEnd, CableEnds, FabricFault, FabricFinding, Severity};
pub use verdict::judge;
pub use wanted::{PlannedCable, Wanted};
