//! Links, bonds, cards and counters.

use super::*;

/// One RDMA device sends over both links of a bond: the second has no device of its own.
#[test]
fn all_links_of_a_bond_are_looked_at() {
    let mut site = bonded("up").expect(json!({ "network": { "pfc": [3], "ecn": [3] } }));
    site.probes.entry("rdma").and_modify(|text| {
        let (start, end) = (text.find("device=mlx5_1").unwrap(), text.find("net=rdma0").unwrap());
        text.replace_range(start..end, "");
    });
    let of = |site: &Site, check: &str| site.results(None).remove(check).unwrap();
    let last = |text: &mut String, old: &str, new: &str| {
        let at = text.rfind(old).unwrap();
        text.replace_range(at..at + old.len(), new);
    };
    assert_eq!((of(&site, "network.pfc").0, of(&site, "network.ecn").0), (Pass, Pass));
    site.probes.entry("fabric").and_modify(|text| last(text, "0   0   0   1", "0   0   0   0"));
    site.probes.entry("rdma").and_modify(|text| last(text, "ecn.3=1", "ecn.3=0"));
    assert_eq!(of(&site, "network.pfc"), (Fail, "rdma1: no priority, expected priority 3".to_owned()));
    assert_eq!(of(&site, "network.ecn"), (Fail, "rdma1: off for priority 3".to_owned()));
}

#[test]
fn cards_of_other_networks() {
    let mut site = healthy().with("fabric", "NCCL_IB_HCA==mlx5_0,mlx5_1", "NCCL_IB_HCA=mlx5");
    site.nics = nics(&json!([
        { "match": { "pci": "0000:00:00.0" }, "role": "compute" },
        { "match": { "netdev": "rdma1" }, "role": "storage" },
        { "match": { "netdev": "eno1" }, "role": "management" },
    ]));
    assert_eq!(site.findings(None), ["fail network.nics", "fail rdma.nccl_hca"]);
    let results = site.results(None);
    assert_eq!(results["rdma.nccl_hca"].1, "mlx5_1: selected, although it is for storage");
    site.nics = nics(&json!([{ "match": { "pci": "0000:00:00.0" }, "role": "compute" }]));
    let of = |site: &Site| site.results(None)["rdma.nccl_hca"].1.clone();
    assert_eq!(of(&site), "mlx5_1: selected, although `nics:` does not name it");
    assert_eq!(results["network.nics"].1, "netdev eno1: no such network device");
}

#[test]
fn ipoib_that_nobody_uses_is_down() {
    let link = |kind: &str| json!({ "links": [{ "name": "ibp1s0", "pci": "0000:00:00.0", "kind": kind, "state": "down", "addresses": [] }] });
    let mut site = healthy();
    site.nics = nics(&json!([{ "match": { "pci": "0000:00:00.0" }, "role": "compute" }]));
    let of = |kind| site.clone().fact("network", link(kind)).results(None)["network.nics"].0;
    assert_eq!((of("infiniband"), of("ether")), (Pass, Fail));
}

#[test]
fn a_bond_whose_members_have_their_link_is_well() {
    let results = bonded("up").results(None);
    assert_eq!(results["network.bond"], (Pass, "2 members of 1 bond".to_owned()));
    assert_eq!(bonded("going down").results(None)["network.bond"].1, "rdma1: going down in bond0");
    assert_eq!(healthy().results(None)["network.bond"].0, Skip);
}

#[test]
fn one_subnet_for_all_rails() {
    let links = json!({ "links": [
        { "name": "rdma0", "mtu": 9000, "state": "up", "addresses": ["10.0.0.1/16"] },
        { "name": "rdma1", "mtu": 9000, "state": "up", "addresses": ["10.0.1.1/16"] },
        { "name": "docker0", "state": "up", "addresses": ["10.0.1.1/32"] },
    ] });
    let site = healthy().fact("network", links.clone());
    assert_eq!(site.findings(None), ["warn network.address_twice", "warn network.subnets"]);
    let mut rails = links;
    rails["links"][1]["addresses"] = json!(["10.1.0.1/16"]);
    let apart = healthy().fact("network", rails);
    assert_eq!(apart.results(None)["network.subnets"].0, Pass, "each rail has its own");
    let site = site.with("fabric", "arp_ignore=0", "arp_ignore=1\narp_announce=2");
    assert_eq!(site.findings(None), ["warn network.address_twice"]);
}

