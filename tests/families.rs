//! Every built-in playbook on every family of distributions: no name of a package, no file of another one.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic, reason = "a test")]
#![allow(clippy::disallowed_methods, reason = "tests read files")]

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::time::Duration;

use camino::Utf8PathBuf;
use provision::facts::{Facts, Object, base, batch, specimens};
use provision::project::{self, Fleet, Inputs, InstanceState, LoadOptions};
use provision::template::package_names::TABLE;
use provision::transport::PartEnd;
use serde_json::Value as Json;

/// What a parameter gets that has no default, or an empty one.
const VALUES: &[(&str, &str)] = &[
    ("branch", "\"535\""),
    ("controller", "a"),
    ("doca", "\"3.2.1\""),
    ("key_fingerprint", "\"ABABABABABABABABABABABABABABABABABABABAB\""),
    ("key_url", "\"https://example.com/key.pub\""),
    ("nccl_sha256", "\"0000000000000000000000000000000000000000000000000000000000000000\""),
    ("netdev", "eth1"),
    ("nic", "none"),
    ("nodes", "[10.0.0.1, 10.0.0.2]"),
    ("openmpi_sha256", "\"0000000000000000000000000000000000000000000000000000000000000000\""),
    ("sha256", "\"0000000000000000000000000000000000000000000000000000000000000000\""),
    ("version", "\"12.4\""),
];
/// What is tried besides the defaults.
const MORE: &[(&str, &str)] = &[
    (
        "roce-v2",
        "stack: doca, doca: \"3.2.1\", driver_source: repository, key_url: \"https://example.com/key\", \
         key_fingerprint: ABABABABABABABABABABABABABABABABABABABAB, \
         doca_key_fingerprint: ABABABABABABABABABABABABABABABABABABABAB",
    ),
    ("chrony", "serve: true"),
    (
        "erdma",
        "installer: \"https://example.com/erdma_installer.tar.gz\", \
         installer_sha256: \"0000000000000000000000000000000000000000000000000000000000000000\"",
    ),
    ("e810-roce", "tests: true"),
];
/// Packages that are called the same everywhere, or that a playbook names behind a `when`.
const OWN: &[&str] = &[
    "cuda-toolkit-12-4",
    "dnf-plugins-core",
    "doca-ofed",
    "kernel-devel",
    "linux-headers-5.15.0-113-generic",
    "linux-headers-6.1.0-37-amd64",
    "nvidia-imex",
];

fn root(path: &str) -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

/// The facts of a host of each os-release that was recorded, by the case's name.
fn hosts() -> Vec<(String, Json)> {
    let mut hosts = Vec::new();
    for entry in fs::read_dir(root("tests/cases/facts/base.os")).unwrap() {
        let case = entry.unwrap().path();
        let query = base("os").unwrap();
        let part = batch(&BTreeSet::from([query]), Duration::from_secs(1)).remove(0);
        let mut facts = Facts::default();
        let output = fs::read(case.join("output")).unwrap();
        facts.absorb(&part, &PartEnd { index: 0, status: 0, output, gap: None });
        let Some(os) = facts.base("os") else { continue };
        let like = if os["id"] == "alinux" { "alinux" } else { os["family"].as_str().unwrap() };
        let Some((_, mut host)) = specimens().into_iter().find(|(name, _)| *name == like) else { continue };
        // So that headers are wanted.
        host["kernel"]["headers"] = false.into();
        host["os"] = os.clone();
        hosts.push((case.file_name().unwrap().to_str().unwrap().to_owned(), host));
    }
    hosts
}

/// The entry of an inventory that uses a playbook with all that it needs.
fn uses(name: &str, text: &str) -> Vec<String> {
    let needed = text.lines().filter_map(|line| {
        let (parameter, rest) = line.strip_prefix("  ")?.split_once(": { type: ")?;
        let value = VALUES.iter().find(|(known, _)| *known == parameter).map(|(_, value)| value);
        if parameter.starts_with([' ', '-']) {
            None
        } else if rest.contains("default: \"\"") && parameter != "version" {
            Some(format!("{parameter}: {}", value?))
        } else if rest.contains("default: ") {
            None
        } else {
            Some(format!(
                "{parameter}: {}",
                value.unwrap_or_else(|| panic!("{name}: what is `{parameter}`?"))
            ))
        }
    });
    let needed: Vec<String> = needed.collect();
    let more = MORE.iter().filter(|(known, _)| *known == name).map(|(_, with)| (*with).to_owned());
    [needed.join(", ")].into_iter().chain(more).collect()
}

