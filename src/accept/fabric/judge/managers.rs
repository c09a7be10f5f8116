//! Managers of the subnet.

use super::super::model::{Manager, ManagerState, NodeKind, Place, Section};
use super::finding::{FabricFault, FabricFinding, Severity};
use super::view::View;

/// Judges them, and returns whether the fabric has a master: without one there is more that is wrong and says nothing.
pub(super) fn judge(view: &View<'_>, findings: &mut Vec<FabricFinding>) -> bool {
    if view.fabric.unread.contains_key(&Section::Managers) {
        return true;
    }
    let of = |state: ManagerState| -> Vec<&Manager> {
        view.fabric.managers.iter().filter(|manager| manager.state == state).collect()
    };
    let (masters, standbys) = (of(ManagerState::Master), of(ManagerState::Standby));
    let named = view.fabric.managers.iter().find(|manager| manager.is_named);
    let is_named_master = named.is_some_and(|manager| manager.state == ManagerState::Master);
    if masters.is_empty() {
        let waiting = names(view, &standbys);
        let and = if waiting.is_empty() { String::new() } else { format!("; {waiting} waits for one to go") };
        findings.push(FabricFinding {
            severity: Severity::Fail,
            fault: FabricFault::NoManager,
            hosts: view.wanted.hosts.clone(),
            cables: Vec::new(),
            text: format!("no subnet manager is master{and}"),
            action: "start the subnet manager of a switch, of UFM, or opensm on one host; `sminfo` shows it"
                .to_owned(),
        });
    } else if masters.len() > 1 || !is_named_master {
        let others: Vec<&Manager> = match named.filter(|_| masters.len() == 1) {
            Some(named) => masters.iter().copied().chain([named]).collect(),
            None => masters.clone(),
        };
        let text = match named {
            _ if masters.len() > 1 => {
                format!("{} subnet managers are master: {}", masters.len(), names(view, &masters))
            }
            Some(named) => format!(
                "ports take {} for their subnet manager, and the master is {}",
                names(view, &[named]),
                names(view, &masters)
            ),
            None => {
                format!("the subnet manager that ports name is gone; the master is {}", names(view, &masters))
            }
        };
        findings.push(FabricFinding {
            severity: Severity::Fail,
            fault: FabricFault::ManyManagers,
            hosts: view.wanted.hosts.clone(),
            cables: others
                .iter()
                .filter_map(|manager| place(view, manager))
                .map(|at| view.cable(at))
                .collect(),
            text,
            action: "stop all but one and its standby, give them different priorities, and the same SM_Key"
                .to_owned(),
        });
    } else if standbys.is_empty() {
        findings.push(FabricFinding {
            severity: Severity::Warn,
            fault: FabricFault::NoStandby,
            hosts: Vec::new(),
            cables: masters
                .iter()
                .filter_map(|manager| place(view, manager))
                .map(|at| view.cable(at))
                .collect(),
            text: format!("no subnet manager stands by for {}", names(view, &masters)),
            action:
                "start a second one with a lower priority; one that UFM starts by itself is not seen here"
                    .to_owned(),
        });
    }
    !masters.is_empty()
}

/// The adapter's port that a manager runs on; none for one inside of a switch.
fn place(view: &View<'_>, manager: &Manager) -> Option<Place> {
    let place = view.fabric.owners.get(&manager.guid)?;
    (!view.fabric.is(place.node, NodeKind::Switch)).then_some(*place)
}

/// Managers with where they run: both ends of the cable, or the switch.
fn names(view: &View<'_>, managers: &[&Manager]) -> String {
    let name = |manager: &&Manager| {
        let priority = manager.priority;
        let owner = view.fabric.owners.get(&manager.guid);
        match (place(view, manager), owner) {
            (Some(place), _) => format!("{} (priority {priority})", view.cable(place)),
            (None, Some(owner)) => format!("{} (priority {priority})", view.node(owner.node)),
            (None, None) => format!("{:#018x} (priority {priority})", manager.guid),
        }
    };
    managers.iter().map(name).collect::<Vec<_>>().join(" and ")
}
