//! States, widths and speeds of links.

use std::collections::BTreeMap;

use super::super::model::{LinkState, Place, Port, Speed};
use super::super::names::many;
use super::finding::{FabricFault, FabricFinding, Severity, written};
use super::view::View;

/// Fewest links from which a norm is taken.
const FEW: usize = 3;
/// Lanes of every cable of today; what a port could do beyond is of no use to it.
const LANES: u32 = 4;

/// Links that are held against each other.
struct Kind {
    /// Of what they are: `mlx5_2`, `hosts`.
    name: String,
    places: Vec<Place>,
}

impl Kind {
    /// Says what so many of them have.
    fn others(&self, count: usize, value: &str) -> String {
        let (links, have) = (many(count, "link", "links"), if count == 1 { "has" } else { "have" });
        format!("{links} of {} {have} {value}", self.name)
    }
}

/// Judges them.
pub(super) fn judge(view: &View<'_>, is_managed: bool, findings: &mut Vec<FabricFinding>) {
    for kind in kinds(view) {
        let ports: Vec<(Place, &Port)> =
            kind.places.iter().filter_map(|place| Some((*place, view.fabric.ports.get(place)?))).collect();
        if is_managed {
            states(view, &ports, findings);
        }
        let width = most(ports.iter().filter_map(|(_, port)| port.width));
        let speed = most(ports.iter().filter_map(|(_, port)| port.speed));
        let mut held_back = Vec::new();
        for (place, port) in &ports {
            let is_slow = speeds(view, &kind, *place, port, speed, findings);
            let is_narrow = widths(view, &kind, *place, port, width, findings);
            if !is_slow && !is_narrow && can_more(port) {
                held_back.push((*place, *port));
            }
        }
        below_both(view, &held_back, findings);
    }
}

/// Links of hosts by device, where there are some of it, and links between switches.
fn kinds(view: &View<'_>) -> Vec<Kind> {
    let mut rails: BTreeMap<_, Vec<Place>> = BTreeMap::new();
    for (_, rail, place) in view.host_ports() {
        rails.entry(rail).or_default().push(place);
    }
    let (mut kinds, mut rest) = (Vec::new(), Vec::new());
    for (rail, places) in rails {
        if places.len() < FEW {
            rest.extend(places);
        } else {
            kinds.push(Kind { name: rail.device.clone(), places });
        }
    }
    kinds.push(Kind { name: "hosts".to_owned(), places: rest });
    let trunks = view.trunks().map(|(one, _)| one).collect();
    kinds.push(Kind { name: "switches".to_owned(), places: trunks });
    kinds
}

/// The value that most have; of two that as many have, the higher one.
fn most<T: Ord + Copy>(values: impl Iterator<Item = T>) -> Option<(T, usize)> {
    let mut counts: BTreeMap<T, usize> = BTreeMap::new();
    for value in values {
        *counts.entry(value).or_default() += 1;
    }
    counts.into_iter().max_by_key(|(value, count)| (*count, *value))
}

/// Links that are up and carry nothing, though a manager is there.
fn states(view: &View<'_>, ports: &[(Place, &Port)], findings: &mut Vec<FabricFinding>) {
    for (place, port) in ports {
        let state = match port.state {
            LinkState::Unknown | LinkState::Active => continue,
            LinkState::Down => "Down",
            LinkState::Initialize => "Initialize",
            LinkState::Armed => "Armed",
        };
        let cable = view.cable(*place);
        findings.push(FabricFinding {
            severity: Severity::Fail,
            fault: FabricFault::NotActive,
            hosts: view.hosts_at(*place),
            text: format!("{cable}: the port is {state} ({}), and carries no traffic", port.physical),
            action: "look at the log of the subnet manager for this port; take the port down and up"
                .to_owned(),
            cables: vec![cable],
        });
    }
}

/// Demands on a link: of the plan, else of all links of hosts.
fn asked(view: &View<'_>, place: Place) -> (Option<Speed>, Option<u32>) {
    let Some((host, device)) = view.adapters.get(&place.node) else { return (None, None) };
    let planned = view.planned.get(&(host.as_str(), device.as_str(), place.port));
    let speed = planned.and_then(|cable| cable.speed).or(view.wanted.speed);
    let width = planned.and_then(|cable| cable.width).or(view.wanted.width);
    (speed, width)
}

/// Says that a link is slower than it must be.
fn speeds(
    view: &View<'_>,
    kind: &Kind,
    place: Place,
    port: &Port,
    norm: Option<(Speed, usize)>,
    findings: &mut Vec<FabricFinding>,
) -> bool {
    let Some(speed) = port.speed else { return false };
    let could = could(port, port.could.speed.is_some_and(|could| could > speed));
    let held = kind.held(speed, asked(view, place).0, norm, could);
    let Some((severity, why)) = held else { return false };
    push(view, place, severity, FabricFault::Slow, &format!("the link runs at {speed}{why}"), findings);
    true
}

