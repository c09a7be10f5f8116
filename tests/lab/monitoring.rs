//! The playbook `monitoring` on a lab host whose RDMA cards are played, with a real `node_exporter` and Prometheus.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "these are tests, though not in functions that are marked so"
)]

use serde_json::Value as Json;

use super::support::{Lab, Node, eventually};

const INVENTORY: &str = "
cluster: monitored
lab: { profile: a100-x8-cx6 }
playbooks:
  - { use: monitoring, with: { interval: 2s } }
  - prometheus.yaml
hosts: { gpu0: {} }
";

const PROMETHEUS: &str = include_str!("../prometheus.yaml");

/// What the Prometheus of the host answers to a query; panics if it is none.
fn ask(node: &Node, query: &str) -> Vec<Json> {
    let answer = node.sh(&format!(
        "curl -fsSG http://127.0.0.1:9090/api/v1/query --data-urlencode query@- <<'END'\n{query}\nEND"
    ));
    let answer: Json = serde_json::from_str(&answer).unwrap();
    answer["data"]["result"].as_array().unwrap().clone()
}

#[test]
fn prometheus_has_the_counters_and_tells_a_bad_cable() {
    let prometheus = ("prometheus.yaml".to_owned(), PROMETHEUS.to_owned());
    let Some(lab) = Lab::of(INVENTORY, &[prometheus], &[]) else { return };
    let node = lab.node("gpu0");
    let inventory = lab.text("lab.yaml");
    let apply = || lab.run(&["apply", &inventory, "--yes", "--json", "-"]).expect(0).json();
    apply();
    let again = apply();
    assert_eq!(again["summary"]["tasks"]["changed"], 0, "{again:#}");

    // node_exporter tells every counter of the cards, which were read without root's rights.
    let metrics = "curl -fsS http://127.0.0.1:9100/metrics";
    node.wait_for(&format!("{metrics} | grep -q '^rdma_hw_statistic_total'"));
    let told = node.sh(&format!(
        "{metrics} | grep -c -e '^rdma_hw_statistic_total.*device=\"mlx5_' -e '^rdma_port_statistic_total.*device=\"mlx5_'"
    ));
    let there = node.sh("cd /sys/class/infiniband && ls mlx5_*/ports/*/counters/* mlx5_*/ports/*/hw_counters/* | grep -v -c lifespan");
    assert_eq!(told, there);
    let rate = node.sh(&format!("{metrics} | grep '^rdma_port_rate_bytes_per_second.*\"mlx5_3\"'"));
    assert!(rate.ends_with(" 2.5e+10"), "{rate}");
    let file = "/var/lib/prometheus/node-exporter/rdma.prom";
    assert_eq!(node.sh(&format!("stat -c '%U %a' {file}")), "prometheus 644");
    // A run each two seconds must not fill the journal.
    assert_eq!(node.sh("journalctl -q -u rdma-counters.service"), "");

    // The files are what Prometheus takes.
    for name in ["targets.json", "rules.yaml", "rules.test.yaml"] {
        let text = std::fs::read_to_string(lab.path("monitoring").join(name)).unwrap();
        node.sh(&format!("cat >/etc/prometheus/{name} <<'END'\n{text}\nEND"));
    }
    node.sh("cd /etc/prometheus && promtool check rules rules.yaml && promtool test rules rules.test.yaml");
    node.sh(&format!(
        "cd /etc/prometheus && promtool check config prometheus.yml && promtool check metrics <{file}"
    ));
    node.sh("systemctl restart prometheus");
    node.wait_for("curl -fsS http://127.0.0.1:9090/-/ready");
    let symbols =
        "rdma_port_statistic_total{cluster=\"monitored\", instance=\"gpu0\", counter=\"symbol_error\"}";
    eventually("Prometheus has the counters of eight cards", || ask(node, symbols).len() == 8);

    // So is every query of the board.
    let board = std::fs::read_to_string(lab.path("monitoring/board.json")).unwrap();
    let board: Json = serde_json::from_str(&board).unwrap();
    let panels = board["panels"].as_array().unwrap();
    let queries: Vec<&str> = panels
        .iter()
        .flat_map(|panel| panel["targets"].as_array().unwrap())
        .map(|target| target["expr"].as_str().unwrap())
        .collect();
    assert!(queries.len() > 10, "{queries:?}");
    for query in queries {
        let all = query.replace("$instance", ".*").replace("$counter", ".*");
        ask(node, &all.replace("$__rate_interval", "1m"));
    }

    assert_eq!(ask(node, "ALERTS").len(), 0);
    lab.run(&["lab", "fault", &inventory, "gpu0", "errors-grow"]).expect(0);
    let firing = "ALERTS{alertstate=\"firing\"}";
    eventually("symbol errors are an alert", || !ask(node, firing).is_empty());
    let alerts = ask(node, firing);
    let labels: Vec<(&str, &str)> = alerts
        .iter()
        .map(|alert| {
            let label = |name: &str| alert["metric"][name].as_str().unwrap();
            (label("alertname"), label("device"))
        })
        .collect();
    assert_eq!(labels, [("RdmaLinkErrors", "mlx5_4")]);
    lab.assert_nothing_left();
}
