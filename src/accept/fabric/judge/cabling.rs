//! Cables of hosts, by what most hosts do: device N of a host goes to the switch that device N of its
//! neighbours goes to.
//!
//! Hosts whose devices go to the same switches are a group; a large fabric has many of them, one for each set of
//! switches. A host that is alone, and a few cables away from a group, has wrong cables. Hosts with one cable each have
//! no such pattern, and are held against the hosts before and behind them.

use std::collections::{BTreeMap, BTreeSet};

use super::super::model::Place;
use super::super::names::{counted, many};
use super::finding::{FabricFault, FabricFinding, Severity};
use super::view::{Rail, View};

/// The switch that each device of a host goes to.
pub(super) type Leaves = BTreeMap<Rail, u64>;

/// Hosts that go to the same switches.
#[derive(Debug)]
struct Group {
    leaves: Leaves,
    hosts: usize,
}

/// The pattern of the cables.
#[derive(Debug)]
pub(super) struct Layout {
    /// Ports that most hosts have.
    pub common: BTreeSet<Rail>,
    /// Switches that hosts go to, in the order of the view's hosts.
    pub hosts: Vec<Leaves>,
    groups: Vec<Group>,
    /// Numbers of ports of each rail that a switch has.
    on_leaf: BTreeMap<u64, BTreeMap<Rail, usize>>,
}

/// A port that leads elsewhere, with where it should lead.
struct Odd<'a> {
    host: usize,
    rail: &'a Rail,
    leaf: Option<u64>,
    why: String,
    severity: Severity,
}

impl Layout {
    pub(super) fn new(view: &View<'_>) -> Self {
        let mut counts: BTreeMap<&Rail, usize> = BTreeMap::new();
        for (_, rails) in &view.hosts {
            for rail in rails.keys() {
                *counts.entry(rail).or_default() += 1;
            }
        }
        let half = view.hosts.len().div_ceil(2);
        // Of two hosts one is enough, and of more it takes more than half.
        let is_common =
            |count: usize| count * 2 > view.hosts.len() || (view.hosts.len() == 2 && count == half);
        let common: BTreeSet<Rail> =
            counts.into_iter().filter(|(_, count)| is_common(*count)).map(|(rail, _)| rail.clone()).collect();
        let leaf = |place: &Place| view.fabric.peer(*place).map(|peer| peer.node);
        let leaves = |rails: &BTreeMap<Rail, Place>| -> Leaves {
            let common = rails.iter().filter(|(rail, _)| common.contains(rail));
            common.filter_map(|(rail, place)| Some((rail.clone(), leaf(place)?))).collect()
        };
        let hosts: Vec<Leaves> = view.hosts.iter().map(|(_, rails)| leaves(rails)).collect();
        let mut groups: BTreeMap<&Leaves, usize> = BTreeMap::new();
        let mut on_leaf: BTreeMap<u64, BTreeMap<Rail, usize>> = BTreeMap::new();
        for leaves in &hosts {
            *groups.entry(leaves).or_default() += 1;
            for (rail, leaf) in leaves {
                *on_leaf.entry(*leaf).or_default().entry(rail.clone()).or_default() += 1;
            }
        }
        let groups =
            groups.into_iter().map(|(leaves, hosts)| Group { leaves: leaves.clone(), hosts }).collect();
        Self { common, hosts, groups, on_leaf }
    }

    /// The group that a host belongs to, or that it is a few cables away from.
    fn group(&self, leaves: &Leaves, least: usize) -> Option<&Group> {
        let far = |group: &Group| differing(leaves, &group.leaves).count();
        let is_near = |group: &&Group| {
            let far = far(group);
            let mut own: Vec<&u64> = leaves.values().collect();
            let mut theirs: Vec<&u64> = group
                .leaves
                .iter()
                .filter(|(rail, _)| leaves.contains_key(rail))
                .map(|(_, leaf)| leaf)
                .collect();
            own.sort_unstable();
            theirs.sort_unstable();
            far > 0 && (far * 2 <= leaves.len() || own == theirs)
        };
        let large = self
            .groups
            .iter()
            .filter(|group| group.hosts >= least && group.leaves.len() == self.common.len());
        large.filter(is_near).min_by_key(|group| (far(group), usize::MAX - group.hosts))
    }

