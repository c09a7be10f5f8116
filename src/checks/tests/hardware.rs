//! Machines that others have: cards without cables, addresses of other kinds, other drivers and boards.

use super::fleet::compared_all;
use super::*;

fn of(site: &Site, check: &str) -> (CheckStatus, String) {
    site.results(None).remove(check).unwrap()
}

fn hint(site: &Site, check: &str) -> String {
    let (host, answers) = (Host { expect: site.expect.clone(), ..host() }, site.answers());
    let results = evaluate(&mut [Subject::new(&host, &answers, 0)]).remove(0).results;
    results
        .into_iter()
        .find(|result| result.check == check)
        .and_then(|result| result.hint)
        .unwrap_or_default()
}

/// The GPUs of the healthy host with another driver, or others of a model.
fn gpus(count: usize, model: &str, driver: &str) -> Json {
    let gpu = |index: usize| json!({ "address": format!("0000:00:0{}.0", 6 + index), "vendor": "10de", "device": "2335", "model": model, "driver": driver });
    json!({ "gpus": (0..count).map(gpu).collect::<Vec<_>>(), "nvswitches": [], "nics": [] })
}

#[test]
fn ethernet_ports_without_a_cable_are_no_fault() {
    let spare = with_cards(&[("MT4129", "1: DOWN", "40 Gb/sec (4X QDR)")]);
    let (status, message) = of(&spare, "rdma.port_active");
    assert_eq!((status, message.as_str()), (Pass, "2 ports ACTIVE; nothing needs mlx5_2 (down, Ethernet)"));
    // The inventory names it, or it is InfiniBand, or waits for a manager.
    let mut named = spare.clone();
    named.nics = nics(&json!([{ "match": { "pci": "0000:02:00.0" } }]));
    assert_eq!(of(&named, "rdma.port_active").0, Fail);
    let listed = spare.clone().expect(json!({ "rdma": { "devices": ["mlx5_2"] } }));
    assert_eq!(of(&listed, "rdma.port_active").0, Fail);
    let infiniband = spare.clone().with(
        "rdma",
        "Gb/sec (4X QDR)\nlink_layer=Ethernet",
        "Gb/sec (4X QDR)\nlink_layer=InfiniBand",
    );
    assert_eq!(of(&infiniband, "rdma.port_active").0, Fail);
    // An address is there for jobs to use.
    let counted_on = healthy().with("rdma", "state=4: ACTIVE", "state=1: DOWN");
    assert_eq!(of(&counted_on, "rdma.port_active").0, Fail);
    // Other hosts of the group have it up, or none has.
    let up = with_cards(&[("MT4129", "4: ACTIVE", "40 Gb/sec (4X QDR)")]);
    let status = |sites: &[(&str, Site)]| compared_all(sites, "rdma.port_active");
    assert_eq!(status(&[("gpu0", up.clone()), ("gpu1", spare.clone()), ("gpu2", up)]), [Pass, Fail, Pass]);
    assert_eq!(status(&[("gpu0", spare.clone()), ("gpu1", spare)]), [Pass, Pass]);
}

/// Settings of the first card, and what the inventory declares.
fn set(rows: &str, status: &str, declared: &[&str]) -> Site {
    let text = section(
        "mstconfig -d 0000:00:00.0 -e query",
        &format!("Configurations: Default Current Next Boot\n{rows}"),
        status,
    );
    let mut site = healthy().expect(json!({ "rdma": { "card_settings": declared } }));
    site.probes.insert("card_settings", text);
    site
}

