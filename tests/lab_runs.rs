//! The program against real hosts: every test runs the binary as a person would, on a lab of its own.
//!
//! Needs Docker or Podman. Without one the tests fail, unless `PROVISION_NO_LAB` is set.

/// The longest: tests begin in the order of their names.
#[path = "lab_runs"]
mod at_first {
    mod examples;
    mod paused;
    mod slurm;
    mod years;
}
#[path = "lab_runs/broken.rs"]
mod broken;
#[path = "lab_runs/builds.rs"]
mod builds;
#[path = "lab_runs/commands.rs"]
mod commands;
#[path = "lab_runs/converge.rs"]
mod converge;
#[path = "lab_runs/driver.rs"]
mod driver;
#[path = "support/hook.rs"]
mod hook;
#[path = "lab_runs/mesh.rs"]
mod mesh;
#[path = "lab_runs/monitoring.rs"]
mod monitoring;
#[path = "lab_runs/netdev.rs"]
mod netdev;
#[path = "lab_runs/offline.rs"]
mod offline;
#[path = "lab_runs/poison.rs"]
mod poison;
#[path = "lab_runs/resources.rs"]
mod resources;
#[path = "lab_runs/rhel.rs"]
mod rhel;
#[path = "lab_runs/shared.rs"]
mod shared;
#[path = "lab_runs/support.rs"]
mod support;
#[path = "lab_runs/system.rs"]
mod system;
#[path = "lab_runs/through.rs"]
mod through;
#[path = "lab_runs/unlock.rs"]
mod unlock;
#[path = "lab_runs/uploads.rs"]
mod uploads;
#[path = "lab_runs/verify.rs"]
mod verify;
#[path = "lab_runs/watch.rs"]
mod watch;
#[path = "lab_runs/words.rs"]
mod words;
#[path = "lab_runs/worlds.rs"]
mod worlds;
