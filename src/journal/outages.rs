//! Durations for which hosts were out of service when they were changed last, for the schedule of the next
//! plan.

use std::collections::{BTreeMap, BTreeSet};

use camino::Utf8Path;
use serde::{Deserialize, Serialize};

use super::{Inventories, JournalError, read_state, write_state};
use crate::events::Record;

/// The file in a cluster's directory.
const FILE: &str = "outages.json";

/// The last outage of each host that was drained, changed and given back.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Outages(BTreeMap<String, LastOutage>);

/// One of them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LastOutage {
    /// Classes that its changes interrupted.
    pub interrupts: BTreeSet<String>,
    /// Seconds from the drain until its jobs had ended.
    pub waited: f64,
    /// Seconds from then on until it was in service again.
    pub changed: f64,
}

impl Outages {
    /// Reads the outages of a cluster; none where no run has noted any.
    pub fn read(cluster: &Utf8Path) -> Self {
        read_state(&cluster.join(FILE))
    }

    /// Takes those of a run.
    pub fn note(&mut self, record: &Record) {
        for (name, host) in &record.hosts {
            let Some(outage) = &host.outage else { continue };
            let (Some(changing), Some(back)) = (outage.changing, outage.back) else { continue };
            let interrupts = host.plan.iter().flat_map(|task| task.interrupts()).map(str::to_owned).collect();
            let last = LastOutage { interrupts, waited: changing - outage.drained, changed: back - changing };
            self.0.insert(name.clone(), last);
        }
    }

    /// Writes them, without hosts that are in no inventory any more.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn write(
        mut self,
        cluster: &Utf8Path,
        members: &BTreeSet<&str>,
        inventories: &Inventories,
    ) -> Result<(), JournalError> {
        self.0.retain(|host, _| inventories.keeps(members, host));
        write_state(&cluster.join(FILE), &self)
    }

    /// Returns the last outage of a host, if its changes interrupted the same.
    pub fn of(&self, host: &str, interrupts: &BTreeSet<&str>) -> Option<&LastOutage> {
        self.0
            .get(host)
            .filter(|last| last.interrupts.iter().map(String::as_str).eq(interrupts.iter().copied()))
    }
}
