//! The hosts of a cluster.
pub mod host;
pub mod hostlist;

pub use host::{Become, Host, Layer, Ssh, TransportKind, Var, Vars};
