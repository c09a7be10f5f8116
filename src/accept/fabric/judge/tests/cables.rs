//! Cables that lead elsewhere, or are out.

use super::super::PlannedCable;
use super::{Site, host, leaf, spine};

#[test]
fn hosts_in_turn_on_two_switches_are_as_they_were_meant() {
    let mut site = Site::switches(2);
    for number in 1..=16 {
        site.host(number, 0, leaf(number % 2 + 1, number));
    }
    assert_eq!(site.said(), Vec::<String>::new());
}

#[test]
fn racks_that_share_a_switch_are_groups_of_their_own() {
    // Device 0 of all hosts goes to one switch, and device 1 to that of the rack; the last rack has one host.
    let mut site = Site::switches(4);
    for number in 1..=17 {
        site.host(number, 0, leaf(1, number));
        site.host(number, 1, leaf(2 + (number - 1) / 8, number));
    }
    assert_eq!(site.said(), Vec::<String>::new());
}

#[test]
fn a_cable_on_the_switch_of_another_rail_is_named() {
    let mut site = Site::rails(16, 4, 16);
    site.cut(host(3, 2));
    site.connect(host(3, 2), leaf(4, 17));
    assert_eq!(site.said(), ["Fail WrongCable gpu3 mlx5_2 port 1 - leaf4 port 17"]);
    let finding = &site.findings()[0];
    assert_eq!(finding.text, "gpu3 mlx5_2 port 1 - leaf4 port 17: mlx5_2 of 15 other hosts leads to leaf3");
    assert_eq!(
        finding.action,
        "move the cable of gpu3 mlx5_2 to leaf3 port 3, or write down the plan of the cables"
    );
    assert_eq!(finding.hosts, ["gpu3"]);
}

#[test]
fn swapped_cables_are_named_both() {
    for hosts in [2, 3, 4, 16] {
        let mut site = Site::rails(hosts, 2, 16);
        site.swap(host(2, 0), host(2, 1));
        assert_eq!(
            site.said(),
            [
                "Fail WrongCable gpu2 mlx5_0 port 1 - leaf2 port 2",
                "Fail WrongCable gpu2 mlx5_1 port 1 - leaf1 port 2"
            ],
            "{hosts} hosts"
        );
    }
}

#[test]
fn a_cable_in_another_unit_is_named() {
    let mut site = Site::rails(64, 8, 32);
    site.swap(host(5, 3), host(40, 3));
    assert_eq!(
        site.said(),
        [
            "Fail WrongCable gpu5 mlx5_3 port 1 - leaf12 port 8",
            "Fail WrongCable gpu40 mlx5_3 port 1 - leaf4 port 5"
        ]
    );
}

#[test]
fn the_same_mistake_on_two_hosts_is_named() {
    let mut site = Site::rails(32, 4, 32);
    site.swap(host(7, 1), host(7, 2));
    site.swap(host(9, 1), host(9, 2));
    assert_eq!(site.said().len(), 4);
    assert_eq!(site.said()[3], "Fail WrongCable gpu9 mlx5_2 port 1 - leaf2 port 9");
}

#[test]
fn a_cable_in_a_spine_is_named() {
    let mut site = Site::racks(32, 1, 8);
    site.cut(host(8, 0));
    site.connect(host(8, 0), spine(1, 60));
    assert_eq!(site.said(), ["Fail WrongCable gpu8 mlx5_0 port 1 - spine1 port 60"]);
    let mut site = Site::racks(32, 2, 8);
    site.cut(host(8, 1));
    site.connect(host(8, 1), spine(1, 60));
    assert_eq!(site.said(), ["Fail WrongCable gpu8 mlx5_1 port 1 - spine1 port 60"]);
}

#[test]
fn a_host_with_one_cable_is_held_against_those_beside_it() {
    let mut site = Site::racks(128, 1, 16);
    site.swap(host(20, 0), host(100, 0));
    assert_eq!(
        site.said(),
        [
            "Warn WrongCable gpu20 mlx5_0 port 1 - leaf7 port 4",
            "Warn WrongCable gpu100 mlx5_0 port 1 - leaf2 port 4"
        ]
    );
}

#[test]
fn two_hosts_of_different_racks_say_nothing() {
    let mut site = Site::switches(3);
    for (number, second) in [(1, 2), (2, 3)] {
        site.host(number, 0, leaf(1, number));
        site.host(number, 1, leaf(second, number));
    }
    assert_eq!(site.said(), Vec::<String>::new());
}

