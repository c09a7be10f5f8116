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
    site.run("apply", &[]).expect(0).says("3 ok; 0 changed, 12 unchanged");
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
