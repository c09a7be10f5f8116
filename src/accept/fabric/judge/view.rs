//! A fabric by names: what its nodes are called, and which ports are those of hosts.

use std::collections::{BTreeMap, BTreeSet};

use super::super::model::{Fabric, NodeKind, Place};
use super::super::names::{self, Counted, counted};
use super::finding::{CableEnd, CableEnds};
use super::wanted::{PlannedCable, Wanted};

/// A device of a host with one of its ports: what is at the same place in each host.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Rail {
    order: Counted,
    /// Name of the device.
    pub device: String,
    /// Number of its port.
    pub port: u32,
}

impl Rail {
    pub(super) fn new(device: &str, port: u32) -> Self {
        Self { order: counted(device), device: device.to_owned(), port }
    }
}

/// A fabric with the names of its nodes.
#[derive(Debug)]
pub(super) struct View<'a> {
    pub fabric: &'a Fabric,
    pub wanted: &'a Wanted,
    /// Host, as it is wanted, and device of adapters.
    pub adapters: BTreeMap<u64, (String, String)>,
    /// Hosts that are wanted and there, in the order of their numbers, with the places of their ports.
    pub hosts: Vec<(String, BTreeMap<Rail, Place>)>,
    /// The plan, with the names of hosts as they are wanted.
    pub plan: Vec<(&'a str, &'a PlannedCable)>,
    /// The same by host, device and port.
    pub planned: BTreeMap<(&'a str, &'a str, u32), &'a PlannedCable>,
    /// Adapters whose host nobody knows.
    pub nameless: usize,
    switches: BTreeMap<u64, String>,
}

impl<'a> View<'a> {
    pub(super) fn new(fabric: &'a Fabric, wanted: &'a Wanted) -> Self {
        let names = names::Hosts::new(&wanted.hosts);
        let mut adapters = BTreeMap::new();
        let mut nameless = 0;
        for (guid, node) in fabric.nodes.iter().filter(|(_, node)| node.kind == NodeKind::Adapter) {
            let known = wanted.adapters.get(guid).map(|(host, device)| (host.as_str(), device.as_str()));
            let Some((host, device)) = known.or_else(|| names::adapter(&node.description)) else {
                nameless += 1;
                continue;
            };
            match names.find(host) {
                Some(name) => {
                    adapters.insert(*guid, (name.to_owned(), device.to_owned()));
                }
                None => nameless += 1,
            }
        }
        let mut view = Self {
            fabric,
            wanted,
            adapters,
            hosts: Vec::new(),
            plan: Vec::new(),
            planned: BTreeMap::new(),
            nameless,
            switches: switch_names(fabric),
        };
        for cable in &wanted.plan {
            // A cable of a host that is not wanted says nothing.
            let Some(host) = names.find(&cable.host) else { continue };
            view.plan.push((host, cable));
            view.planned.insert((host, &cable.device, cable.device_port), cable);
        }
        view.hosts = view.of_hosts();
        view
    }

    /// Ports of hosts that have a cable. Of two adapters with one name the first counts.
    fn of_hosts(&self) -> Vec<(String, BTreeMap<Rail, Place>)> {
        let mut hosts: BTreeMap<(Counted, &str), BTreeMap<Rail, Place>> = BTreeMap::new();
        for (place, port) in &self.fabric.ports {
            let Some((host, device)) = self.adapters.get(&place.node) else { continue };
            if port.peer.is_none() {
                continue;
            }
            let rails = hosts.entry((counted(host), host)).or_default();
            rails.entry(Rail::new(device, place.port)).or_insert(*place);
        }
        hosts.into_iter().map(|((_, host), rails)| (host.to_owned(), rails)).collect()
    }

    /// Ports of hosts with host and rail.
    pub(super) fn host_ports(&self) -> impl Iterator<Item = (&str, &Rail, Place)> {
        self.hosts
            .iter()
            .flat_map(|(host, rails)| rails.iter().map(move |(rail, place)| (host.as_str(), rail, *place)))
    }

