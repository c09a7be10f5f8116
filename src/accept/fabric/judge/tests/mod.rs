//! Fabrics of many shapes: good ones of which nothing is said, and one fault in each.

mod cables;
mod links;

use super::super::model::{
    Fabric, Keys, LinkState, Manager, ManagerState, Node, NodeKind, Place, Port, Reading, Speed,
};
use super::{FabricFault, FabricFinding, PlannedCable, Severity, Wanted, judge};

const HDR: Speed = Speed { megabits: 53_125 };
const EDR: Speed = Speed { megabits: 25_781 };

/// A fabric with hosts `gpu1`, `gpu2` …, devices `mlx5_0` …, switches `leaf1` … and `spine1`, `spine2`.
struct Site {
    fabric: Fabric,
    wanted: Wanted,
}

fn host(number: usize, rail: usize) -> Place {
    Place { node: 0x10_0000 + (number as u64) * 0x100 + (rail as u64) * 0x10, port: 1 }
}

fn leaf(number: usize, port: usize) -> Place {
    Place { node: 0x20_0000 + number as u64, port: u32::try_from(port).unwrap() }
}

fn spine(number: usize, port: usize) -> Place {
    Place { node: 0x30_0000 + number as u64, port: u32::try_from(port).unwrap() }
}

impl Site {
    /// Device N of `per_leaf` hosts goes to one switch, and of the next ones to another.
    fn rails(hosts: usize, rails: usize, per_leaf: usize) -> Self {
        let leaves = hosts.div_ceil(per_leaf) * rails;
        let mut site = Self::switches(leaves);
        for number in 1..=hosts {
            let row = (number - 1) / per_leaf;
            for rail in 0..rails {
                site.host(number, rail, leaf(row * rails + rail + 1, (number - 1) % per_leaf + 1));
            }
        }
        site
    }

    /// All devices of `per_leaf` hosts go to one switch.
    fn racks(hosts: usize, rails: usize, per_leaf: usize) -> Self {
        let mut site = Self::switches(hosts.div_ceil(per_leaf));
        for number in 1..=hosts {
            for rail in 0..rails {
                let port = (number - 1) % per_leaf * rails + rail + 1;
                site.host(number, rail, leaf((number - 1) / per_leaf + 1, port));
            }
        }
        site
    }

    fn switches(leaves: usize) -> Self {
        let mut site = Self { fabric: Fabric::default(), wanted: Wanted::default() };
        let node = |name: String| Node { kind: NodeKind::Switch, description: name, ports: 128 };
        for number in 1..=2 {
            site.fabric.nodes.insert(spine(number, 0).node, node(format!("MF0;spine{number}:MQM8700/U1")));
        }
        for number in 1..=leaves {
            site.fabric.nodes.insert(leaf(number, 0).node, node(format!("MF0;leaf{number}:MQM8700/U1")));
            for up in 1..=4_usize {
                let far = spine(up.div_ceil(2), number * 2 - up % 2);
                site.connect(leaf(number, 100 + up), far);
            }
        }
        let reading = |at| Reading { at: Some(at), is_whole: true, ..Reading::default() };
        site.fabric.first = reading(100.0);
        site.fabric.later = reading(110.0);
        for (lid, state) in [(1, ManagerState::Master), (2, ManagerState::Standby)] {
            let is_named = state == ManagerState::Master;
            let guid = host(lid as usize, 0).node;
            site.fabric.managers.push(Manager { lid, guid, priority: 14 - lid, state, is_named });
        }
        site
    }

    fn host(&mut self, number: usize, rail: usize, far: Place) {
        let name = format!("gpu{number}");
        let place = host(number, rail);
        let description = format!("{name} mlx5_{rail}");
        self.fabric.nodes.insert(place.node, Node { kind: NodeKind::Adapter, description, ports: 1 });
        self.fabric.owners.insert(place.node, place);
        self.fabric.keys.insert(place, Keys::Read([0xffff].into()));
        if !self.wanted.hosts.contains(&name) {
            self.wanted.hosts.push(name);
        }
        self.connect(place, far);
    }

    fn connect(&mut self, one: Place, other: Place) {
        for (place, peer) in [(one, other), (other, one)] {
            let port = Port {
                state: LinkState::Active,
                physical: "LinkUp".to_owned(),
                width: Some(4),
                speed: Some(HDR),
                peer: Some(peer),
                ..Port::default()
            };
            self.fabric.ports.insert(place, port);
        }
    }

    /// Takes a cable out.
    fn cut(&mut self, place: Place) -> Place {
        let peer = self.fabric.peer(place).unwrap();
        self.fabric.ports.remove(&peer);
        self.fabric.ports.remove(&place);
        peer
    }

    fn swap(&mut self, one: Place, other: Place) {
        let (first, second) = (self.cut(one), self.cut(other));
        self.connect(one, second);
        self.connect(other, first);
    }

    fn both(&mut self, place: Place, change: impl Fn(&mut Port)) {
        let peer = self.fabric.peer(place).unwrap();
        for place in [place, peer] {
            change(self.fabric.ports.get_mut(&place).unwrap());
        }
    }

