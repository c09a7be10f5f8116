//! Answers of hosts in earlier runs, for tasks about all of them when some are not reached now.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use camino::Utf8Path;
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use super::Inventories;
use crate::disk;

/// The file in a cluster's directory.
const FILE: &str = "fleet.json";
/// Version of the format that is written here; another version is not read.
const VERSION: u32 = 2;

/// Answers of each host, public things only: addresses, names, public keys.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct FleetRecord {
    version: u32,
    /// By name of the host.
    pub hosts: BTreeMap<String, Entry>,
}

/// Answers of one host.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Entry {
    /// When, in seconds since 1970.
    pub seen: i64,
    /// Answers by the labels of their questions.
    pub answers: BTreeMap<String, Json>,
}

impl FleetRecord {
    /// Reads the record of a cluster; it is empty when there is none or none of this version.
    pub fn read(cluster: &Utf8Path) -> Self {
        let text = fs::read(cluster.join(FILE)).unwrap_or_default();
        let record: Self = serde_json::from_slice(&text).unwrap_or_default();
        if record.version == VERSION { record } else { Self::default() }
    }

    /// Notes an answer of a host.
    pub fn put(&mut self, host: &str, now: i64, label: &str, answer: Json) {
        let entry = self.hosts.entry(host.to_owned()).or_default();
        entry.seen = now;
        entry.answers.insert(label.to_owned(), answer);
    }

    /// Writes what this run saw over what is recorded by now, for hosts that are in the inventory or in another one of
    /// the cluster.
    pub fn write(self, cluster: &Utf8Path, members: &BTreeSet<&str>, inventories: &Inventories) {
        // Another run, on other hosts, may have written meanwhile.
        let mut record = Self::read(cluster);
        if self.hosts.is_empty() && record.hosts.is_empty() {
            return;
        }
        for (host, entry) in self.hosts {
            if record.hosts.get(&host).is_none_or(|there| there.seen <= entry.seen) {
                record.hosts.insert(host, entry);
            }
        }
        record.hosts.retain(|host, _| inventories.keeps(members, host));
        record.version = VERSION;
        if let Err(error) = record.save(cluster) {
            tracing::warn!(%cluster, %error, "what was seen of the hosts cannot be recorded");
        }
    }

    fn save(&self, cluster: &Utf8Path) -> std::io::Result<()> {
        disk::replace(&cluster.join(FILE), &serde_json::to_vec(self)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_keeps_hosts_of_the_inventory() {
        let directory = tempfile::tempdir().unwrap();
        let cluster = Utf8Path::from_path(directory.path()).unwrap();
        let mut first = FleetRecord::default();
        for host in ["a", "b"] {
            first.put(host, 5, "base hostname", host.into());
        }
        let site = cluster.join("site.yaml");
        fs::write(&site, "").unwrap();
        let alone = Inventories::read(cluster, &site);
        first.write(cluster, &BTreeSet::from(["a", "b"]), &alone);
        let mut second = FleetRecord::read(cluster);
        assert_eq!(second.hosts.len(), 2);
        second.put("a", 9, "base hostname", "x".into());
        // Another inventory of the cluster may have the host that this one has not.
        alone.write(cluster).unwrap();
        let shared = Inventories::read(cluster, &cluster.join("other.yaml"));
        second.clone().write(cluster, &BTreeSet::from(["a"]), &shared);
        assert_eq!(FleetRecord::read(cluster).hosts.len(), 2);
        second.write(cluster, &BTreeSet::from(["a"]), &alone);
        let third = FleetRecord::read(cluster);
        assert_eq!(third.hosts.keys().collect::<Vec<_>>(), ["a"]);
        assert_eq!(third.hosts["a"].seen, 9);
        fs::write(cluster.join(FILE), "{\"version\":9,\"hosts\":{}}").unwrap();
        assert_eq!(FleetRecord::read(cluster), FleetRecord::default());
    }
}