    /// Cables between switches.
    pub(super) fn trunks(&self) -> impl Iterator<Item = (Place, Place)> {
        let is_switch = |place: Place| self.fabric.is(place.node, NodeKind::Switch);
        self.fabric.cables().filter(move |(one, other)| is_switch(*one) && is_switch(*other))
    }

    /// The name of a node.
    pub(super) fn node(&self, guid: u64) -> String {
        if let Some((host, device)) = self.adapters.get(&guid) {
            return format!("{host} {device}");
        }
        if let Some(name) = self.switches.get(&guid) {
            return name.clone();
        }
        match self.fabric.nodes.get(&guid).map(|node| node.description.as_str()) {
            None | Some("") => format!("{guid:#018x}"),
            Some(description) => description.to_owned(),
        }
    }

    /// The host that a node is of, where it is wanted.
    pub(super) fn host(&self, guid: u64) -> Option<&str> {
        self.adapters.get(&guid).map(|(host, _)| host.as_str())
    }

    pub(super) fn end(&self, place: Place) -> CableEnd {
        CableEnd { node: self.node(place.node), port: Some(place.port) }
    }

    /// The cable in a port, with the host first.
    pub(super) fn cable(&self, place: Place) -> CableEnds {
        let Some(peer) = self.fabric.peer(place) else {
            return CableEnds { near: self.end(place), far: CableEnd { node: String::new(), port: None } };
        };
        let is_turned = self.fabric.is(place.node, NodeKind::Switch)
            && (!self.fabric.is(peer.node, NodeKind::Switch)
                || counted(&self.node(peer.node)) < counted(&self.node(place.node)));
        let (near, far) = if is_turned { (peer, place) } else { (place, peer) };
        CableEnds { near: self.end(near), far: self.end(far) }
    }

    /// Hosts at the ends of a cable.
    pub(super) fn hosts_at(&self, place: Place) -> Vec<String> {
        let nodes = [Some(place.node), self.fabric.peer(place).map(|peer| peer.node)];
        let hosts: BTreeSet<&str> = nodes.into_iter().flatten().filter_map(|node| self.host(node)).collect();
        hosts.into_iter().map(str::to_owned).collect()
    }

    /// The switch with a name, a description or a GUID.
    pub(super) fn switch(&self, name: &str) -> Option<u64> {
        let described = |guid: &u64| self.fabric.nodes.get(guid).is_some_and(|node| node.description == name);
        let written = name.strip_prefix("0x").and_then(|digits| u64::from_str_radix(digits, 16).ok());
        let mut known = self.switches.iter();
        known
            .find(|(guid, known)| known.as_str() == name || described(guid) || written == Some(**guid))
            .map(|(guid, _)| *guid)
    }
}

/// Short names of switches, and whole descriptions where two would have the same.
fn switch_names(fabric: &Fabric) -> BTreeMap<u64, String> {
    let switches = || fabric.nodes.iter().filter(|(_, node)| node.kind == NodeKind::Switch);
    let mut short: BTreeMap<&str, u32> = BTreeMap::new();
    let mut whole: BTreeMap<&str, u32> = BTreeMap::new();
    for (_, node) in switches() {
        *short.entry(names::switch(&node.description)).or_default() += 1;
        *whole.entry(&node.description).or_default() += 1;
    }
    let is_single = |names: &BTreeMap<&str, u32>, name: &str| !name.is_empty() && names.get(name) == Some(&1);
    switches()
        .map(|(guid, node)| {
            let description = node.description.as_str();
            let name = names::switch(description);
            let text = if is_single(&short, name) {
                name.to_owned()
            } else if is_single(&whole, description) {
                description.to_owned()
            } else {
                format!("{description} {guid:#018x}").trim_start().to_owned()
            };
            (*guid, text)
        })
        .collect()
}
