//! Recorded texts, and texts that nobody should print.

use super::super::model::{Fabric, Keys, LinkState, ManagerState, NodeKind, Place, Section};
use super::read;

/// Four hosts with two adapters, a switch for each of the two, and two spines: ibsim 0.10, opensm 3.3.23 and
/// infiniband-diags 44.0 of Debian 12.
const HEALTHY: &str = include_str!("../../../../tests/cases/fabric/healthy.txt");
const NO_MANAGER: &str = include_str!("../../../../tests/cases/fabric/no_manager.txt");
const TWO_MASTERS: &str = include_str!("../../../../tests/cases/fabric/two_masters.txt");
/// The example of ibnetdiscover(8), as a part of a text.
const MAN_PAGE: &str = include_str!("../../../../tests/cases/fabric/man_page.txt");

fn node(fabric: &Fabric, name: &str) -> u64 {
    *fabric.nodes.iter().find(|(_, node)| node.description == name).unwrap().0
}

#[test]
fn a_fabric_is_read_with_all_its_parts() {
    let fabric = read(HEALTHY);
    assert!(fabric.unread.is_empty(), "{:?}", fabric.unread);
    let of = |kind| fabric.nodes.values().filter(|node| node.kind == kind).count();
    assert_eq!((of(NodeKind::Adapter), of(NodeKind::Switch)), (8, 4));
    assert_eq!(fabric.cables().count(), 12);

    let adapter = Place { node: node(&fabric, "gpu3 mlx5_1"), port: 1 };
    let port = &fabric.ports[&adapter];
    let leaf = Place { node: node(&fabric, "MF0;leaf2:MQM8700/U1"), port: 3 };
    assert_eq!(port.peer, Some(leaf));
    assert_eq!(fabric.peer(leaf), Some(adapter));
    assert_eq!((port.state, port.physical.as_str()), (LinkState::Active, "LinkUp"));
    assert_eq!((port.width, port.speed.unwrap().to_string().as_str()), (Some(4), "HDR"));
    // The simulator says of each port that it can do twelve lanes.
    assert_eq!((port.could.width, port.could.speed), (Some(12), None));
    assert_eq!(fabric.keys[&adapter], Keys::Read([0xffff].into()));
    assert_eq!(fabric.keys.len(), 8);
    let down = Place { port: 8, ..leaf };
    assert_eq!((fabric.ports[&down].state, fabric.ports[&down].peer), (LinkState::Down, None));

    let [master, standby] = fabric.managers.as_slice() else { panic!("{:?}", fabric.managers) };
    assert_eq!((master.state, master.priority, master.is_named), (ManagerState::Master, 14, true));
    assert_eq!((standby.state, standby.priority, standby.is_named), (ManagerState::Standby, 12, false));
    assert_eq!(fabric.owners[&master.guid], Place { node: node(&fabric, "gpu1 mlx5_0"), port: 1 });
    assert!(fabric.window().unwrap() >= 1.0);
}

#[test]
fn managers_are_those_that_answer() {
    assert_eq!(read(NO_MANAGER).managers, []);
    let states: Vec<(ManagerState, bool)> =
        read(TWO_MASTERS).managers.iter().map(|manager| (manager.state, manager.is_named)).collect();
    assert_eq!(states, [(ManagerState::Master, true), (ManagerState::Master, false)]);
}

#[test]
fn the_example_of_the_manual_is_read() {
    let fabric = read(MAN_PAGE);
    assert_eq!(fabric.nodes.len(), 6);
    // It shows two of the switches' ports with one lane at one end only, as the manual has them.
    let switch = Place { node: 0x0054_42ba_0000_3080, port: 12 };
    let adapter = Place { node: 0x0008_f104_0396_0558, port: 1 };
    assert_eq!(fabric.peer(switch), Some(adapter));
    assert_eq!(fabric.ports[&adapter].width, Some(1));
    assert_eq!(fabric.ports[&switch].speed.unwrap().to_string(), "SDR");
    assert_eq!(fabric.nodes[&switch.node].description, "ISR9024 Voltaire");
    assert_eq!(fabric.owners[&0x0008_f104_0396_0559], adapter);
    assert!(fabric.unread.contains_key(&Section::Links));
}

