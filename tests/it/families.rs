//! Every built-in playbook on every family of distributions: no name of a package, no file of another one.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic, reason = "a test")]
#![allow(clippy::disallowed_methods, reason = "tests read files")]

use std::collections::{BTreeMap, BTreeSet};
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
    ("branch", "\"580\""),
    ("controller", "a"),
    ("key_fingerprint", "\"ABABABABABABABABABABABABABABABABABABABAB\""),
    ("key_url", "\"https://example.com/key.pub\""),
    ("netdev", "eth1"),
    ("nic", "none"),
    ("nodes", "[10.0.0.1, 10.0.0.2]"),
    ("openmpi_sha256", "\"0000000000000000000000000000000000000000000000000000000000000000\""),
    ("sha256", "\"0000000000000000000000000000000000000000000000000000000000000000\""),
    ("version", "\"580.178.04\""),
];
/// What is tried besides the defaults.
const MORE: &[(&str, &str)] = &[
    (
        "roce-v2",
        "stack: doca, driver_source: repository, key_url: \"https://example.com/key\", \
         key_fingerprint: ABABABABABABABABABABABABABABABABABABABAB, \
         doca_key_fingerprint: ABABABABABABABABABABABABABABABABABABABAB",
    ),
    ("chrony", "serve: true"),
    (
        "erdma",
        "env_setup: \"https://example.com/env_setup.sh\", \
         env_setup_sha256: \"0000000000000000000000000000000000000000000000000000000000000000\", \
         installer: \"https://example.com/erdma_installer.tar.gz\", \
         installer_sha256: \"0000000000000000000000000000000000000000000000000000000000000000\"",
    ),
    ("e810-roce", "tests: true"),
    ("host-profile", "irqbalance: running"),
    ("gpu-containers", "user_namespaces: open"),
    ("kernel", "release: \"6.1.0-37-amd64\""),
    ("modules", "kind: environment-modules"),
    (
        "slurm",
        "controller: a, repository: \"https://example.com/slurm\", key_url: \"https://example.com/key\", \
     key_fingerprint: ABABABABABABABABABABABABABABABABABABABAB",
    ),
];
/// Packages that are called the same everywhere, or that a playbook names behind a `when`.
const OWN: &[&str] = &[
    "cuda-toolkit-12-9",
    "dnf-plugins-core",
    "doca-ofed",
    "doca-ofed-generic",
    "kernel",
    "kernel-devel",
    "libpmix-dev",
    "linux-headers-5.15.0-113-generic",
    "linux-headers-6.1.0-37-amd64",
    "linux-image-6.1.0-37-amd64",
    "linux-tools-6.1.0-37-amd64",
    "nvidia-container-toolkit",
    "nvidia-imex",
];

fn root(path: &str) -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

