//! Assertions, files that a tool has looked at, copies of files of hosts, and parts of a playbook.

use std::os::unix::fs::PermissionsExt as _;

use super::support::{Lab, outcome};

const TASKS: &str = "
name: words
params: { cores: { type: int, default: 1 }, rule: { type: string, default: \"provision ALL=(root) NOPASSWD: /bin/true\" } }
tasks:
  - name: large enough
    assert:
      that: [facts.cpu.count >= cores, \"'nodes' in host.groups\"]
      message: too small for {{ cluster.name }}
  - name: shares
    loop: { product: { share: [/srv/a, /srv/b], user: [one, two] } }
    directory: { path: \"{{ item.share }}/{{ item.user }}\" }
  - name: rule
    tags: [sudo]
    file: { path: /etc/sudoers.d/words, content: \"{{ rule }}\\n\", mode: \"0440\" }
  - name: report
    tags: [slow]
    file: { path: \"/etc/report of {{ cluster.name }}\", content: \"of {{ host.name }}\\n\" }
  - name: reports
    tags: [slow]
    fetch: { path: /etc/report of site, to: got }
";

#[test]
fn assertions_checked_files_copies_and_parts() {
    let Some(lab) = Lab::up(&["n0", "n1"], "{}") else { return };
    let site = lab.site("site", TASKS);

    // What cannot hold is known before anything is changed, with the values.
    let wrong = site.run("plan", &["--set", "cores=9000"]).expect(5);
    assert!(
        wrong.out.contains("too small for site") || wrong.err.contains("too small for site"),
        "{wrong:?}"
    );
    let json = site.run("apply", &["--set", "cores=9000", "--json", "-"]).expect(5).json();
    let message = outcome(&json, "n0", "large enough")["failure"]["message"].as_str().unwrap();
    assert!(
        message.starts_with("too small for site (`facts.cpu.count >= cores` is false: `facts.cpu.count` is "),
        "{message}"
    );
    assert!(message.contains("`cores` is 9000"), "{message}");
    lab.node("n0").sh("! test -e /srv/a");

    // A part of it.
    let json = site.run("apply", &["--skip-tags", "slow", "--json", "-"]).expect(0).json();
    assert_eq!(json["summary"]["tasks"]["changed"], 10, "{json:#}");
    assert_eq!(lab.node("n1").sh("ls /srv/b; test -e '/etc/report of site' || echo none"), "one\ntwo\nnone");
    site.run("apply", &["--skip-tags", "slwo"]).expect(2).says("did you mean `slow`?");

    // sudo keeps the rule that it takes.
    let json = site.run("apply", &["--set", "rule=provision ALL=(", "--json", "-"]).expect(5).json();
    let failure = &outcome(&json, "n0", "rule")["failure"];
    let said = format!("{} {}", failure["message"], failure["output"]);
    assert!(said.contains("visudo refuses what /etc/sudoers.d/words would be"), "{said}");
    assert!(said.contains("/etc/sudoers.d/words:1:"), "{said}");
    assert_eq!(lab.node("n0").sh("grep -c true /etc/sudoers.d/words; ls -A /etc/sudoers.d | wc -l"), "1\n3");

    // The copies, once.
    let json = site.apply(0);
    assert_eq!(outcome(&json, "controller", "reports")["outcome"], "changed", "{json:#}");
    assert!(!outcome(&json, "controller", "reports").to_string().contains("of n1"), "{json:#}");
    for host in ["n0", "n1"] {
        let copy = lab.path(&format!("site/got/{host}/report of site"));
        assert_eq!(std::fs::read_to_string(&copy).unwrap(), format!("of {host}\n"));
        let mode = |path: &std::path::Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(&copy), mode(copy.parent().unwrap())), (0o600, 0o700));
    }
    assert_eq!(site.apply(0)["summary"]["tasks"]["changed"], 0);
    site.run("verify", &[]).expect(0);
    lab.node("n1").sh("rm '/etc/report of site'");
    let json = site.apply(0);
    assert_eq!(
        json["summary"]["tasks"]["changed"], 1,
        "its report is written again, and the copy is like it: {json:#}"
    );
    lab.assert_nothing_left();
}
