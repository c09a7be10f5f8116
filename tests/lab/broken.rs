//! Runs that are broken off: killed, stopped, cut. The next run continues, nothing is done twice.

use super::support::{Lab, Node, Site, outcome};

/// Waits until a task of this name runs on the host.
pub(crate) fn wait_for_task(node: &Node, task: &str) {
    node.wait_for(&format!("grep -q '{task}$' $(ls -d /run/provision/spool/*/pid | sed 's/pid$/name/')"));
}

const SLOW: &str = "
name: slow
tasks:
  - name: before
    file: { path: /etc/before, content: \"one\\n\" }
  - name: slow
    command: { script: \"echo begun; until test -e /root/go; do sleep 0.2; done; echo once >>/root/ledger; echo ended\", unless: \"grep -q once /root/ledger\" }
  - name: after
    file: { path: /etc/after, content: \"two\\n\" }
";

#[test]
fn a_killed_run_is_continued_by_the_next() {
    let Some(lab) = Lab::up(&["n0"], "{}") else { return };
    let site = lab.site("killed", SLOW);
    let node = lab.node("n0");

    let run = site.spawn("apply", &[]);
    wait_for_task(node, "slow");
    run.kill();
    // The old host shell cannot end by itself, so its lock is still there when the next run comes.
    node.sh("read -r run controller pid start </run/provision/owner; kill -STOP $pid");

    // Its journal can be shown.
    site.run("report list", &[]).expect(0).shows("its end is not recorded: killed");
    site.run("report show", &[])
        .expect(0)
        .shows("its end is not recorded: it was killed")
        .shows("changed  before");

    let mut second = site.spawn("apply", &["--json", "-"]);
    second.until("Attached");
    node.sh("touch /root/go");
    let second = second.wait().expect(0);
    let json = second.json();
    let second = second.says("taken over").says("done by an earlier run");
    assert_eq!(outcome(&json, "n0", "slow")["attached"], true, "{json:#}\n{}", second.err);
    assert_eq!(outcome(&json, "n0", "after")["outcome"], "changed");
    assert_eq!(node.sh("cat /root/ledger"), "once");
    site.run("report show", &["--output"])
        .expect(0)
        .shows("| begun")
        .shows("| ended")
        .shows("started by an earlier run");

    assert_eq!(site.counts(0)["unchanged"], 3);
    assert_eq!(node.leftovers(), "free");
    lab.assert_nothing_left();
    assert!(site.state().join("locks").read_dir().unwrap().flatten().all(|lock| lock.file_name() == "gate"));
    node.sh("! ls /tmp | grep -i provision");
}

#[test]
fn a_notification_survives_a_killed_run() {
    let Some(lab) = Lab::up(&["n0"], "{}") else { return };
    let site = lab.site(
        "notified",
        "
name: notified
tasks:
  - name: configuration
    file: { path: /etc/app.conf, content: \"x\\n\" }
    notify: reload app
  - name: slow
    command: { script: \"sleep 60\", unless: \"test -e /root/skip\" }
handlers:
  - name: reload app
    command: { script: \"echo reloaded >>/root/reloads\" }
",
    );
    let node = lab.node("n0");
    let run = site.spawn("apply", &[]);
    wait_for_task(node, "slow");
    run.kill();
    node.sh("touch /root/skip; pkill -x sleep; true");
    node.wait_for("for s in /run/provision/spool/*/; do test -e $s/status || exit 1; done");
    node.sh("! test -e /root/reloads");

    site.run("plan", &["--exit-code"])
        .expect(7)
        .shows("reload app")
        .shows("pending: an earlier run notified it and ended before it ran");
    site.run("verify", &[]).expect(6).shows("reload app");
    node.sh("! test -e /root/reloads");
    let json = site.apply(0);
    assert_eq!(outcome(&json, "n0", "reload app")["outcome"], "ran", "{json:#}");
    assert_eq!(node.sh("cat /root/reloads"), "reloaded");
    let plan = site.run("plan", &["--exit-code"]).expect(0);
    assert!(!plan.out.contains("reload app"), "{}", plan.out);
    site.run("apply", &[]).expect(0);
    assert_eq!(node.sh("cat /root/reloads"), "reloaded");
    assert_eq!(node.leftovers(), "free");
}

/// The controller is killed twice; every run but the first one follows what it finds.
fn detached(site: &Site<'_>, node: &Node) {
    for seen in 0..2 {
        let mut run = site.spawn("apply", &[]);
        if seen == 0 {
            node.wait_for("test -e /root/starts");
        } else {
            run.until("Attached");
        }
        run.kill();
    }
}

#[test]
fn a_detached_task_outlives_controllers_and_network() {
    let Some(lab) = Lab::up(&["n0"], "{}") else { return };
    let site = lab.site(
        "detached",
        "
name: detached
tasks:
  - name: long
    detach: true
    command:
      script: |
        echo started >>/root/starts
        i=0
        while [ $i -lt 60 ]; do i=$((i+1)); echo line $i; sleep 1; done
        touch /root/done
      creates: /root/done
",
    );
    let node = lab.node("n0");
    detached(&site, node);
    let mut run = site.spawn("apply", &["--json", "-"]);
    run.until("Attached");
    node.cut();
    run.until("Lost");
    node.mend();
    let ran = run.wait().expect(0);
    assert_eq!(outcome(&ran.json(), "n0", "long")["attached"], true, "{}", ran.err);
    assert_eq!(node.sh("cat /root/starts"), "started");
    let report = site.run("report show", &["--output"]).expect(0);
    let lines: Vec<_> = report.out.lines().filter_map(|line| line.trim().strip_prefix("| line ")).collect();
    assert_eq!(lines, (1..=60).map(|n| n.to_string()).collect::<Vec<_>>(), "{}", report.out);
    let again = site.apply(0);
    assert_eq!(again["summary"]["tasks"]["unchanged"], 1, "{again:#}");
    assert_eq!(node.leftovers(), "free");
    node.wait_for("! systemctl list-units --no-legend --all 'provision-*' | grep -q .");
    lab.assert_nothing_left();
}

#[test]
fn a_task_that_may_not_be_ended_goes_on_after_its_deadline() {
    let Some(lab) = Lab::up(&["n0"], "{}") else { return };
    let task = |conduct: &str, file: &str| {
        format!(
            "name: late\ntasks:\n  - name: late\n    timeout: 2s\n    {conduct}\n    command: {{ script: \"echo begun >>/root/{file}; sleep 6; echo ended >>/root/{file}\", unless: \"grep -q ended /root/{file}\" }}\n"
        )
    };
    let node = lab.node("n0");

    let site = lab.site("leave", &task("on_deadline: leave", "left"));
    site.run("apply", &[]).expect(5).says("still running after 2s").says("the next run follows it");
    let json = site.apply(0);
    assert_eq!(outcome(&json, "n0", "late")["attached"], true, "{json:#}");
    assert_eq!(node.sh("cat /root/left"), "begun\nended");

    // Without that, its processes are ended, whoever they belong to.
    for (name, conduct) in [("kill", "on_deadline: kill"), ("user", "become_user: provision")] {
        node.sh("install -m 666 /dev/null /root/killed; chmod 755 /root");
        let site = lab.site(name, &task(conduct, "killed"));
        site.run("apply", &[]).expect(5).says("not finished within its deadline of 2s");
        node.sh("! pgrep -fx 'sleep 6'");
        assert_eq!(node.sh("cat /root/killed"), "begun", "{name}");
    }
}