/// The facts of a host of each os-release that was recorded, by the case's name.
fn hosts() -> Vec<(String, Json)> {
    let mut hosts = Vec::new();
    for entry in fs::read_dir(root("src/facts/base/os/cases")).unwrap() {
        let case = entry.unwrap().path();
        let query = base("os").unwrap();
        let part = batch(&BTreeSet::from([query]), Duration::from_secs(1)).remove(0);
        let mut facts = Facts::default();
        let output = fs::read(case.join("output")).unwrap();
        facts.absorb(&part, &PartEnd { index: 0, status: 0, output, gap: None });
        let view = facts.view();
        let Some(os) = view.get("os") else { continue };
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
        } else if rest.contains("default: ") || rest.contains("from: ") {
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
        if name == "versions" {
            continue;
        }
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
    let mut facts: BTreeMap<usize, Json> =
        names.iter().map(|(name, own)| (project.host(name).unwrap().index, fact(own))).collect();
    // A GPU in multi-instance mode is as many as its instances.
    let cut = facts.get_mut(&project.host("w4").unwrap().index).unwrap();
    cut["pci"]["gpus"] = vec![serde_json::json!({ "vendor": "10de" }); 2].into();
    let instance =
        |number: u32| serde_json::json!({ "gpu": 1, "instance": number, "compute": 0, "devices": [1, 2] });
    cut["mig"] = (7..14).map(instance).collect();
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
    let cut = shown.split("NodeName=w4 ").nth(1).unwrap().split("State=").next().unwrap();
    assert!(cut.contains(" Gres=gpu:8 "), "{cut}");
}

/// Cards without an address keep theirs, and those without a rail have no table.
#[test]
fn each_rail_has_its_address_and_its_table() {
    let directory = tempfile::tempdir().unwrap();
    let path = Utf8PathBuf::from_path_buf(directory.path().join("inventory.yaml")).unwrap();
    fs::write(
        &path,
        "cluster: c\nplaybooks: [rails]\ngroups:\n  gpu:\n    hosts: [gpu3, gpu14]\n    nics:\n      \
         - { match: { netdev: rdma0 }, rail: 0, mtu: 9000, address: \"10.1.0.{{ host.number }}/24\", gateway: 10.1.0.1 }\n      \
         - { match: { netdev: rdma1 }, rail: 1 }\n      - { match: { netdev: eth9 }, role: storage, mtu: 9000 }\n",
    )
    .unwrap();
    let project = project::load(&path, &LoadOptions::default()).unwrap_or_else(|error| panic!("{error}"));
    let facts = serde_json::json!({ "virtualization": { "kind": "none", "container": false } });
    let shown = |host: &str, title: &str| {
        let inputs = Inputs { facts: Some(&facts), ..Inputs::none() };
        let step = project.steps.iter().find(|step| step.title == title).unwrap();
        let all = project.instantiate(step, project.host(host).unwrap(), &inputs);
        all.iter().map(|one| format!("{:?}", one.state)).collect::<Vec<String>>()
    };
    let rails = shown("gpu14", "address, route and rule of a rail");
    for (rail, parts) in [
        (0, ["mtu: Some(9000)", "[\"10.1.0.14/24\"]", "table: Some(100)", "gateway: Some(10.1.0.1)"]),
        (1, ["mtu: None", "addresses: []", "table: Some(101)", "gateway: None"]),
    ] {
        for part in parts {
            assert!(rails[rail].starts_with("Ready") && rails[rail].contains(part), "{part}: {rails:#?}");
        }
    }
    assert!(rails[2].starts_with("Skipped"), "{rails:#?}");
    assert!(shown("gpu3", "address, route and rule of a rail")[0].contains("10.1.0.3/24"));
    let others = shown("gpu3", "MTU of a network card without a rail");
    assert!(others[0].starts_with("Skipped") && others[2].contains("table: None"), "{others:#?}");
}

/// Half of the CPUs of a small node would be left over with the number of a large one, and a job that asks for more than a
/// node has is refused.
#[test]
fn jobs_get_the_cpus_that_their_nodes_have_for_each_gpu() {
    let directory = tempfile::tempdir().unwrap();
    let path = Utf8PathBuf::from_path_buf(directory.path().join("inventory.yaml")).unwrap();
    fs::write(
        &path,
        "cluster: c\nplaybooks: [{ use: slurm-job }]\ngroups: { gpu: { hosts: [big, small, login, lost] } }\n",
    )
    .unwrap();
    let project = project::load(&path, &LoadOptions::default()).unwrap_or_else(|error| panic!("{error}"));
    let fact = |cpus: u32, gpus: usize| {
        let gpu = serde_json::json!({ "vendor": "10de" });
        serde_json::json!({ "cpu": { "count": cpus }, "pci": { "gpus": vec![gpu; gpus] } })
    };
    let shown = |known: &[(&str, Json)], title: &str| {
        let facts =
            known.iter().map(|(name, facts)| (project.host(name).unwrap().index, facts.clone())).collect();
        let fleet = Fleet::new(facts);
        let inputs = Inputs { fleet: Some(&fleet), ..Inputs::none() };
        let step = project.steps.iter().find(|step| step.title == title).unwrap();
        format!("{:?}", project.instantiate(step, project.host("big").unwrap(), &inputs))
    };
    let nodes = [("big", fact(192, 8)), ("small", fact(100, 8)), ("login", fact(4, 0))];
    let multi = shown(&nodes, "job of NCCL's tests on several nodes");
    assert!(multi.contains("--cpus-per-task=12\\n"), "{multi}");
    let single = shown(&nodes[..1], "job of NCCL's tests on one node");
    assert!(single.contains("--cpus-per-task=192\\n"), "{single}");
    let none = shown(&nodes[2..], "job of NCCL's tests on one node");
    assert!(!none.contains("--cpus-per-task"), "{none}");
}

/// A host says of itself which networks others trust, so a prefix that is too short, or a public network, is not taken whole.
#[test]
fn the_firewall_trusts_the_networks_of_the_hosts_and_no_more() {
    let directory = tempfile::tempdir().unwrap();
    let path = Utf8PathBuf::from_path_buf(directory.path().join("inventory.yaml")).unwrap();
    fs::write(&path, "cluster: c\nplaybooks: [firewall]\nhosts: { a: {}, b: {}, c: {} }\n").unwrap();
    let project = project::load(&path, &LoadOptions::default()).unwrap_or_else(|error| panic!("{error}"));
    let link = |name: &str, pci: &str, addresses: &[&str]| {
        let kind = if name.starts_with("bond") { "bond" } else { "ether" };
        serde_json::json!({ "name": name, "kind": kind, "pci": pci, "addresses": addresses })
    };
    let fact =
        |links: Vec<Json>| serde_json::json!({ "network": { "default_device": "eth0", "links": links } });
    let shown = |facts: Vec<(&str, Json)>| {
        let facts =
            facts.into_iter().map(|(name, facts)| (project.host(name).unwrap().index, facts)).collect();
        let (fleet, own) = (Fleet::new(facts), fact(vec![]));
        let inputs = Inputs { facts: Some(&own), fleet: Some(&fleet), ..Inputs::none() };
        let states = project.instantiate(&project.steps[0], project.host("a").unwrap(), &inputs);
        match &states[0].state {
            InstanceState::Ready { resource, .. } => {
                let shown = format!("{resource:?}");
                let networks = shown.split("Network { address: ").skip(1);
                let text = |network: &str| network.split(" }").next().unwrap().replace(", prefix: ", "/");
                Ok(networks.map(text).collect::<BTreeSet<String>>())
            }
            other @ (InstanceState::Skipped(_) | InstanceState::Waiting(_) | InstanceState::Failed(_)) => {
                Err(format!("{other:?}"))
            }
        }
    };
    let hosts = vec![
        (
            "a",
            fact(vec![
                link("eth0", "", &["10.0.1.10/24", "fe80::1/64"]),
                link("ib0", "0000:18:00.0", &["172.20.3.1/16"]),
                link("docker0", "", &["172.17.0.1/16"]),
                link("lo", "", &["127.0.0.1/8"]),
            ]),
        ),
        (
            "b",
            fact(vec![
                link("bond0", "", &["192.168.7.1/24", "fd00:1::1/64"]),
                link("eth0", "", &["203.0.113.9/22"]),
            ]),
        ),
        ("c", fact(vec![link("eth0", "", &["10.0.0.1/1", "172.16.0.1/8", "2001:db8::7/32"])])),
    ];
    let wanted = [
        "10.0.0.1/32",
        "10.0.1.10/24",
        "172.16.0.1/32",
        "172.20.3.1/16",
        "192.168.7.1/24",
        "2001:db8::7/128",
        "203.0.113.9/32",
        "fd00:1::1/64",
    ];
    assert_eq!(shown(hosts).unwrap(), wanted.map(str::to_owned).into());
    let nowhere = || fact(vec![link("lo", "", &["127.0.0.1/8"])]);
    let nothing = shown(vec![("a", nowhere()), ("b", nowhere()), ("c", nowhere())]).unwrap_err();
    assert!(nothing.contains("name the networks of the cluster"), "{nothing}");
}

/// A host upgrades by itself everything but the things that the driver, the kernel or RDMA stand on.
#[test]
fn automatic_upgrades_leave_alone_what_jobs_stand_on() {
    let text = fs::read_to_string(root("playbooks/no-upgrades.yaml")).unwrap();
    let playbook: Json = serde_yaml::from_str(&text).unwrap();
    let list = |name: &str| -> Vec<String> {
        serde_json::from_value(playbook["params"][name]["default"].clone()).unwrap()
    };
    let apt: Vec<regex::Regex> =
        list("apt").iter().map(|start| regex::Regex::new(&format!("^(?:{start})")).unwrap()).collect();
    let dnf: Vec<regex::Regex> = list("dnf")
        .iter()
        .map(|name| regex::Regex::new(&format!("^{}$", name.replace('*', ".*"))).unwrap())
        .collect();
    let held = |all: &[regex::Regex], name: &str| all.iter().any(|one| one.is_match(name));
    for name in [
        "linux-image-6.8.0-60-generic",
        "linux-headers-amd64",
        "linux-modules-extra-6.8.0-60-generic",
        "linux-generic-hwe-22.04",
        "linux-azure",
        "nvidia-driver-580-server",
        "nvidia-fabricmanager-580",
        "libnvidia-compute-580-server",
        "cuda-toolkit-12-4",
        "libnccl2",
        "doca-ofed",
        "mlnx-ofed-kernel-dkms",
        "rdma-core",
        "libibverbs1",
    ] {
        assert!(held(&apt, name), "{name}");
    }
    for name in [
        "openssl",
        "openssh-server",
        "libcurl4",
        "linux-libc-dev",
        "linux-firmware",
        "linux-base",
        "systemd",
        "sudo",
        "libc6",
    ] {
        assert!(!held(&apt, name), "{name}");
    }
    for name in [
        "kernel",
        "kernel-core",
        "kernel-modules-extra",
        "nvidia-driver-cuda",
        "kmod-nvidia-open-dkms",
        "nvidia-fabric-manager",
        "cuda-toolkit-12-4",
        "doca-ofed",
        "rdma-core",
        "libibverbs",
    ] {
        assert!(held(&dnf, name), "{name}");
    }
    for name in ["openssl", "openssh-server", "libcurl", "systemd", "sudo", "glibc", "kmod"] {
        assert!(!held(&dnf, name), "{name}");
    }
    assert!(
        !text.contains("masked") && !text.contains("Unattended-Upgrade \"0\""),
        "the distribution's timers are its own"
    );
}

/// What the tasks of a playbook say on a host with these facts: title, and the resource with its claims.
fn said(playbook: &str, with: &str, facts: &Json) -> Vec<(String, String)> {
    let directory = tempfile::tempdir().unwrap();
    let path = Utf8PathBuf::from_path_buf(directory.path().join("inventory.yaml")).unwrap();
    let text = format!(
        "cluster: c\nplaybooks: [{{ use: {playbook}, with: {{ {with} }} }}]\ngroups: {{ gpu: {{ hosts: [a] }} }}\n"
    );
    fs::write(&path, text).unwrap();
    let project = project::load(&path, &LoadOptions::default()).unwrap_or_else(|error| panic!("{error}"));
    let inputs = Inputs { facts: Some(facts), ..Inputs::none() };
    let mut said = Vec::new();
    for step in &project.steps {
        for instance in project.instantiate(step, &project.hosts[0], &inputs) {
            match instance.state {
                InstanceState::Ready { resource, condition: Ok(true) } => {
                    said.push((instance.name.clone(), format!("{resource:?} {:?}", resource.manages())));
                }
                InstanceState::Failed(why) => panic!("{playbook}: {}: {why}", instance.name),
                InstanceState::Ready { .. } | InstanceState::Skipped(_) | InstanceState::Waiting(_) => {}
            }
        }
    }
    said
}

/// The text of the task whose title begins so.
fn told(said: &[(String, String)], title: &str) -> Option<String> {
    said.iter().find(|(name, _)| name.starts_with(title)).map(|(_, text)| text.clone())
}

fn specimen(name: &str) -> Json {
    specimens().into_iter().find(|(known, _)| *known == name).unwrap().1
}

#[test]
fn doca_comes_from_where_its_modules_fit_the_host() {
    // Ubuntu 26.04 has them built and signed for each kind of its kernels.
    let mut host = specimen("ubuntu");
    host["os"]["version_id"] = "26.04".into();
    host["kernel"]["release"] = "7.0.0-31-generic-64k".into();
    let own = said("doca-ofed", "", &host);
    assert!(told(&own, "DOCA-OFED").unwrap().contains("doca-ofed-generic-64k"), "{own:#?}");
    for left in ["DOCA's repository", "headers", "the firmware knows", "DKMS has built"] {
        assert_eq!(told(&own, left), None, "{left}");
    }
    host["os"]["version_id"] = "24.04".into();
    let vendor = said("doca-ofed", "", &host);
    let repository = told(&vendor, "DOCA's repository").unwrap();
    assert!(repository.contains("ubuntu24.04") && repository.contains("Package: dkms"), "{repository}");
    assert!(told(&vendor, "DOCA-OFED").unwrap().contains("\"doca-ofed\""), "{vendor:#?}");
    assert!(told(&vendor, "DKMS has built").is_some());
    // One directory for all minor releases came with DOCA 3.2.
    let mut host = specimen("rhel");
    host["os"]["version_id"] = "9.6".into();
    host["os"]["el"] = "9".into();
    for (with, directory) in
        [("", "/rhel9/"), ("version: \"3.1.0\"", "/rhel9.6/"), ("version: \"2.9.3\"", "/rhel9.6/")]
    {
        let repository = told(&said("doca-ofed", with, &host), "DOCA's repository").unwrap();
        assert!(
            repository.contains(directory) && repository.contains("excludepkgs=dkms"),
            "{with}: {repository}"
        );
    }
}

#[test]
fn a_driver_from_what_the_host_has_brings_no_source_of_its_own() {
    let host = specimen("ubuntu");
    let present = said("nvidia-driver", "branch: \"580\", source: present", &host);
    assert_eq!(told(&present, "NVIDIA's repository"), None);
    assert!(told(&present, "NVIDIA driver").unwrap().contains("source: Repository"), "{present:#?}");
    let manager = said("fabric-manager", "source: present", &host);
    assert!(told(&manager, "fabric manager").unwrap().contains("Repository"), "{manager:#?}");
}

#[test]
fn the_persistence_daemon_has_a_unit_and_waits_for_the_module() {
    let host = specimen("ubuntu");
    let archive = said("nvidia-driver", "branch: \"580\"", &host);
    assert_eq!(told(&archive, "unit of the runfile"), None);
    let settings = told(&archive, "settings of the persistence daemon").unwrap();
    for line in [
        "Restart=on-failure",
        "ExecStartPost=-/usr/bin/nvidia-smi -pm 1",
        "After=systemd-modules-load.service",
    ] {
        assert!(settings.contains(line), "{line}: {settings}");
    }
    let runfile = "version: \"580.105.08\", source: runfile, runfile: \"https://example.com/x.run\", \
                   runfile_sha256: \"0000000000000000000000000000000000000000000000000000000000000000\"";
    let runfile = said("nvidia-driver", runfile, &host);
    let unit = told(&runfile, "unit of the runfile").unwrap();
    assert!(unit.contains("ExecStart=/usr/bin/nvidia-persistenced --verbose --persistence-mode"), "{unit}");
    assert!(!told(&runfile, "settings of the persistence daemon").unwrap().contains("nvidia-smi -pm"));
    assert!(told(&runfile, "persistence daemon").is_some());
}

#[test]
fn trays_of_a_rack_get_what_grace_needs() {
    let host = specimen("ubuntu");
    assert!(told(&said("pcie", "", &host), "IOMMU").unwrap().contains("\"iommu=pt\""));
    assert!(told(&said("sysctl", "", &host), "buffers and neighbours").unwrap().contains("67108864"));
    let mut tray = host.clone();
    tray["arch"] = "aarch64".into();
    tray["pci"]["gpus"][0]["model"] = "GB300".into();
    assert!(told(&said("pcie", "", &tray), "IOMMU").unwrap().contains("\"iommu.passthrough=1\""));
    let buffers = said("sysctl", "", &tray);
    assert!(told(&buffers, "buffers and neighbours").unwrap().contains("2147483647"), "{buffers:#?}");
    assert!(told(&buffers, "buffers of TCP").unwrap().contains("1073741824"));
    let nodes = "nodes: [10.0.0.1], version: \"580.105.08-*\"";
    let imex = |owner: &str, host: &Json| said("imex", &format!("{nodes}, owner: {owner}"), host);
    let own = imex("host", &tray);
    assert!(
        told(&own, "memory of the GPUs").unwrap().contains("NVreg_CoherentGPUMemoryMode=driver"),
        "{own:#?}"
    );
    assert!(told(&own, "services take memory").unwrap().contains("NUMAMask=0-1"));
    assert!(told(&own, "IMEX runs").is_some() && told(&own, "the pods of Kubernetes").is_none());
    let pods = imex("kubernetes", &tray);
    assert!(told(&pods, "IMEX runs").is_none(), "{pods:#?}");
    assert!(told(&pods, "the pods of Kubernetes").unwrap().contains("masked: Some(true)"), "{pods:#?}");
    assert_eq!(told(&imex("host", &host), "memory of the GPUs"), None);
}

#[test]
fn nccl_is_built_for_the_gpus_of_the_host() {
    let mut host = specimen("ubuntu");
    let build = |playbook: &str, with: &str, title: &str, host: &Json| {
        told(&said(playbook, with, host), title).unwrap()
    };
    let a100 = build("nccl", "", "NCCL 2", &host);
    assert!(a100.contains("code=sm_80 -gencode=arch=compute_80,code=compute_80"), "{a100}");
    assert!(build("nccl-tests", "", "nccl-tests 2", &host).contains("code=sm_80"));
    host["pci"]["gencode"] = "".into();
    assert!(build("nccl", "", "NCCL 2", &host).contains("code=sm_90"));
    let given = "gencode: \"-gencode=arch=compute_100,code=sm_100\"";
    assert!(build("nccl", given, "NCCL 2", &host).contains("code=sm_100"));
}

#[test]
fn each_series_of_open_mpi_gets_the_arguments_that_it_needs() {
    let host = specimen("ubuntu");
    let digest = "sha256: \"0000000000000000000000000000000000000000000000000000000000000000\"";
    let (own, old) = (
        "\"--enable-mpirun-prefix-by-default\", \"--disable-mpi-fortran\", ",
        "\"--disable-oshmem\", \"--without-verbs\", \"--enable-mca-no-build=btl-openib\"",
    );
    for (with, url, options) in [
        ("version: \"4.1.8\"", "/v4.1/", format!("[{own}{old}]")),
        ("version: \"5.0.11\"", "/v5.0/", format!("[{own}\"--enable-prte-prefix-by-default\"]")),
        (
            "version: \"6.0.0\", ucx: /opt/ucx, pmix: internal, options: [\"CFLAGS=-O2 -g\"]",
            "/v6.0/",
            "[\"CFLAGS=-O2 -g\", \"--enable-prte-prefix-by-default\", \"--with-ucx=/opt/ucx\", \"--with-pmix=internal\"]"
                .to_owned(),
        ),
    ] {
        let tasks = said("openmpi", &format!("{with}, {digest}"), &host);
        let build = told(&tasks, "Open MPI").unwrap();
        assert!(build.contains(&options), "{options}: {build}");
        assert!(told(&tasks, "source of Open MPI").unwrap().contains(url), "{tasks:#?}");
    }
}
