//! Active checks (`verify --active`): what hosts do with each other. Pure but for `run`: who is tested
//! with whom, what the tools printed, what it proves.
//!
//! ```text
//!   hosts ── pairs ──> rounds of disjoint pairs ── rping, ib_write_bw ──> perftest, rping ──> Trial
//!   failed pairs ── pairs::again ──> suspects with known-good partners ──> the host that is bad
//!   mpirun all_reduce_perf ── nccl ──> rows, wrong values, network, GPUDirect ──> gate
//! ```
//!
//! A tool whose output is not understood is an error, never a pass.

pub mod gate;
mod jobs;
pub mod judge;
mod member;
pub mod nccl;
pub mod pairs;
pub mod perftest;
pub mod rping;
mod run;

pub use run::{Traffic, run};