#[test]
fn no_playbook_plans_what_another_family_has() {
    let hosts = hosts();
    let releases: BTreeSet<&str> = hosts.iter().filter_map(|(_, facts)| facts["os"]["el"].as_str()).collect();
    assert_eq!(releases, BTreeSet::from(["", "10", "8", "9"]), "recorded releases");
    let directory = tempfile::tempdir().unwrap();
    let path = Utf8PathBuf::from_path_buf(directory.path().join("inventory.yaml")).unwrap();
    let mut seen = 0;
    for entry in fs::read_dir(root("playbooks")).unwrap() {
        let file = entry.unwrap().path();
        if file.extension().is_none_or(|end| end != "yaml") {
            continue;
        }
        let name = file.file_stem().unwrap().to_str().unwrap();
        for with in uses(name, &fs::read_to_string(&file).unwrap()) {
            let text = format!(
                "cluster: c\nplaybooks: [{{ use: {name}, with: {{ {with} }} }}]\nsecrets: {{ munge: {{ env: MUNGE }} }}\n\
                 groups: {{ gpu: {{ hosts: [a] }} }}\nhosts: {{ a: {{ address: 10.0.0.1 }} }}\n"
            );
            fs::write(&path, text).unwrap();
            let project = project::load(&path, &LoadOptions::default())
                .unwrap_or_else(|error| panic!("{name}: {error}"));
            for (host, facts) in &hosts {
                let rhel = facts["os"]["family"] == "rhel";
                for step in project.steps.iter().chain(&project.handlers) {
                    let inputs = Inputs { facts: Some(facts), ..Inputs::none() };
                    for instance in project.instantiate(step, &project.hosts[0], &inputs) {
                        let place = format!("{name} on {host}: {}", instance.name);
                        let resource = match instance.state {
                            InstanceState::Ready { resource, condition: Ok(true) } => resource,
                            InstanceState::Failed(why) => panic!("{place}: {why}"),
                            InstanceState::Ready { .. }
                            | InstanceState::Skipped(_)
                            | InstanceState::Waiting(_) => continue,
                        };
                        for (object, _) in resource.manages() {
                            seen += 1;
                            match object {
                                Object::Package(claim) if step.kind == "package" => {
                                    // `NAME` or `NAME (version)`.
                                    let package = claim.split(' ').next().unwrap();
                                    let known = TABLE.iter().any(|(debian, names)| {
                                        if rhel { names.contains(&package) } else { *debian == package }
                                    });
                                    assert!(
                                        known || OWN.contains(&package),
                                        "{place}: {package} has no row in src/template/package_names.rs"
                                    );
                                }
                                Object::Path(path) => {
                                    let other = if rhel { "/etc/apt/" } else { "/etc/yum.repos.d/" };
                                    assert!(!path.starts_with(other), "{place}: {path}");
                                }
                                Object::Unit(unit) => assert!(
                                    !rhel || !["ssh.service", "chrony.service"].contains(&unit.as_str()),
                                    "{place}: {unit}"
                                ),
                                Object::Package(_)
                                | Object::Module(_)
                                | Object::User(_)
                                | Object::Group(_)
                                | Object::Host => {}
                            }
                        }
                    }
                }
            }
        }
    }
    assert!(seen > 500, "{seen}");
}

/// What another version of a package starts its daemon with fits the rest of its unit: `--systemd` under `Type=notify`
/// since slurmd 23.11 and chronyd 4.9, `-D` under `Type=simple` before. Drop-ins add to that.
#[test]
fn no_drop_in_replaces_the_command_of_a_unit() {
    let (mut drop_ins, mut wrong) = (0, Vec::new());
    for entry in fs::read_dir(root("playbooks")).unwrap() {
        let path = entry.unwrap().path();
        let Ok(text) = fs::read_to_string(&path) else { continue };
        for task in text.split("- name: ").filter(|task| task.contains(".d/") && task.contains("[Service]")) {
            drop_ins += 1;
            let command = |line: &str| line.trim_start().starts_with("ExecStart=") || line.trim() == "Type=";
            wrong.extend(
                task.lines()
                    .filter(|line| command(line))
                    .map(|line| format!("{}: {}", path.display(), line.trim())),
            );
        }
    }
    assert_eq!(wrong, [""; 0]);
    assert!(drop_ins >= 3, "{drop_ins} drop-ins");
}

#[test]
fn slurmd_finds_a_node_that_has_another_name_in_the_inventory() {
    let directory = tempfile::tempdir().unwrap();
    let path = Utf8PathBuf::from_path_buf(directory.path().join("inventory.yaml")).unwrap();
    fs::write(
        &path,
        "cluster: c\nplaybooks: [{ use: slurm, with: { controller: w1 } }]\nsecrets: { munge: { env: MUNGE } }\n\
         groups: { gpu: { hosts: [w1, w2.example.org, W3, w4] } }\n",
    )
    .unwrap();
    let project = project::load(&path, &LoadOptions::default()).unwrap_or_else(|error| panic!("{error}"));
    let fact = |hostname: &str| {
        serde_json::json!({ "hostname": hostname, "cpu": { "count": 8, "sockets": 1, "threads_per_core": 2 },
            "memory": { "total_mib": 1000 }, "pci": { "gpus": [] }, "os": { "family": "debian", "el": "" } })
    };
    let names = [("w1", "w1"), ("w2.example.org", "w2"), ("W3", "w3"), ("w4", "w4.example.org")];
    let facts = names.iter().map(|(name, own)| (project.host(name).unwrap().index, fact(own))).collect();
    let (fleet, own) = (Fleet::new(facts), fact("w1"));
    let inputs = Inputs { facts: Some(&own), fleet: Some(&fleet), ..Inputs::none() };
    let step = project.steps.iter().find(|step| step.title == "configuration of Slurm").unwrap();
    let shown = format!("{:?}", project.instantiate(step, project.host("w1").unwrap(), &inputs));
    for line in [
        "NodeName=w1 NodeAddr=",
        "NodeName=w2.example.org NodeHostname=w2 NodeAddr=",
        "NodeName=W3 NodeHostname=w3 NodeAddr=",
        "NodeName=w4 NodeAddr=",
    ] {
        assert!(shown.contains(line), "{line}: {shown}");
    }
}
