//! `verify` on lab hosts whose hardware is played from recordings.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "these are tests, though not in functions that are marked so"
)]

use std::collections::BTreeSet;

use serde_json::Value as Json;

use super::support::{Lab, outcome, perftest};

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
const SNAPSHOT: &str = "find / -xdev -mindepth 1 \\( -path /proc -o -path /sys -o -path /run -o -path /tmp -o -path /dev/pts -o -path /dev/shm -o -path /var/log -o -path /var/lib/systemd \\) -prune -o \\( -type f -o -type d \\) -printf '%p %s %T@ %m %u\\n' | sort; find /dev | grep -v /dev/pts | sort; cut -d' ' -f1 /proc/modules | sort; cat /proc/[0-9]*/comm | grep -vE '^(sh|bash|cat|grep|sort|sshd|sudo|systemd.*|[(]sd-pam[)]|dbus-daemon|agetty|sleep)$' | sort";

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
    what_is_learned_of_a_host_holds_for_its_twin(&lab);
    nccl_takes_the_compute_cards_of_each_host(&lab);
    links_are_tested_one_way_both_ways_and_from_gpus(&lab);
}

fn what_is_learned_of_a_host_holds_for_its_twin(lab: &Lab) {
    let bare = lab.site_with("bare", NOTHING, "", "become: sudo", "");
    bare.run("expect learn", &["gpu[0-1]"]).expect(2).says("gpu[0-1] is more than one host");
    let learned = bare.run("expect learn", &["gpu0"]).expect(0).out;
    for line in ["    count: 8\n", "    model: NVIDIA A100-SXM4-80GB\n", "    rate_gbps: 200\n", "    pfc:"] {
        assert!(learned.contains(line), "{line}: {learned}");
    }
    // The disk is that of the machine that runs the tests.
    let learned = learned.replace("  system:\n", "  system:\n    disk_free_gib: 0\n");
    let site = lab.site_with("learned", NOTHING, &learned, "become: sudo", "");
    let json = site.run("verify", &["--json", "-"]).expect(0).json();
    assert_eq!([findings(&json, "gpu0"), findings(&json, "gpu1")], [Vec::<String>::new(), Vec::new()]);
    let inventory = lab.text("lab.yaml");
    for (fault, check) in [
        ("half-rate", "fail rdma.rate"),
        ("firmware-old", "warn rdma.firmware"),
        ("pfc-off", "fail network.pfc"),
        ("gpu-of-another-model", "fail gpu.model"),
    ] {
        lab.run(&["lab", "fault", &inventory, "gpu1", fault]).expect(0);
        let json = site.run("verify", &["--json", "-"]).json();
        assert!(findings(&json, "gpu1").contains(&check.to_owned()), "{fault}: {json:#}");
        assert_eq!(findings(&json, "gpu0"), Vec::<String>::new(), "{fault}");
    }
    lab.run(&["lab", "fault", &inventory, "gpu1", "none"]).expect(0);
    // Nothing but the block knows what a login should have.
    lab.node("gpu1").sh("echo '* - nofile 512' >/etc/security/limits.d/90-few.conf");
    let json = site.run("verify", &["--json", "-"]).json();
    assert_eq!(findings(&json, "gpu1"), ["warn system.nofile"], "{json:#}");
    lab.node("gpu1").sh("rm /etc/security/limits.d/90-few.conf");
}