    fn findings(&self) -> Vec<FabricFinding> {
        judge(&self.fabric, &self.wanted)
    }

    /// Severity, kind and cables of each finding. Its sentence must have the cables too.
    fn said(&self) -> Vec<String> {
        let findings = self.findings();
        let said = findings.iter().map(|finding| {
            let cables: Vec<String> = finding.cables.iter().map(ToString::to_string).collect();
            for cable in cables.iter().take(4) {
                let is_said = finding.text.contains(cable.as_str());
                assert!(is_said || finding.fault == FabricFault::Uplinks, "{}", finding.text);
            }
            format!("{:?} {:?} {}", finding.severity, finding.fault, cables.join(", "))
        });
        said.collect()
    }
}

#[test]
fn nothing_is_said_of_good_fabrics() {
    for (what, site) in [
        ("one switch", Site::rails(2, 1, 2)),
        ("two hosts", Site::rails(2, 2, 2)),
        ("eight rails", Site::rails(16, 8, 16)),
        ("units with a small last one", Site::rails(67, 8, 32)),
        ("a unit of one host", Site::rails(33, 8, 32)),
        ("racks", Site::racks(128, 2, 16)),
        ("racks with a small last one", Site::racks(17, 1, 8)),
        ("racks of one host each", Site::racks(4, 8, 1)),
        ("racks of one host with one cable", Site::racks(8, 1, 1)),
        ("one cable each", Site::racks(128, 1, 16)),
    ] {
        assert_eq!(site.said(), Vec::<String>::new(), "{what}");
    }
}

#[test]
fn a_thousand_hosts_are_judged() {
    let mut site = Site::rails(1000, 8, 32);
    let began = std::time::Instant::now();
    assert_eq!(site.said(), Vec::<String>::new());
    println!("1000 hosts with 8 cables: {:.2} s", began.elapsed().as_secs_f64());
    site.swap(host(5, 3), host(400, 3));
    site.both(host(700, 0), links::narrow);
    let planned = |((number, rail), far): ((usize, usize), Place)| PlannedCable {
        host: format!("gpu{number}"),
        device: format!("mlx5_{rail}"),
        device_port: 1,
        switch: format!("leaf{}", far.node - leaf(0, 0).node),
        switch_port: far.port,
        speed: None,
        width: Some(4),
    };
    let all = (1..=1000).flat_map(|number| (0..8).map(move |rail| (number, rail)));
    let found = [
        "Fail WrongCable gpu5 mlx5_3 port 1 - leaf100 port 16",
        "Fail WrongCable gpu400 mlx5_3 port 1 - leaf4 port 5",
        "Fail Narrow gpu700 mlx5_0 port 1 - leaf169 port 28",
    ];
    assert_eq!(site.said(), found);
    let whole = Site::rails(1000, 8, 32);
    let plan = all.map(|(number, rail)| ((number, rail), whole.fabric.peer(host(number, rail)).unwrap()));
    site.wanted.plan = plan.map(planned).collect();
    let began = std::time::Instant::now();
    assert_eq!(site.said(), found);
    println!("with a plan: {:.2} s", began.elapsed().as_secs_f64());
}

#[test]
fn a_finding_stands_in_the_record_of_each_of_its_hosts() {
    let mut site = Site::rails(4, 1, 4);
    site.fabric.managers.clear();
    let findings = site.findings();
    let hosts: Vec<&str> = findings[0].of_hosts().map(|(host, _)| host).collect();
    assert_eq!(hosts, ["gpu1", "gpu2", "gpu3", "gpu4"]);
}

#[test]
fn nothing_that_was_read_says_so() {
    let fabric = super::super::read("");
    let findings = judge(&fabric, &Wanted { hosts: vec!["gpu1".to_owned()], ..Wanted::default() });
    assert_eq!((findings[0].fault, findings[0].severity), (FabricFault::Unread, Severity::Fail));
    assert_eq!(findings[0].hosts, ["gpu1"]);
}

#[test]
fn recorded_fabrics_are_judged() {
    let wanted =
        Wanted { hosts: (1..=4).map(|number| format!("gpu{number}")).collect(), ..Wanted::default() };
    let gpu1 = "gpu1 mlx5_0 port 1 - leaf1 port 1";
    for (text, found) in [
        (include_str!("../../../../../tests/cases/fabric/healthy.txt"), vec![]),
        (
            include_str!("../../../../../tests/cases/fabric/no_standby.txt"),
            vec![format!("no subnet manager stands by for {gpu1} (priority 14)")],
        ),
        (
            include_str!("../../../../../tests/cases/fabric/no_manager.txt"),
            vec!["no subnet manager is master".to_owned()],
        ),
        (
            include_str!("../../../../../tests/cases/fabric/two_masters.txt"),
            vec![format!(
                "2 subnet managers are master: gpu2 mlx5_0 port 1 - leaf1 port 2 (priority 12) and {gpu1} (priority 14)"
            )],
        ),
    ] {
        let findings = judge(&super::super::read(text), &wanted);
        assert_eq!(findings.into_iter().map(|finding| finding.text).collect::<Vec<_>>(), found);
    }
}
