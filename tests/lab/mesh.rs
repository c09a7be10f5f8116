//! Hosts that reach each other: names, keys, and what stays when one of them does not answer.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "these are tests, though not in functions that are marked so"
)]

use super::support::{Lab, Site, TOOLS, outcome};

const PLAY: &str = "
name: mesh
tasks:
  - name: account of jobs
    user: { name: mpi, shell: /bin/bash }
  - include: ssh-mesh
    with: { users: [root, mpi] }
  - name: host file
    hostfile: { slots: 2 }
";

/// Every host reaches every other by name as `user`; host keys are checked, nothing is asked.
fn all_reach_all(lab: &Lab, user: &str) {
    for from in &lab.nodes {
        for to in &lab.nodes {
            let name = from.sh(&format!(
                "su - {user} -c 'ssh -o BatchMode=yes -o StrictHostKeyChecking=yes {} hostname' 2>&1 || true",
                to.name
            ));
            assert_eq!(name, to.name, "{} to {}", from.name, to.name);
        }
    }
}

fn entries(lab: &Lab) -> Vec<String> {
    lab.nodes
        .iter()
        .map(|node| {
            node.sh("cat /root/.ssh/authorized_keys /root/.ssh/provision-* /home/mpi/.ssh/authorized_keys \
                     /home/mpi/.ssh/provision-*; sed '/^# END/q' /etc/hosts")
        })
        .collect()
}

/// What `verify --active` says of SSH and mpirun on each host.
fn active(site: &Site<'_>) -> Vec<String> {
    let json = site.run("verify", &["--active", "--json", "-"]).json();
    let mut told = Vec::new();
    for (host, seen) in json["hosts"].as_object().unwrap() {
        for check in seen["checks"].as_array().unwrap() {
            let id = check["check"].as_str().unwrap();
            if ["ssh.mesh", "active.mpirun"].contains(&id) {
                told.push(format!(
                    "{host} {id} {}: {}",
                    check["status"].as_str().unwrap(),
                    check["message"].as_str().unwrap()
                ));
            }
        }
    }
    told
}

/// `mpirun` reaches all hosts; a lost key is found on its host and blamed on nobody else.
fn jobs_start(lab: &Lab, site: &Site<'_>) {
    let well = active(site);
    assert_eq!(well.len(), 6, "{well:#?}");
    for line in &well {
        let good = line.contains("ssh.mesh pass: reaches 2 of 2 other hosts as mpi")
            || line.contains("active.mpirun pass: one of 3 processes that n0 started");
        assert!(good, "{well:#?}");
    }
    let node = lab.node("n1");
    node.sh("mv /home/mpi/.ssh/authorized_keys /home/mpi/.ssh/away");
    let told = active(site).join("\n");
    for line in [
        "n0 ssh.mesh pass: reaches 1 of 2 other hosts as mpi, not n1, which no host reaches",
        "n1 ssh.mesh fail: no host reaches it: mpi@n1: Permission denied",
        "n0 active.mpirun fail: mpirun starts nothing on n[0-2]",
        "n2 active.mpirun skip: mpirun on n0 started nothing",
    ] {
        assert!(told.contains(line), "{line}\n{told}");
    }
    node.sh("mv /home/mpi/.ssh/away /home/mpi/.ssh/authorized_keys");
}

