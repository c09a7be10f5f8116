//! What is learned of a good host holds for its twin, and finds what is planted.

use serde_json::json;

use super::{Site, healthy, host, section};
use crate::checks::{Learned, Subject, learn};
use crate::inventory::Host;

fn learned(site: &Site) -> Learned {
    let answers = site.answers();
    let host = Host { expect: site.expect.clone(), ..host() };
    learn(&Subject::new(&host, &answers, 0))
}

#[test]
fn all_that_a_good_host_shows_is_learned() {
    let learned = learned(&healthy());
    assert_eq!(learned.left_out, []);
    assert_eq!(
        learned.to_json(),
        json!({
            "gpu": {
                "count": 2, "model": "NVIDIA H200", "memory_mib": 143_771, "ecc": true, "mig": false,
                "persistence": true, "power_limit": 700, "nvlinks": 18,
            },
            "driver": { "version": "580.159.04", "open": true, "cuda": "13.0" },
            "rdma": {
                "count": 2, "devices": ["mlx5_0", "mlx5_1"], "link_layer": "Ethernet", "rate_gbps": 400,
                "active_mtu": 4096, "firmware": "28.39.1002",
            },
            "network": { "mtu": 9000, "pfc": [3], "trust": "dscp" },
            "system": {
                "memlock": "unlimited", "nofile": 1_048_576, "hugepages": 0, "swap": false,
                "governor": "performance", "kernel": "6.8.0-87-generic",
            },
            "software": {
                "nccl": "2.27.7", "nccl_prefix": "/usr/local/nccl", "openmpi": "4.1.3",
                "openmpi_prefix": "/opt/openmpi", "nccl_tests": "/opt/nccl-tests/build",
            },
        })
    );
}

#[test]
fn a_twin_is_clean_and_each_difference_is_found() {
    let expect = learned(&healthy()).to_json();
    let twin = healthy().expect(expect.clone());
    assert_eq!(twin.findings(None), Vec::<String>::new());
    let smi = |old: &str, new: &str| healthy().with("nvidia", old, new);
    let planted = [
        ("gpu.persistence", smi("<persistence_mode>Enabled", "<persistence_mode>Disabled")),
        ("driver.cuda", smi("<cuda_version>13.0", "<cuda_version>12.8")),
        ("rdma.firmware", healthy().with("rdma", "fw_ver=28.39.1002", "fw_ver=28.43.2026")),
        ("rdma.rate", healthy().with("rdma", "400 Gb/sec (4X NDR)", "200 Gb/sec (4X HDR)")),
        ("network.pfc", healthy().with("fabric", "0   0   0   1   0", "0   0   0   0   0")),
        ("system.nofile", healthy().with("login", "nofile=1048576", "nofile=1024")),
        ("software.openmpi", healthy().with("software", "Open MPI) 4.1.3", "Open MPI) 4.1.2")),
        (
            "fail system.kernel",
            healthy().fact("kernel", json!({ "release": "6.8.0-60-generic", "headers": true })),
        ),
    ];
    for (finding, site) in planted {
        let found = site.expect(expect.clone()).findings(None);
        assert!(found.iter().any(|line| line.ends_with(finding)), "{finding}: {found:?}");
    }
}

/// A host that is not as it should be teaches nothing wrong.
#[test]
fn what_does_not_hold_on_the_host_itself_is_left_out() {
    let apart =
        healthy().with("rdma", "device=mlx5_1\nfw_ver=28.39.1002", "device=mlx5_1\nfw_ver=28.43.2026");
    let found = learned(&apart);
    assert_eq!(found.left_out, [("rdma.firmware", "mlx5_0 has 28.39.1002, mlx5_1 28.43.2026".to_owned())]);
    // The driver lists a GPU that the bus does not have.
    let lost = healthy().fact("pci", json!({ "gpus": [], "nvswitches": [], "nics": [] }));
    let found = learned(&lost.expect(json!({ "gpu": { "count": 2 } })));
    assert!(
        found.left_out.iter().any(|(key, why)| *key == "gpu.count" && why.starts_with("gpu.count: ")),
        "{found:?}"
    );
    let dark = healthy().with(
        "login",
        &section("login", "memlock=unlimited\nnofile=1048576\nuser=ubuntu\npath=/usr/bin", "0"),
        "",
    );
    assert!(!learned(&dark).to_json().to_string().contains("memlock"));

    // A fault of all parts is a fault all the same.
    let (enabled, disabled) = ("<persistence_mode>Enabled", "<persistence_mode>Disabled");
    let found = learned(&healthy().with("nvidia", enabled, disabled));
    assert!(
        found
            .left_out
            .iter()
            .any(|(key, said)| *key == "gpu.persistence" && said.starts_with("gpu.persistence: ")),
        "{found:?}"
    );
    assert!(!found.to_json().to_string().contains("persistence"));
    let slow = learned(&healthy().with("system", "governor=performance 8", "governor=powersave 8"));
    assert!(slow.left_out.iter().any(|(key, _)| *key == "system.governor"), "{slow:?}");
    // Swap is allowed by saying nothing.
    let memory =
        json!({ "total_mib": 1000, "swap_mib": 9, "hugepages": { "total": 0, "free": 0, "size_kib": 2048 } });
    assert!(!learned(&healthy().fact("memory", memory)).to_json().to_string().contains("swap"));
}

#[test]
fn what_cannot_be_asked_is_named() {
    let smi = |command: &str| section(command, "", "missing");
    let mut site = healthy();
    let missing = ["nvidia-smi -q -x", "nvidia-smi nvlink -s", "nvidia-smi topo -m"].map(smi).concat();
    site.probes.insert("nvidia", missing);
    let found = learned(&site);
    assert!(found.left_out.iter().any(|(key, _)| *key == "gpu"), "{found:?}");
    // A host without GPUs and cards has nothing of the kind to say.
    let plain = healthy().fact("pci", json!({ "gpus": [], "nvswitches": [], "nics": [] })).expect(json!({}));
    let found = learned(&plain);
    assert!(!found.left_out.iter().any(|(key, _)| *key == "gpu" || *key == "driver"), "{found:?}");
}

#[test]
fn other_keys_of_a_section_stay() {
    let declared = json!({ "gpu": { "nvlinks": 18, "temperature": 80 }, "software": { "mpi_user": "mpi" }, "unknown": "warn" });
    let json = learned(&healthy().expect(declared)).to_json();
    assert_eq!((&json["gpu"]["temperature"], &json["gpu"]["count"]), (&json!(80), &json!(2)));
    assert_eq!(
        (&json["software"]["mpi_user"], &json["software"]["openmpi"]),
        (&json!("mpi"), &json!("4.1.3"))
    );
    assert!(json["unknown"].is_null(), "it belongs to no section");
}
