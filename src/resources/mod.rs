//! Wanted state of hosts: one folder per resource.
//!
//! A resource is read from a task's mapping with [`record!`](crate::record), names the queries it
//! needs and is a pure function from its fields and the facts to [`Change`]s. It opens no
//! connection, reads no clock and no file of this machine (the loader did that).
//!
//! To add a resource: a folder with its record, its `kind!` and its `plan`, its scripts, an example and its cases,
//! and its `mod` line; `docs/contributing/adding-a-resource.md`.

#[macro_use]
mod kinds;

pub mod accounts;
pub mod builds;
mod change;
pub mod commands;
mod context;
pub mod disks;
pub mod files;
pub mod gpu;
pub mod kernel;
pub mod network;
pub mod packages;
pub mod rdma;
mod resource;
pub mod services;
pub mod shared;
pub mod ssh;

pub use change::{Attribute, Change, Detail, Disruption, Planned, Unplannable, Upload};
pub use context::{Context, Local};
pub use kinds::{Built, Kind, Read, kind, kinds, question};
pub use resource::{Resource, Spread};
pub use shared::login::{LoginEffect, Undo};
pub use shared::roster::{Member, Roster};
