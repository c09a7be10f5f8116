//! Apply converges: a second one changes nothing, drift is seen and mended, and nothing else.

use super::support::{Lab, outcome};

const PLAY: &str = "
name: limits
tasks:
  - name: memlock
    file: { path: /etc/security/limits.d/90-rdma.conf, content: \"* soft memlock unlimited\\n* hard memlock unlimited\\n\" }
  - name: places
    loop: [/opt/cluster, /opt/cluster/bin]
    directory: { path: \"{{ item }}\", mode: \"0755\" }
  - name: link
    symlink: { path: /opt/cluster/etc, target: /etc }
";

/// A question about what an earlier task brings.
const RELEASE: &str = "
  - name: release
    file: { path: /etc/cluster-release, content: \"7\\n\" }
  - name: which release
    command: { script: 'echo \"{\\\"release\\\": $(cat /etc/cluster-release)}\"', changes: false, parse: json }
    register: current
  - name: place
    when: current.release == 7
    directory: { path: \"/opt/release-{{ current.release }}\" }
";

#[test]
fn registered_answers_are_known_after_what_they_are_about() {
    let guide = include_str!("../../docs/guides/writing-a-playbook.md");
    let chapter = guide.split("## A question first").nth(1).unwrap();
    let example = chapter.split("```").nth(1).unwrap().trim_start_matches("yaml");
    assert!(example.contains("register: cmdline"), "{example}");
    let Some(lab) = Lab::up(&["gpu0", "gpu1"], "{}") else { return };
    let site = lab.site("answers", &format!("name: answers\ntasks:{example}{RELEASE}"));

    let plan = site.run("plan", &["--exit-code"]).expect(7).shows("known after task \"release\"");
    assert!(plan.out.contains("place") && !plan.out.contains("/opt/release-"), "{}", plan.out);
    let first = site.apply(0);
    assert_eq!(first["summary"]["tasks"]["changed"], 6, "{first:#}");
    assert_eq!(outcome(&first, "gpu1", "which release")["outcome"], "unchanged");
    lab.node("gpu0")
        .sh("test -d /opt/release-7 && [ \"$(cat /etc/booted-with)\" = \"$(cat /proc/cmdline)\" ]");
    let second = site.apply(0);
    assert_eq!(second["summary"]["tasks"]["changed"], 0, "{second:#}");
    site.run("plan", &["--exit-code"]).expect(0);
    site.run("verify", &[]).expect(0);
    lab.node("gpu1").sh("rmdir /opt/release-7");
    site.run("verify", &[]).expect(6).shows("/opt/release-7");
    lab.assert_nothing_left();
}

#[test]
fn a_second_apply_changes_nothing_and_drift_is_all_that_is_mended() {
    let Some(lab) = Lab::up(&["gpu0", "gpu1", "gpu2"], "{}") else { return };
    let site = lab.site("converge", PLAY);

    let plan =
        site.run("plan", &["--exit-code"]).expect(7).shows("~ gpu[0-2]").shows("+* soft memlock unlimited");
    assert_eq!(plan.out.matches("~ gpu[0-2]").count(), 3, "{}", plan.out);
    lab.node("gpu0").sh("! test -e /opt/cluster && ! test -e /run/provision");

    let first = site.apply(0);
    assert_eq!(first["summary"]["tasks"]["changed"], 12, "{first:#}");
    assert_eq!(first["exit_code"], 0);
    let second = site.apply(0);
    assert_eq!(second["summary"]["tasks"]["changed"], 0, "{second:#}");
    assert_eq!(second["summary"]["tasks"]["unchanged"], 12);
    assert_eq!(second["summary"]["ok"], 3);
    site.run("apply", &[]).expect(0).says("3 hosts ok; 0 tasks changed, 12 unchanged");
    site.run("plan", &["--exit-code"]).expect(0);
    site.run("verify", &[]).expect(0);

    lab.node("gpu1").sh("echo junk >>/etc/security/limits.d/90-rdma.conf");
    let plan = site.run("plan", &["--exit-code"]).expect(7).shows("-junk").shows("~ gpu1");
    assert!(!plan.out.contains("gpu0") && !plan.out.contains("places"), "{}", plan.out);
    site.run("plan", &[]).expect(0).shows("-junk");
    site.run("verify", &[]).expect(6).shows("-junk");
    let mended = site.run("apply", &["--json", "-"]).expect(0).says("Changed");
    let json = mended.json();
    assert_eq!(json["summary"]["tasks"]["changed"], 1, "{json:#}");
    assert_eq!(json["summary"]["tasks"]["unchanged"], 11);
    assert_eq!(outcome(&json, "gpu1", "memlock")["outcome"], "changed");
    site.run("verify", &[]).expect(0);

    // Drift of the same kind on all hosts is one block.
    for node in &lab.nodes {
        node.sh("echo junk >>/etc/security/limits.d/90-rdma.conf; rmdir /opt/cluster/bin");
    }
    let plan = site.run("plan", &["--exit-code"]).expect(7);
    assert_eq!(plan.out.matches("~ gpu[0-2]").count(), 2, "{}", plan.out);
    lab.assert_nothing_left();
}
