//! The hosts of a cluster.
pub mod host;

pub use host::{Become, Host, Layer, Ssh, TransportKind, Var, Vars};
