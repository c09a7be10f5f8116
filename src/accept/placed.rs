//! Hosts with the labels that say where they stand in the fabric.

use std::collections::BTreeMap;

/// Labels that are boundaries of a fabric, in the order in which hosts are sorted by them.
///
/// A leaf comes first: two hosts of one leaf meet on no other switch, whatever racks they stand in.
pub const BOUNDARIES: [&str; 3] = ["leaf", "rack", "rail"];

/// A host and its labels.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Placed {
    /// The host.
    pub host: String,
    /// Labels by their kind, such as `leaf`; those that are not known are missing.
    pub labels: BTreeMap<String, String>,
}

impl Placed {
    /// The label of a kind; empty where it is not known.
    pub fn label(&self, kind: &str) -> &str {
        self.labels.get(kind).map_or("", String::as_str)
    }

    /// Its labels in the order of [`BOUNDARIES`].
    pub(super) fn place(&self) -> [&str; 3] {
        BOUNDARIES.map(|kind| self.label(kind))
    }
}

/// Indexes of hosts, neighbours beside each other; hosts of one place stay in the order in which they were given.
pub(super) fn by_place(hosts: &[Placed]) -> Vec<usize> {
    let mut order: Vec<(usize, &Placed)> = hosts.iter().enumerate().collect();
    order.sort_by(|(_, one), (_, other)| one.place().cmp(&other.place()));
    order.into_iter().map(|(index, _)| index).collect()
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// Hosts `h0`, `h1`, … with so many on each leaf.
    pub(in super::super) fn on_leaves(hosts: usize, each: usize) -> Vec<Placed> {
        let host = |index: usize| Placed {
            host: format!("h{index}"),
            labels: BTreeMap::from([("leaf".to_owned(), format!("leaf{:03}", index / each))]),
        };
        (0..hosts).map(host).collect()
    }

    #[test]
    fn neighbours_stand_beside_each_other() {
        let mut hosts = on_leaves(6, 2);
        hosts.swap(1, 4);
        assert_eq!(by_place(&hosts), [0, 4, 2, 3, 1, 5]);
        assert_eq!((hosts[0].label("leaf"), hosts[0].label("rack")), ("leaf000", ""));
    }
}
