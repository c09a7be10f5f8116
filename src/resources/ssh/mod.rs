//! sshd, and keys from host to host.

pub mod ssh_key;
pub mod ssh_mesh;
pub mod sshd;
