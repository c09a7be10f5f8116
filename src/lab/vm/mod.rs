//! Virtual machines as hosts of a lab: real kernels, under qemu.
//!
//! ```text
//!   image (image.sh; cached by the digest of its recipe) <── overlay of each machine
//!   lab/<hash>/vm/recipe       what all machines were made of; when it differs they are made anew
//!                 net/         one qemu without a machine: a hub that joins their private NICs
//!                 NAME/        disk, console, what its first boot makes of it (seed), pid
//! ```
//!
//! A machine has two NICs: the first is qemu's user network with sshd's port published on
//! 127.0.0.1, the second is the lab's own network. Pulling the plug is SIGTERM: qemu writes out
//! what it holds itself, the machine is told nothing.

mod deploy;
mod firmware;
mod image;
mod machine;
mod qemu;

pub(crate) use deploy::{ENGINE, down, is, look, restart, up};
pub(crate) use qemu::find;
