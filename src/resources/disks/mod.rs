//! Disks: what they hold. Where it is mounted is said by `mount`.

mod empty;
pub mod filesystem;
pub mod raid;