    /// The switch that a port of a host should lead to: as its group does, or its neighbours.
    pub(super) fn expected(&self, host: usize, rail: &Rail) -> Option<u64> {
        let own = self.hosts.get(host)?;
        let agrees = |group: &&Group| group.hosts >= 2 && differing(own, &group.leaves).next().is_none();
        let group = if own.is_empty() {
            None
        } else {
            self.groups.iter().filter(agrees).max_by_key(|group| group.hosts)
        };
        let group = group.filter(|group| group.leaves.contains_key(rail)).or_else(|| self.group(own, 2));
        if let Some(leaf) = group.and_then(|group| group.leaves.get(rail)) {
            return Some(*leaf);
        }
        let beside = |at: usize| self.hosts.get(at).and_then(|leaves| leaves.get(rail)).copied();
        host.checked_sub(1).and_then(beside).or_else(|| beside(host + 1))
    }

    /// Whether most ports on a switch are of another rail.
    fn is_of_another_rail(&self, leaf: u64, rail: &Rail) -> bool {
        let Some(rails) = self.on_leaf.get(&leaf) else { return false };
        let all: usize = rails.values().sum();
        let own = rails.get(rail).copied().unwrap_or(0);
        rails.iter().any(|(other, count)| other != rail && *count > own && *count >= 2 && count * 2 > all)
    }

    /// Whether a switch has one host and otherwise joins switches that have more.
    fn is_spine(&self, view: &View<'_>, leaf: u64) -> bool {
        let ports = |leaf: &u64| self.on_leaf.get(leaf).map_or(0, |rails| rails.values().sum::<usize>());
        let mut joined = BTreeSet::new();
        for (one, other) in view.trunks() {
            if one.node == leaf {
                joined.insert(other.node);
            } else if other.node == leaf {
                joined.insert(one.node);
            }
        }
        ports(&leaf) == 1 && joined.iter().filter(|other| ports(other) >= 2).count() >= 2
    }
}

/// Rails on which two hosts go to different switches, with that of the second.
fn differing<'a>(one: &'a Leaves, other: &'a Leaves) -> impl Iterator<Item = (&'a Rail, u64)> {
    one.iter().filter_map(|(rail, leaf)| {
        let theirs = other.get(rail)?;
        (theirs != leaf).then_some((rail, *theirs))
    })
}

/// Judges where cables lead.
pub(super) fn judge(view: &View<'_>, layout: &Layout, findings: &mut Vec<FabricFinding>) {
    let mut odd = by_group(view, layout);
    if layout.common.len() > 1 && view.hosts.len() == 2 && odd.is_empty() {
        odd = of_two(view, layout);
    }
    if layout.common.len() == 1 {
        odd = by_order(view, layout);
    }
    for odd in odd {
        let Some((host, rails)) = view.hosts.get(odd.host) else { continue };
        let Some(place) = rails.get(odd.rail) else { continue };
        let cable = view.cable(*place);
        let to = odd.leaf.map_or_else(String::new, |leaf| {
            let port = free_port(view, odd.host, odd.rail, leaf);
            let port = port.map_or_else(String::new, |port| format!(" port {port}"));
            format!(" to {}{port}", view.node(leaf))
        });
        findings.push(FabricFinding {
            severity: odd.severity,
            fault: FabricFault::WrongCable,
            hosts: vec![host.clone()],
            text: format!("{cable}: {}", odd.why),
            action: format!(
                "move the cable of {host} {}{to}, or write down the plan of the cables",
                odd.rail.device
            ),
            cables: vec![cable],
        });
    }
}