#[test]
fn counters_have_two_forms() {
    let nodes = HEALTHY.split("=== links").next().unwrap();
    let gpu1 = "0xa088c20300010001";
    let text = format!(
        "{nodes}=== counters\n|at 10.00\n|Errors for \"gpu1 mlx5_0\"\n\
         |   GUID {gpu1} port 1: [SymbolErrorCounter == 65535] [PortXmitData == 123456789876 (459.912GB)]\n\
         |\n|## Summary: 12 nodes checked, 1 bad nodes found\n|##          3 PMA query failures\n|\n|!1\n\
         === counters_later\n|at 12.50\n|   GUID {gpu1} port 1: [SymbolErrorCounter == 66777 (65.212K)]\n\
         |   GUID {gpu1} port ALL: [SymbolErrorCounter == 9]\n|   GUID 0x77 port 1: [SymbolErrorCounter == 9]\n\
         |## Summary: 12 nodes checked, 1 bad nodes found\n=== end\n"
    );
    let fabric = read(&text);
    let place = fabric.owners[&0xa088_c203_0001_0001];
    assert_eq!(fabric.first.ports[&place]["SymbolErrorCounter"], 65535);
    assert_eq!(fabric.first.ports[&place]["PortXmitData"], 123_456_789_876);
    assert_eq!(fabric.first.unanswered, 3);
    assert_eq!(fabric.later.ports.len(), 1);
    assert_eq!(fabric.later.ports[&place]["SymbolErrorCounter"], 66777);
    assert_eq!(fabric.window(), Some(2.5));
}

#[test]
fn what_is_missing_is_said() {
    for (text, section, reason) in [
        ("", Section::Nodes, "nothing came"),
        ("=== nodes\n|\n|!124\n=== end\n", Section::Nodes, "it took too long"),
        (
            "=== nodes\n|?ibwarn: can't open UMAD port\n|\n|!1\n=== end\n",
            Section::Nodes,
            "ibwarn: can't open UMAD port",
        ),
        ("=== nodes\n|\n|!1\n=== end\n", Section::Nodes, "its program ended with status 1"),
        ("=== nodes\n", Section::Counters, "the host did not come to the end"),
    ] {
        assert_eq!(read(text).unread[&section], reason, "{text}");
    }
    let cut = &HEALTHY[..HEALTHY.find("=== counters_later").unwrap()];
    let fabric = read(cut);
    assert_eq!(fabric.unread.keys().copied().collect::<Vec<_>>(), [Section::Counters]);
    assert_eq!(fabric.window(), None);
}

#[test]
fn no_text_makes_it_panic() {
    // Lines of each kind, with each mark that means something in each place.
    for line in HEALTHY.lines().chain(MAN_PAGE.lines()).filter(|line| line.len() > 1).step_by(5) {
        for at in (0..=line.len()).filter(|at| line.is_char_boundary(*at)) {
            for middle in ["", "\"", ")==>", "[", "]", "# \"", "é", " lid ", "=== "] {
                let text = format!("=== nodes\n{line}\n=== links\n{}{middle}{}\n", &line[..at], &line[at..]);
                drop(read(&text));
                drop(read(&text.replace("links", "counters")));
                drop(read(&text.replace("links", "managers")));
                drop(read(&text.replace("links", "keys")));
            }
        }
    }
}

#[test]
fn a_node_cannot_begin_a_part() {
    // A description that holds a line's end is cleaned by the programs; even so it stands behind `|`.
    let fabric = read(
        "=== nodes\n|=== managers\n|sminfo: sm lid 1 sm guid 0x1, activity count 1 priority 0 state 3 X\n",
    );
    assert!(fabric.managers.is_empty());
}