#[test]
fn settings_in_the_firmware_of_cards() {
    let check = "rdma.card_settings";
    let rows =
        " ATS_ENABLED False(0) False(0) False(0)\n PCI_WR_ORDERING per_mkey(0) per_mkey(0) per_mkey(0)";
    let waits = "* NUM_OF_VFS 0 0 8\n PCI_WR_ORDERING per_mkey(0) force_relax(1) force_relax(1)";
    for (rows, declared, status, says) in [
        (rows, &[][..], Pass, "1 card"),
        (rows, &["ATS_ENABLED=False", "PCI_WR_ORDERING=0"], Pass, "1 card"),
        (
            rows,
            &["PCI_WR_ORDERING=force_relax"],
            Fail,
            "mlx5_0: PCI_WR_ORDERING per_mkey(0), expected force_relax",
        ),
        (rows, &["LINK_TYPE_P1=ETH"], Unknown, "mlx5_0: its firmware has no setting LINK_TYPE_P1"),
        (waits, &["PCI_WR_ORDERING=1"], Warn, "mlx5_0: NUM_OF_VFS 0, and 8 after the next boot"),
        (waits, &["NUM_OF_VFS=0"], Fail, "mlx5_0: NUM_OF_VFS 0 as expected, and 8 after the next boot"),
    ] {
        let (found, message) = of(&set(rows, "0", declared), check);
        assert_eq!((found, message.as_str()), (status, says), "{declared:?}");
    }
    // Without the tool nothing is known; who declared nothing does not care.
    let (found, message) = of(&set("", "missing", &["ATS_ENABLED=1"]), check);
    assert_eq!(found, Unknown);
    assert!(message.contains("mft of DOCA-OFED") && message.contains("package mstflint"), "{message}");
    assert_eq!(of(&set("", "missing", &[]), check).0, Skip);
    assert_eq!(of(&healthy(), check).0, Skip);
}

#[test]
fn addresses_of_other_kinds() {
    let gid = "gid=3 0000:0000:0000:0000:0000:ffff:0a00:0001 rdma0 RoCE v2";
    let v6 = "gid=1 fe80:0000:0000:0000:5e25:73ff:fe00:0001 rdma0 RoCE v2\ngid=3 fd93:16d3:59b6:0012:0000:0000:0000:0001 rdma0 RoCE v2";
    assert_eq!(of(&healthy().with("rdma", gid, v6), "rdma.gid").0, Pass);
    let local = "gid=1 fe80:0000:0000:0000:5e25:73ff:fe00:0001 rdma0 RoCE v2";
    assert_eq!(of(&healthy().with("rdma", gid, local), "rdma.gid").0, Fail);
    // iWARP, by its name or as user space says.
    let siw = healthy()
        .with("rdma", gid, local)
        .with("rdma", "device=mlx5_0", "device=siw0")
        .with("fabric", "mlx5_0", "siw0");
    assert_eq!(of(&siw, "rdma.gid").0, Pass, "the other card is RoCE");
    let named =
        |name: &str| crate::facts::rdma::Device { name: name.to_owned(), ..Default::default() }.is_iwarp();
    assert!(["siw0", "siw_eth0", "cxgb4_0", "iwp3s0f1"].into_iter().all(named));
    assert!(!["mlx5_0", "irdma0", "rocep1s0", "bnxt_re0", "erdma_0", "rxe0"].into_iter().any(named));
    // NCCL is told one number.
    let told = |index: &str, text: &str| {
        let setting = format!("nccl=/etc/nccl.conf NCCL_IB_GID_INDEX={index}\n");
        let site = healthy().with("rdma", gid, text).with(
            "fabric",
            "arp_ignore=0\n",
            &format!("arp_ignore=0\n{setting}"),
        );
        of(&site, "rdma.gid").0
    };
    assert_eq!(told("1", &format!("{local}\n{gid}")), Fail);
    assert_eq!([told("3", gid), told("-1", gid)], [Pass, Pass]);
}

#[test]
fn access_control_between_gpus_without_cards() {
    let mut site =
        healthy().with("fabric", "SrcValid- ReqRedir-", "SrcValid+ TransBlk- ReqRedir+ CmpltRedir+");
    site.nics = Vec::new();
    site.expect = Expect::default();
    site.probes.insert("rdma", section("sysfs", "", "0"));
    assert_eq!(of(&site, "pcie.acs").0, Warn, "NVLink joins them");
    site.probes.insert("nvidia", section("nvidia-smi -q -x", SMI, "0"));
    assert_eq!(of(&site, "pcie.acs").0, Fail);
    assert_eq!(of(&site.clone().fact("pci", gpus(1, "L40S", "nvidia")), "pcie.acs").0, Skip);
    let guest = site.fact("virtualization", json!({ "kind": "kvm", "container": false }));
    assert_eq!(of(&guest, "pcie.acs").0, Skip);
}

