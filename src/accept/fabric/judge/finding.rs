//! Findings, and the cables that they name.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::accept::record::{Finding, Stage};

/// An end of a cable.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct CableEnd {
    /// The node: `gpu3 mlx5_2`, `leaf4`; empty where nobody knows it.
    pub node: String,
    /// Number of the port; none where nobody knows it.
    pub port: Option<u32>,
}

impl fmt::Display for CableEnd {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.node.as_str(), self.port) {
            ("", _) => out.write_str("an unknown port"),
            (node, Some(port)) => write!(out, "{node} port {port}"),
            (node, None) => write!(out, "{node}, port unknown"),
        }
    }
}

/// A cable by its two ends.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct CableEnds {
    /// The end at a host, where there is one.
    pub near: CableEnd,
    /// The end at a switch.
    pub far: CableEnd,
}

impl fmt::Display for CableEnds {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{} - {}", self.near, self.far)
    }
}

/// Whether a finding keeps hosts out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// It does.
    Fail,
    /// Somebody should look at it.
    Warn,
}

/// Faults that a fabric can have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FabricFault {
    /// Something could not be read.
    Unread,
    /// No master manages it.
    NoManager,
    /// Two masters manage it.
    ManyManagers,
    /// Nobody waits for the master to go.
    NoStandby,
    /// No adapter of a host is in it.
    HostAbsent,
    /// An adapter is not in it that other hosts have there.
    AdapterAbsent,
    /// A cable leads elsewhere.
    WrongCable,
    /// A link is up and carries no traffic.
    NotActive,
    /// A link has fewer lanes.
    Narrow,
    /// A link is slower.
    Slow,
    /// Ports are in other partitions.
    Keys,
    /// Errors are counted.
    Errors,
    /// A switch has fewer cables to another one.
    Uplinks,
}

/// One thing that speaks against a fabric.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FabricFinding {
    /// Whether it keeps hosts out.
    pub severity: Severity,
    /// Its kind.
    pub fault: FabricFault,
    /// Names of the hosts that it concerns; none where it is between switches.
    pub hosts: Vec<String>,
    /// Cables that it is about.
    pub cables: Vec<CableEnds>,
    /// A sentence, with the cables.
    pub text: String,
    /// Remedy.
    pub action: String,
}

impl FabricFinding {
    /// Returns it as it stands in a record, beside the name of each host that it concerns.
    pub fn of_hosts(&self) -> impl Iterator<Item = (&str, Finding)> {
        self.hosts.iter().map(|host| {
            let (text, action) = (self.text.clone(), self.action.clone());
            (host.as_str(), Finding { stage: Stage::Fabric, part: String::new(), text, action })
        })
    }
}

/// Cables in a sentence: the first of many.
pub(super) fn written(cables: &[CableEnds]) -> String {
    const MOST: usize = 4;
    let shown: Vec<String> = cables.iter().take(MOST).map(ToString::to_string).collect();
    match cables.len().saturating_sub(MOST) {
        0 => shown.join(", "),
        more => format!("{} and {more} more", shown.join(", ")),
    }
}
