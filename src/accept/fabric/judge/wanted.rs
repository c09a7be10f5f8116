//! The demands on a fabric.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::super::model::Speed;

/// Demands on a fabric.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Wanted {
    /// Names of the hosts that must be in it.
    pub hosts: Vec<String>,
    /// Adapters that are known by the GUID of their node, with host and device; others by their description.
    pub adapters: BTreeMap<u64, (String, String)>,
    /// Least speed of a lane of hosts' links.
    pub speed: Option<Speed>,
    /// Fewest lanes of hosts' links.
    pub width: Option<u32>,
    /// Partition in which each port of a host must be; without its highest bit a limited member is enough.
    pub key: Option<u16>,
    /// The plan of the cables; where it is empty, most hosts are right.
    pub plan: Vec<PlannedCable>,
}

/// A cable as it was planned.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlannedCable {
    /// The host.
    pub host: String,
    /// Its device: `mlx5_2`.
    pub device: String,
    /// Number of the device's port.
    pub device_port: u32,
    /// Name, description or GUID of the switch.
    pub switch: String,
    /// Number of the switch's port.
    pub switch_port: u32,
    /// Least speed of a lane, in place of [`Wanted::speed`].
    pub speed: Option<Speed>,
    /// Fewest lanes, in place of [`Wanted::width`].
    pub width: Option<u32>,
}
