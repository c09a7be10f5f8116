//! `playbooks/versions.yaml`: versions stand there and nowhere else, what has ended is told, and no test of this fails by
//! the calendar: each is given its day.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic, reason = "a test")]
#![allow(clippy::disallowed_methods, reason = "tests read files and start the program")]

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;
use std::sync::LazyLock;

use camino::Utf8PathBuf;
use jiff::civil::{Date, date};
use provision::config::{Code, Severity};
use provision::playbook::versions::VERSIONS;
use provision::project::{self, LoadOptions};
use provision::reference;
use regex::Regex;

use crate::context::program;
use crate::pages::root;

/// Literals that may stand in playbooks and their files, and the reason.
const ALLOWED: &[(&str, &str, &str)] = &[
    ("infiniband.yaml", "22.04", "says whose names of packages are meant"),
    ("firewall.yaml", "192.168", "the start of private addresses"),
    ("firewall.yaml", "169.254", "the start of addresses of a link"),
    ("kernel.yaml", "6.8.0-60-generic", "an example"),
    ("kernel.yaml", "5.14.0-503.11.1.el9_5.x86_64", "an example"),
    ("kernel.yaml", "6.8.0-1030-aws", "an example"),
    ("slurm.yaml", "24.05", "the release that brought a setting does not change any more"),
    ("slurm.yaml", "23.11", "the release that brought sackd and blocks does not change any more"),
    ("doca-ofed.yaml", "alinux3.2", "a directory at NVIDIA (doca.directories)"),
    ("doca-ofed.yaml", "ubuntu22.04", "an example of a directory"),
    ("e810-roce.yaml", "0.01", "a learning rate"),
    ("gpu-containers.yaml", "24.04", "says from when on Ubuntu forbids it"),
    ("gpu-containers.yaml", "4.0", "the form of a profile of AppArmor"),
    ("files/ddp_benchmark.py", "0.01", "a learning rate"),
];

fn pattern(text: &str) -> Regex {
    Regex::new(text).unwrap()
}

