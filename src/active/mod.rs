//! Active checks (`verify --active`): what hosts do with each other. Pure but for `run`: who is tested
//! with whom, what the tools printed, what it proves. `fleet` makes the tests that `accept` chooses.
//!
//! ```text
//!   hosts ── pairs ──> rounds of disjoint pairs ── rping, ib_write_bw ──> perftest, rping ──> Trial
//!   one rail to the next ── rails ──> which reach each other
//!   failed pairs ── pairs::again ──> suspects with known-good partners ──> the host that is bad
//!   mpirun all_reduce_perf ── nccl ──> rows, wrong values, network, GPUDirect ──> gate
//! ```
//!
//! A tool whose output is not understood is an error, never a pass.

mod collective;
mod fleet;
pub mod gate;
mod jobs;
pub mod judge;
mod member;
pub mod nccl;
mod owners;
mod pair_test;
pub mod pairs;
pub mod perftest;
mod rails;
pub mod rping;
mod run;

pub use collective::{By, Reduced, Reducers, reduce_seconds};
#[cfg(test)]
pub(crate) use fleet::testing;
pub use fleet::{Fleet, Grown, Measure, Meeting, Met, Port, Trial, seconds};
pub use run::{Traffic, run};

use crate::facts::Facts;
use crate::inventory::{Host, Promises};
use crate::project::{Inputs, Project};

/// The keys of `expect:` that tests between hosts read.
const SOFTWARE: &[&str] = &["software.openmpi_prefix", "software.nccl_tests", "software.mpi_user"];

/// Hosts with what their tasks promise of the software that tests need, before anything is known of them.
pub fn members<'a>(project: &Project, hosts: impl IntoIterator<Item = &'a Host>) -> Vec<(Host, Promises)> {
    let promised = |host: &Host| project.promises(host, &Inputs::none(), &Facts::default(), SOFTWARE);
    hosts.into_iter().map(|host| (host.clone(), promised(host))).collect()
}
