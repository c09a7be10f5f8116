//! The parts of a fabric.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// A port of a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Place {
    /// GUID of the node.
    pub node: u64,
    /// Number of the port.
    pub port: u32,
}

/// Kinds of nodes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum NodeKind {
    /// An adapter of a host, or of something that behaves like one.
    Adapter,
    /// A switch.
    Switch,
    /// A router to another subnet.
    Router,
}

/// A node of a fabric.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Node {
    /// Its kind.
    pub kind: NodeKind,
    /// The description that it has of itself: `gpu3 mlx5_0`, `MF0;leaf1:MQM9700/U1`.
    pub description: String,
    /// Number of its ports.
    pub ports: u32,
}

/// Speed of a lane.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Speed {
    /// Mb/s of one lane, on the wire.
    pub megabits: u32,
}

/// Names of speeds with what `iblinkinfo` prints of them; FDR10 is told apart by its name alone.
const SPEEDS: &[(&str, u32)] = &[
    ("SDR", 2500),
    ("DDR", 5000),
    ("QDR", 10_000),
    ("FDR10", 10_312),
    ("FDR", 14_062),
    ("EDR", 25_781),
    ("HDR", 53_125),
    ("NDR", 106_250),
    ("XDR", 212_500),
];

impl fmt::Display for Speed {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match SPEEDS.iter().find(|(_, megabits)| *megabits == self.megabits) {
            Some((name, _)) => out.write_str(name),
            None => write!(out, "{} Mb/s", self.megabits),
        }
    }
}

/// A word that names no speed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0} is no speed of InfiniBand: SDR, DDR, QDR, FDR10, FDR, EDR, HDR, NDR, XDR")]
pub struct UnknownSpeed(String);

impl FromStr for Speed {
    type Err = UnknownSpeed;

    fn from_str(word: &str) -> Result<Self, UnknownSpeed> {
        let known = SPEEDS.iter().find(|(name, _)| name.eq_ignore_ascii_case(word));
        known.map(|(_, megabits)| Self { megabits: *megabits }).ok_or_else(|| UnknownSpeed(word.to_owned()))
    }
}

/// States of a port.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LinkState {
    /// Nothing is known of it.
    #[default]
    Unknown,
    /// There is no link.
    Down,
    /// The link is up, and no manager has set it up.
    Initialize,
    /// A manager has begun with it.
    Armed,
    /// It carries traffic.
    Active,
}

/// Width and speed that both ends of a link can do beyond those that it has.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Could {
    /// Lanes.
    pub width: Option<u32>,
    /// Speed of a lane.
    pub speed: Option<Speed>,
}

/// A port of a node, with the cable in it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Port {
    /// Local identifier; 0 where it has none, as ports of switches.
    pub lid: u32,
    /// Whether it carries traffic.
    pub state: LinkState,
    /// State of the wires: `LinkUp`, `Polling`, `Disabled`.
    pub physical: String,
    /// Lanes of its link.
    pub width: Option<u32>,
    /// Speed of a lane.
    pub speed: Option<Speed>,
    /// Width and speed that both ends can do beyond those.
    pub could: Could,
    /// The other end of the cable.
    pub peer: Option<Place>,
}

/// States of a manager of the subnet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ManagerState {
    /// It runs and does nothing.
    Inactive,
    /// It looks at the fabric.
    Discovering,
    /// It waits for the master to go.
    Standby,
    /// It manages.
    Master,
}

/// A manager of the subnet.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Manager {
    /// Local identifier of its port.
    pub lid: u32,
    /// GUID of its port.
    pub guid: u64,
    /// Its priority: of two the one with more is master.
    pub priority: u32,
    /// Its state.
    pub state: ManagerState,
    /// Whether it is the one that the asking host's port names.
    pub is_named: bool,
}

/// Partition keys of a port.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Keys {
    /// Keys that are not zero; the highest bit is full membership.
    Read(BTreeSet<u16>),
    /// It did not answer.
    Unread,
}

/// Counters of a port that are not zero, by name.
pub type Counters = BTreeMap<String, u64>;

/// Counters of all ports at one moment.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Reading {
    /// When it began, in seconds since that host started.
    pub at: Option<f64>,
    /// Whether it was read to its end.
    pub is_whole: bool,
    /// Questions that no node answered.
    pub unanswered: u32,
    /// Ports that have a counter of errors above zero.
    pub ports: BTreeMap<Place, Counters>,
}

/// Parts of what is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Section {
    /// Nodes and cables.
    Nodes,
    /// States of links.
    Links,
    /// Managers of the subnet.
    Managers,
    /// Partition keys.
    Keys,
    /// Counters.
    Counters,
}

/// A fabric as one host sees it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Fabric {
    /// Nodes by GUID.
    pub nodes: BTreeMap<u64, Node>,
    /// Ports that have a cable, or of which something is known.
    pub ports: BTreeMap<Place, Port>,
    /// Managers of the subnet.
    pub managers: Vec<Manager>,
    /// Keys of the ports of adapters.
    pub keys: BTreeMap<Place, Keys>,
    /// Counters at the beginning of the window.
    pub first: Reading,
    /// Counters at its end.
    pub later: Reading,
    /// Nodes by the GUID of a port: what managers are known by.
    pub owners: BTreeMap<u64, Place>,
    /// Parts that could not be read, with the reason.
    pub unread: BTreeMap<Section, String>,
}

impl Fabric {
    /// Whether a node is of a kind.
    pub fn is(&self, node: u64, kind: NodeKind) -> bool {
        self.nodes.get(&node).is_some_and(|node| node.kind == kind)
    }

    /// The other end of the cable in a port.
    pub fn peer(&self, place: Place) -> Option<Place> {
        self.ports.get(&place).and_then(|port| port.peer)
    }

    /// Each cable once.
    pub fn cables(&self) -> impl Iterator<Item = (Place, Place)> {
        self.ports.iter().filter_map(|(place, port)| {
            let peer = port.peer?;
            // A switch may have a cable to itself.
            (*place <= peer || self.peer(peer) != Some(*place)).then_some((*place, peer))
        })
    }

    /// Seconds between the two readings of counters; none where one of them is missing.
    pub fn window(&self) -> Option<f64> {
        if !self.first.is_whole || !self.later.is_whole {
            return None;
        }
        let seconds = self.later.at? - self.first.at?;
        (seconds > 0.0).then_some(seconds)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_speed_has_the_name_that_it_is_read_by() {
        for (name, _) in SPEEDS {
            assert_eq!(name.parse::<Speed>().unwrap().to_string(), *name);
        }
        assert_eq!(Speed { megabits: 7 }.to_string(), "7 Mb/s");
        assert!("fast".parse::<Speed>().is_err());
    }
}
