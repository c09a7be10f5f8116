//! Hosts of Debian 13, one of them with sudo-rs, uutils and no bash, become a Slurm cluster, which another joins.

#![expect(
    clippy::indexing_slicing,
    clippy::unwrap_used,
    reason = "these are tests, though not in functions that are marked so"
)]

use crate::support::Lab;

/// In `RELEASE` are the controller and the hosts, of which `GPU` are nodes. The last has the packages from the start.
const INVENTORY: &str = r#"
cluster: years
lab: { release: RELEASE }
playbooks:
  - base
  - chrony
  - ssh-mesh
  - { use: slurm, with: { controller: c0, accounting: false, gpus: false, cgroups: CGROUPS } }
secrets:
  munge: { command: [printf, "%s", "a key that is known to everybody who reads this"] }
groups:
  gpu: { hosts: [GPU] }
  others: { hosts: [c0, n0, n1] }
hosts:
  n0: { lab: { sudo: password, sudo_program: sudo-rs, coreutils: rust-coreutils, without: [bash] } }
  n1: { lab: { packages: [slurmd, slurm-client, munge] } }
"#;

fn a_cluster(release: &str, cgroups: &str) {
    let text =
        |gpu: &str| INVENTORY.replace("RELEASE", release).replace("CGROUPS", cgroups).replace("GPU", gpu);
    let Some(lab) = Lab::of(3, &text("n0"), &[], &[]) else { return };
    let inventory = lab.text("lab.yaml");
    let apply = || lab.run(&["apply", &inventory, "--yes", "--json", "-"]).expect(0).json();
    apply();
    assert_eq!(apply()["summary"]["tasks"]["changed"], 0);
    assert_eq!(lab.node("c0").sh("srun -N1 hostname"), "n0");
    // The slurmctld that runs does not know it, and answers all the same.
    std::fs::write(lab.path("lab.yaml"), text("n0, n1")).unwrap();
    apply();
    assert_eq!(lab.node("c0").sh("srun -N2 hostname | sort | tr '\\n' ' '"), "n0 n1");
    assert_eq!(apply()["summary"]["tasks"]["changed"], 0);
    let unit = "systemctl show -p Type -p ExecStart slurmd | tr '\\n' ' ' | sed 's/ ;.*//'";
    assert_eq!(lab.node("n1").sh(unit), "Type=notify ExecStart={ path=/usr/sbin/slurmd");
}

#[test]
fn debian_13_becomes_a_cluster() {
    a_cluster("trixie", "true");
}

#[test]
#[ignore = "what becomes a release is another one each day: make test-years"]
fn what_becomes_a_release_becomes_a_cluster() {
    // Where the machine has cgroup v1, the controllers are there.
    a_cluster("sid", "false");
}
