//! Scripts on this machine, in the shells that hosts have.

mod devices;
mod disks;
mod facts;
mod fetch;
mod links;
mod lying_hosts;
mod parts;
mod recipes;
mod resources;
mod roce;
mod rooted;
mod scheduler;
mod secret_fields;
#[path = "../support/sshd.rs"]
mod sshd;
mod state;
#[path = "../support/mod.rs"]
mod support;
mod tools;
