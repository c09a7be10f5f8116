//! Expectations that `verify` takes from the tasks of the example sites: on a full host of each, the checks
//! that are skipped without the tasks and those of them that say something with them.

use std::collections::BTreeMap;

use camino::Utf8Path;
use serde_json::json;

use super::tests::{Site, expect, healthy};
use super::{Check, Subject, TABLE, evaluate};
use crate::events::{CheckResult, CheckStatus};
use crate::facts::driver::DriverQuery;
use crate::facts::netdev::{Netdev, NetdevQuery};
use crate::facts::package::{Packages, PackagesQuery};
use crate::facts::roce::{Roce, RoceQuery};
use crate::facts::{BaseQuery, Facts, Known};
use crate::inventory::expect::{ExpectDriver, ExpectRdma, ExpectSoftware, ExpectSystem};
use crate::inventory::{Expect, Host, NicMatch, Promise, Promises};
use crate::project::{self, Inputs, LoadOptions, Project};
use crate::put;

fn load(path: &Utf8Path) -> Project {
    project::load(path, &LoadOptions::default()).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// A host of the site with its cards: what its probes print, and what its tasks ask besides.
fn full(site: &str) -> Site {
    let whole = healthy().with("software", "(Open MPI) 4.1.3", "(Open MPI) 5.0.11");
    match site {
        "infiniband" => whole
            .with("rdma", "link_layer=Ethernet", "link_layer=InfiniBand")
            .with("rdma", "sm_lid=0x0", "sm_lid=0x1")
            .with("rdma", "\nlid=0x0", "\nlid=0x2a"),
        "ehpc-erdma" => {
            let mut site = whole.with("fabric", "arp_ignore=0", "arp_ignore=0\nerdma_compat=Y");
            for text in site.probes.values_mut() {
                *text = text.replace("mlx5_core", "erdma").replace("mlx5_", "erdma_");
            }
            site
        }
        "e810-roce" => {
            let mut site = whole;
            for text in site.probes.values_mut() {
                *text = text
                    .replace("mlx5_core", "irdma")
                    .replace("mlx5_", "irdma")
                    .replace("rdma0\n", "ens192\n");
            }
            // Open MPI is the distribution's.
            let mut site = site.with("software", "ask /opt/openmpi/bin/", "ask /usr/bin/");
            site.probes.entry("rdma").and_modify(|text| *text = text.replace("net=rdma0", "net=ens192"));
            site
        }
        "gpu-node" => {
            let mut site = whole;
            site.probes.insert("rdma", "\n\u{1e}ask sysfs\n\n\u{1e}end 0\n".to_owned());
            site.fact("network", json!({ "links": [] }))
        }
        _ => whole,
    }
}

fn answers(site: &Site) -> Facts {
    let mut answers = Facts::default();
    let (_, ubuntu) = crate::facts::specimens().swap_remove(1);
    for (name, value) in ubuntu.as_object().unwrap() {
        let query = crate::facts::base(name).unwrap();
        let answer = query.read(value).unwrap();
        answers.insert(query, answer);
    }
    let own = site.answers();
    for query in super::queries() {
        if let Some(answer) = own.find(&query) {
            answers.insert(query, answer.clone());
        }
    }
    answers.put(BaseQuery("os"), ubuntu["os"].clone().into());
    answers.put(PackagesQuery, Packages { manager: "apt".to_owned(), ..Packages::default() });
    if let Known::Answer(driver) = own.get(&DriverQuery { whole: false }) {
        answers.put(DriverQuery { whole: true }, driver.clone());
    }
    for link in ["rdma0", "rdma1", "ens192"] {
        let which = NicMatch { netdev: Some(link.to_owned()), ..NicMatch::default() };
        answers.put(NetdevQuery(which), vec![Netdev { name: link.to_owned(), ..Netdev::default() }]);
        let roce = Roce {
            trust: Some("dscp".to_owned()),
            pfc: Some(vec![0, 0, 0, 1, 0, 0, 0, 0]),
            ecn: BTreeMap::from([(3, true)]),
            ..Roce::default()
        };
        answers.put(RoceQuery(link.to_owned()), Some(roce));
    }
    answers
}

/// Returns the promises of a host's tasks.
fn promised(project: &Project, host: &Host, answers: &Facts) -> Promises {
    let view = answers.view();
    let inputs = Inputs { facts: Some(&view), ..Inputs::none() };
    let keys: Vec<&str> = crate::resources::kinds().iter().flat_map(|kind| kind.promises).copied().collect();
    project.promises(host, &inputs, answers, &keys)
}

/// The checks of a host by their id.
fn results(host: &Host, answers: &Facts, promises: &Promises) -> BTreeMap<String, CheckResult> {
    let subject = Subject::new(host, answers, 0).promised(promises);
    let conclusion = evaluate(&mut [subject]).remove(0);
    conclusion.results.into_iter().map(|result| (result.check.clone(), result)).collect()
}

/// A machine with two GPUs and no cards, set up from source.
const GPU_NODE: &str = "cluster: c
hosts: { gpu0: { transport: local } }
vars: { sha256: \"0000000000000000000000000000000000000000000000000000000000000000\" }
playbooks:
  - { use: nvidia-driver, with: { branch: \"580\" } }
  - limits
  - chrony
  - { use: openmpi, with: { sha256: \"{{ sha256 }}\" } }
  - { use: nccl, with: { sha256: \"{{ sha256 }}\" } }
  - nccl-tests
";

fn site_host(site: &str) -> (Project, Host) {
    let folder = tempfile::tempdir().unwrap();
    let path = if site == "gpu-node" {
        let path = Utf8Path::from_path(folder.path()).unwrap().join("inventory.yaml");
        std::fs::write(&path, GPU_NODE).unwrap();
        path
    } else {
        Utf8Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("inventories/{site}.yaml"))
    };
    let project = load(&path);
    let wanted = |host: &&Host| !host.nics.is_empty();
    let host = project.hosts.iter().find(wanted).unwrap_or_else(|| project.host("gpu0").unwrap()).clone();
    (project, host)
}

#[test]
fn tasks_say_what_to_expect() {
    let mut text = String::new();
    let names = ["roce-v2", "infiniband", "ehpc-erdma", "e810-roce", "example", "lab", "gpu-node"];
    for (name, declares) in names.into_iter().flat_map(|name| [(name, true), (name, false)]) {
        let (project, mut host) = site_host(name);
        if !declares {
            host.expect = Expect::default();
        }
        let answers = answers(&full(name));
        let promises = promised(&project, &host, &answers);
        let (before, after) =
            (results(&host, &answers, &Promises::default()), results(&host, &answers, &promises));
        let skipped = |all: &BTreeMap<String, CheckResult>| {
            all.values().filter(|result| result.status == CheckStatus::Skip).count()
        };
        let own = if declares { "" } else { ", its `expect:` left out" };
        put!(text, "{name}{own}: {} skipped without its tasks, ", skipped(&before));
        put!(text, "{} with them\n", skipped(&after));
        for (id, result) in &after {
            if before[id].status != result.status || before[id].message != result.message {
                let said = |result: &CheckResult| format!("{} {}", result.status.word(), result.message);
                put!(text, "  {id}: {} -> {}\n", said(&before[id]), said(result));
            }
            // The host is as its tasks want it.
            let new = result.status.is_finding() && !before[id].status.is_finding();
            assert!(!new, "{name} {result:?}");
        }
        for result in after.values().filter(|result| declares && result.status == CheckStatus::Skip) {
            put!(text, "    skip {}: {}\n", result.check, result.message);
        }
    }
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path("../../tests/snapshots/verify");
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.bind(|| insta::assert_snapshot!("skipped.txt", text));
}

#[test]
fn a_finding_says_where_its_expectation_came_from() {
    let (project, mut host) = site_host("roce-v2");
    let evidence = |host: &Host, site: &Site, check: &str| -> Vec<String> {
        let answers = answers(site);
        let all = results(host, &answers, &promised(&project, host, &answers));
        let lines = all[check].evidence.iter().filter(|line| line.from == "expected");
        lines.map(|line| line.line.clone()).collect()
    };
    // The site's own `expect:` is stronger.
    let lossy = full("roce-v2").with("fabric", "enabled     0   0   0   1", "enabled     0   0   0   0");
    assert_eq!(
        evidence(&host, &lossy, "network.pfc"),
        ["network.pfc [3]: by expect.network.pfc of the inventory"]
    );
    host.expect = Expect::default();
    assert_eq!(
        evidence(&host, &lossy, "network.pfc"),
        ["network.pfc [3] of rdma[0-1]: declared by task `quality of service` of playbook roce-qos"]
    );
    // Cards of `nics:` say it themselves; the task sets what they say.
    let mut small = full("roce-v2");
    small.facts.get_mut("network").unwrap()["links"][0]["mtu"] = 1500.into();
    assert_eq!(
        evidence(&host, &small, "network.mtu"),
        [
            "network.mtu 9000: by `mtu` of nics in the inventory",
            "network.mtu 9000 of rdma[0-1]: declared by task `address, route and rule of a rail` of playbook rails",
        ]
    );
    let locked = full("roce-v2").with("login", "memlock=unlimited", "memlock=64");
    let by = "task `locked memory of logins and services` of playbook limits";
    assert_eq!(
        evidence(&host, &locked, "system.memlock"),
        [format!("system.memlock unlimited: declared by {by}")]
    );
    // A container's engine has the last word on its limits.
    let container = locked.fact("virtualization", json!({ "kind": "docker", "container": true }));
    assert_eq!(evidence(&host, &container, "system.memlock"), Vec::<String>::new());
    host.expect = expect(json!({ "system": { "memlock": "64" }, "network": { "pfc": [] } }));
    assert_eq!(evidence(&host, &lossy, "system.memlock"), Vec::<String>::new());
    assert_eq!(evidence(&host, &lossy, "network.pfc"), Vec::<String>::new());
}

/// Of the tasks at odds nothing is expected, and the check says so.
#[test]
fn tasks_at_odds_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let path = Utf8Path::from_path(folder.path()).unwrap().join("inventory.yaml");
    let book = "name: two\ntasks:\n  - name: few\n    limits: { name: a, values: { nofile: 1024 } }\n  - name: many\n    limits: { name: b, values: { nofile: 4096 } }\n    when: facts.kernel.headers\n";
    std::fs::write(path.with_file_name("two.yaml"), book).unwrap();
    std::fs::write(&path, "cluster: c\nplaybooks: [./two.yaml]\nhosts: { gpu0: {} }\n").unwrap();
    let project = load(&path);
    let host = &project.hosts[0];
    let said = |site: Site| {
        let answers = answers(&site);
        let mut all = results(host, &answers, &promised(&project, host, &answers));
        let result = all.remove("system.nofile").unwrap();
        format!("{} {}", result.status.word(), result.message)
    };
    let by = |number: u32, task: &str| format!("{number} by task `{task}` of playbook ./two.yaml");
    let odd = "the tasks disagree about system.nofile, so nothing is expected";
    assert_eq!(said(healthy()), format!("skip {odd}: {}, {}", by(1024, "few"), by(4096, "many")));
    // The condition of one of them is false on this host.
    let without = healthy().fact("kernel", json!({ "release": "6.8.0-87-generic", "headers": false }));
    assert_eq!(said(without), "pass 1048576");
}

/// Every key that a check names is one of `expect:`, and every key that a resource may promise is read by a check.
#[test]
fn keys_of_checks_and_resources_are_those_of_expect() {
    use crate::config::Record as _;
    let mut known = std::collections::BTreeSet::new();
    for section in Expect::fields() {
        let fields = section.schema["properties"].as_object().cloned().unwrap_or_default();
        known.extend(fields.keys().map(|field| format!("{}.{field}", section.name)));
    }
    let read: std::collections::BTreeSet<&str> =
        TABLE.iter().flat_map(Check::keys).filter(|key| *key != "ignore").collect();
    for key in &read {
        assert!(known.contains(*key), "{key} is not a key of `expect:`");
    }
    for kind in crate::resources::kinds() {
        for key in kind.promises {
            assert!(read.contains(key), "{} promises {key}, which no check reads", kind.name);
        }
    }
    // What `accept` is told is no check's.
    let unread: Vec<&String> =
        known.iter().filter(|key| !read.contains(key.as_str()) && !key.starts_with("accept.")).collect();
    // These change how checks look, and are told where they are written.
    assert_eq!(unread, Vec::<&String>::new());
}

/// A check of a host whose tasks promise this.
fn said(site: &Site, promise: impl Into<Expect>, check: &str) -> String {
    let host = super::tests::host();
    let mut promises = Promises::default();
    promises.add("a task", &Promise::new(promise));
    let answers = site.answers();
    let result = results(&Host { expect: site.expect.clone(), ..host }, &answers, &promises).remove(check);
    result.map(|result| format!("{} {}", result.status.word(), result.message)).unwrap()
}

/// Checks that a program built with another NCCL than the one that a task made passes, and that a person's
/// own declaration takes precedence over the build.
#[test]
fn tests_of_nccl_load_what_they_were_built_with() {
    let two = healthy().with("software", "perftest=1", "perftest=1\nnccl=/opt/nccl 2.23.4");
    let promise = || ExpectSoftware {
        nccl: Some("2.23.4".to_owned()),
        nccl_prefix: Some("/opt/nccl".to_owned()),
        ..ExpectSoftware::default()
    };
    assert_eq!(said(&two, promise(), "software.nccl"), "pass 2.23.4 in /opt/nccl");
    let right = "pass /opt/nccl-tests/build/all_reduce_perf with /usr/local/nccl/lib/libnccl.so.2";
    assert_eq!(said(&two, promise(), "software.nccl_tests"), right);
    let declared = two.expect(json!({ "software": { "nccl_prefix": "/opt/nccl" } }));
    let found = said(&declared, promise(), "software.nccl_tests");
    assert!(found.contains("not the one in /opt/nccl"), "{found}");
}

#[test]
fn what_a_task_sets_on_purpose_is_no_finding() {
    let driver = |runs| ExpectDriver { fabric_manager: Some(runs), ..ExpectDriver::default() };
    let stopped = healthy().with("driver_upkeep", "\nactive\n", "\nfailed\n");
    assert_eq!(
        said(&stopped, driver(false), "driver.fabric_manager"),
        "skip no fabric manager is wanted on this host"
    );
    // The switches of the newest boards are no bridges of NVIDIA on the PCI bus.
    let hidden = stopped.fact("pci", json!({ "gpus": healthy().facts["pci"]["gpus"], "nvswitches": [] }));
    let none = ExpectDriver::default();
    assert_eq!(said(&hidden, none, "driver.fabric_manager"), "skip no NVSwitch");
    assert_eq!(said(&hidden, driver(true), "driver.fabric_manager"), "fail nvidia-fabricmanager: failed");

    let erdma = full("ehpc-erdma");
    let rdma = |compat| ExpectRdma { erdma_compat: Some(compat), ..ExpectRdma::default() };
    assert_eq!(said(&erdma, rdma(true), "rdma.erdma_mode"), "pass compat mode");
    assert_eq!(said(&erdma, rdma(false), "rdma.erdma_mode"), "fail compat mode, expected standard mode");
    let standard = erdma.with("fabric", "erdma_compat=Y", "erdma_compat=N");
    assert_eq!(said(&standard, rdma(false), "rdma.erdma_mode"), "pass standard mode");
    assert_eq!(said(&standard, rdma(true), "rdma.erdma_mode"), "fail standard mode");

    let small = healthy().with("fabric", "MaxReadReq 4096", "MaxReadReq 1024");
    let read = |bytes| ExpectRdma { max_read_request: Some(bytes), ..ExpectRdma::default() };
    assert_eq!(said(&small, read(4096), "pcie.max_read_request"), "warn mlx5_[0-1]: 1024 bytes");
    assert_eq!(said(&small, read(1024), "pcie.max_read_request"), "pass at least 1024 bytes");
}

/// Checks that a promise about one thing does not make another thing expected.
#[test]
fn a_setting_for_cards_or_the_clock_expects_no_card_and_no_memory() {
    let mut bare = healthy();
    bare.probes.insert("rdma", "\n\u{1e}ask sysfs\n\n\u{1e}end 0\n".to_owned());
    let read = ExpectRdma { max_read_request: Some(4096), ..ExpectRdma::default() };
    assert_eq!(said(&bare, read, "rdma.devices"), "skip no RDMA device");
    let devices = ExpectRdma { devices: Some(vec!["rxe0".to_owned()]), ..ExpectRdma::default() };
    assert_eq!(said(&bare, devices, "rdma.devices"), "fail rxe0: no such device");

    let container = healthy().fact("virtualization", json!({ "kind": "docker", "container": true })).with(
        "system",
        "tmpfs 64000000",
        "tmpfs 65536",
    );
    let clock = ExpectSystem { time_sync: Some(true), ..ExpectSystem::default() };
    assert_eq!(said(&container, clock, "system.shm"), "skip in a container its engine sets the limit");
}
