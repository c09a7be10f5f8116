//! A change of the network that cuts the way in.

use super::support::{Lab, TOOLS, outcome};

/// The path carries no packet above 1000 bytes, as a switch without jumbo frames carries none above 1500:
/// short commands still pass, and a login hangs in the middle.
#[test]
fn an_mtu_that_the_path_does_not_carry_is_taken_back_by_the_host() {
    let Some(lab) = Lab::up(&["n0"], TOOLS) else { return };
    let node = lab.node("n0");
    node.sh("ip link set dev eth0 mtu 1000; ethtool -K eth0 tso off gso off >/dev/null; \
         iptables -A OUTPUT -o eth0 -m length --length 1001:65535 -j DROP");
    let play =
        |mtu: u32| format!("name: net\ntasks:\n  - name: MTU\n    netdev: {{ name: eth0, mtu: {mtu} }}\n");
    let site = lab.site("net", &play(1300));
    let json = site.run("apply", &["--json", "-"]).expect(5).json();
    let message = outcome(&json, "n0", "MTU")["failure"]["message"].to_string();
    assert!(message.contains("no new login was possible after the change"), "{json:#}");
    assert!(message.contains("taken back") || message.contains("took it back"), "{json:#}");
    assert_eq!(node.sh("cat /sys/class/net/eth0/mtu"), "1000");

    // What the path carries goes through, and stays.
    site.playbook(&play(900));
    assert_eq!(site.run("apply", &["--json", "-"]).expect(0).json()["summary"]["tasks"]["changed"], 1);
    assert_eq!(site.counts(0)["changed"], 0);
    assert_eq!(node.sh("cat /sys/class/net/eth0/mtu"), "900");
    lab.assert_nothing_left();
}