static ADDRESS: LazyLock<Regex> = LazyLock::new(|| pattern(r#"https?://[^\s"'}]+"#));
static DIGEST: LazyLock<Regex> = LazyLock::new(|| pattern(r"\b[0-9A-Fa-f]{32,}\b"));
static NETWORK: LazyLock<Regex> = LazyLock::new(|| pattern(r"\b\d+\.\d+\.\d+\.\d+\b"));
static VERSION: LazyLock<Regex> = LazyLock::new(|| pattern(r"[A-Za-z]*\d+\.\d+[\w.\-]*"));
static QUOTED: LazyLock<Regex> = LazyLock::new(|| pattern(r#"["']([^"']+)["']|: ([\w.\-]+)"#));

/// The versions, addresses and digests of a line, and its values that stand in the table.
fn literals(line: &str, known: &BTreeSet<String>) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for pattern in [&ADDRESS, &DIGEST] {
        found.extend(pattern.find_iter(line).map(|found| found.as_str().to_owned()));
    }
    let line = NETWORK.replace_all(&ADDRESS.replace_all(line, ""), "").into_owned();
    found.extend(VERSION.find_iter(&line).map(|found| found.as_str().trim_end_matches('.').to_owned()));
    let values = QUOTED.captures_iter(&line).filter_map(|found| found.get(1).or(found.get(2)));
    found.extend(values.map(|value| value.as_str().to_owned()).filter(|value| known.contains(value)));
    found
}

/// Texts of the table: values, and releases of drivers.
fn known() -> BTreeSet<String> {
    let releases = VERSIONS.lifetimes.iter().filter(|life| life.product == "driver");
    let values =
        VERSIONS.values.iter().filter_map(|value| value.value.as_str()).filter(|value| !value.is_empty());
    values.chain(releases.map(|life| life.release.as_str())).map(str::to_owned).collect()
}

/// Playbooks and their files, by path below `playbooks/`.
fn playbooks() -> Vec<(String, String)> {
    let mut open = vec![root().join("playbooks")];
    let mut found = Vec::new();
    while let Some(directory) = open.pop() {
        for entry in fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                open.push(path);
            } else if !path.ends_with("README.md") && !path.ends_with("playbooks/versions.yaml") {
                let name = path.strip_prefix(root().join("playbooks")).unwrap();
                found.push((name.display().to_string(), fs::read_to_string(&path).unwrap()));
            }
        }
    }
    found.sort();
    found
}

#[test]
fn literal_versions() {
    let known = known();
    for planted in [
        "  version: { type: string, default: \"4.1.3\" }",
        "  branch: { type: string, default: \"550\" }",
        "    default: 550.163.01",
        "  index: { default: https://download.example.org/whl/cu121 }",
        "  sha256: { default: 98e6262bd55932c51e7c8ffc50cc764f019e4b94a8fd6694d839ae828ec8d128 }",
        "  image: { default: pytorch-23.09-py3 }",
    ] {
        assert!(!literals(planted, &known).is_empty(), "{planted}");
    }
    let mut used = BTreeSet::new();
    let mut wrong = Vec::new();
    let (mut files, all) = (0, playbooks());
    for (name, text) in &all {
        files += 1;
        for (number, line) in text.lines().enumerate() {
            if line.trim_start().starts_with('#') {
                continue;
            }
            for literal in literals(line, &known) {
                let allowed = ALLOWED.iter().position(|(file, known, _)| file == name && *known == literal);
                match allowed {
                    Some(place) => drop(used.insert(place)),
                    None => wrong.push(format!("playbooks/{name}:{}: {literal}", number + 1)),
                }
            }
        }
    }
    assert!(
        wrong.is_empty(),
        "a version, an address or a digest stands in playbooks/versions.yaml, and is taken by `from:`:\n{}",
        wrong.join("\n")
    );
    assert_eq!(used.len(), ALLOWED.len(), "some of ALLOWED stand nowhere any more");
    assert!(files > 40, "{files}");
}

/// Examples in inventories and guides are values of the table, which says so.
#[test]
fn inventories_and_guides_follow_the_table() {
    let named = pattern(r#"\b(?:branch|version|cuda|driver|openmpi|nccl|doca): *"([0-9][^"]*)""#);
    let mut seen = 0;
    for directory in ["inventories", "docs/guides", "docs/sites"] {
        for entry in fs::read_dir(root().join(directory)).unwrap() {
            let path: PathBuf = entry.unwrap().path();
            let file = path.strip_prefix(root()).unwrap().display().to_string();
            // Some have folders beside them.
            let Ok(text) = fs::read_to_string(&path) else { continue };
            for value in named.captures_iter(&text).map(|found| found[1].to_owned()) {
                let listed = VERSIONS
                    .values
                    .iter()
                    .any(|entry| entry.value.as_str() == Some(&value) && entry.used_by.contains(&file));
                assert!(listed, "{file} names {value}: no entry of playbooks/versions.yaml has both");
                seen += 1;
            }
        }
    }
    assert!(seen >= 4, "{seen}");
}

#[test]
fn files_that_use_a_value_have_it() {
    for value in &VERSIONS.values {
        let wanted = value.shipped.as_deref().or(value.value.as_str()).unwrap_or_default();
        for file in &value.used_by {
            let text = fs::read_to_string(root().join(file))
                .unwrap_or_else(|error| panic!("{}: {file}: {error}", value.id));
            // A list and a kernel stand there in another form.
            let plain = wanted.chars().all(|c| c.is_ascii_digit());
            assert!(!plain || text.contains(wanted), "{}: {file} has no {wanted}", value.id);
        }
    }
}

#[test]
fn nothing_in_use_was_past_when_it_was_looked_up() {
    let day = VERSIONS.values.iter().filter_map(|value| value.checked.0).max().unwrap();
    let past = reference::outdated(day);
    assert_eq!(past, format!("nothing that is in use is past on {day}\n"));
}

#[test]
fn two_years_later_it_is_told_what_is_past() {
    let past = reference::outdated(date(2028, 11, 30));
    let driver = "driver.branch  580\n  ended on 2028-06-30; 620 follows\n  used by playbooks/ehpc-erdma.yaml, \
                  playbooks/roce-v2.yaml, inventories/roce-v2.yaml, docs/guides/gpu-nodes.md, \
                  docs/guides/rolling-a-driver.md\n  look at https://docs.nvidia.com/datacenter/tesla/drivers/";
    assert!(past.contains(driver), "{past}");
    assert!(past.contains("openmpi.version  5.0.11\n  to be looked at again since 2027-03-01; "), "{past}");
    assert!(!past.contains("epel.key.8 "), "{past}");
    let output = program(&["generate", "outdated", "--on", "2028-11-30"]).output().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stdout), past);
}

