//! `watch` on lab hosts whose hardware is played from recordings, with a webhook on this machine.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "these are tests, though not in functions that are marked so"
)]

use serde_json::Value as Json;

use super::hook::{Got, Hook};
use super::support::{Lab, Running, Site, eventually, run};

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

/// What the first host gets: the program, its key, and a webhook, for which systemd starts a shell at each request.
const CONTROLLER: &str = r#"
name: a controller that watches
tasks:
  - name: program
    copy: { src: PROGRAM, path: /usr/local/bin/provision, mode: "0755" }
  - name: folders
    loop: [/root/.ssh, /root/site]
    directory: { path: "{{ item }}", mode: "0700" }
  - name: key
    copy: { src: IDENTITY, path: /root/.ssh/id_ed25519, mode: "0600" }
  - name: inventory
    file:
      path: /root/site/inventory.yaml
      content: |
        cluster: watched
        playbooks: [./nothing.yaml]
        ssh: { user: USER, become: sudo }
        secrets: { hook: { file: ./hook } }
        EXPECT
        watch: { every: 2s, gap: 1s, confirm: 2, webhooks: { ops: { kind: json, url: { secret: hook } } } }
        hosts: { gpu1: }
  - name: playbook
    file: { path: /root/site/nothing.yaml, content: "name: nothing\ntasks: []\n" }
  - name: secret
    file: { path: /root/site/hook, content: "http://127.0.0.1:8099/", mode: "0600" }
  - name: webhook
    file:
      path: /etc/systemd/system/hook.socket
      content: |
        [Socket]
        ListenStream=127.0.0.1:8099
        Accept=yes
  - name: what takes a request
    file:
      path: /etc/systemd/system/hook@.service
      content: |
        [Service]
        StandardInput=socket
        StandardError=journal
        ExecStart=/bin/sh /root/hook.sh
  - name: its script
    file:
      path: /root/hook.sh
      content: |
        length=0
        while read -r name value; do
            value=${value%?}
            case $name in
            [Cc]ontent-[Ll]ength:) length=$value ;;
            ?) break ;;
            esac
        done
        head -c "$length" >>/root/got
        echo >>/root/got
        printf 'HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n'
"#;

/// With all that its unit forbids it: it logs in to another host, tells, and goes on where it was killed.
#[test]
fn a_watch_is_a_service_of_systemd() {
    let Some(lab) = Lab::up(&["gpu0", "gpu1"], "{ profile: a100-x8-cx6 }") else { return };
    let (program, expect) = (lab.text("provision"), MORE.lines().next().unwrap());
    let built = assert_cmd::cargo::cargo_bin!("provision").to_str().unwrap();
    run("strip", &["-o", &program, built]).unwrap();
    let playbook = CONTROLLER
        .replace("PROGRAM", &program)
        .replace("IDENTITY", lab.field("identity_file"))
        .replace("USER", lab.field("user"))
        .replace("EXPECT", expect);
    let site = lab.site("site", &playbook);
    site.run("apply", &["--hosts", "gpu0"]).expect(0);
    let (node, inventory) = (lab.node("gpu0"), lab.text("lab.yaml"));
    let fault = |name: &str| drop(lab.run(&["lab", "fault", &inventory, "gpu1", name]).expect(0));
    node.sh(
        "ssh-keyscan gpu1 >/root/.ssh/known_hosts 2>/dev/null
        USER=root provision watch /root/site/inventory.yaml --systemd >/etc/systemd/system/provision-watch-watched.service
        systemctl daemon-reload && systemctl start hook.socket && systemctl enable --now provision-watch-watched",
    );
    let rounds = |number: usize| {
        format!("[ $(journalctl -q -o cat -u provision-watch-watched | grep -c Watched) -ge {number} ]")
    };
    node.wait_for(&rounds(2));
    assert_eq!(node.sh("test ! -e /root/got || cat /root/got"), "");
    fault("port-down");
    node.wait_for("grep -q '\"new\".*rdma.port_active\\|rdma.port_active.*\"new\"' /root/got");
    node.sh("systemctl kill --signal KILL provision-watch-watched");
    node.wait_for("[ $(systemctl show -P NRestarts provision-watch-watched) = 1 ]");
    let made: usize =
        node.sh("journalctl -q -o cat -u provision-watch-watched | grep -c Watched").parse().unwrap();
    node.wait_for(&rounds(made + 2));
    assert_eq!(node.sh("wc -l </root/got"), "1", "{}", node.sh("cat /root/got"));
    fault("none");
    node.wait_for("grep -q recovered /root/got");
    // It ends as it is asked to, and leaves nothing where it may not write.
    node.sh("systemctl stop provision-watch-watched");
    assert_eq!(node.sh("systemctl show -P Result provision-watch-watched"), "success");
    assert_eq!(node.sh("ls -A /root/site"), "hook\ninventory.yaml\nnothing.yaml");
}
