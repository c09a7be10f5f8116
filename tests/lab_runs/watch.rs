//! `watch` on lab hosts whose hardware is played from recordings, with a webhook on this machine.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "these are tests, though not in functions that are marked so"
)]

use serde_json::Value as Json;

use super::hook::{Got, Hook};
use super::support::{Lab, Running, Site, eventually};

/// The disk is that of the machine that runs the tests. `lab fault` lays the hardware anew, and a round may fall into that: what two rounds see is a fault.
const MORE: &str = "expect: { gpu: { count: 8, model: NVIDIA A100-SXM4-80GB }, rdma: { count: 8, rate_gbps: 200 }, network: { mtu: 9000 }, system: { disk_free_gib: 0 } }\n\
    secrets: { hook: { file: ./hook } }\n\
    watch: { every: 2s, gap: 1s, confirm: 2, webhooks: { ops: { kind: json, url: { secret: hook } } } }\n";

const NOTHING: &str = "name: nothing\ntasks: []\n";

/// Starts the watch and waits for two rounds.
fn watching(site: &Site<'_>) -> Running {
    let mut running = site.spawn("watch", &[]);
    rounds(&mut running, 2);
    running
}

/// Waits until so many rounds were made since it began.
fn rounds(running: &mut Running, number: usize) {
    eventually("rounds are made", || {
        running.still_runs();
        running.said().matches("Watched").count() >= number
    });
}

fn change(got: &Got) -> (String, String, String) {
    let body: Json = got.json();
    assert_eq!(body["changes"].as_array().unwrap().len(), 1, "{body:#}");
    let text = |key: &str| body["changes"][0][key].as_str().unwrap().to_owned();
    (text("change"), text("what"), text("hosts"))
}

fn told(change: &str, what: &str, hosts: &str) -> (String, String, String) {
    (change.to_owned(), what.to_owned(), hosts.to_owned())
}

/// How many messages wait on disk.
fn waiting(site: &Site<'_>) -> usize {
    let state = std::fs::read(site.state().join("watch.json")).unwrap();
    let state: Json = serde_json::from_slice(&state).unwrap();
    state["outbox"]["ops"]["letters"].as_array().map_or(0, Vec::len)
}

#[test]
fn a_fault_is_one_message_and_its_end_another() {
    let Some(lab) = Lab::up(&["gpu0", "gpu1"], "{ profile: a100-x8-cx6 }") else { return };
    let hook = Hook::at(0);
    let site = lab.site_with("site", NOTHING, MORE, "become: sudo", "");
    site.write("hook", &hook.url());
    let inventory = lab.text("lab.yaml");
    let fault = |name: &str| drop(lab.run(&["lab", "fault", &inventory, "gpu1", name]).expect(0));
    let mut watch = watching(&site);
    assert_eq!(hook.got().len(), 0, "{}", watch.said());
    fault("port-down");
    let got = hook.wait_for(1);
    assert_eq!(change(&got[0]), told("new", "rdma.port_active", "gpu1"));
    // It is still there: nothing. Killed and started again: nothing.
    let made = watch.said().matches("Watched").count();
    rounds(&mut watch, made + 2);
    watch.kill();
    let watch = watching(&site);
    assert_eq!(hook.got().len(), 1);
    // Nobody takes what is told, and the watch is killed meanwhile.
    let port = hook.stop();
    fault("none");
    eventually("the first message waits", || waiting(&site) == 1);
    fault("half-rate");
    eventually("the second message waits", || waiting(&site) == 2);
    watch.kill();
    let hook = Hook::at(port);
    let mut watch = watching(&site);
    let got = hook.wait_for(2);
    assert_eq!(change(&got[0]), told("recovered", "rdma.port_active", "gpu1"));
    assert_eq!(change(&got[1]), told("new", "rdma.rate", "gpu1"));
    fault("none");
    assert_eq!(change(&hook.wait_for(3)[2]), told("recovered", "rdma.rate", "gpu1"));
    eventually("no message waits", || waiting(&site) == 0);
    // A run beside it is not disturbed, and says nothing of half-done hosts.
    site.playbook("name: slow\ntasks:\n  - name: slow\n    command: { run: [sleep, \"6\"] }\n");
    let apply = site.spawn("apply", &[]);
    watch.until("Skipped  this round: run ");
    apply.wait().expect(0);
    let made = watch.said().matches("Watched").count();
    rounds(&mut watch, made + 2);
    assert_eq!(hook.got().len(), 3, "{}", watch.said());
    watch.signal("TERM");
    assert_eq!(watch.wait().code, 143);
    lab.assert_nothing_left();
}
