//! Links, managers, keys and counters.

use std::collections::BTreeMap;

use super::super::super::model::{Could, Keys, LinkState, ManagerState, Port};
use super::super::Severity;
use super::{EDR, HDR, Site, host, leaf};

/// A link of which a lane or two are dead, or that trained at less than its ends can do.
pub(super) fn narrow(port: &mut Port) {
    port.width = Some(2);
    port.could.width = Some(4);
}

pub(super) fn slow(port: &mut Port) {
    port.speed = Some(EDR);
    port.could.speed = Some(HDR);
}

#[test]
fn cards_that_can_do_no_more_are_of_another_kind() {
    let mut site = Site::rails(40, 2, 40);
    for number in 33..=40 {
        for rail in 0..2 {
            site.both(host(number, rail), |port| port.speed = Some(EDR));
        }
    }
    assert_eq!(site.said(), Vec::<String>::new());
    // One of sixteen may be the wrong card.
    let mut site = Site::rails(16, 2, 16);
    site.both(host(3, 1), |port| port.speed = Some(EDR));
    assert_eq!(site.said(), ["Warn Slow gpu3 mlx5_1 port 1 - leaf2 port 3"]);
    assert!(
        site.findings()[0]
            .text
            .ends_with("runs at EDR and its ends can do no more, and 15 links of mlx5_1 have HDR")
    );
}

#[test]
fn slow_and_narrow_links_are_named() {
    for hosts in [2, 16] {
        let mut site = Site::rails(hosts, 2, 16);
        site.both(host(2, 1), narrow);
        site.both(host(1, 0), slow);
        assert_eq!(
            site.said(),
            ["Fail Narrow gpu2 mlx5_1 port 1 - leaf2 port 2", "Fail Slow gpu1 mlx5_0 port 1 - leaf1 port 1"]
        );
    }
    let mut site = Site::racks(64, 1, 16);
    site.both(leaf(2, 101), slow);
    assert_eq!(site.said(), ["Fail Slow leaf2 port 101 - spine1 port 3"]);
    assert!(site.findings()[0].hosts.is_empty());
}

#[test]
fn a_device_may_be_slower_than_others_on_all_hosts() {
    let mut site = Site::rails(8, 3, 8);
    for number in 1..=8 {
        site.both(host(number, 2), |port| port.speed = Some(EDR));
    }
    assert_eq!(site.said(), Vec::<String>::new());
    site.wanted.speed = Some(HDR);
    assert_eq!(site.said().len(), 8);
    assert!(site.findings()[0].text.ends_with("the link runs at EDR, and HDR is asked for"));
    // Where both ends can do more, somebody should know.
    site.wanted.speed = None;
    for number in 1..=8 {
        site.both(host(number, 2), |port| port.could = Could { width: None, speed: Some(HDR) });
    }
    assert_eq!(site.said().len(), 1);
    assert_eq!(
        site.findings()[0].text,
        "gpu1 mlx5_2 port 1 - leaf3 port 1, gpu2 mlx5_2 port 1 - leaf3 port 2, gpu3 mlx5_2 port 1 - leaf3 port 3, \
         gpu4 mlx5_2 port 1 - leaf3 port 4 and 4 more: both ends can do HDR, and the link does less"
    );
    assert_eq!(site.findings()[0].severity, Severity::Warn);
}

#[test]
fn a_link_without_traffic_is_named_where_a_manager_is() {
    let mut site = Site::rails(4, 1, 4);
    site.both(host(3, 0), |port| port.state = LinkState::Initialize);
    assert_eq!(site.said(), ["Fail NotActive gpu3 mlx5_0 port 1 - leaf1 port 3"]);
    site.fabric.managers.clear();
    assert_eq!(site.said(), ["Fail NoManager "]);
}

#[test]
fn managers_are_judged() {
    let mut site = Site::rails(4, 1, 4);
    site.fabric.managers.truncate(1);
    assert_eq!(site.said(), ["Warn NoStandby gpu1 mlx5_0 port 1 - leaf1 port 1"]);
    let mut site = Site::rails(4, 1, 4);
    site.fabric.managers[1].state = ManagerState::Master;
    assert_eq!(
        site.said(),
        ["Fail ManyManagers gpu1 mlx5_0 port 1 - leaf1 port 1, gpu2 mlx5_0 port 1 - leaf1 port 2"]
    );
    // Ports follow one that waits.
    let mut site = Site::rails(4, 1, 4);
    site.fabric.managers[0].is_named = false;
    site.fabric.managers[1].is_named = true;
    assert_eq!(
        site.findings()[0].text,
        "ports take gpu2 mlx5_0 port 1 - leaf1 port 2 (priority 12) for their subnet manager, and the master is \
         gpu1 mlx5_0 port 1 - leaf1 port 1 (priority 13)"
    );
    let mut site = Site::rails(4, 1, 4);
    site.fabric.managers.remove(0);
    assert_eq!(
        site.findings()[0].text,
        "no subnet manager is master; gpu2 mlx5_0 port 1 - leaf1 port 2 (priority 12) waits for one to go"
    );
}

