//! Partition keys of hosts' ports.

use std::collections::{BTreeMap, BTreeSet};

use super::super::model::{Keys, ManagerState, Place};
use super::super::names::many;
use super::finding::{CableEnds, FabricFault, FabricFinding, Severity, written};
use super::view::View;

/// The bit of a full member.
const FULL: u16 = 0x8000;
/// The partition in which everybody is, without that bit.
const DEFAULT: u16 = 0x7fff;

/// Judges them: against the partition that is wanted, else against what most ports have.
pub(super) fn judge(view: &View<'_>, findings: &mut Vec<FabricFinding>) {
    let mut unread = Vec::new();
    let mut sets: BTreeMap<BTreeSet<u16>, Vec<Place>> = BTreeMap::new();
    for (_, _, place) in view.host_ports() {
        match view.fabric.keys.get(&place) {
            Some(Keys::Read(keys)) => sets.entry(without_own(view, place, keys)).or_default().push(place),
            Some(Keys::Unread) | None => unread.push(place),
        }
    }
    if !unread.is_empty() && !sets.is_empty() {
        let text = "partition keys of the port could not be read";
        push(
            view,
            &unread,
            Severity::Warn,
            FabricFault::Unread,
            text,
            "ask it: `smpquery pkeys LID`",
            findings,
        );
    }
    match view.wanted.key {
        Some(key) => wanted(view, key, &sets, findings),
        None => different(view, &sets, findings),
    }
}

/// A manager's own port is a full member of the default partition where others are limited ones, which is as it should be.
fn without_own(view: &View<'_>, place: Place, keys: &BTreeSet<u16>) -> BTreeSet<u16> {
    let runs_here = view.fabric.managers.iter().any(|manager| {
        matches!(manager.state, ManagerState::Master | ManagerState::Standby)
            && view.fabric.owners.get(&manager.guid) == Some(&place)
    });
    let mut keys = keys.clone();
    let is_limited = |others: &Keys| match others {
        Keys::Read(others) => others.contains(&DEFAULT) && !others.contains(&(DEFAULT | FULL)),
        Keys::Unread => false,
    };
    if runs_here && view.fabric.keys.values().any(is_limited) && keys.remove(&(DEFAULT | FULL)) {
        keys.insert(DEFAULT);
    }
    keys
}

/// Ports that are not in the partition, or only as limited members, who do not reach each other.
fn wanted(
    view: &View<'_>,
    key: u16,
    sets: &BTreeMap<BTreeSet<u16>, Vec<Place>>,
    findings: &mut Vec<FabricFinding>,
) {
    for (keys, places) in sets {
        let is_full = keys.contains(&(key | FULL));
        let is_limited = keys.contains(&(key & !FULL));
        if is_full || (is_limited && key & FULL == 0) {
            continue;
        }
        let how = if is_limited { "only as a limited member" } else { "not" };
        let text = format!("the port is {how} in partition {key:#06x}; it has {}", names(keys));
        let action = "add its GUID to the partition, in partitions.conf of the subnet manager or in UFM";
        push(view, places, Severity::Fail, FabricFault::Keys, &text, action, findings);
    }
}

/// Ports that have others than most.
fn different(view: &View<'_>, sets: &BTreeMap<BTreeSet<u16>, Vec<Place>>, findings: &mut Vec<FabricFinding>) {
    let Some((most, count)) = sets
        .iter()
        .map(|(keys, places)| (keys, places.len()))
        .max_by_key(|(keys, count)| (*count, keys.len()))
    else {
        return;
    };
    let is_tied = sets.iter().any(|(keys, places)| keys != most && places.len() == count);
    for (keys, places) in sets {
        if keys == most && !is_tied {
            continue;
        }
        let others = sets.iter().filter(|(other, _)| *other != keys).max_by_key(|(_, places)| places.len());
        let Some((theirs, other_places)) = others else { continue };
        let text = format!(
            "the port has the partition keys {}, and {} {}",
            names(keys),
            many(other_places.len(), "port of hosts has", "ports of hosts have"),
            names(theirs)
        );
        let action = "give hosts that belong together the same partitions, in partitions.conf of the subnet manager or in UFM";
        push(view, places, Severity::Fail, FabricFault::Keys, &text, action, findings);
    }
}

fn names(keys: &BTreeSet<u16>) -> String {
    let words: Vec<String> = keys.iter().rev().map(|key| format!("{key:#06x}")).collect();
    if words.is_empty() { "none".to_owned() } else { words.join(" ") }
}

/// One finding for all ports that have the same: it is one setting.
fn push(
    view: &View<'_>,
    places: &[Place],
    severity: Severity,
    fault: FabricFault,
    text: &str,
    action: &str,
    findings: &mut Vec<FabricFinding>,
) {
    let cables: Vec<CableEnds> = places.iter().map(|place| view.cable(*place)).collect();
    let mut hosts: Vec<String> = Vec::new();
    for place in places {
        hosts.extend(
            view.host(place.node).filter(|host| hosts.iter().all(|known| known != host)).map(str::to_owned),
        );
    }
    findings.push(FabricFinding {
        severity,
        fault,
        hosts,
        text: format!("{}: {text}", written(&cables)),
        action: action.to_owned(),
        cables,
    });
}
