//! What else a person does with hosts: first contact, ad-hoc commands, parts of a run, plan files,
//! two runs at once, Ctrl-C.

#![expect(clippy::unwrap_used, reason = "these are tests, though not in functions that are marked so")]

use super::broken::wait_for_task;
use super::support::{Lab, Ran, outcome};

/// The command that an output names last.
#[track_caller]
fn next(ran: &Ran, marker: &str) -> Vec<String> {
    let line = ran
        .err
        .lines()
        .find(|line| line.contains(marker))
        .unwrap_or_else(|| panic!("no `{marker}`: {}", ran.err));
    let (_, command) = line.split_at(line.find("provision ").unwrap());
    shlex::split(command).unwrap().into_iter().skip(1).collect()
}

#[test]
fn from_nothing_to_a_first_apply() {
    let Some(lab) = Lab::up(&["n0", "n1"], "{ sudo: password }") else { return };
    let password = std::fs::read_to_string(lab.field("sudo_password")).unwrap();
    let mut command = vec!["init".to_owned()];
    command.extend(lab.nodes.iter().map(|node| format!("{}@127.0.0.1:{}", lab.field("user"), node.port)));
    command.extend(["--identity-file".to_owned(), lab.field("identity_file").to_owned()]);
    let words = |command: &[String]| command.iter().map(String::as_str).collect::<Vec<_>>().join("\u{1}");
    let run = |command: &[String], input: &str| {
        let text = words(command);
        lab.spawn_with(&text.split('\u{1}').collect::<Vec<_>>(), &[], input).wait()
    };

    // One: nobody knows the keys, nobody is there to say yes. They are shown, nothing is written.
    let first = run(&command, "").expect(2).says("ED25519 SHA256:");
    assert!(!lab.path("inventory.yaml").exists() && !lab.path("known_hosts").exists());
    for node in &lab.nodes {
        let shown = node.sh("ssh-keygen -lf /etc/ssh/ssh_host_ed25519_key.pub");
        assert!(first.err.contains(shown.split(' ').nth(1).unwrap()), "{shown}\n{}", first.err);
    }
    // Two.
    let command = next(&first, "then: provision init");
    assert_eq!(command.last().map(String::as_str), Some("--trust"));
    let second = run(&command, "").expect(0).says("inventory.yaml written: 2 of 2 hosts found");
    // Three, and it is done; looking first is the fourth.
    let command = next(&second, "look first: provision plan");
    let command: Vec<String> =
        command.into_iter().map(|word| word.trim_end_matches(')').to_owned()).collect();
    assert_eq!(command, ["plan", "inventory.yaml", "--ask-become-pass"]);
    run(&command, &password).expect(0).shows("node[0-1]");
    let command = next(&second, "next: provision apply");
    assert_eq!(command, ["apply", "inventory.yaml", "--ask-become-pass"]);
    run(&command, &password).expect(0).says("2 hosts ok");
    run(&command, &password).expect(0).says("2 hosts ok; 0 tasks changed");
    // Without the password the one option is named that helps.
    lab.run(&["apply", "inventory.yaml"]).expect(4).says("--ask-become-pass");
    run(&command, "wrong\n").expect(4).says("sudo");
    lab.run(&["init", "127.0.0.1"]).expect(2).says("inventory.yaml is already there").says("--force");
    // A host that was set up anew: refused, then recorded.
    lab.node("n1").sh("rm /etc/ssh/ssh_host_*; systemctl restart ssh");
    lab.node("n1").wait_for("test -s /etc/ssh/ssh_host_ed25519_key.pub && systemctl -q is-active ssh");
    let refused = run(&["plan", "inventory.yaml", "--ask-become-pass"].map(str::to_owned), &password)
        .expect(4)
        .says("known_hosts:");
    let command = next(&refused, "inventory trust");
    let command: Vec<String> = command
        .into_iter()
        .map(|word| word.trim_end_matches(';').to_owned())
        .take_while(|word| word != "if")
        .collect();
    assert_eq!(command, ["inventory", "trust", "inventory.yaml", "--hosts", "node1", "--replace"]);
    let asked = run(&command, "").expect(2);
    let command = next(&asked, "then: provision inventory trust");
    run(&command, "").expect(0);
    run(&["verify", "inventory.yaml", "--ask-become-pass"].map(str::to_owned), &password).expect(0);
}