/// With stand-ins for rping, `ib_write_bw` and `ib_read_lat`, which play recorded output.
fn links_are_tested_one_way_both_ways_and_from_gpus(lab: &Lab) {
    perftest(lab);
    let pings = include_str!("../cases/active/rping-client.txt").replace("count 3", "count 5").replace(
        "...\n",
        "ping data: rdma-ping-1: BCDE\nping data: rdma-ping-3: DEFG\nping data: rdma-ping-4: EFGH\n",
    );
    for node in &lab.nodes {
        node.sh(&format!(
            "cat >/opt/rping.txt <<'E'\n{pings}E\n\
             printf '#!/bin/sh\\ncat /opt/rping.txt\\n' >/usr/local/bin/rping\n\
             chmod +x /usr/local/bin/rping"
        ));
    }
    let link = |expect: &str| {
        let expect = A100.replace("system: {", &format!("{expect} system: {{"));
        let site = lab.site_with("site", NOTHING, &expect, "become: sudo", "");
        let json = site.run("verify", &["--active", "--json", "-"]).json();
        let of = |host: &str, check: &str| {
            let checks = json["hosts"][host]["checks"].as_array().unwrap();
            let result = checks.iter().find(|result| result["check"] == check).unwrap();
            format!("{} {}", result["status"].as_str().unwrap(), result["message"].as_str().unwrap())
        };
        let checks = [
            "active.rping",
            "active.ib_write_bw",
            "active.ib_write_bw_both",
            "active.gpu_write_bw",
            "active.ib_read_lat",
            "active.rails",
        ];
        checks.map(|check| ["gpu0", "gpu1"].map(|host| of(host, check)).join("\n"))
    };
    let seen = link("");
    for (test, figure) in seen.iter().zip(["5 pings", "192.0 Gb/s", "381.2 Gb/s", "189.4 Gb/s", "2.3 µs"]) {
        assert_eq!(test.matches("pass ").count(), 2, "{test}");
        assert_eq!(test.matches(figure).count(), 16, "{test}");
    }
    assert_eq!(seen[5].matches("pass each reaches the next one").count(), 2, "{seen:?}");
    // Each card with the GPU beside it, and both ends.
    let calls = lab.node("gpu1").sh("cat /run/ib_write_bw.calls");
    let gpus: BTreeSet<&str> =
        calls.split_whitespace().filter_map(|word| word.strip_prefix("--use_cuda=")).collect();
    assert_eq!(gpus.into_iter().collect::<String>(), "01234567", "{calls}");
    assert_eq!(calls.matches(" -b").count(), 8, "{calls}");
    // Slow from GPU memory alone: a warning, and a failure where the inventory has a number.
    for node in &lab.nodes {
        node.sh("echo gpu=92.10 >/run/ib_write_bw; echo took=31.40 >/run/ib_read_lat");
    }
    let [_, one, both, gpu, latency, rails] = link("");
    assert_eq!(rails.matches("pass ").count(), 2, "{rails}");
    assert_eq!(latency.matches("warn ").count(), 2, "{latency}");
    assert!(latency.contains("31.4 µs, at most 10 expected"), "{latency}");
    assert!(one.starts_with("pass ") && both.starts_with("pass "), "{one}\n{both}");
    assert_eq!(gpu.matches("warn ").count(), 2, "{gpu}");
    assert!(gpu.contains("92.1 Gb/s over a link of 200 Gb/s, at least 180 expected"), "{gpu}");
    let [_, _, _, gpu, latency, rails] =
        link("active: { gpu_write_bw: 150, ib_read_lat: 30, rails: apart },");
    assert_eq!(rails.matches("fail ").count(), 2, "{rails}");
    assert!(rails.contains("mlx5_0 of gpu1 reaches mlx5_1 of gpu0, and"), "{rails}");
    assert!(latency.matches("fail ").count() == 2 && latency.contains("at most 30 expected"), "{latency}");
    assert!(gpu.matches("fail ").count() == 2 && gpu.contains("at least 150 expected"), "{gpu}");
    let [_, _, both, gpu, latency, _] =
        link("active: { gpu_write_bw: 90, ib_write_bw_both: 390, ib_read_lat: 32 },");
    assert_eq!(latency.matches("pass ").count(), 2, "{latency}");
    assert!(gpu.starts_with("pass ") && both.starts_with("fail "), "{both}\n{gpu}");
    let [_, one, both, gpu, ..] = link("ignore: [active.gpu_write_bw, active.ib_write_bw_both],");
    assert!(one.starts_with("pass "), "{one}");
    for left_out in [both, gpu] {
        assert_eq!(left_out, "skip left out by expect.ignore\nskip left out by expect.ignore");
    }
    a_rollout_tests_the_links_of_what_it_changed(lab);
}

/// The first host has nobody to be tested with; the second one the first.
fn a_rollout_tests_the_links_of_what_it_changed(lab: &Lab) {
    let play = |text: &str| {
        format!("name: play\ntasks:\n  - name: file\n    file: {{ path: /etc/gated, content: {text} }}\n")
    };
    let expect = A100.replace("system: {", "ignore: [active.all_reduce], system: {");
    let more = format!("{expect}\nrollout: {{ canary: 1, batch: 1, gate: active, max_failed: 0 }}\n");
    let site = lab.site_with("gated", &play("one"), &more, "become: sudo", "");
    for node in &lab.nodes {
        node.sh("rm -f /run/ib_write_bw /run/ib_write_bw.calls");
    }
    site.run("apply", &[])
        .expect(0)
        .says("the gate tests it alone: no host that is idle now could be its partner");
    for node in &lab.nodes {
        assert_ne!(node.sh("grep -c . /run/ib_write_bw.calls"), "0");
        node.sh("echo one=92.10 >/run/ib_write_bw");
    }
    site.playbook(&play("two"));
    let json = site.apply(5);
    let why = outcome(&json, "gpu1", "verify after the change").to_string();
    assert!(why.contains("active.ib_write_bw: ") && why.contains("92.1 Gb/s"), "{json:#}");
    assert_eq!(json["hosts"]["gpu0"]["status"], "ok", "{json:#}");
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
fn a_host_without_any_tool_is_proven_by_what_every_machine_has() {
    let Some(lab) = Lab::up(&["bare"], "{}") else { return };
    let site = lab.site_with("site", NOTHING, "", "become: sudo", "");
    let json = site.run("verify", &["--json", "-"]).expect(0).json();
    let checks = json["hosts"]["bare"]["checks"].as_array().unwrap();
    let passed: Vec<&str> = checks
        .iter()
        .filter(|check| check["status"] == "pass")
        .map(|check| check["check"].as_str().unwrap())
        .collect();
    assert_eq!(passed, ["system.disk", "system.own_name", "system.units", "software.half_done"]);
    assert_eq!(findings(&json, "bare"), Vec::<String>::new());
}

#[test]
fn verify_changes_nothing_on_the_host() {
    let Some(lab) = Lab::up(&["gpu0"], "{ profile: a100-x8-cx6 }") else { return };
    let site = lab.site_with("site", NOTHING, A100, "become: sudo", "");
    // What booting and a first login leave behind is there before.
    site.run("plan", &[]).expect(0);
    let node = lab.node("gpu0");
    node.sh("systemctl is-system-running --wait >/dev/null; sleep 2");
    // On a busy machine, overlayfs was seen to leave one file of thousands out of a listing.
    let snapshot = || {
        let mut last = node.sh(SNAPSHOT);
        loop {
            match node.sh(SNAPSHOT) {
                same if same == last => return same,
                other => last = other,
            }
        }
    };
    let before = snapshot();
    site.run("verify", &[]).expect(0);
    let after = snapshot();
    let lines = |text: &str| text.lines().map(str::to_owned).collect::<BTreeSet<String>>();
    let changed: Vec<String> = lines(&before).symmetric_difference(&lines(&after)).cloned().collect();
    assert_eq!(changed, [""; 0]);
}
