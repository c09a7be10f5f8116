//! `compare` on real hosts: what is planted there is told first, and nothing is changed.

#![expect(clippy::unwrap_used, reason = "these are tests, though not in functions that are marked so")]

use serde_json::Value as Json;

use super::support::Lab;

const NOTHING: &str = "name: nothing\ntasks: []\n";

/// The first three things that an answer names: `sysctl net.core.somaxconn`.
fn first(json: &Json) -> Vec<String> {
    let findings = json["findings"].as_array().unwrap();
    let name = |finding: &Json| {
        format!("{} {}", finding["kind"].as_str().unwrap(), finding["key"].as_str().unwrap())
    };
    findings.iter().take(3).map(name).collect()
}

#[test]
fn what_separates_bad_hosts_comes_first() {
    let Some(lab) = Lab::up(&["gpu0", "gpu1", "gpu2", "gpu3", "gpu4"], "{ profile: a100-x8-cx6 }") else {
        return;
    };
    let site = lab.site("site", NOTHING);
    // Of no group: on one host each, or on some of both.
    for (number, host) in ["gpu0", "gpu1", "gpu2", "gpu3", "gpu4"].into_iter().enumerate() {
        lab.node(host).sh(&format!("echo {number} >/etc/own; echo 'x=1' >/etc/profile.d/of-{number}.sh"));
    }
    for host in ["gpu0", "gpu3"] {
        lab.node(host)
            .sh("useradd anna; echo 'export EDITOR=vi' >/etc/profile.d/editor.sh; touch /usr/local/bin/tool");
    }
    for (plant, undo, found) in [
        (
            "mkdir -p /etc/security/limits.d && echo '* hard memlock 64' >/etc/security/limits.d/90-x.conf",
            "rm /etc/security/limits.d/90-x.conf",
            "file /etc/security/limits.d/90-x.conf",
        ),
        (
            "sysctl -qw net.core.somaxconn=77",
            "sysctl -qw net.core.somaxconn=4096",
            "sysctl net.core.somaxconn",
        ),
        (
            "echo 'export NCCL_IB_DISABLE=1' >/etc/profile.d/nccl.sh",
            "rm /etc/profile.d/nccl.sh",
            "environment NCCL_IB_DISABLE",
        ),
        ("ip link set eth0 mtu 1400", "ip link set eth0 mtu 1500", "link eth0 mtu"),
    ] {
        for host in ["gpu3", "gpu4"] {
            lab.node(host).sh(plant);
        }
        let json = site.run("compare", &["--bad", "gpu[3-4]", "--json", "-"]).expect(0).json();
        assert!(first(&json).iter().any(|name| name == found), "{found}: {:?}", first(&json));
        for host in ["gpu3", "gpu4"] {
            lab.node(host).sh(undo);
        }
    }
    // Without a difference of the groups none is told, and the fleet has none but what was made.
    let ran = site.run("compare", &["--bad", "gpu[3-4]"]).expect(0);
    ran.shows("Nothing separates the two groups.");

    // A host against its own past, which is kept.
    let kept = site.run("compare", &["--hosts", "gpu1"]).expect(0);
    let id = kept.err.split("kept as ").nth(1).unwrap().split(':').next().unwrap().to_owned();
    lab.node("gpu1").sh("sysctl -qw net.core.somaxconn=77; touch /root/stamp");
    let past = format!("gpu1@{id}");
    let json = site.run("compare", &["--bad", "gpu1", "--good", &past, "--json", "-"]).expect(0).json();
    // A machine under load may have counters that rise meanwhile; they come behind it.
    assert_eq!(first(&json)[0], "sysctl net.core.somaxconn", "{json:#}");
    site.run("compare", &["--bad", "gpu1", "--good", "gpu1@20200101"])
        .expect(2)
        .says("there is no look at gpu1 until 20200101");
    site.run("compare", &["--bad", "gpu1", "--good", "gpu1"])
        .expect(2)
        .says("gpu1 is named by --bad and by --good");

    // Which one differs is told without a word on which one fails.
    site.run("compare", &[])
        .expect(0)
        .shows("gpu1 differs from the others in ")
        .shows("sysctl net.core.somaxconn");
    // A look writes nothing that stays.
    let written = "find / -xdev -newer /root/stamp -type f ! -path '/proc/*' ! -path '/sys/*' ! -path '/run/*' \
                   ! -path '/var/log/*' ! -path '/tmp/*'";
    assert_eq!(lab.node("gpu1").sh(written), "");

    // One that is away is told and left out; where no bad one is left, nothing is compared.
    lab.node("gpu4").engine("stop");
    site.run("compare", &["--bad", "gpu[1,4]"])
        .expect(4)
        .shows("gpu4 was not looked at")
        .shows("sysctl net.core.somaxconn");
    site.run("compare", &["--bad", "gpu4"]).expect(4).says("no bad host could be looked at");
}
