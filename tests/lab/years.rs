//! Hosts of several years become a Slurm cluster: plain ones, with sudo-rs that wants a password, with uutils, without
//! bash, and a controller of the next release with all of it.

#![expect(
    clippy::indexing_slicing,
    clippy::unwrap_used,
    reason = "these are tests, though not in functions that are marked so"
)]

use crate::support::{Lab, Ran};

/// `next0` is the controller, `plain0`, `sudo0`, `uutils0` and `dash0` are the nodes.
const INVENTORY: &str = include_str!("../../inventories/lab-years.yaml");

/// What stands between two lines of the inventory, which begin so.
fn part(text: &str, from: &str, to: &str) -> String {
    let text = &text[text.find(from).unwrap_or_else(|| panic!("no `{from}` in\n{text}"))..];
    text.find(to).map_or(text, |end| &text[..end]).to_owned()
}

/// The hosts as `init` finds them at their own addresses, with the playbooks and groups of the inventory. They are
/// reached as real ones are, and the password of sudo is typed.
struct Years {
    lab: Lab,
    inventory: String,
}

impl Years {
    fn new(inventory: &str, systems: &str) -> Option<Self> {
        let lab = Lab::of(inventory, &[], &[])?;
        let hosts: Vec<String> = lab
            .nodes
            .iter()
            .map(|node| format!("{}={}", node.name, node.sh("hostname -I | cut -d' ' -f1")))
            .collect();
        let years = Self { inventory: lab.text("found.yaml"), lab };
        let lab = &years.lab;
        let mut words = vec!["init", "--cluster", "years", "--trust", "--output", &years.inventory];
        words.extend(["--user", lab.field("user"), "--identity-file", lab.field("identity_file")]);
        words.extend(hosts.iter().map(String::as_str));
        let found = lab.run(&words).expect(0).says("5 of 5 hosts found").says(systems);
        found.says(&format!("next: provision apply {} --ask-become-pass", years.inventory));
        years.write(inventory);
        Some(years)
    }

    /// Puts playbooks, secrets and groups of this inventory into that of `init`.
    fn write(&self, inventory: &str) {
        let found = std::fs::read_to_string(&self.inventory).unwrap();
        let way = part(&found, "cluster:", "# What is done");
        let own = part(inventory, "playbooks:", "\nhosts:");
        std::fs::write(
            &self.inventory,
            format!("{way}# What is done\n{own}\n{}", part(&found, "\nhosts:", "\0")),
        )
        .unwrap();
    }

    fn run(&self, command: &str, more: &[&str]) -> Ran {
        let password = std::fs::read_to_string(self.lab.field("sudo_password")).unwrap();
        let words = [&[command, &self.inventory, "--ask-become-pass"], more].concat();
        self.lab.spawn_with(&words, &[], &password).wait()
    }

    fn changed(&self, more: &[&str]) -> serde_json::Value {
        let json = self.run("apply", &[&["--yes", "--json", "-"], more].concat()).expect(0).json();
        json["summary"]["tasks"]["changed"].clone()
    }

    /// A node, whose commands are as old as its slurmd, has Slurm carry a run.
    fn is_carried_by_slurm(&self) {
        let plan = self.run("plan", &carried("dash0")).expect(0);
        plan.says("4 hosts reached; 0 tasks to change");
        assert_eq!(self.changed(&carried("dash0")), 0);
        for node in &self.lab.nodes {
            assert_eq!(node.sh("ls -d /var/lib/.provision-* 2>/dev/null || true"), "", "{}", node.name);
        }
    }

    /// A plain account runs a job on all these nodes.
    fn runs_jobs(&self, nodes: &str) {
        let count = nodes.split(' ').count();
        let job = format!("su - trainer -c 'srun -N1 id -un; srun -N{count} hostname | sort | xargs'");
        assert_eq!(self.lab.node("next0").sh(&job), format!("trainer\n{nodes}"));
    }
}

/// The words of a run that Slurm carries from this host.
fn carried(at: &str) -> [&str; 7] {
    ["--hosts", "nodes", "--engine", "slurm", "--engine-at", at, "--secrets-in-clear"]
}

