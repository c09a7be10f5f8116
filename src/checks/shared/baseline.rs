//! Counters against those of the last `verify`.

use std::collections::BTreeMap;

use super::subject::{Baseline, Subject};
use super::verdict::Verdict;
use crate::facts::base::ids::Ids;

impl Baseline {
    /// The counters of a host now; none where nothing is counted.
    pub fn of(subject: &Subject<'_>, now: &str) -> Option<Self> {
        let counters = counters(subject);
        if counters.is_empty() {
            return None;
        }
        let boot = subject.fact("facts.ids.boot_id", |ids: &Ids| &ids.boot_id).unwrap_or_default().to_owned();
        Some(Self { at: now.to_owned(), boot, counters })
    }
}

fn counters(subject: &Subject<'_>) -> BTreeMap<String, u64> {
    let mut counters = BTreeMap::new();
    if let Ok(rdma) = subject.rdma() {
        for device in rdma.devices.iter().flatten() {
            for port in &device.ports {
                for (name, count) in &port.counters {
                    counters.insert(format!("rdma {}/{} {name}", device.name, port.number), *count);
                }
            }
            let Some(net) = device.netdev() else { continue };
            let Some(netdev) = rdma.netdevs.get(net) else { continue };
            if let Some(changes) = netdev.carrier_changes {
                counters.insert(format!("net {net} carrier_changes"), changes);
            }
            if let Some(errors) = netdev.errors {
                counters.insert(format!("net {net} errors"), errors);
            }
        }
    }
    if let Ok(smi) = subject.smi() {
        for (index, gpu) in smi.gpus.iter().enumerate() {
            if let Some(replays) = gpu.replays {
                counters.insert(format!("gpu GPU{index} replays"), replays);
            }
        }
    }
    counters
}

/// A counter that grew: device, counter, by how much.
pub(in crate::checks) struct Growth {
    pub(in crate::checks) device: String,
    pub(in crate::checks) counter: String,
    pub(in crate::checks) by: u64,
}

/// Counters that grew since the last `verify`, and those that cannot grow any more.
pub(in crate::checks) struct Growths {
    pub(in crate::checks) grown: Vec<Growth>,
    /// Counters that stand at the highest number that they hold; `by` is that number.
    pub(in crate::checks) full: Vec<Growth>,
    /// When that verify was.
    pub(in crate::checks) at: String,
}

/// The highest number of a counter of a port, where one can be reached: those of `PortCounters` have 8 or 16 bits and
/// stay at the highest (drivers/infiniband/core/sysfs.c). The two of 4 bits are
/// full on most ports that ever ran, and tell nothing.
fn highest(counter: &str) -> Option<u64> {
    match counter {
        "link_downed" | "link_error_recovery" => Some(255),
        "symbol_error" | "port_rcv_errors" | "port_rcv_remote_physical_errors" | "port_xmit_discards" => {
            Some(65_535)
        }
        _ => None,
    }
}

/// Finds the counters of one group that a filter takes and that grew.
///
/// # Errors
/// The verdict when there is nothing to compare.
pub(in crate::checks) fn growth(
    subject: &Subject<'_>,
    group: &str,
    takes: impl Fn(&str) -> bool,
) -> Result<Growths, Verdict> {
    let now: Vec<(String, String, u64)> = counters(subject)
        .into_iter()
        .filter_map(|(key, count)| {
            let mut words = key.splitn(3, ' ');
            let (kind, device, counter) = (words.next()?, words.next()?, words.next()?);
            (kind == group && takes(counter)).then(|| (device.to_owned(), counter.to_owned(), count))
        })
        .collect();
    if now.is_empty() {
        return Err(Verdict::Skip("these devices have no such counters".to_owned()));
    }
    let Some(before) = subject.baseline else {
        return Err(Verdict::Skip(
            "this is the first verify; the next one compares its counters with these".to_owned(),
        ));
    };
    let rebooted =
        subject.fact("facts.ids.boot_id", |ids: &Ids| &ids.boot_id).is_ok_and(|boot| boot != before.boot);
    let (mut grown, mut full) = (Vec::new(), Vec::new());
    for (device, counter, count) in now {
        let key = format!("{group} {device} {counter}");
        let known = before.counters.get(&key).copied();
        let start = match known {
            // A device that is new has no growth that anybody can tell.
            None => continue,
            // Counters begin anew with a boot or when a driver is loaded.
            Some(old) if rebooted || count < old => 0,
            Some(old) => old,
        };
        // Links come up once in each boot.
        let usual = if rebooted && counter == "carrier_changes" { 2 } else { 0 };
        if count > start + usual {
            grown.push(Growth { device, counter, by: count - start });
        } else if highest(&counter) == Some(count) {
            full.push(Growth { device, counter, by: count });
        }
    }
    Ok(Growths { grown, full, at: before.at.get(..19).unwrap_or(&before.at).to_owned() })
}

pub(in crate::checks) fn from(growth: &Growth) -> String {
    match growth.device.split_once('/') {
        Some((device, port)) => {
            let name = growth.counter.strip_prefix("hw.");
            let folder = if name.is_some() { "hw_counters" } else { "counters" };
            format!(
                "/sys/class/infiniband/{device}/ports/{port}/{folder}/{}",
                name.unwrap_or(&growth.counter)
            )
        }
        None => format!("{} {}", growth.device, growth.counter),
    }
}