/// The warnings of a project on a day, as `product release`.
fn warnings(files: &[(&str, &str)], set: &[&str], today: Option<Date>) -> Vec<String> {
    let directory = tempfile::tempdir().unwrap();
    for (name, text) in files {
        fs::write(directory.path().join(name), text).unwrap();
    }
    let path = Utf8PathBuf::from_path_buf(directory.path().join("inventory.yaml")).unwrap();
    let set = set.iter().map(|text| (*text).to_owned()).collect();
    let options = LoadOptions { today, set, ..LoadOptions::default() };
    let project = project::load(&path, &options).unwrap_or_else(|error| panic!("{error}"));
    let found = project.warnings.sorted();
    found
        .iter()
        .filter_map(|found| {
            let Code::Ended { product, release } = &found.code else { return None };
            assert_eq!(found.severity, Severity::Warning);
            let text = found.render(&project.sources, false);
            assert!(text.contains("source: http"), "{text}");
            let next = found.help.as_deref().unwrap_or_default();
            Some(format!("{product} {release}: {} ({next})", found.message))
        })
        .collect()
}

#[test]
fn what_has_ended_is_warned_of() {
    let today = date(2026, 11, 30);
    let driver = "driver 550: driver 550 ended on 2025-04-17 (580 follows)";
    let site =
        "cluster: c\nhosts: { a: {} }\nplaybooks:\n  - use: nvidia-driver\n    with: { branch: \"550\" }\n";
    assert_eq!(warnings(&[("inventory.yaml", site)], &[], Some(today)), [driver]);
    assert_eq!(warnings(&[("inventory.yaml", site)], &[], None), [""; 0], "without a day nothing is past");
    assert_eq!(warnings(&[("inventory.yaml", site)], &[], Some(date(2025, 4, 17))), [""; 0], "its last day");
    let site =
        "cluster: c\nhosts: { a: {} }\nplaybooks: [nvidia-driver]\nvars: { version: \"550.163.01\" }\n";
    assert_eq!(warnings(&[("inventory.yaml", site)], &[], Some(today)), [driver]);
    let site = "cluster: c\nhosts: { a: {} }\nplaybooks: [nvidia-driver]\n";
    assert_eq!(
        warnings(&[("inventory.yaml", site)], &["branch=470"], Some(today)),
        ["driver 470: `--set branch`: driver 470 ended on 2024-07-20 (580 follows)"]
    );
    // A day that nobody published, an end that nobody knows, and one that is to come.
    let with = |value: &str| {
        site.replace(
            "[nvidia-driver]",
            &format!("[{{ use: nvidia-driver, with: {{ branch: \"{value}\" }} }}]"),
        )
    };
    assert_eq!(
        warnings(&[("inventory.yaml", &with("525"))], &[], Some(today)),
        ["driver 525: driver 525 has ended (580 follows)"]
    );
    for value in ["615", "580", "999"] {
        assert_eq!(warnings(&[("inventory.yaml", &with(value))], &[], Some(today)), [""; 0], "{value}");
    }
    // In a playbook of the user: a default, what it gives to one that it includes, and a resource of its own.
    let site = "cluster: c\nplaybooks: [mine.yaml]\ngroups: { gpu: { hosts: [a], expect: { driver: { version: \"535\" } } } }\n";
    let mine = "name: mine\nparams: { cuda: { type: string, product: os, default: ubuntu2004, doc: d } }\ntasks:\n  \
                - include: nvidia-driver\n    with: { branch: \"570\" }\n  - name: one {{ cuda }}\n    nvidia_driver: { branch: \"550\" }\n";
    let mut found = warnings(&[("inventory.yaml", site), ("mine.yaml", mine)], &[], Some(today));
    found.sort();
    assert_eq!(
        found,
        [
            "driver 535: driver 535 ended on 2026-06-30 (580 follows)",
            driver,
            "driver 570: driver 570 ended on 2026-01-27 (580 follows)",
            "os ubuntu20.04: os ubuntu20.04 ended on 2025-05-31 (ubuntu22.04 follows)",
        ]
    );
}

/// The program itself takes the day from the clock, or from the variable that stands for it.
#[test]
fn validate_shows_it_and_ends_well() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("inventory.yaml");
    fs::write(
        &path,
        "cluster: c\nhosts: { a: {} }\nplaybooks:\n  - { use: nvidia-driver, with: { branch: \"550\" } }\n",
    )
    .unwrap();
    let output = program(&["validate", path.to_str().unwrap()]).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    assert!(said.contains("driver 550 ended on 2025-04-17") && said.contains("580 follows"), "{said}");
    assert!(String::from_utf8_lossy(&output.stdout).contains("1 warning"), "{output:?}");
    let output =
        program(&["validate", path.to_str().unwrap()]).env("SOURCE_DATE_EPOCH", "0").output().unwrap();
    assert!(!String::from_utf8_lossy(&output.stderr).contains("550"), "{output:?}");
}
