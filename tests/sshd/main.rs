//! The program against real servers of ssh on this machine.

#[path = "../support/context.rs"]
mod context;
mod init;
#[path = "../support/sshd.rs"]
mod sshd;
mod transport;
mod transport_users;
mod transport_warm;
mod trust;