#[test]
fn a_mesh_holds_when_hosts_are_away_and_heals_when_one_is_new() {
    let Some(lab) = Lab::up(&["n0", "n1", "n2"], TOOLS) else { return };
    // Who starts jobs is the last user with a mesh: nobody has to say it again.
    let site = lab.site_with("mesh", PLAY, "", "become: sudo", "");
    let json = site.apply(0);
    assert_eq!(outcome(&json, "n0", "mesh of mpi")["outcome"], "changed", "{json:#}");
    for user in ["root", "mpi"] {
        all_reach_all(&lab, user);
    }
    assert_eq!(site.counts(0)["changed"], 0);
    site.run("verify", &[]).expect(0);
    let own = lab.node("n1").sh("getent ahosts n1");
    assert!(!own.contains("127."), "{own}");
    jobs_start(&lab, &site);
    let before = entries(&lab);

    // One is away and only one other is part of the run: nobody loses anything.
    lab.node("n2").pause();
    site.run("apply", &["--hosts", "n1"]).expect(0).says("n[0,2]: not part of this run");
    site.run("apply", &["--hosts", "n[1-2]"]).expect(4).says("facts of n[0,2] are those of an earlier run");
    lab.node("n2").engine("unpause");
    assert_eq!(entries(&lab), before);

    // What was seen of it is not lost with the record of this machine either.
    lab.node("n2").pause();
    std::fs::remove_file(site.state().join("fleet.json")).unwrap();
    site.run("apply", &["--hosts", "n[0-1]"])
        .expect(0)
        .says("nothing is known about n2: what other hosts hold about it stays");
    lab.node("n2").engine("unpause");
    assert_eq!(entries(&lab), before);

    // A host that was made anew: other keys, nothing of ours on it. One apply mends all.
    let node = lab.node("n1");
    node.engine("kill");
    node.engine("rm");
    lab.run(&["lab", "up", &lab.text("lab.yaml")]).expect(0);
    let again = lab.run(&["lab", "status", &lab.text("lab.yaml"), "--json", "-"]).expect(0).json();
    let again = again["hosts"].as_array().unwrap().iter().find(|host| host["name"] == "n1").unwrap();
    assert_eq!(again["port"], node.port, "a host that is made anew has the port it had");
    let json = site.apply(0);
    assert_eq!(outcome(&json, "n0", "mesh of root")["outcome"], "changed", "{json:#}");
    for user in ["root", "mpi"] {
        all_reach_all(&lab, user);
    }
    assert_eq!(site.counts(0)["changed"], 0);

    // One that left the inventory is forgotten.
    let inventory = std::fs::read_to_string(lab.path("mesh").join("inventory.yaml")).unwrap();
    let inventory = inventory.replace(", n2]", "]");
    let without: Vec<&str> = inventory.lines().filter(|line| !line.starts_with("  n2: ")).collect();
    let without = without.join("\n") + "\n";
    site.write("inventory.yaml", &without);
    site.run("apply", &[]).expect(0);
    for text in entries(&lab).iter().take(2) {
        // As a word: a key in base64 may well hold these two letters.
        assert!(!text.split([' ', ',', '\t', '\n']).any(|word| word == "n2"), "{text}");
    }
    lab.assert_nothing_left();
}

/// The controller sends a file once; the other hosts have it from hosts that have it.
#[test]
fn a_file_goes_from_host_to_host() {
    let Some(lab) = Lab::up(&["n0", "n1", "n2", "n3"], "{}") else { return };
    let play = "
name: spread
tasks:
  - include: ssh-mesh
  - name: archive
    distribute: { src: archive, path: /opt/archive, mode: \"0640\" }
";
    let site = lab.site("spread", play);
    let content = "a line of the archive\n".repeat(120_000);
    site.write("archive", &content);
    let json = site.apply(0);
    let from = |host: &str| {
        let changes = outcome(&json, host, "archive")["changes"].to_string();
        changes.contains("(from n")
    };
    let told = outcome(&json, "n0", "archive").to_string();
    assert_eq!(["n0", "n1", "n2", "n3"].into_iter().filter(|host| from(host)).count(), 3, "{told}");
    for node in &lab.nodes {
        assert_eq!(
            node.sh("wc -c </opt/archive; stat -c %a /opt/archive"),
            format!("{}\n640", content.len())
        );
    }
    assert_eq!(site.counts(0)["changed"], 0);
    // What one host lost comes from another one.
    lab.node("n2").sh("echo x >/opt/archive");
    let json = site.apply(0);
    let told = outcome(&json, "n2", "archive").to_string();
    assert!(told.contains("(from n"), "{told}");
    lab.assert_nothing_left();
}

/// sshd takes a value only when it accepts the file, and only when a new login works.
#[test]
fn options_of_sshd_are_tried_before_they_count() {
    let Some(lab) = Lab::up(&["n0"], "{}") else { return };
    let site = lab.site(
        "sshd",
        "name: s\ntasks:\n  - name: s\n    sshd: { options: { MaxStartups: \"50:30:200\" } }\n",
    );
    site.run("apply", &[]).expect(0);
    assert_eq!(lab.node("n0").sh("sshd -T | grep ^maxstartups"), "maxstartups 50:30:200");
    assert_eq!(site.counts(0)["changed"], 0);

    site.playbook("name: s\ntasks:\n  - name: s\n    sshd: { options: { MaxStartups: nonsense } }\n");
    site.run("apply", &[]).expect(5).says("sshd refuses this");
    assert_eq!(lab.node("n0").sh("sshd -T | grep ^maxstartups"), "maxstartups 50:30:200");

    // Nobody could log in any more: the host takes it back. A busy sshd comes late to the signal that tells
    // it to read its files, here after two seconds: a login that it serves until then proves nothing.
    lab.node("n0").sh("cat >/etc/systemd/system/ssh.service.d/busy.conf <<'END'
[Service]
ExecReload=
ExecReload=/bin/sh -c '(sleep 2; kill -HUP $MAINPID) >/dev/null 2>&1 &'
END
systemctl daemon-reload");
    site.playbook("name: s\ntasks:\n  - name: s\n    sshd: { options: { AllowUsers: nobody } }\n");
    site.run("apply", &[]).expect(5).says("no new login was possible");
    site.playbook("name: s\ntasks:\n  - name: s\n    sshd: { options: { MaxStartups: \"50:30:200\" } }\n");
    assert_eq!(site.counts(0)["changed"], 0);
}
