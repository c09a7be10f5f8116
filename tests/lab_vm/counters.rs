//! Counters of a real RDMA link under traffic, as a real Prometheus has them.

use std::time::{Duration, Instant};

use serde_json::Value as Json;

use super::Lab;

const CLUSTER: &str = r#"cluster: vm
lab: { kind: vm }
policy: { reboot: allow }
playbooks:
  - { use: soft-roce, with: { netdev: ens4 } }
  - { use: monitoring, with: { interval: 15s } }
  - { use: ./prometheus.yaml, hosts: node0 }
groups: { node: { hosts: "node[0-1]" } }
"#;

const PROMETHEUS: &str = include_str!("../prometheus.yaml");

/// The values that the Prometheus of node0 has for a query. One that was just started does not listen yet.
fn ask(lab: &Lab, query: &str) -> Vec<f64> {
    let answer = lab.ssh(
        "node0",
        &format!("curl -fsSG http://127.0.0.1:9090/api/v1/query --data-urlencode 'query={query}'"),
    );
    let answer: Json = serde_json::from_str(&answer).expect("JSON");
    let rows = answer["data"]["result"].as_array().expect("rows").iter();
    rows.map(|row| row["value"][1].as_str().expect("a number").parse().expect("a number")).collect()
}

/// What Prometheus says of its last looks at the machines.
fn looks(lab: &Lab) -> String {
    lab.ssh("node0", "curl -fsS http://127.0.0.1:9090/api/v1/targets")
}

fn eventually(lab: &Lab, what: &str, mut is_so: impl FnMut() -> bool) {
    let until = Instant::now() + Duration::from_mins(5);
    while !is_so() {
        assert!(Instant::now() < until, "not seen within five minutes: {what}: {}", looks(lab));
        std::thread::sleep(Duration::from_secs(2));
    }
}

/// An emulated machine does not keep up with its own link, and packets are really lost: that is told where more than a
/// hundred of them were counted, and nothing else is.
fn only_losses_that_were_counted(lab: &Lab) {
    let told = lab.ssh("node0", "curl -fsS http://127.0.0.1:9090/api/v1/alerts");
    let told: Json = serde_json::from_str(&told).expect("JSON");
    let alerts = told["data"]["alerts"].as_array().expect("alerts").iter();
    for alert in alerts.filter(|alert| alert["state"] == "firing") {
        let label = |name: &str| alert["labels"][name].as_str().unwrap_or_default();
        assert_eq!(label("alertname"), "RdmaPacketsLost", "{alert}");
        let (instance, counter) = (label("instance"), label("counter"));
        let of = format!("rdma_hw_statistic_total{{instance=\"{instance}\", counter=\"{counter}\"}}");
        let counted = ask(lab, &of);
        assert!(counted.iter().any(|number| *number > 100.0), "{alert}: {counted:?}");
    }
}

#[test]
#[ignore = "boots virtual machines, which takes minutes: cargo test --test lab_vm -- --ignored"]
fn prometheus_sees_traffic_of_a_soft_roce_link() {
    let lab = Lab::new(CLUSTER);
    // An emulated machine does not answer within two seconds, nor within five beside other work.
    let prometheus = PROMETHEUS.replace("2s", "15s");
    std::fs::write(lab.folder.path().join("prometheus.yaml"), prometheus).expect("playbook");
    lab.good(&["lab", "up"], &[]);
    let (status, first) = lab.told(&["apply"], &["--yes"]);
    assert_eq!(status, 0, "{first}");
    let (status, again) = lab.told(&["apply"], &["--yes"]);
    assert_eq!((status, &again["summary"]["tasks"]["changed"]), (0, &0.into()), "{again}");
    for name in ["targets.json", "rules.yaml", "rules.test.yaml"] {
        let text = std::fs::read_to_string(lab.folder.path().join("monitoring").join(name)).expect(name);
        lab.ssh("node0", &format!("sudo tee /etc/prometheus/{name} >/dev/null <<'END'\n{text}\nEND"));
    }
    lab.ssh(
        "node0",
        "cd /etc/prometheus && promtool check rules rules.yaml && promtool test rules rules.test.yaml",
    );
    lab.ssh("node0", "sudo systemctl restart prometheus");
    let sent = "rdma_hw_statistic_total{device=\"rxe0\", counter=\"sent_pkts\"}";
    eventually(&lab, "both machines have counters of rxe0", || ask(&lab, sent).len() == 2);
    let before: f64 = ask(&lab, sent).iter().sum();
    lab.ssh("node0", "nohup timeout 400 ib_write_bw -d rxe0 -F -n 1000 >/tmp/server 2>&1 & sleep 5");
    let told = lab.ssh("node1", "timeout 300 ib_write_bw -d rxe0 -F -n 1000 node0");
    assert!(told.contains("65536      1000"), "{told}");
    // 1000 messages of 64 KiB are at least 16 packets of 4096 bytes each.
    eventually(&lab, "the traffic is there", || ask(&lab, sent).iter().sum::<f64>() - before >= 16_000.0);
    println!("sent packets of both: {before} and {}", ask(&lab, sent).iter().sum::<f64>());
    assert!(ask(&lab, &format!("max(rate({sent}[2m]))")).iter().all(|rate| *rate > 0.0));
    only_losses_that_were_counted(&lab);
}
