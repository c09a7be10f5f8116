//! `verify` on lab hosts whose hardware is played from recordings.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "these are tests, though not in functions that are marked so"
)]

use serde_json::Value as Json;

use super::support::Lab;

/// What `expect:` says of a host of the profile `a100-x8-cx6`. Its disk is that of the machine that runs the tests.
const A100: &str = "expect: { gpu: { count: 8, model: NVIDIA A100-SXM4-80GB }, rdma: { count: 8, rate_gbps: 200 }, network: { mtu: 9000 }, system: { disk_free_gib: 0 } }\n";

/// Checks of a host that a person should look at: `fail rdma.port_active`.
fn findings(json: &Json, host: &str) -> Vec<String> {
    let checks = json["hosts"][host]["checks"].as_array().unwrap();
    let text = |check: &Json, key: &str| check[key].as_str().unwrap_or("").to_owned();
    checks
        .iter()
        .filter(|check| ["fail", "warn", "unknown"].contains(&check["status"].as_str().unwrap()))
        .map(|check| format!("{} {}", text(check, "status"), text(check, "check")))
        .collect()
}

/// All files with size, time and mode, devices, modules and daemons of a host.
const SNAPSHOT: &str = "find / -xdev -mindepth 1 \\( -path /proc -o -path /sys -o -path /run -o -path /tmp -o -path /dev/pts -o -path /dev/shm -o -path /var/log -o -path /var/lib/systemd \\) -prune -o \\( -type f -o -type d \\) -printf '%p %s %T@ %m %u\\n' | sort | sha256sum; find /dev | grep -v /dev/pts | sort | sha256sum; cut -d' ' -f1 /proc/modules | sort | sha256sum; cat /proc/[0-9]*/comm | grep -vE '^(sh|bash|cat|grep|sort|sshd|sudo|systemd.*|[(]sd-pam[)]|dbus-daemon|agetty|sleep)$' | sort";

const NOTHING: &str = "name: nothing\ntasks: []\n";

#[test]
fn a_healthy_profile_has_no_finding_and_a_fault_is_found() {
    let Some(lab) = Lab::up(&["gpu0", "gpu1"], "{ profile: a100-x8-cx6 }") else { return };
    let site = lab.site_with("site", NOTHING, A100, "become: sudo", "");
    let healthy = site.run("verify", &["--json", "-"]).json();
    for host in ["gpu0", "gpu1"] {
        assert_eq!(findings(&healthy, host), Vec::<String>::new(), "{healthy:#}");
    }
    assert_eq!(healthy["exit_code"], 0);
    let inventory = lab.text("lab.yaml");
    for (fault, check) in [
        ("port-down", "fail rdma.port_active"),
        ("half-rate", "fail rdma.rate"),
        ("mtu-mismatch", "fail network.mtu"),
        ("hca-missing", "fail rdma.devices"),
        ("ecc-off", "fail gpu.ecc"),
        ("remap-pending", "fail gpu.row_remap"),
        ("persistence-off", "warn gpu.persistence"),
        ("gpu-half-lanes", "fail gpu.pcie_width"),
        ("nvlink-down", "fail gpu.nvlink"),
    ] {
        lab.run(&["lab", "fault", &inventory, "gpu1", fault]).expect(0);
        let json = site.run("verify", &["--json", "-"]).json();
        assert_eq!(findings(&json, "gpu1"), [check], "{fault}: {json:#}");
        assert_eq!(findings(&json, "gpu0"), Vec::<String>::new(), "{fault}");
        assert_eq!(json["exit_code"], if check.starts_with("fail") { 6 } else { 0 }, "{fault}");
    }
    lab.run(&["lab", "fault", &inventory, "gpu1", "none"]).expect(0);
    site.run("verify", &[]).expect(0).shows("Checked");
    nccl_takes_the_compute_cards_of_each_host(&lab);
}

/// By PCI address in the order of rails on one host, by driver and without the storage card on the other.
fn nccl_takes_the_compute_cards_of_each_host(lab: &Lab) {
    let host = |name: &str, nics: &str| {
        let port = lab.node(name).port;
        format!("  {name}: {{ address: 127.0.0.1, ssh: {{ port: {port} }}, nics: [{nics}] }}\n")
    };
    let storage = "{ match: { netdev: rdma7 }, role: storage }";
    let by_address = "{ match: { pci: \"0000:8d:00.0\" }, role: compute, rail: 1 }, { match: { pci: \"0000:12:00.0\" }, role: compute, rail: 0 }";
    let compute: Vec<String> =
        (0..7).map(|number| format!("{{ match: {{ netdev: rdma{number} }}, role: compute }}")).collect();
    let compute = compute.join(", ");
    let hosts =
        host("gpu0", &format!("{by_address}, {storage}")) + &host("gpu1", &format!("{compute}, {storage}"));
    let playbook = "name: nccl\ntasks:\n  - name: nccl\n    nccl_env: { nic: roce }\n";
    let site = lab.site_with("nccl", playbook, "", "become: sudo", &hosts);
    site.apply(0);
    let says = |name: &str| lab.node(name).sh("grep HCA /etc/nccl.conf; bash -lc 'echo $NCCL_IB_HCA'");
    assert_eq!(says("gpu0"), "NCCL_IB_HCA==mlx5_1,mlx5_4\n=mlx5_1,mlx5_4");
    let seven: Vec<String> = (0..7).map(|number| format!("mlx5_{number}")).collect();
    assert_eq!(says("gpu1"), format!("NCCL_IB_HCA=={0}\n={0}", seven.join(",")));
    let again = site.apply(0);
    assert_eq!(again["summary"]["tasks"]["changed"], 0, "{again:#}");
}

#[test]
fn a_host_without_any_tool_is_not_verified() {
    let Some(lab) = Lab::up(&["bare"], "{}") else { return };
    let site = lab.site_with("site", NOTHING, "", "become: sudo", "");
    let json = site.run("verify", &["--json", "-"]).expect(6).json();
    let checks = json["hosts"]["bare"]["checks"].as_array().unwrap();
    assert!(checks.iter().all(|check| check["status"] != "pass"), "{json:#}");
    assert_eq!(findings(&json, "bare"), ["fail host.proven"]);
}

#[test]
fn verify_changes_nothing_on_the_host() {
    let Some(lab) = Lab::up(&["gpu0"], "{ profile: a100-x8-cx6 }") else { return };
    let site = lab.site_with("site", NOTHING, A100, "become: sudo", "");
    // What booting and a first login leave behind is there before.
    site.run("plan", &[]).expect(0);
    let node = lab.node("gpu0");
    node.sh("systemctl is-system-running --wait >/dev/null; sleep 2");
    let before = node.sh(SNAPSHOT);
    site.run("verify", &[]).expect(0);
    assert_eq!(node.sh(SNAPSHOT), before);
}
