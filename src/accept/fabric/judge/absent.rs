//! Hosts and adapters that are not in the fabric: a cable that is out, a port or a card that is dead.

use std::collections::BTreeSet;

use super::super::names::many;
use super::cabling::{Layout, free_port};
use super::finding::{CableEnd, CableEnds, FabricFault, FabricFinding, Severity, written};
use super::view::View;

/// Hosts of which no adapter is there.
pub(super) fn hosts(view: &View<'_>, findings: &mut Vec<FabricFinding>) {
    let there: BTreeSet<&String> = view.hosts.iter().map(|(host, _)| host).collect();
    for host in view.wanted.hosts.iter().filter(|name| !there.contains(name)) {
        let planned = view.plan.iter().filter(|(of, _)| of == host);
        let cables: Vec<CableEnds> = planned
            .map(|(_, cable)| CableEnds {
                near: CableEnd { node: format!("{host} {}", cable.device), port: Some(cable.device_port) },
                far: CableEnd { node: cable.switch.clone(), port: Some(cable.switch_port) },
            })
            .collect();
        let places = if cables.is_empty() { String::new() } else { format!(": {}", written(&cables)) };
        let unknown = match view.nameless {
            0 => String::new(),
            some => {
                let adapters = many(some, "adapter has", "adapters have");
                format!("; {adapters} none of the hosts' names in the description")
            }
        };
        findings.push(FabricFinding {
            severity: Severity::Fail,
            fault: FabricFault::HostAbsent,
            hosts: vec![host.clone()],
            cables,
            text: format!("no adapter of {host} is in the fabric{places}{unknown}"),
            action: "look at `ibstat` on the host: its link layer must be InfiniBand and its port up; look at the cables; \
                     rdma-ndd writes the name into the description"
                .to_owned(),
        });
    }
}

/// Adapters that most hosts have in the fabric, and one has not. A host with few of them is of another kind.
pub(super) fn adapters(view: &View<'_>, layout: &Layout, findings: &mut Vec<FabricFinding>) {
    let severity = if view.hosts.len() > 2 { Severity::Fail } else { Severity::Warn };
    for (at, ((host, rails), leaves)) in view.hosts.iter().zip(&layout.hosts).enumerate() {
        // One that has as many has them under other names.
        if leaves.len() * 2 < layout.common.len() || rails.len() >= layout.common.len() {
            continue;
        }
        for rail in layout.common.iter().filter(|rail| !rails.contains_key(rail)) {
            let leaf = layout.expected(at, rail);
            let far = leaf.map_or(CableEnd { node: String::new(), port: None }, |leaf| CableEnd {
                node: view.node(leaf),
                port: free_port(view, at, rail, leaf),
            });
            let near = CableEnd { node: format!("{host} {}", rail.device), port: Some(rail.port) };
            let cable = CableEnds { near, far };
            let others = view.hosts.iter().filter(|(_, rails)| rails.contains_key(rail)).count();
            findings.push(FabricFinding {
                severity,
                fault: FabricFault::AdapterAbsent,
                hosts: vec![host.clone()],
                text: format!(
                    "{cable}: there is no link, and {} one there",
                    many(others, "other host has", "other hosts have")
                ),
                action: format!(
                    "look at `ibstat {}` on {host} and at both ends of the cable; reseat it, then replace it",
                    rail.device
                ),
                cables: vec![cable],
            });
        }
    }
}
