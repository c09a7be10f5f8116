//! Two hosts that see one file system: one writes, the other waits and checks.

use super::support::{Lab, outcome};

const PLAY: &str = "
name: shared
tasks:
  - name: place
    directory: { path: /opt/tool, mode: \"0755\" }
  - name: slow
    command:
      script: sleep 2; hostname >>/opt/tool/log; touch /opt/tool/made
      creates: /opt/tool/made
  - name: file
    file: { path: /opt/tool/conf, content: \"one\\n\" }
  - name: own
    file: { path: \"/opt/tool/{{ host.name }}\", content: \"{{ host.name }}\\n\" }
  - name: local
    file: { path: /etc/tool, content: \"local\\n\" }
";

#[test]
fn one_host_writes_and_the_other_checks() {
    let Some(lab) = Lab::up(&["n0", "n1"], "{ shared: [/opt] }") else { return };
    let site = lab.site("shared", PLAY);
    let json = site.apply(0);
    for task in ["place", "slow", "file"] {
        let mut outcomes =
            ["n0", "n1"].map(|host| outcome(&json, host, task)["outcome"].as_str().unwrap_or("none"));
        outcomes.sort_unstable();
        assert_eq!(outcomes, ["changed", "unchanged"], "{task}: {json:#}");
    }
    for host in ["n0", "n1"] {
        assert_eq!(outcome(&json, host, "own")["outcome"], "changed", "{json:#}");
        assert_eq!(outcome(&json, host, "local")["outcome"], "changed", "{json:#}");
    }
    assert_eq!(lab.node("n1").sh("wc -l </opt/tool/log; cat /opt/tool/n0 /opt/tool/n1"), "1\nn0\nn1");
    let again = site.apply(0);
    assert_eq!(again["summary"]["tasks"]["changed"], 0, "{again:#}");
    site.run("verify", &[]).expect(0);

    // What the writer cannot do, the other does not try again.
    site.playbook(
        "
name: shared
tasks:
  - name: fails
    command:
      script: sleep 1; hostname >>/opt/tool/tries; exit 3
      creates: /opt/tool/never
",
    );
    site.run("apply", &[]).expect(5).says("which writes it on the file system that both share");
    assert_eq!(lab.node("n0").sh("wc -l </opt/tool/tries"), "1");
    lab.assert_nothing_left();
}