#[test]
fn a_plan_says_where_cables_lead() {
    let mut site = Site::rails(4, 2, 4);
    let plan = |number: usize, rail: usize| PlannedCable {
        host: format!("gpu{number}"),
        device: format!("mlx5_{rail}"),
        device_port: 1,
        switch: format!("leaf{}", rail + 1),
        switch_port: u32::try_from(number).unwrap(),
        speed: None,
        width: None,
    };
    site.wanted.plan = (1..=4).flat_map(|number| (0..2).map(move |rail| plan(number, rail))).collect();
    assert_eq!(site.said(), Vec::<String>::new());
    // Both are on the right switch, so that only a plan tells.
    site.swap(host(1, 0), host(2, 0));
    site.cut(host(3, 1));
    assert_eq!(
        site.said(),
        [
            "Fail AdapterAbsent gpu3 mlx5_1 port 1 - leaf2 port 3",
            "Fail WrongCable gpu1 mlx5_0 port 1 - leaf1 port 2",
            "Fail WrongCable gpu2 mlx5_0 port 1 - leaf1 port 1",
        ]
    );
    assert_eq!(site.findings()[1].text, "gpu1 mlx5_0 port 1 - leaf1 port 2: the plan has leaf1 port 1");
    // A switch by its whole description and by its GUID.
    for (number, name) in ["MF0;leaf1:MQM8700/U1", "0x0000000000200001"].into_iter().enumerate() {
        site.wanted.plan = vec![PlannedCable { switch: name.to_owned(), ..plan(4, 0) }];
        assert_eq!(site.said(), Vec::<String>::new(), "{number}");
    }
    site.wanted.plan = vec![PlannedCable { switch: "leaf9".to_owned(), ..plan(4, 0) }];
    assert_eq!(site.said(), ["Fail WrongCable gpu4 mlx5_0 port 1 - leaf1 port 4"]);
}

#[test]
fn an_adapter_that_is_not_there_is_named_with_where_it_belongs() {
    let mut site = Site::rails(16, 8, 16);
    site.cut(host(5, 6));
    assert_eq!(site.said(), ["Fail AdapterAbsent gpu5 mlx5_6 port 1 - leaf7 port 5"]);
    // Only the hosts beside it say which port it is.
    let mut site = Site::racks(16, 2, 8);
    site.cut(host(5, 0));
    assert_eq!(site.said(), ["Fail AdapterAbsent gpu5 mlx5_0 port 1 - leaf1, port unknown"]);
    // A host of another kind has few of them.
    let mut site = Site::rails(16, 8, 16);
    for rail in 1..8 {
        site.cut(host(5, rail));
    }
    assert_eq!(site.said(), Vec::<String>::new());
}

#[test]
fn a_host_that_is_not_there_is_named() {
    let mut site = Site::rails(4, 1, 4);
    site.wanted.hosts.push("gpu5".to_owned());
    site.fabric.nodes.get_mut(&host(4, 0).node).unwrap().description =
        "MT4123 ConnectX6 Mellanox Technologies".into();
    assert_eq!(site.said(), ["Fail HostAbsent ", "Fail HostAbsent "]);
    assert!(
        site.findings()[1].text.starts_with("no adapter of gpu5 is in the fabric; 1 adapter has none of")
    );
    site.wanted.adapters.insert(host(4, 0).node, ("gpu4.example.org".to_owned(), "mlx5_0".to_owned()));
    assert_eq!(site.findings().len(), 1);
}

#[test]
fn devices_under_other_names_are_there() {
    let mut site = Site::rails(16, 4, 16);
    // Its first device is of Ethernet, and all names are one higher.
    for rail in 0..4 {
        site.fabric.nodes.get_mut(&host(5, rail).node).unwrap().description =
            format!("gpu5 mlx5_{}", rail + 1);
    }
    assert_eq!(site.said(), Vec::<String>::new());
}

#[test]
fn a_cable_between_switches_that_is_out_is_named() {
    let mut site = Site::racks(128, 1, 16);
    site.cut(leaf(5, 103));
    assert_eq!(site.said(), ["Warn Uplinks leaf5 port 104 - spine2 port 10"]);
    site.connect(leaf(5, 103), spine(1, 70));
    assert_eq!(
        site.said(),
        [
            "Warn Uplinks leaf5 port 101 - spine1 port 9, leaf5 port 102 - spine1 port 10, leaf5 port 103 - spine1 port 70"
        ]
    );
}
