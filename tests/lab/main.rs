//! The program against real hosts: every test runs the binary as a person would, on a lab of its own.
//!
//! Needs Docker or Podman. Without one the tests fail, unless `PROVISION_NO_LAB` is set.

mod accept;
mod broken;
mod builds;
mod commands;
mod compare;
mod converge;
mod driver;
mod examples;
#[path = "../support/hook.rs"]
mod hook;
mod hosts;
mod mesh;
mod monitoring;
mod netdev;
mod offline;
#[path = "../support/pages.rs"]
mod pages;
mod paused;
mod poison;
mod resources;
mod rhel;
mod shared;
mod slurm;
mod support;
mod system;
mod through;
mod ubuntu;
mod unlock;
mod uploads;
mod verify;
mod watch;
mod words;
mod worlds;
mod years;