#[test]
fn parts_of_a_fleet() {
    let Some(lab) = Lab::up(&["n0", "n1", "n2"], "{}") else { return };
    let site = lab.site(
        "parts",
        "
name: parts
tasks:
  - name: picky
    command: { script: \"echo trying; test ! -e /root/broken && touch /root/good\", creates: /root/good }
  - name: file
    file: { path: /etc/x, content: \"x\\n\" }
",
    );
    // Identical output is one block.
    let exec = site.run("exec", &["--", "echo", "a  b"]).expect(0).shows("--- n[0-2] ---\n  a  b\n");
    assert_eq!(exec.out.matches("---").count(), 2, "{}", exec.out);
    site.run("exec", &["--", "sh", "-c", "test $(hostname) != n1 && id -un || exit 3"])
        .expect(5)
        .shows("--- n[0,2] ---\n  root\n")
        .shows("--- n1  (status 3) ---");
    site.run("exec", &["--tags", "x", "--", "true"]).expect(2).says("runs no tasks, so it takes no tags");
    site.run("exec", &["--hosts", "n2", "--timeout", "2", "--", "sleep", "60"])
        .expect(4)
        .shows("n2  (did not end)");
    lab.node("n2").wait_for("! pgrep -fx 'sleep 60'");
    // Ctrl-C ends it on the hosts.
    let running = site.spawn("exec", &["--", "sleep", "61"]);
    for node in &lab.nodes {
        node.wait_for("pgrep -fx 'sleep 61'");
    }
    running.signal("INT");
    running
        .wait()
        .expect(130)
        .says("a second Ctrl-C leaves at once")
        .shows("--- n[0-2]  (did not end) ---\n  stopped, and ended on the host\n");
    for node in &lab.nodes {
        node.wait_for("! pgrep -fx 'sleep 61'");
    }
    // What is suggested is for the same hosts.
    site.run("exec", &["--hosts", "n2", "hostname"]).expect(2).says("--hosts n2 -- hostname\n");

    // What failed is tried again alone.
    lab.node("n1").sh("touch /root/broken");
    site.run("apply", &[])
        .expect(5)
        .says("Failed")
        .says("ran: echo trying")
        .says("2 hosts ok, 1 failed")
        .says("--hosts @failed");
    lab.node("n1").sh("rm /root/broken");
    let json = site.run("apply", &["--json", "-", "--hosts", "@failed"]).expect(0).json();
    assert_eq!(json["hosts"].as_object().unwrap().keys().collect::<Vec<_>>(), ["n1"], "{json:#}");
    assert_eq!(json["summary"]["tasks"]["changed"], 2);
    site.run("apply", &["--hosts", "@failed"]).expect(2);
    assert_eq!(site.counts(0)["changed"], 0);

    for wrong in ["n9", "n0 & !n0", "nodez", "n[0-"] {
        site.run("plan", &["--hosts", wrong]).expect(2);
    }
    site.run("plan", &["--hosts", "node"]).expect(2).says("nodes");

    // A plan file is kept to, or nothing is done.
    let file = lab.text("plan.json");
    lab.node("n1").sh("echo junk >>/etc/x");
    site.run("plan", &["--out", &file]).expect(0);
    site.run("apply", &["--plan", &file]).expect(0).says("1 task changed");
    lab.node("n1").sh("echo junk >>/etc/x");
    site.run("plan", &["--out", &file]).expect(0);
    lab.node("n2").sh("rm /etc/x");
    let json = site
        .run("apply", &["--plan", &file, "--json", "-"])
        .expect(7)
        .says("no longer the one in the plan file")
        .json();
    assert_eq!(json["hosts"]["n1"]["tasks"][0]["outcome"], "changed", "{json:#}");
    lab.node("n2").sh("! test -e /etc/x");
    site.playbook("name: parts\ntasks:\n  - name: file\n    file: { path: /etc/x, content: \"y\\n\" }\n");
    site.run("apply", &["--plan", &file])
        .expect(3)
        .says("play.yaml was changed since")
        .says("provision plan");
}

#[test]
fn a_large_inventory_selects_nothing_by_mistake() {
    let dir = tempfile::tempdir().unwrap();
    let inventory = dir.path().join("inventory.yaml");
    std::fs::write(&inventory, "cluster: big\nplaybooks: []\ngroups: { gpu: { hosts: \"gpu[000-127]\" } }\n")
        .unwrap();
    for (expression, hint) in
        [("gpu128", "gpu128"), ("gpuu", "gpu"), ("gpu & !gpu", "no host"), ("gpu[0-3]", "gpu")]
    {
        let done = assert_cmd::Command::new(assert_cmd::cargo::cargo_bin!("provision"))
            .args(["apply", inventory.to_str().unwrap(), "--hosts", expression])
            .env("XDG_STATE_HOME", dir.path())
            .output()
            .unwrap();
        let text = String::from_utf8_lossy(&done.stderr);
        assert_eq!(done.status.code(), Some(2), "{expression}: {text}");
        assert!(text.contains(hint), "{expression}: {text}");
    }
}

const SLEEPY: &str = "
name: sleepy
tasks:
  - name: slow
    command: { script: \"echo begun; until test -e /root/go; do sleep 0.2; done; echo once >>/root/ledger\", unless: \"grep -q once /root/ledger\" }
  - name: after
    file: { path: /etc/after, content: \"x\\n\" }
";

#[test]
fn one_run_at_a_time_and_orderly_ends() {
    let Some(lab) = Lab::up(&["n0"], "{}") else { return };
    let site = lab.site("stopped", SLEEPY);
    let node = lab.node("n0");

    // Two at once; then the first Ctrl-C: what runs may end, nothing new is started.
    let mut run = site.spawn("apply", &["--json", "-"]);
    wait_for_task(node, "slow");
    site.run("apply", &[]).expect(8).says("works on n0").says("wait for it");
    site.run("plan", &[]).expect(0);
    run.signal("INT");
    run.until("Stopping");
    node.sh("touch /root/go");
    let ran = run.wait().expect(130);
    let json = ran.json();
    assert_eq!(json["exit_code"], 130);
    assert_eq!(outcome(&json, "n0", "slow")["outcome"], "changed", "{json:#}");
    assert_eq!(outcome(&json, "n0", "after")["outcome"], "skipped");
    assert_eq!(node.sh("cat /root/ledger"), "once");
    lab.assert_nothing_left();

    // The second one ends the tasks on the hosts too.
    node.sh("rm /root/ledger /root/go");
    let mut run = site.spawn("apply", &["--json", "-"]);
    wait_for_task(node, "slow");
    run.signal("INT");
    run.until("Stopping");
    run.signal("INT");
    let ran = run.wait().expect(130);
    assert_eq!(outcome(&ran.json(), "n0", "slow")["outcome"], "failed", "{}", ran.err);
    node.sh("! pgrep -fx 'sleep 0.2' && ! test -e /root/ledger");
    lab.assert_nothing_left();
    assert_eq!(node.leftovers(), "free");

    // So does a deadline, those that left the session and their parents too.
    let daemon = lab.site(
        "daemon",
        "
name: daemon
tasks:
  - name: stuck
    timeout: 3s
    command: { script: \"setsid -f sleep 7771; su -s /bin/sh nobody -c 'setsid -f sleep 7772' >/dev/null; sleep 7773\" }
",
    );
    daemon
        .run("apply", &[])
        .expect(5)
        .says("not finished within its deadline of 3s; its processes on the host were ended")
        .says("a daemon that left their session may still run");
    node.sh("! pgrep -x sleep");
    // A task that runs apart is a unit: what left its session, its parent and its environment is still of it.
    let unit = lab.site(
        "unit",
        "
name: unit
tasks:
  - name: stuck
    detach: true
    timeout: 3s
    command: { script: \"setsid -f env -i /bin/sleep 7775; sleep 7776\" }
",
    );
    unit.run("apply", &[])
        .expect(5)
        .says("its processes on the host were ended")
        .lacks("a daemon that left their session");
    node.sh("! pgrep -x sleep");
    // The command itself ended, so the task did, with all that it said.
    let left = lab.site(
        "left",
        "
name: left
tasks:
  - name: leaves
    command: { script: \"echo early; sleep 7774 & echo late; test ! -e /root/fail\" }
",
    );
    node.sh("touch /root/fail");
    left.run("apply", &[]).expect(5).says("early").says("late");
    assert_eq!(node.sh("pgrep -x 'sleep|head|tail|dd' | wc -l"), "1");
    node.sh("pkill -x sleep");

    // SIGTERM is an orderly end with a code of its own.
    let mut run = site.spawn("apply", &[]);
    wait_for_task(node, "slow");
    run.signal("TERM");
    run.until("Stopping");
    node.sh("touch /root/go");
    run.wait().expect(143);
    assert_eq!(site.counts(0)["changed"], 1);
    lab.assert_nothing_left();
    // So is the loss of the terminal, but under `nohup`.
    node.sh("rm /root/ledger /root/go");
    let mut run = site.spawn("apply", &[]);
    wait_for_task(node, "slow");
    run.signal("HUP");
    run.until("the terminal is gone: nothing new is started");
    node.sh("touch /root/go");
    run.wait().expect(143);
    assert_eq!(node.sh("cat /root/ledger"), "once");
    lab.assert_nothing_left();

    // Another inventory has the same host: it waits for what runs, and leaves the live run's lock.
    let site_of_two = lab.site(
        "first",
        "
name: two
tasks:
  - name: one
    command: { script: \"until test -e /root/go; do sleep 0.2; done; touch /root/one\", creates: /root/one }
  - name: two
    command: { script: \"touch /root/two\", creates: /root/two }
",
    );
    let other =
        lab.site("second", "name: b\ntasks:\n  - name: b\n    file: { path: /etc/b, content: \"x\\n\" }\n");
    node.sh("rm /root/go");
    let run = site_of_two.spawn("apply", &[]);
    wait_for_task(node, "one");
    other.run("apply", &[]).expect(8).says("another run works on this host: run");
    node.sh("touch /root/go");
    let ran = run.wait().expect(0);
    assert!(!ran.err.contains("Lost"), "{}", ran.err);
    other.run("apply", &[]).expect(0);

    // Another operator logs in to the host as somebody else and becomes root there as well: told at once, by name.
    node.sh("rm /root/ledger /root/go; useradd -m -s /bin/sh anna; cp -r ~provision/.ssh ~anna/; chown -R anna: ~anna
        printf 'anna ALL=(ALL) NOPASSWD: ALL\\n' >/etc/sudoers.d/anna");
    let annas = lab.text("stopped/annas.yaml");
    let text = std::fs::read_to_string(&site.inventory).unwrap();
    let user = format!("user: {}", lab.field("user"));
    std::fs::write(&annas, text.replacen(&user, "user: anna", 1)).unwrap();
    let elsewhere = lab.text("elsewhere");
    let anna = || {
        let environment = [("XDG_STATE_HOME", elsewhere.as_str()), ("USER", "anna")];
        lab.spawn_with(&["apply", &annas, "--yes"], &environment, "").wait()
    };
    let run = lab.spawn_with(&["apply", &site.inventory, "--yes"], &[("USER", "bert")], "");
    wait_for_task(node, "slow");
    let told = anna().expect(8).says("another run works on this host: run ").says(" of controller bert@");
    told.says(", since 20").lacks("Attached");
    node.sh("touch /root/go");
    run.wait().expect(0);
    assert_eq!(node.sh("cat /root/ledger"), "once");
    anna().expect(0).says("0 tasks changed");
    lab.assert_nothing_left();
}
