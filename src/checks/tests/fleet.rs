//! Hosts beside each other.

use super::*;

/// Several hosts of one group, each with its name.
pub(super) fn compared(sites: &[(&str, Site)]) -> BTreeMap<String, Vec<(String, CheckStatus, String)>> {
    let hosts: Vec<(Host, Facts)> = sites
        .iter()
        .map(|(name, site)| {
            let id = |what: &str| format!("{what} of {name}");
            let ids = json!({ "machine_id": id("m"), "product_uuid": id("p"), "boot_id": "b" });
            let mut site = site.clone();
            site.facts.entry("hostname").and_modify(|own| *own = json!(*name));
            if site.facts["ids"]["machine_id"] == "m" {
                site.facts.insert("ids", ids);
            }
            // Two hosts with one address are none.
            if site.facts["network"] == healthy().facts["network"] {
                site.facts.insert("network", json!({ "links": [] }));
            }
            (Host { name: (*name).to_owned(), expect: site.expect.clone(), ..host() }, site.answers())
        })
        .collect();
    let mut subjects: Vec<Subject<'_>> =
        hosts.iter().map(|(host, answers)| Subject::new(host, answers, 0)).collect();
    let conclusions = evaluate(&mut subjects);
    let of_fleet = |check: &str| crate::checks::find(check).unwrap().needs == crate::checks::Needs::Fleet;
    conclusions
        .into_iter()
        .map(|conclusion| {
            let found =
                conclusion.results.into_iter().filter(|r| of_fleet(&r.check) && r.status.is_finding());
            (conclusion.host, found.map(|r| (r.check, r.status, r.message)).collect())
        })
        .collect()
}

/// Returns the status of a check on each of several hosts of one group.
pub(super) fn compared_all(sites: &[(&str, Site)], check: &str) -> Vec<CheckStatus> {
    let of = |(name, site): &(&str, Site)| {
        (Host { name: (*name).to_owned(), expect: site.expect.clone(), ..host() }, site.answers())
    };
    let hosts: Vec<(Host, Facts)> = sites.iter().map(of).collect();
    let mut subjects: Vec<Subject<'_>> =
        hosts.iter().map(|(host, answers)| Subject::new(host, answers, 0)).collect();
    let ended = evaluate(&mut subjects).into_iter();
    ended.map(|one| one.results.into_iter().find(|result| result.check == check).unwrap().status).collect()
}

#[test]
fn outliers_have_names_and_ties_are_told() {
    let usual = healthy();
    let old = healthy().fact("kernel", json!({ "release": "6.8.0-50-generic", "headers": true }));
    let found = compared(&[("gpu0", usual.clone()), ("gpu1", usual.clone()), ("gpu2", old.clone())]);
    assert_eq!(found["gpu0"], []);
    let message = "6.8.0-50-generic; 2 of 3 hosts have 6.8.0-87-generic".to_owned();
    assert_eq!(found["gpu2"], [("fleet.kernel".to_owned(), Warn, message)]);
    // Nobody can say who is right.
    let tie =
        compared(&[("gpu0", usual.clone()), ("gpu1", usual.clone()), ("gpu2", old.clone()), ("gpu3", old)]);
    let message = "no majority: gpu[2-3] 6.8.0-50-generic; gpu[0-1] 6.8.0-87-generic";
    for host in ["gpu0", "gpu1", "gpu2", "gpu3"] {
        assert_eq!(tie[host], [("fleet.kernel".to_owned(), Warn, message.to_owned())], "{host}");
    }
    let kernels = ["5.10", "5.15", "6.1", "6.8", "6.12"]
        .map(|release| healthy().fact("kernel", json!({ "release": release, "headers": true })));
    let five: Vec<(&str, Site)> = ["a", "b", "c", "d", "e"].into_iter().zip(kernels).collect();
    let four = "no majority: a 5.10; b 5.15; c 6.1; d 6.8";
    assert_eq!(compared(&five[..4])["a"][0].2, four);
    assert_eq!(compared(&five)["a"][0].2, "no majority: a 5.10; b 5.15; c 6.1; e 6.12; and 1 other value");
    // One host by itself is compared with nobody.
    assert_eq!(compared(&[("gpu0", usual.clone())])["gpu0"], []);
    // What a host has wrong by itself is told once, and its neighbour is not blamed.
    let mut lost = healthy();
    lost.facts.get_mut("network").unwrap()["links"][1]["mtu"] = json!(1500);
    let found = compared(&[("gpu0", usual.clone()), ("gpu1", lost)]);
    assert!(found.values().all(Vec::is_empty), "{found:?}");
    // Sizes that differ by a little are one size.
    let memory = |mib: u64| json!({ "total_mib": mib, "swap_mib": 0, "hugepages": { "total": 0 } });
    let sizes = [2_063_872, 2_063_100, 1_998_336].map(|mib| healthy().fact("memory", memory(mib)));
    let [a, b, c] = sizes;
    let found = compared(&[("gpu0", a), ("gpu1", b), ("gpu2", c)]);
    assert_eq!(found["gpu1"], []);
    assert_eq!(found["gpu2"][0].2, "1951 GiB; 2 of 3 hosts have 2014 GiB");
}