#[test]
fn keys_that_differ_are_named() {
    let mut site = Site::rails(16, 2, 16);
    site.fabric.keys.insert(host(3, 1), Keys::Read([0xffff, 0x8002].into()));
    assert_eq!(site.said(), ["Fail Keys gpu3 mlx5_1 port 1 - leaf2 port 3"]);
    assert_eq!(
        site.findings()[0].text,
        "gpu3 mlx5_1 port 1 - leaf2 port 3: the port has the partition keys 0xffff 0x8002, and 31 ports of hosts have 0xffff"
    );
    // Of two halves nobody is right.
    let mut site = Site::rails(2, 1, 2);
    site.fabric.keys.insert(host(2, 0), Keys::Read([0x8002].into()));
    assert_eq!(
        site.said(),
        ["Fail Keys gpu2 mlx5_0 port 1 - leaf1 port 2", "Fail Keys gpu1 mlx5_0 port 1 - leaf1 port 1"]
    );
    site.wanted.key = Some(0x8002);
    assert_eq!(site.said(), ["Fail Keys gpu1 mlx5_0 port 1 - leaf1 port 1"]);
    site.fabric.keys.insert(host(1, 0), Keys::Read([2].into()));
    assert!(site.findings()[0].text.contains("only as a limited member in partition 0x8002"));
    site.wanted.key = Some(2);
    assert_eq!(site.said(), Vec::<String>::new());
    site.fabric.keys.insert(host(1, 0), Keys::Unread);
    assert_eq!(site.said(), ["Warn Unread gpu1 mlx5_0 port 1 - leaf1 port 1"]);
}

#[test]
fn a_manager_may_be_a_full_member_alone() {
    let mut site = Site::rails(8, 1, 8);
    for number in 3..=8 {
        site.fabric.keys.insert(host(number, 0), Keys::Read([0x7fff].into()));
    }
    assert_eq!(site.said(), Vec::<String>::new());
}

#[test]
fn errors_that_rise_are_named_with_their_rate() {
    let mut site = Site::rails(4, 1, 4);
    let counters = |count: u64| BTreeMap::from([("SymbolErrorCounter".to_owned(), count)]);
    site.fabric.first.ports.insert(leaf(1, 3), counters(100));
    site.fabric.later.ports.insert(leaf(1, 3), counters(100));
    assert_eq!(site.said(), Vec::<String>::new(), "what was counted before says nothing");
    site.fabric.later.ports.insert(leaf(1, 3), counters(125));
    assert_eq!(site.said(), ["Fail Errors gpu3 mlx5_0 port 1 - leaf1 port 3"]);
    let finding = &site.findings()[0];
    assert_eq!(
        finding.text,
        "gpu3 mlx5_0 port 1 - leaf1 port 3: leaf1 port 3 counts errors: SymbolErrorCounter rose by 25, 2.50 per second over 10.0 s"
    );
    assert_eq!(finding.hosts, ["gpu3"]);
    // Both ends are one cable, and counters that were cleared begin again.
    site.fabric.first.ports.insert(host(3, 0), counters(9));
    site.fabric.later.ports.insert(host(3, 0), counters(4));
    assert_eq!(site.said().len(), 1);
    assert!(
        site.findings()[0].text.contains("gpu3 mlx5_0 port 1 counts errors: SymbolErrorCounter rose by 4")
    );
    let wait = BTreeMap::from([("PortXmitWait".to_owned(), 9), ("VL15Dropped".to_owned(), 9)]);
    let mut site = Site::rails(4, 1, 4);
    site.fabric.later.ports.insert(leaf(1, 3), wait);
    assert_eq!(site.said(), Vec::<String>::new());
    site.fabric.later.ports.insert(leaf(1, 3), BTreeMap::from([("PortXmitDiscards".to_owned(), 9)]));
    assert_eq!(site.said(), ["Warn Errors gpu3 mlx5_0 port 1 - leaf1 port 3"]);
    site.fabric.first.ports.insert(leaf(1, 3), counters(0xffff));
    site.fabric.later.ports.insert(leaf(1, 3), counters(0xffff));
    assert!(
        site.findings()[0]
            .text
            .ends_with("SymbolErrorCounter stands at its limit, so that a rise is not seen")
    );
    site.fabric.later.at = None;
    assert_eq!(site.said(), ["Warn Unread "]);
}