#[test]
fn infiniband_needs_a_manager() {
    let site = healthy().with("rdma", "link_layer=Ethernet", "link_layer=InfiniBand");
    assert_eq!(site.findings(None), ["fail rdma.subnet"]);
    let site = site.with("rdma", "sm_lid=0x0", "sm_lid=0x1").with("rdma", "\nlid=0x0", "\nlid=0x2a");
    assert_eq!(site.findings(None), Vec::<String>::new());
    let site = site.with("rdma", "pkey=0xffff", "pkey=0x7fff");
    assert_eq!(site.findings(None), ["fail rdma.pkey"]);
}

#[test]
fn counters_are_held_against_the_last_verify() {
    let before = healthy();
    let answers = before.answers();
    let host = host();
    let subject = Subject::new(&host, &answers, 0);
    let baseline = Baseline::of(&subject, "2026-11-20T08:00:00Z").unwrap();
    assert_eq!(before.results(None)["rdma.flaps"].0, Skip);
    assert_eq!(before.results(Some(&baseline))["rdma.flaps"].0, Pass);
    let later = before.clone().with("rdma", "link_downed=1", "link_downed=3");
    assert_eq!(later.findings(Some(&baseline)), ["fail rdma.flaps"]);
    assert_eq!(later.results(Some(&baseline))["rdma.flaps"].1, "mlx5_[0-1]: link_downed +2");
    let later = before.clone().with("rdma", "out_of_sequence=5", "out_of_sequence=6").with(
        "rdma",
        "rx_errors=0",
        "rx_errors=9",
    );
    assert_eq!(later.findings(Some(&baseline)), ["warn network.errors", "warn rdma.errors"]);
    let later = before.clone().with("rdma", "carrier_changes=2", "carrier_changes=4");
    assert_eq!(later.results(Some(&baseline))["rdma.flaps"].1, "rdma[0-1]: carrier_changes +2");
    // A counter of 8 bits stays at its highest number.
    let full = before.clone().with("rdma", "link_downed=1", "link_downed=255");
    let answers = full.answers();
    let since = Baseline::of(&Subject::new(&host, &answers, 0), "2026-11-20T08:00:00Z").unwrap();
    assert_eq!(full.results(Some(&since))["rdma.flaps"].0, Pass, "changes of the carrier tell");
    let full = full.with("rdma", "link_layer=Ethernet", "link_layer=InfiniBand");
    let (status, message) = &full.results(Some(&since))["rdma.flaps"];
    assert!(*status == Warn && message.contains("link_downed is full and cannot grow"), "{message}");
    // A reboot begins at nothing, and links come up once in it.
    let ids = json!({ "machine_id": "m", "product_uuid": "p", "boot_id": "another" });
    let rebooted = before
        .with("rdma", "link_downed=1", "link_downed=0")
        .with("rdma", "out_of_sequence=5", "out_of_sequence=0")
        .fact("ids", ids);
    assert_eq!(rebooted.findings(Some(&baseline)), Vec::<String>::new());
    let more = rebooted.clone().with("rdma", "carrier_changes=2", "carrier_changes=3");
    assert_eq!(more.results(Some(&baseline))["rdma.flaps"].1, "rdma[0-1]: carrier_changes +3");
    let more = rebooted.with("rdma", "link_downed=0", "link_downed=2");
    assert_eq!(more.results(Some(&baseline))["rdma.flaps"].1, "mlx5_[0-1]: link_downed +2");
}
