//! The pages of the five sites: every step of a guide has a row, and what a row names is there.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::expect_used,
    clippy::panic,
    reason = "a test"
)]
#![allow(clippy::disallowed_methods, reason = "tests read files and start the program")]

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use crate::context::program;

/// The sites, and how many steps their guides have.
const SITES: [(&str, usize); 5] =
    [("ehpc-erdma", 15), ("acs-rdma", 8), ("e810-roce", 10), ("infiniband", 10), ("roce-v2", 10)];

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

fn read(path: impl AsRef<Path>) -> String {
    std::fs::read_to_string(root().join(path)).unwrap()
}

/// Tasks of a playbook as `playbook show` lists them: title and resource; and what it includes.
fn tasks(playbook: &str) -> (BTreeMap<String, String>, BTreeSet<String>) {
    let output = program(&["playbook", "show", playbook]).output().unwrap();
    assert!(output.status.success(), "{playbook}: {}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).unwrap();
    let mut tasks = BTreeMap::new();
    let mut included = BTreeSet::new();
    let lines = text.lines().skip_while(|line| *line != "Tasks:").skip(1);
    for line in lines.take_while(|line| line.starts_with("  ")) {
        let (resource, title) = line.trim().split_once(char::is_whitespace).unwrap_or((line.trim(), ""));
        if resource == "include" {
            included.extend(title.split_whitespace().last().map(str::to_owned));
        } else {
            tasks.insert(title.trim().to_owned(), resource.to_owned());
        }
    }
    (tasks, included)
}

/// A playbook and all that it includes: `playbook: task` to resource, and the playbooks' names.
fn everything(playbook: &str) -> (BTreeMap<String, String>, BTreeSet<String>) {
    let mut all = BTreeMap::new();
    let mut seen = BTreeSet::new();
    let mut open = vec![playbook.to_owned()];
    while let Some(name) = open.pop() {
        if !seen.insert(name.clone()) {
            continue;
        }
        let (own, included) = tasks(&name);
        all.extend(own.into_iter().map(|(title, resource)| (format!("{name}: {title}"), resource)));
        open.extend(included);
    }
    (all, seen)
}

/// The code spans of a cell.
fn spans(cell: &str) -> Vec<&str> {
    cell.split('`').skip(1).step_by(2).collect()
}

#[test]
fn every_step_has_a_row_that_is_true() {
    let checks = read("docs/reference/checks.md");
    let builtin: BTreeSet<String> = std::fs::read_dir(root().join("playbooks"))
        .unwrap()
        .filter_map(|entry| entry.unwrap().file_name().to_str()?.strip_suffix(".yaml").map(str::to_owned))
        .collect();
    for (site, steps) in SITES {
        let (tasks, included) = everything(site);
        let page = read(format!("docs/sites/{site}.md"));
        assert!(page.contains(&format!("`inventories/{site}.yaml`")), "{site} names its inventory");
        let mut numbers = BTreeSet::new();
        let mut named = BTreeSet::new();
        for line in page.lines().filter(|line| line.starts_with("| ")).skip(1) {
            let cells: Vec<&str> =
                line.trim_start_matches('|').trim_end_matches('|').split('|').map(str::trim).collect();
            let [step, guide, here, place, corrected] = cells[..] else {
                panic!("{site}: five cells are needed: {line}")
            };
            let number: usize = step.split('.').next().unwrap().parse().unwrap();
            numbers.insert(number);
            assert!(!guide.is_empty(), "{line}");
            let mut resources = BTreeSet::new();
            let mut looks = place.contains("`provision ");
            for span in spans(place) {
                if let Some(check) = span.strip_prefix("check ") {
                    assert!(
                        checks.contains(&format!("| [{check}]")),
                        "{site} {step}: there is no check {check}"
                    );
                    looks = true;
                } else if builtin.contains(span) {
                    resources.insert("playbook".to_owned());
                } else if !span.starts_with("provision ") {
                    let Some(resource) = tasks.get(span) else {
                        panic!("{site} {step}: no task `{span}`; there are {tasks:#?}")
                    };
                    resources.insert(resource.clone());
                    named.insert(span.split(':').next().unwrap().to_owned());
                }
            }
            let renders = resources.contains("render") || resources.contains("template");
            match here {
                "built" => assert!(!resources.is_empty(), "{site} {step}: what builds it?"),
                "rendered" => assert!(renders, "{site} {step}: what renders it?"),
                "checked" => assert!(looks, "{site} {step}: what checks it?"),
                "out of scope" => assert!(place.is_empty() && !corrected.is_empty(), "{site} {step}: why?"),
                _ => panic!("{site} {step}: {here}?"),
            }
        }
        assert_eq!(numbers, (1..=steps).collect(), "{site}: each step of the guide has a row");
        // What the playbook does besides is told below the table.
        for playbook in included.iter().filter(|name| !named.contains(*name) && *name != site) {
            assert!(
                page.contains(&format!("`{playbook}`")),
                "{site} includes {playbook}, which its page does not name"
            );
        }
    }
}

/// A site's playbook is a hand-over: clock, settings of the kernel and `PCIe`, and a firewall that lets the hosts reach each other.
#[test]
fn each_site_with_hosts_has_what_every_node_needs() {
    for site in ["ehpc-erdma", "e810-roce", "infiniband", "roce-v2"] {
        let (_, included) = everything(site);
        for needed in ["first-boot", "chrony", "sysctl", "pcie", "firewall", "limits"] {
            assert!(included.contains(needed), "{site} has no {needed}");
        }
    }
    for playbook in ["slurm", "ssh-mesh"] {
        assert!(everything(playbook).1.contains("firewall"), "{playbook}");
    }
}

/// What stands on DOCA's modules comes after they are in force, and not at the end with the handlers.
#[test]
fn doca_is_in_force_before_peermem() {
    use provision::project::{self, LoadOptions};
    let guide = read("docs/guides/gpu-nodes.md");
    let block = guide.split("```yaml\n").nth(1).unwrap();
    let site = "cluster: c\nhosts: { gpu0: {} }\npolicy: { reboot: allow }\nplaybooks:\n  - use: roce-v2\n    \
                with: { stack: doca }\n";
    for text in [block.split("```").next().unwrap(), site] {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("inventory.yaml");
        std::fs::write(&path, text).unwrap();
        let path = camino::Utf8PathBuf::from_path_buf(path).unwrap();
        let project = project::load(&path, &LoadOptions::default()).unwrap_or_else(|error| panic!("{error}"));
        let place = |playbook: &str, kind: &str| {
            project.steps.iter().position(|step| step.playbook == playbook && step.kind == kind)
        };
        let boot = place("doca-ofed", "reboot").expect("a reboot in its place");
        for later in [("peermem", "kernel_module"), ("nvidia-driver", "nvidia_driver")] {
            assert!(boot < place(later.0, later.1).unwrap(), "{later:?} in\n{text}");
        }
        assert!(!project.handlers.iter().any(|handler| handler.kind == "reboot"));
    }
}