/// Says that a link is narrower than it must be.
fn widths(
    view: &View<'_>,
    kind: &Kind,
    place: Place,
    port: &Port,
    norm: Option<(u32, usize)>,
    findings: &mut Vec<FabricFinding>,
) -> bool {
    let Some(width) = port.width else { return false };
    let could = could(port, port.could.width.is_some_and(|could| could > width));
    let held = kind.held(width, asked(view, place).1, norm, could);
    let Some((severity, why)) = held else { return false };
    let lanes = many(usize::try_from(width).unwrap_or(usize::MAX), "lane", "lanes");
    push(view, place, severity, FabricFault::Narrow, &format!("the link has {lanes}{why}"), findings);
    true
}

/// Whether the ends of a link can do more than it does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Ends {
    /// They can, or nobody said whether they can.
    CanMore,
    /// They cannot: a card or a switch of another kind.
    CanNoMore,
}

fn could(port: &Port, more: bool) -> Ends {
    if more || port.state == LinkState::Unknown { Ends::CanMore } else { Ends::CanNoMore }
}

impl Kind {
    /// What holds against a value of a link, where something does. Of cards that can do no more one may be the wrong one,
    /// and many are those of other hosts.
    fn held<T: Ord + Copy + ToString>(
        &self,
        value: T,
        asked: Option<T>,
        norm: Option<(T, usize)>,
        ends: Ends,
    ) -> Option<(Severity, String)> {
        if let Some(asked) = asked.filter(|asked| value < *asked) {
            return Some((Severity::Fail, format!(", and {} is asked for", asked.to_string())));
        }
        let (norm, count) = norm.filter(|(norm, _)| value < *norm)?;
        let others = self.others(count, &norm.to_string());
        let rest = self.places.len().saturating_sub(count);
        match ends {
            Ends::CanMore => Some((Severity::Fail, format!(", and {others}"))),
            Ends::CanNoMore if count >= FEW && rest <= (self.places.len() / 20).max(1) => {
                Some((Severity::Warn, format!(" and its ends can do no more, and {others}")))
            }
            Ends::CanNoMore => None,
        }
    }
}

fn push(
    view: &View<'_>,
    place: Place,
    severity: Severity,
    fault: FabricFault,
    text: &str,
    findings: &mut Vec<FabricFinding>,
) {
    let cable = view.cable(place);
    let action = match severity {
        Severity::Fail => {
            "reseat both ends of the cable and clean them, replace the cable, then try another port of the switch"
        }
        Severity::Warn => "look whether the card and the port of the switch are the ones that were ordered",
    };
    findings.push(FabricFinding {
        severity,
        fault,
        hosts: view.hosts_at(place),
        text: format!("{cable}: {text}"),
        action: action.to_owned(),
        cables: vec![cable],
    });
}

/// Whether both ends of a link can do more than it does.
fn can_more(port: &Port) -> bool {
    let is_faster = port.could.speed.is_some_and(|could| port.speed.is_none_or(|speed| could > speed));
    let is_wider =
        port.could.width.is_some_and(|could| port.width.is_some_and(|width| width < could.min(LANES)));
    is_faster || is_wider
}

/// Says of links that are all alike that both ends can do more: one finding, as it is one setting.
fn below_both(view: &View<'_>, held_back: &[(Place, &Port)], findings: &mut Vec<FabricFinding>) {
    let Some((_, port)) = held_back.first() else { return };
    let cables: Vec<_> = held_back.iter().map(|(place, _)| view.cable(*place)).collect();
    let could = match (port.could.speed, port.could.width.filter(|could| *could <= LANES)) {
        (Some(speed), Some(width)) => format!("{width} lanes of {speed}"),
        (Some(speed), None) => speed.to_string(),
        (None, Some(width)) => format!("{width} lanes"),
        (None, None) => return,
    };
    let mut hosts: Vec<String> = held_back.iter().flat_map(|(place, _)| view.hosts_at(*place)).collect();
    hosts.sort_unstable();
    hosts.dedup();
    findings.push(FabricFinding {
        severity: Severity::Warn,
        fault: if port.could.speed.is_some() { FabricFault::Slow } else { FabricFault::Narrow },
        hosts,
        text: format!("{}: both ends can do {could}, and the link does less", written(&cables)),
        action: "look whether a setting of the switch or of the subnet manager (force_link_speed_ext) holds it back, \
                 and whether the cable is made for it"
            .to_owned(),
        cables,
    });
}