#[test]
fn bridges_nobody_can_judge_follow_from_a_silent_nvidia_smi() {
    let mut site = healthy();
    site.nics = Vec::new();
    site.expect = Expect::default();
    site.probes.insert("rdma", section("sysfs", "", "0"));
    site.probes.insert("fabric", section("lspci -vvv", "", "127"));
    let because = |site: &Site| {
        let (host, answers) = (host(), site.answers());
        let results = evaluate(&mut [Subject::new(&host, &answers, 0)]).remove(0).results;
        results.into_iter().find(|result| result.check == "pcie.acs").unwrap().because
    };
    assert_eq!(of(&site, "pcie.acs").0, Skip, "NVLink joins them");
    site.probes.insert("nvidia", section("nvidia-smi -q -x", "", "124"));
    assert_eq!(of(&site, "pcie.acs").0, Unknown);
    assert_eq!(because(&site).as_deref(), Some("gpu.answers"));
}

#[test]
fn another_driver_holds_the_gpus() {
    for (driver, status, word) in [
        ("NovaCore", Fail, "nova_core"),
        ("nova_core", Fail, "nova_core"),
        ("nouveau", Fail, "blacklist"),
        ("vfio-pci", Warn, "virtual machine"),
    ] {
        let site = healthy().fact("pci", gpus(2, "H200", driver));
        let (seen, message) = of(&site, "driver.nouveau");
        assert_eq!(seen, status, "{driver}: {message}");
        assert!(message.contains(driver) && hint(&site, "driver.nouveau").contains(word), "{message}");
        let mut unloaded = site;
        unloaded.probes.insert("nvidia", String::new());
        assert!(hint(&unloaded, "gpu.answers").contains(driver), "{driver}");
    }
    assert_eq!(of(&healthy().fact("pci", gpus(2, "H200", "nvidia")), "driver.nouveau").0, Pass);
    assert_eq!(of(&healthy().fact("pci", gpus(2, "H200", "")), "driver.nouveau").0, Pass);
}

#[test]
fn boards_with_and_without_a_fabric_manager() {
    let modules = |list: &[&str]| json!({ "loaded": list });
    let board = healthy().fact("pci", gpus(8, "B200", "nvidia"));
    let without = board.clone().fact("modules", modules(&["nvidia", "mlx5_core"]));
    let (status, message) = of(&without, "driver.fabric_manager");
    assert!(status == Fail && message.contains("ib_umad"), "{message}");
    assert_eq!(of(&board.fact("modules", modules(&["nvidia", "ib_umad"])), "driver.fabric_manager").0, Pass);
    // Two cards of the same chip, and a superchip, have no such board.
    for (count, model) in [(2, "B200"), (4, "GB200"), (8, "RTX PRO 6000 Blackwell Server Edition")] {
        let site = healthy().fact("pci", gpus(count, model, "nvidia"));
        assert_eq!(of(&site, "driver.fabric_manager").0, Skip, "{model}");
    }
    // Of a GPU that came later it is not known.
    let mut later = gpus(4, "", "nvidia");
    for gpu in later["gpus"].as_array_mut().unwrap() {
        gpu["device"] = "3340".into();
    }
    let (status, message) = of(&healthy().fact("pci", later), "driver.fabric_manager");
    assert!(status == Unknown && message.contains("newer than all"), "{message}");
    let failed = "--state=failed\nnvidia-fabricmanager.service loaded failed failed X\n";
    let idle = healthy().fact("pci", gpus(2, "L40S", "nvidia")).with("system", "--state=failed\n", failed);
    assert_eq!(of(&idle, "system.units").0, Warn);
    assert!(hint(&idle, "system.units").contains("disable --now"));
    assert!(
        !hint(&healthy().with("system", "--state=failed\n", failed), "system.units")
            .contains("disable --now")
    );
}

#[test]
fn what_is_said_of_versions_and_modes() {
    let text = "Failed to initialize NVML: Driver/library version mismatch\nNVML library version: 580.167";
    let mut site = healthy();
    site.probes.insert("nvidia", section("nvidia-smi -q -x", text, "18"));
    assert!(hint(&site, "gpu.answers").contains("driver.coherence"));
    let wanted = healthy().expect(json!({ "gpu": { "mig": true } }));
    assert!(hint(&wanted, "gpu.mig").contains("-mig 1"));
}

#[test]
fn errors_that_memory_controllers_counted() {
    let with = |line: &str| {
        of(&healthy().with("system", "systemd=1\n", &format!("systemd=1\n{line}")), "system.memory_errors").0
    };
    assert_eq!(
        [with(""), with("edac=mc0 12 0\n"), with("edac=mc0 0 0\nedac=mc1 52000 0\n"), with("edac=mc0 0 1\n")],
        [Skip, Pass, Warn, Fail]
    );
}
