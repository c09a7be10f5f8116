//! Large files that are cut on their way: they go on where they were, and leave nothing.

use super::support::{Lab, Node, Site, outcome};

const SITE: &str = "
name: large
tasks:
  - name: large
    copy: { src: ./large.bin, path: /opt/large.bin }
";

/// Stands in for `cat` on the host: while /root/slow is there, an upload stands still after another 5 MB,
/// and each is noted with what was there before.
const SLOW_CAT: &str = r#"#!/bin/sh
to=$(readlink /proc/$$/fd/1)
case $to in
*.writer) ;;
*/upload/*)
	stat -c %s "$to" >>/root/starts
	if [ -e /root/slow ]; then
		dd bs=1000 count=5000 iflag=fullblock 2>/dev/null
		while [ -e /root/slow ]; do sleep 0.1; done
	fi
	;;
esac
exec /bin/cat "$@"
"#;

/// 20 MB that differ with `seed`, beside the playbook.
fn write(site: &Site<'_>, seed: u32) {
    let lines: Vec<String> = (0..2_000_000_u32).map(|line| format!("{:09}\n", line ^ seed)).collect();
    site.write("large.bin", &lines.concat());
}

fn slow(node: &Node) {
    node.sh(&format!(
        "cat >/usr/local/bin/cat <<'END'\n{SLOW_CAT}END\nchmod 755 /usr/local/bin/cat; touch /root/slow"
    ));
}

/// Waits until the file on its way has this size.
fn wait_for_size(node: &Node, size: u32) {
    node.wait_for(&format!("test \"$(stat -c %s /run/provision/upload/*[0-9a-f])\" = {size}"));
}

const KEPT: &str = "ls /run/provision/upload | grep -vc writer || :";

#[test]
fn a_large_copy_whose_connection_is_cut_goes_on() {
    let Some(lab) = Lab::up(&["n0"], "{}") else { return };
    let site = lab.site("cut", SITE);
    let node = lab.node("n0");
    write(&site, 0);
    slow(node);
    let mut run = site.spawn("apply", &["--json", "-"]);
    wait_for_size(node, 5_000_000);
    // The server of the connection goes; what writes on the host stands still and lives on.
    node.sh("pkill -9 -f 'sshd.*(@|notty)'; true");
    run.until("Lost");
    wait_for_size(node, 10_000_000);
    // By its identity, before the next one begins.
    // A shell that forks is two for a moment; a writer that was not ended would stay.
    node.wait_for("test \"$(pgrep -fc /usr/local/bin/cat)\" = 1");
    node.sh("rm /root/slow");
    let json = run.wait().expect(0).json();
    assert_eq!(outcome(&json, "n0", "large")["outcome"], "changed", "{json:#}");
    assert_eq!(node.sh("/bin/cat /root/starts"), "0\n5000000");
    assert_eq!(node.sh(KEPT), "0");
    assert_eq!(site.counts(0)["unchanged"], 1);
    lab.assert_nothing_left();
}

#[test]
fn tries_that_fail_leave_one_file_and_the_next_run_takes_it_away() {
    let Some(lab) = Lab::up(&["n0"], "{}") else { return };
    let site = lab.site("tries", SITE);
    let node = lab.node("n0");
    write(&site, 0);
    slow(node);
    // Killed, killed, and stopped by the second Ctrl-C: each goes on where the one before stood.
    for size in [5_000_000, 10_000_000] {
        let run = site.spawn("apply", &[]);
        wait_for_size(node, size);
        run.kill();
        assert_eq!(node.sh(KEPT), "1");
    }
    let mut run = site.spawn("apply", &[]);
    wait_for_size(node, 15_000_000);
    run.signal("INT");
    run.until("a second one ends them");
    assert!(!run.has_ended(), "the first lets it end");
    run.signal("INT");
    let ran = run.wait();
    assert!(ran.err.contains("stopped by the second Ctrl-C"), "{ran:?}");
    assert_eq!(
        (node.sh(KEPT).as_str(), node.sh("/bin/cat /root/starts").as_str()),
        ("1", "0\n5000000\n10000000")
    );
    node.sh("rm /root/slow; ! test -e /opt/large.bin");

    // Another content: what was sent of the old one is of no use.
    write(&site, 7);
    site.apply(0);
    assert_eq!((node.sh(KEPT).as_str(), node.sh("tail -n 1 /root/starts").as_str()), ("0", "0"));

    // Nobody wants it any more.
    write(&site, 9);
    node.sh("touch /root/slow");
    let run = site.spawn("apply", &[]);
    wait_for_size(node, 5_000_000);
    run.kill();
    node.sh("rm /root/slow");
    let other = lab.site(
        "other",
        "name: o\ntasks:\n  - name: other\n    file: { path: /etc/other, content: \"x\\n\" }\n",
    );
    other.apply(0);
    assert_eq!(node.sh(KEPT), "0");
    node.sh("! ls /opt/.provision* /var/tmp/provision* 2>/dev/null");
    lab.assert_nothing_left();
}