#[test]
fn what_hosts_of_a_group_have_in_common() {
    let told = |odd: Site, check: &str| {
        let found = compared(&[("gpu0", healthy()), ("gpu1", healthy()), ("gpu2", odd)]);
        let found = found["gpu2"].iter().find(|(id, _, _)| id == check);
        found.map(|(_, _, message)| message.clone())
    };
    let mounts = |source: &str| {
        let own = json!({ "path": "/scratch", "source": "/dev/nvme0n1", "local": true });
        json!([own, { "path": "/data", "source": source, "local": false }])
    };
    let [a, b, c] =
        ["nas:/data", "nas:/data", "old:/data"].map(|source| healthy().fact("mounts", mounts(source)));
    let found = compared(&[("gpu0", a), ("gpu1", b), ("gpu2", c)]);
    assert_eq!(found["gpu2"][0].0, "fleet.mounts");
    assert_eq!(found["gpu2"][0].2, "old:/data on /data; 2 of 3 hosts have nas:/data on /data");
    let os = |version: &str| json!({ "id": "ubuntu", "version_id": version });
    let usual = healthy().fact("os", os("24.04"));
    let found =
        compared(&[("a", usual.clone()), ("b", usual.clone()), ("c", healthy().fact("os", os("22.04")))]);
    assert_eq!(found["c"][0].2, "ubuntu 22.04; 2 of 3 hosts have ubuntu 24.04");
    let next = healthy().fact("os", json!({ "id": "ubuntu", "version_id": "", "codename": "next" }));
    let found = compared(&[("a", usual.clone()), ("b", usual), ("c", next)]);
    assert_eq!(found["c"][0].2, "ubuntu next; 2 of 3 hosts have ubuntu 24.04");
    let newer = healthy().with("rdma", "fw_ver=28.39.1002", "fw_ver=28.40.1000");
    assert_eq!(told(newer, "fleet.firmware").unwrap(), "MT4129 X: 28.40.1000; 2 of 3 hosts have 28.39.1002");
    let gpu =
        |address: &str| json!({ "address": address, "vendor": "10de", "device": "2330", "model": "H100" });
    let gpus = json!({ "gpus": [gpu("0000:00:06.0"), gpu("0000:00:07.0")], "nvswitches": [], "nics": [] });
    assert_eq!(
        told(healthy().fact("pci", gpus), "fleet.gpus").unwrap(),
        "2 x H100; 2 of 3 hosts have 2 x H200"
    );
    // What a host has of no kind is no value.
    let jumbo = |mtu: u64| {
        let link = |n: u64| json!({ "name": format!("rdma{n}"), "mtu": mtu, "addresses": [] });
        healthy().fact("network", json!({ "links": [link(0), link(1)] }))
    };
    let found = compared(&[("a", jumbo(9000)), ("b", jumbo(9000)), ("c", jumbo(4200))]);
    assert_eq!(
        found["c"].iter().find(|(id, _, _)| id == "fleet.mtu").unwrap().2,
        "4200; 2 of 3 hosts have 9000"
    );
    let cool = healthy().with("nvidia", "<vbios_version>", "<vbios_version>1");
    assert_eq!(told(cool, "fleet.vbios").unwrap(), "196.00.A5.00.1A; 2 of 3 hosts have 96.00.A5.00.1A");
    // A card that does not tell, and a device that is none.
    let silent = healthy().with("rdma", "device=mlx5_1\nfw_ver=28.39.1002\n", "device=mlx5_1\n");
    assert_eq!(told(silent, "fleet.firmware"), None);
    let soft = "device=rxe0\nfw_ver=0.0\nhca_type=MT4129\nboard_id=X\nnet=rdma0\n";
    assert_eq!(told(healthy().with("rdma", "net=rdma0\n", soft), "fleet.firmware"), None);
    // The usual size is that of the one in the middle.
    let sizes = [1_900_000, 1_900_000, 2_063_100, 2_063_872, 2_063_872].map(|mib: u64| {
        let memory = json!({ "total_mib": mib, "swap_mib": 0, "hugepages": { "total": 0 } });
        healthy().fact("memory", memory)
    });
    let names = ["gpu0", "gpu1", "gpu2", "gpu3", "gpu4"];
    let sites: Vec<(&str, Site)> = names.into_iter().zip(sizes).collect();
    let found = compared(&sites);
    assert_eq!(found["gpu0"][0].2, "1855 GiB; 3 of 5 hosts have 2014 GiB");
    assert_eq!(found["gpu4"], []);
}