#[test]
fn debian_13_becomes_a_cluster() {
    // plain0 has the packages from the start, and joins a cluster that runs.
    let text = |nodes: &str| {
        INVENTORY
            .replace("release: sid", "release: trixie")
            .replace("gpus: false", "gpus: false, accounting: false")
            .replace("nodes: { hosts: [plain0, ", nodes)
            .replace("sudo0: {", "plain0: { lab: { packages: [slurmd, slurm-client, munge] } }\n  sudo0: {")
    };
    let first = text("others: { hosts: [plain0] }\n  nodes: { hosts: [");
    let Some(years) = Years::new(&first, "debian 13;") else { return };
    years.changed(&[]);
    assert_eq!(years.changed(&[]), 0);
    years.runs_jobs("dash0 sudo0 uutils0");
    // The slurmctld that runs does not know it, and answers all the same: until it has ended, which it does slowly here.
    years.lab.node("next0").sh("mkdir -p /etc/systemd/system/slurmctld.service.d
        printf '[Service]\\nExecStop=/bin/sleep 25\\n' >/etc/systemd/system/slurmctld.service.d/slow.conf
        systemctl daemon-reload");
    years.write(&text("nodes: { hosts: [plain0, "));
    years.changed(&[]);
    years.runs_jobs("dash0 plain0 sudo0 uutils0");
    assert_eq!(years.changed(&[]), 0);
    let unit = "systemctl show -p Type -p ExecStart slurmd | tr '\\n' ' ' | sed 's/ ;.*//'";
    assert_eq!(years.lab.node("plain0").sh(unit), "Type=notify ExecStart={ path=/usr/sbin/slurmd");
    years.run("verify", &[]).expect(0).shows("Verified");
    years.is_carried_by_slurm();
}

#[test]
#[ignore = "what becomes a release is another one each day: make test-years"]
fn hosts_of_several_years_become_a_cluster() {
    let Some(years) = Years::new(INVENTORY, "debian 13, debian ") else { return };
    years.run("plan", &[]).expect(0).says("5 hosts reached");
    years.changed(&[]);
    assert_eq!(years.changed(&[]), 0);
    years.run("verify", &[]).expect(0).shows("Verified");
    years.runs_jobs("dash0 plain0 sudo0 uutils0");
    // Each reaches each: openssh-server of the next release brings no ssh.
    for node in &years.lab.nodes {
        let all = "for host in next0 plain0 sudo0 uutils0 dash0; do ssh -n -o BatchMode=yes $host hostname; done | xargs";
        assert_eq!(node.sh(all), "next0 plain0 sudo0 uutils0 dash0", "{}", node.name);
    }
    // srun of the controller is newer than the slurmds, and a job that is there takes no step of it.
    let nodes = ["--hosts", "nodes"];
    let through = [&nodes[..], &["--through", "slurm", "--through-at", "next0"]].concat();
    years.run("verify", &through).expect(0).shows("4 hosts seen in a job");
    years.run("plan", &carried("next0")).expect(4).says("may be of an older release than Slurm's commands");
    years.is_carried_by_slurm();
    // What a person does behind its back is found and mended on each.
    for node in &years.lab.nodes {
        node.sh("echo more >>/etc/profile.d/10-cluster.sh; chown daemon /scratch; rm /etc/provision/nodes");
    }
    // Of each host one more, which is known after them: whether a file belongs there a look of that run says.
    years.run("verify", &[]).expect(6).says("20 tasks to change");
    assert_eq!(years.changed(&[]), 15);
}

/// All hosts are of the next release: its slurmd as well. That of 26.05 takes no machine with cgroup v1 beside v2 ("Hybrid mode
/// is not supported"), as those of labs may be, unless it is told to leave cgroups alone.
#[test]
#[ignore = "what becomes a release is another one each day: make test-years"]
fn what_becomes_a_release_becomes_a_cluster() {
    let text = INVENTORY.replace("release: trixie", "release: sid").replace(
        "gpus: false",
        "gpus: false, accounting: false, cgroups: false, cgroup_settings: { CgroupPlugin: disabled }",
    );
    let Some(years) = Years::new(&text, "debian ") else { return };
    years.changed(&[]);
    assert_eq!(years.changed(&[]), 0);
    years.run("verify", &[]).expect(0).shows("Verified");
    years.runs_jobs("dash0 plain0 sudo0 uutils0");
}

/// A controller and two nodes of Debian 13, with accounts of their jobs.
const JOBS: &str = r#"
cluster: jobs
lab: { release: trixie }
playbooks:
  - ssh-mesh
  - { use: slurm, with: { controller: login0, nodes: node, gpus: false } }
secrets:
  munge: { command: [printf, "%s", "a key that is known to everybody who reads this"] }
groups:
  node: { hosts: "n[0-1]" }
  login: { hosts: [login0] }
"#;

#[test]
#[ignore = "a cluster of another release, with a database: make test-years"]
fn debian_13_runs_jobs_and_counts_them() {
    let Some(lab) = Lab::of(JOBS, &[], &[]) else { return };
    let inventory = lab.text("lab.yaml");
    let apply = || lab.run(&["apply", &inventory, "--yes", "--json", "-"]).expect(0).json();
    apply();
    assert_eq!(apply()["summary"]["tasks"]["changed"], 0);
    let login = lab.node("login0");
    assert_eq!(login.sh("srun -N2 hostname | sort | xargs"), "n0 n1");
    login.wait_for("sacct -a -X -n -o JobName,State | grep -q 'hostname.*COMPLETED'");
    // Slurm's own starter of MPI is what PMIx of Open MPI speaks to.
    assert_eq!(login.sh("srun --mpi=pmix -N2 sh -c 'echo $PMIX_RANK' | sort | xargs"), "0 1");
    // A node that an operator took out gets no job, and keeps the reason through an apply.
    login.sh("scontrol update nodename=n1 state=drain reason='cable of rail 3'");
    assert_eq!(login.sh("srun -N1 hostname"), "n0");
    assert_eq!(apply()["summary"]["tasks"]["changed"], 0);
    assert!(login.sh("sinfo -h -n n1 -o '%T %E'").starts_with("drained cable of rail 3"));
    let through = ["--hosts", "node", "--through", "slurm", "--through-at", "login0"];
    let json = lab.run(&[&["verify", &inventory, "--json", "-"], &through[..]].concat()).json();
    assert!(json.to_string().contains("Slurm has the node as drained: cable of rail 3"), "{json:#}");
}
