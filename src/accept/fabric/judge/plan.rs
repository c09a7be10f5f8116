//! Cables of hosts, against a plan.

use std::collections::BTreeMap;

use super::super::model::Place;
use super::finding::{CableEnd, CableEnds, FabricFault, FabricFinding, Severity};
use super::view::View;
use super::wanted::PlannedCable;

/// Judges each cable of the plan.
pub(super) fn judge(view: &View<'_>, findings: &mut Vec<FabricFinding>) {
    let there: BTreeMap<&str, _> = view.hosts.iter().map(|(host, rails)| (host.as_str(), rails)).collect();
    for (host, planned) in &view.plan {
        // A wanted host that is not there is a finding of its own.
        let Some(rails) = there.get(host) else { continue };
        let port =
            rails.iter().find(|(rail, _)| rail.device == planned.device && rail.port == planned.device_port);
        let text = ends(planned);
        let Some((_, place)) = port else {
            findings.push(FabricFinding {
                severity: Severity::Fail,
                fault: FabricFault::AdapterAbsent,
                hosts: vec![(*host).to_owned()],
                text: format!("{text}: there is no link"),
                action: format!(
                    "look at `ibstat {}` on {host} and at both ends of the cable; reseat it, then replace it",
                    planned.device
                ),
                cables: vec![text],
            });
            continue;
        };
        let wanted = view.switch(&planned.switch).map(|node| Place { node, port: planned.switch_port });
        if view.fabric.peer(*place) == wanted && wanted.is_some() {
            continue;
        }
        let cable = view.cable(*place);
        findings.push(FabricFinding {
            severity: Severity::Fail,
            fault: FabricFault::WrongCable,
            hosts: vec![(*host).to_owned()],
            text: format!("{cable}: the plan has {} port {}", planned.switch, planned.switch_port),
            action: format!("move the cable of {host} {} to {}", planned.device, text.far),
            cables: vec![cable],
        });
    }
}

fn ends(planned: &PlannedCable) -> CableEnds {
    CableEnds {
        near: CableEnd {
            node: format!("{} {}", planned.host, planned.device),
            port: Some(planned.device_port),
        },
        far: CableEnd { node: planned.switch.clone(), port: Some(planned.switch_port) },
    }
}