/// Ports that lead elsewhere than those of a group.
fn by_group<'a>(view: &View<'_>, layout: &'a Layout) -> Vec<Odd<'a>> {
    let mut odd = Vec::new();
    for (host, leaves) in layout.hosts.iter().enumerate() {
        let size = layout.groups.iter().find(|group| group.leaves == *leaves).map_or(1, |group| group.hosts);
        let complete = layout.groups.iter().any(|group| {
            group.hosts >= 2
                && group.leaves.len() > leaves.len()
                && differing(leaves, &group.leaves).next().is_none()
        });
        if complete || layout.common.len() < 2 {
            continue;
        }
        let least = if size == 1 { 2 } else { size * 4 };
        let Some(group) = layout.group(leaves, least) else {
            odd.extend(by_rail(view, layout, host, leaves, size));
            continue;
        };
        let far = differing(leaves, &group.leaves).count();
        for (rail, leaf) in differing(leaves, &group.leaves) {
            let Some(here) = leaves.get(rail).copied() else { continue };
            let of_another_group = layout.groups.iter().any(|other| {
                other.hosts >= 2 && other.leaves.get(rail) == Some(&here) && other.leaves != *leaves
            });
            let is_odd = layout.is_of_another_rail(here, rail)
                || size == 1
                    && (of_another_group
                        || layout.is_spine(view, here)
                        || (layout.common.len() >= 4 && far * 4 <= layout.common.len()));
            if is_odd {
                let others = many(group.hosts, "other host", "other hosts");
                let why = format!("{} of {others} leads to {}", rail.device, view.node(leaf));
                odd.push(Odd { host, rail, leaf: Some(leaf), why, severity: Severity::Fail });
            }
        }
    }
    odd
}

/// Ports on a switch of another rail, where no group says more.
fn by_rail<'a>(
    view: &View<'_>,
    layout: &'a Layout,
    host: usize,
    leaves: &'a Leaves,
    size: usize,
) -> Vec<Odd<'a>> {
    let mut odd = Vec::new();
    for (rail, here) in
        leaves.iter().filter(|(rail, here)| size == 1 && layout.is_of_another_rail(**here, rail))
    {
        let mut others: BTreeMap<u64, usize> = BTreeMap::new();
        for leaf in layout.hosts.iter().filter_map(|other| other.get(rail)).filter(|leaf| *leaf != here) {
            *others.entry(*leaf).or_default() += 1;
        }
        let leaf = others.into_iter().max_by_key(|(_, count)| *count).map(|(leaf, _)| leaf);
        let to = leaf.map_or_else(String::new, |leaf| {
            format!(", and {} of other hosts leads to {}", rail.device, view.node(leaf))
        });
        let why = format!("most cables of {} are of another device{to}", view.node(*here));
        odd.push(Odd { host, rail, leaf, why, severity: Severity::Fail });
    }
    // Where most are, its devices have other names.
    if odd.len() * 2 > leaves.len() { Vec::new() } else { odd }
}

/// Two hosts have the same switches in another order: right is who has them in the order of their names.
fn of_two<'a>(view: &View<'_>, layout: &'a Layout) -> Vec<Odd<'a>> {
    let [one, other] = layout.hosts.as_slice() else { return Vec::new() };
    let sorted = |leaves: &Leaves| {
        let mut leaves: Vec<u64> = leaves.values().copied().collect();
        leaves.sort_unstable();
        leaves
    };
    if one == other || sorted(one) != sorted(other) {
        return Vec::new();
    }
    let is_ordered = |leaves: &Leaves| leaves.values().map(|leaf| counted(&view.node(*leaf))).is_sorted();
    let wrong: &[(usize, &'a Leaves, &'a Leaves)] = match (is_ordered(one), is_ordered(other)) {
        (true, false) => &[(1, other, one)],
        (false, true) => &[(0, one, other)],
        (true, true) | (false, false) => &[(0, one, other), (1, other, one)],
    };
    let severity = if wrong.len() == 1 { Severity::Fail } else { Severity::Warn };
    let mut odd = Vec::new();
    for (host, own, theirs) in wrong {
        for (rail, leaf) in differing(own, theirs) {
            let why = format!("{} of the other host leads to {}", rail.device, view.node(leaf));
            odd.push(Odd { host: *host, rail, leaf: Some(leaf), why, severity });
        }
    }
    odd
}

