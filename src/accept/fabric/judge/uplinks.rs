//! Cables between switches: one that is out is seen as there are fewer of them than other switches have.

use std::collections::BTreeMap;

use super::super::model::Place;
use super::finding::{CableEnds, FabricFault, FabricFinding, Severity};
use super::view::View;

/// Fewest switches that make a pattern.
const FEW: usize = 3;

/// Judges switches that have hosts. Only where most of them have as many cables to each of the same switches is there a
/// pattern; a fabric may have been built otherwise.
pub(super) fn judge(view: &View<'_>, findings: &mut Vec<FabricFinding>) {
    let mut hosts: BTreeMap<u64, usize> = BTreeMap::new();
    for peer in view.host_ports().filter_map(|(_, _, place)| view.fabric.peer(place)) {
        *hosts.entry(peer.node).or_default() += 1;
    }
    // A spine with one host in it by mistake is none of them.
    let most = hosts.values().copied().max().unwrap_or(0);
    let leaves = hosts
        .into_iter()
        .filter(|(_, count)| *count > 1 || most == 1)
        .map(|(leaf, _)| (leaf, BTreeMap::new()));
    let mut leaves: BTreeMap<u64, BTreeMap<u64, Vec<Place>>> = leaves.collect();
    for (one, other) in view.trunks() {
        for (own, far) in [(one, other), (other, one)] {
            if let Some(cables) = leaves.get_mut(&own.node) {
                cables.entry(far.node).or_default().push(own);
            }
        }
    }
    let mut patterns: BTreeMap<BTreeMap<u64, usize>, usize> = BTreeMap::new();
    let counts = |cables: &BTreeMap<u64, Vec<Place>>| -> BTreeMap<u64, usize> {
        cables.iter().map(|(far, places)| (*far, places.len())).collect()
    };
    for cables in leaves.values() {
        *patterns.entry(counts(cables)).or_default() += 1;
    }
    let Some((pattern, count)) = patterns.into_iter().max_by_key(|(_, count)| *count) else { return };
    // Three of four, and three at least.
    if count < FEW || count * 4 < leaves.len() * 3 || pattern.is_empty() {
        return;
    }
    for (leaf, cables) in &leaves {
        for (far, wanted) in &pattern {
            let have = cables.get(far).map_or(0, Vec::len);
            if have >= *wanted {
                continue;
            }
            let of = |far: &u64| cables.get(far).into_iter().flatten();
            // Those that lead elsewhere instead, else those that are left.
            let surplus = cables
                .iter()
                .filter(|(other, places)| places.len() > pattern.get(*other).copied().unwrap_or(0));
            let mut places: Vec<Place> = surplus.flat_map(|(other, _)| of(other)).copied().collect();
            let is_elsewhere = !places.is_empty();
            if !is_elsewhere {
                places = of(far).copied().collect();
            }
            let ends: Vec<CableEnds> = places.iter().map(|place| view.cable(*place)).collect();
            let texts: Vec<String> = ends.iter().map(ToString::to_string).collect();
            let which = match (is_elsewhere, texts.is_empty()) {
                (_, true) => String::new(),
                (true, false) => format!("; it has more than others of {}", texts.join(", ")),
                (false, false) => format!("; it has {}", texts.join(", ")),
            };
            findings.push(FabricFinding {
                severity: Severity::Warn,
                fault: FabricFault::Uplinks,
                hosts: Vec::new(),
                cables: ends,
                text: format!(
                    "{} has {have} cables to {}, and {count} other switches have {wanted}{which}",
                    view.node(*leaf),
                    view.node(*far)
                ),
                action: "look at both switches for ports that are down, and at where their cables lead"
                    .to_owned(),
            });
        }
    }
}
