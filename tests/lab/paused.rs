//! Hosts that stand still: the others finish, and no run waits for ever.

use crate::broken::wait_for_task;
use crate::support::{Lab, outcome};

#[test]
fn a_host_that_is_paused_before_the_run_does_not_keep_the_others() {
    let Some(lab) = Lab::up(&["n0", "n1"], "{}") else { return };
    let silent = format!(
        "  n1: {{ address: 127.0.0.1, ssh: {{ port: {}, login_timeout: 15s }} }}\n",
        lab.node("n1").port
    );
    let play = "name: p\ntasks:\n  - name: file\n    file: { path: /etc/x, content: \"x\\n\" }\n";
    let site = lab.site_with("paused", play, "", "become: sudo", &silent);
    lab.node("n1").pause();
    let ran = site
        .run("apply", &["--json", "-"])
        .expect(4)
        .says("no login within 15s")
        .says("1 host ok, 1 unreachable");
    let json = ran.json();
    assert_eq!(json["hosts"]["n1"]["status"], "unreachable", "{json:#}");
    assert_eq!(json["summary"]["unreachable"], 1);
    assert_eq!(outcome(&json, "n0", "file")["outcome"], "changed");
    lab.assert_nothing_left();
    site.run("apply", &["--allow-unreachable", "1"])
        .expect(0)
        .says("1 unreachable, allowed by --allow-unreachable 1");

    lab.node("n1").engine("unpause");
    let json = site.run("apply", &["--json", "-", "--hosts", "@unreachable"]).expect(0).json();
    assert_eq!(json["hosts"].as_object().unwrap().keys().collect::<Vec<_>>(), ["n1"]);
    assert_eq!(json["summary"]["tasks"]["changed"], 1);
}

#[test]
fn a_host_that_is_paused_in_a_task_is_followed_again_or_given_up() {
    let Some(lab) = Lab::up(&["n0", "n1"], "{}") else { return };
    let site = lab.site(
        "frozen",
        "
name: frozen
tasks:
  - name: slow
    command: { script: \"until test -e /root/go; do sleep 0.2; done; echo once >>/root/ledger; echo ended\", unless: \"grep -q once /root/ledger\" }
  - name: after
    file: { path: /etc/after, content: \"x\\n\" }
",
    );
    let mut run = site.spawn("apply", &["--json", "-"]);
    for node in &lab.nodes {
        wait_for_task(node, "slow");
    }
    for node in &lab.nodes {
        node.pause();
    }
    run.until("Lost");
    // One comes back, the other does not.
    lab.node("n0").engine("unpause");
    lab.node("n0").sh("touch /root/go");
    let ran = run.wait().expect(4).says("not back within 2m").says("1 host ok, 1 quarantined");
    let json = ran.json();
    assert_eq!(outcome(&json, "n0", "slow")["outcome"], "changed", "{json:#}");
    assert_eq!(outcome(&json, "n0", "after")["outcome"], "changed");
    assert_eq!(json["hosts"]["n1"]["status"], "quarantined");
    assert_eq!(lab.node("n0").sh("cat /root/ledger"), "once");
    lab.assert_nothing_left();

    lab.node("n1").engine("unpause");
    lab.node("n1").sh("touch /root/go");
    let json = site.apply(0);
    assert_eq!(outcome(&json, "n1", "slow")["attached"], true, "{json:#}");
    assert_eq!(lab.node("n1").sh("cat /root/ledger"), "once");
    assert_eq!(lab.node("n1").leftovers(), "free");
}