/// Hosts with one cable each: those between hosts that go elsewhere, where all others are in the order of their numbers.
fn by_order<'a>(view: &View<'_>, layout: &'a Layout) -> Vec<Odd<'a>> {
    let Some(rail) = layout.common.first() else { return Vec::new() };
    let row: Vec<(usize, u64)> = layout
        .hosts
        .iter()
        .enumerate()
        .filter_map(|(host, leaves)| Some((host, *leaves.get(rail)?)))
        .collect();
    let leaf = |at: Option<usize>| at.and_then(|at| row.get(at)).map(|(_, leaf)| *leaf);
    let mut odd: Vec<(usize, Option<u64>, bool)> = Vec::new();
    for (at, (_, here)) in row.iter().enumerate() {
        let before = leaf(at.checked_sub(1));
        let behind = leaf(Some(at + 1));
        let between = (before == behind).then_some(before).flatten();
        // The first and the last have neighbours on one side.
        let aside = match (before, behind) {
            (None, Some(next)) if leaf(Some(at + 2)) == Some(next) => Some(next),
            (Some(last), None) if leaf(at.checked_sub(2)) == Some(last) => Some(last),
            (None | Some(_), None | Some(_)) => None,
        };
        let is_spine = layout.is_spine(view, *here);
        let is_elsewhere = row.iter().filter(|(_, leaf)| leaf == here).count() > 1;
        let expected =
            between.or_else(|| aside.filter(|_| is_elsewhere || is_spine)).filter(|leaf| leaf != here);
        if expected.is_some() || is_spine {
            odd.push((at, expected, is_spine));
        }
    }
    let kept: Vec<u64> = (0..row.len())
        .filter(|at| odd.iter().all(|(other, ..)| other != at))
        .filter_map(|at| leaf(Some(at)))
        .collect();
    let most = (row.len() / 16).max(1);
    if odd.len() > most || !is_in_blocks(&kept) {
        odd.retain(|(_, _, is_spine)| *is_spine);
    }
    odd.into_iter()
        .filter_map(|(at, expected, is_spine)| {
            let (host, here) = row.get(at)?;
            let why = match (expected, is_spine) {
                (_, true) => {
                    format!("{} has no other host, and joins switches that have many", view.node(*here))
                }
                (Some(leaf), false) => format!("the hosts beside it lead to {}", view.node(leaf)),
                (None, false) => return None,
            };
            let severity = if is_spine { Severity::Fail } else { Severity::Warn };
            Some(Odd { host: *host, rail, leaf: expected, why, severity })
        })
        .collect()
}

/// Whether each value stands in one block of two and more.
fn is_in_blocks(row: &[u64]) -> bool {
    let mut seen = BTreeSet::new();
    row.chunk_by(|one, other| one == other)
        .all(|block| block.len() > 1 && block.first().is_some_and(|leaf| seen.insert(*leaf)))
}

/// The port of a switch that a cable of a host belongs to: free, and the one that the host has on other switches, or
/// between those of the hosts beside it.
pub(super) fn free_port(view: &View<'_>, host: usize, rail: &Rail, leaf: u64) -> Option<u32> {
    let is_free = |port: &u32| {
        let place = Place { node: leaf, port: *port };
        view.fabric.peer(place).is_none()
            && view.fabric.nodes.get(&leaf).is_some_and(|node| *port <= node.ports)
    };
    let (_, rails) = view.hosts.get(host)?;
    let peers =
        rails.iter().filter(|(other, _)| *other != rail).filter_map(|(_, place)| view.fabric.peer(*place));
    let mut others: Vec<u32> = peers.map(|peer| peer.port).collect();
    others.sort_unstable();
    let middle = others.get(others.len() / 2).copied();
    let is_most = |port: &u32| others.iter().filter(|other| *other == port).count() * 2 > others.len();
    if let Some(port) = middle.filter(is_most).filter(is_free) {
        return Some(port);
    }
    let port_of = |host: Option<usize>| {
        let (_, rails) = view.hosts.get(host?)?;
        let peer = view.fabric.peer(*rails.get(rail)?)?;
        (peer.node == leaf).then_some(peer.port)
    };
    let (before, behind) = (port_of(host.checked_sub(1))?, port_of(Some(host + 1))?);
    let port = before.min(behind) + 1;
    (before.abs_diff(behind) == 2).then_some(port).filter(is_free)
}
