//! systemd units and the clock.

pub(in crate::resources) mod boot_unit;
pub mod service;
pub mod time_sync;
pub mod timezone;