#[test]
fn what_only_one_host_may_have() {
    let cloned = healthy().fact("ids", json!({ "machine_id": "same", "product_uuid": "", "boot_id": "b" }));
    let found = compared(&[("gpu0", cloned.clone()), ("gpu1", healthy()), ("gpu2", cloned)]);
    let message = "gpu[0,2] have the same: same".to_owned();
    for host in ["gpu0", "gpu2"] {
        assert_eq!(found[host], [("fleet.machine_id".to_owned(), Fail, message.clone())]);
    }
    assert_eq!(found["gpu1"], []);
    let key = "ask system\nhost_key=ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIKq0 root@image";
    let cloned = healthy().with("system", "ask system", key);
    let found = compared(&[("gpu0", cloned.clone()), ("gpu1", cloned)]);
    assert_eq!(found["gpu0"][0].0, "fleet.host_keys");
    let at = |address: &str| {
        let links = json!([{ "name": "eth0", "mtu": 1500, "addresses": [address] }]);
        healthy().fact("network", json!({ "links": links }))
    };
    for (address, found) in [
        ("10.9.0.1/24", 1),
        ("fd00::1/64", 1),
        ("127.0.0.1/8", 0),
        ("169.254.1.1/16", 0),
        ("::1/128", 0),
        ("fe80::1/64", 0),
    ] {
        let told = compared(&[("gpu0", at(address)), ("gpu1", at(address))]);
        assert_eq!(told["gpu0"].len(), found, "{address}: {told:?}");
    }
    let user = |uid: u64| json!({ "list": [{ "name": "alice", "uid": uid, "gid": uid }] });
    let sites = [1001, 1001, 1002].map(|uid| healthy().fact("users", user(uid)));
    let [a, b, c] = sites;
    let found = compared(&[("gpu0", a), ("gpu1", b), ("gpu2", c)]);
    assert_eq!(found["gpu2"][0].2, "alice: uid 1002, gid 1002; 2 of 3 hosts have uid 1001, gid 1001");
}

/// Clocks of hosts, in seconds ahead of the machine that asks, and how long asking took.
#[test]
fn clocks_are_compared() {
    let told = |clocks: &[(i64, i64)]| -> Vec<(CheckStatus, String)> {
        let names: Vec<String> = (0..clocks.len()).map(|index| format!("gpu{index}")).collect();
        let hosts: Vec<(Host, Facts)> = names
            .iter()
            .zip(clocks)
            .map(|(name, (ahead, took))| {
                let mut answers = healthy().answers();
                let least = ahead * 1000 - took * 1000;
                let offset = crate::facts::clock::Offset { least, most: ahead * 1000 + 1000 };
                answers.put(crate::facts::clock::OffsetQuery, offset);
                (Host { name: name.clone(), expect: healthy().expect, ..host() }, answers)
            })
            .collect();
        let mut subjects: Vec<Subject<'_>> =
            hosts.iter().map(|(host, answers)| Subject::new(host, answers, 0)).collect();
        let found = evaluate(&mut subjects).into_iter().map(|conclusion| {
            let result = conclusion.results.into_iter().find(|result| result.check == "fleet.clock").unwrap();
            (result.status, result.message)
        });
        found.collect()
    };
    let status =
        |clocks: &[(i64, i64)]| told(clocks).into_iter().map(|(status, _)| status).collect::<Vec<_>>();
    assert_eq!(status(&[(0, 2), (1, 3), (-1, 2)]), [Pass; 3]);
    let found = told(&[(0, 2), (46_800, 2), (0, 2), (1, 2)]);
    assert_eq!(found[1], (Fail, "at least 12 h 59 min ahead of 3 of 4 hosts".to_owned()));
    assert!([0, 2, 3].iter().all(|host| found[*host].0 == Pass), "{found:?}");
    assert_eq!(told(&[(0, 1), (-20, 1), (0, 1)])[1], (Warn, "at least 18 s behind 2 of 3 hosts".to_owned()));
    // Two that differ: nobody can say who is right. An answer that took long proves little.
    assert_eq!(status(&[(0, 1), (400, 1)]), [Fail, Fail]);
    assert_eq!(status(&[(0, 1), (40, 60)]), [Pass, Pass]);
    assert_eq!(status(&[(0, 1)]), [Skip]);
    // Another clock of the machine that asks is no fault of the hosts.
    assert_eq!(status(&[(9000, 1), (9001, 1)]), [Pass, Pass]);
}
