//! `inventory import` against `ansible-inventory`: the same hosts, groups and connections.
//!
//! Each folder of `tests/cases/ansible` is an inventory with `oracle.json`, which is what
//! `ansible-inventory -i HOSTS --list` says of it. Where that program is, it is asked again;
//! `make accept` writes its answer. What is imported and what is told is a snapshot beside it.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test")]
#![allow(clippy::disallowed_methods, reason = "tests start programs")]

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;

use camino::Utf8PathBuf;
use provision::inventory::host::{Become, Host, TransportKind};
use provision::project::{LoadOptions, load};
use serde_json::{Map, Value as Json};

use crate::accept::accepts;
use crate::context::program;

/// Stands for every secret of the cases.
const SECRET: &str = "hunter2";

fn cases() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases/ansible");
    let mut cases: Vec<PathBuf> = folder.read_dir().unwrap().map(|entry| entry.unwrap().path()).collect();
    cases.sort();
    cases
}

/// The inventory of a case.
fn hosts_file(case: &Path) -> String {
    let names = case.read_dir().unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    names.into_iter().find(|name| name.starts_with("hosts")).unwrap()
}

/// Imports a file; what it made, and what it told.
fn import(case: &Path, file: &str) -> (tempfile::TempDir, Utf8PathBuf, String) {
    let folder = tempfile::tempdir().unwrap();
    let made = Utf8PathBuf::try_from(folder.path().join("inventory.yaml")).unwrap();
    let output = program(&["inventory", "import", file, "--output", made.as_str()])
        .current_dir(case)
        .output()
        .unwrap();
    let told = String::from_utf8(output.stderr).unwrap().replace(made.as_str(), "inventory.yaml");
    assert!(output.status.success(), "{}: {told}", case.display());
    (folder, made, told)
}

/// Fills in the variables of a host. A template with anything else in it is `None`.
fn filled(text: &str, host: &str, vars: &Map<String, Json>, depth: u8) -> Option<String> {
    let Some((head, rest)) = text.split_once("{{") else { return Some(text.to_owned()) };
    let (name, tail) = rest.split_once("}}")?;
    let value = match name.trim() {
        "inventory_hostname" => host.to_owned(),
        name => filled(&word(vars.get(name)?), host, vars, depth.checked_sub(1)?)?,
    };
    filled(&format!("{head}{value}{tail}"), host, vars, depth.checked_sub(1)?)
}

fn word(value: &Json) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// What Ansible would do with a host, in our words.
#[derive(Debug, PartialEq, Eq)]
struct Reached {
    /// `None`: it cannot be reached from here as Ansible reaches it.
    by: Option<(TransportKind, String)>,
    user: Option<String>,
    port: Option<u16>,
    key: Option<String>,
    jump: Vec<String>,
    root: bool,
}

fn by_ansible(host: &str, vars: &Map<String, Json>) -> Reached {
    let of = |keys: &[&str]| -> Option<Option<String>> {
        let value = keys.iter().find_map(|key| vars.get(*key))?;
        Some(filled(&word(value), host, vars, 8))
    };
    let address = of(&["ansible_ssh_host", "ansible_host"]).unwrap_or_else(|| Some(host.to_owned()));
    let kind = match of(&["ansible_connection"]).unwrap_or_else(|| Some("ssh".to_owned())).as_deref() {
        Some("ssh" | "paramiko") => Some(TransportKind::Ssh),
        Some("local") => Some(TransportKind::Local),
        _ => None,
    };
    let yes = |value: Option<String>| {
        value.is_some_and(|value| ["true", "yes", "on", "1"].contains(&value.to_lowercase().as_str()))
    };
    let sudo = of(&["ansible_become_method"]).is_none() && of(&["ansible_become_user"]).is_none();
    let arguments = of(&["ansible_ssh_common_args"]).flatten();
    let jump = arguments.as_deref().and_then(|arguments| arguments.strip_prefix("-o ProxyJump="));
    Reached {
        by: kind.zip(address),
        user: of(&["ansible_ssh_user", "ansible_user"]).flatten(),
        port: of(&["ansible_ssh_port", "ansible_port"]).flatten().and_then(|port| port.parse().ok()),
        key: of(&["ansible_ssh_private_key_file"]).flatten(),
        jump: jump.map(|jump| vec![jump.to_owned()]).unwrap_or_default(),
        root: sudo && of(&["ansible_become"]).is_some_and(yes),
    }
}

fn by_us(host: &Host, base: &Path) -> Reached {
    let key = host.ssh.identity_file.as_ref().map(|key| key.as_str());
    let key = key.map(|key| key.trim_start_matches(&format!("{}/", base.display())).to_owned());
    Reached {
        by: host.offline.is_none().then(|| (host.transport, host.address.clone())),
        user: host.ssh.user.clone(),
        port: host.ssh.port,
        key,
        jump: host.ssh.jump.clone(),
        root: host.ssh.become_method != Become::None,
    }
}

/// The hosts of a group of Ansible, through its children as well.
fn members(oracle: &Json, group: &str) -> BTreeSet<String> {
    let list = |part: &str| oracle[group][part].as_array().cloned().unwrap_or_default();
    let mut found: BTreeSet<String> = list("hosts").iter().map(word).collect();
    for child in list("children") {
        found.extend(members(oracle, &word(&child)));
    }
    found
}

fn compare(case: &Path, oracle: &Json, made: &Utf8PathBuf) {
    let text = std::fs::read_to_string(made).unwrap();
    let project = load(made, &LoadOptions::default()).map_err(|error| error.render(false)).unwrap();
    let folder = made.parent().unwrap().as_std_path();
    let none = Map::new();
    let theirs: BTreeMap<String, Reached> = members(oracle, "all")
        .into_iter()
        .map(|host| {
            let vars = oracle["_meta"]["hostvars"].get(&host).and_then(Json::as_object).unwrap_or(&none);
            let reached = by_ansible(&host, vars);
            (host, reached)
        })
        .collect();
    let ours: BTreeMap<String, Reached> =
        project.hosts.iter().map(|host| (host.name.clone(), by_us(host, folder))).collect();
    for (host, reached) in &theirs {
        let of_ours = ours.get(host);
        // Of a host that is offline nothing else matters.
        if reached.by.is_none() && of_ours.is_some_and(|ours| ours.by.is_none()) {
            continue;
        }
        assert_eq!(of_ours, Some(reached), "{}, {host}:\n{text}", case.display());
    }
    assert_eq!(ours.len(), theirs.len(), "{}:\n{text}", case.display());
    // Names of groups may be other ones: Ansible allows more. Their hosts are the same.
    let named = oracle
        .as_object()
        .unwrap()
        .keys()
        .filter(|name| !["_meta", "all", "ungrouped"].contains(&name.as_str()));
    let groups: BTreeSet<&String> = project.hosts.iter().flat_map(|host| &host.groups).collect();
    let of_ours: BTreeSet<BTreeSet<String>> = groups
        .into_iter()
        .map(|group| {
            let inside = project.hosts.iter().filter(|host| host.groups.contains(group));
            inside.map(|host| host.name.clone()).collect()
        })
        .collect();
    for group in named {
        let hosts = members(oracle, group);
        assert!(hosts.is_empty() || of_ours.contains(&hosts), "{}, {group}:\n{text}", case.display());
    }
}

#[test]
fn hosts_are_reached_as_ansible_reaches_them() {
    for case in cases() {
        let oracle = std::fs::read_to_string(case.join("oracle.json")).unwrap();
        let oracle: Json = serde_json::from_str(&oracle).unwrap();
        let (_folder, made, told) = import(&case, &hosts_file(&case));
        compare(&case, &oracle, &made);
        let text = std::fs::read_to_string(&made).unwrap();
        assert!(!text.contains(SECRET) && !told.contains(SECRET), "{}: {text}{told}", case.display());
        let mut settings = insta::Settings::clone_current();
        settings.set_snapshot_path(&case);
        settings.set_prepend_module_to_snapshot(false);
        settings.set_omit_expression(true);
        settings.bind(|| insta::assert_snapshot!("imported", format!("{told}\n{text}")));
    }
}

/// What `ansible-inventory --list` prints has the variables of every file, and is taken as it is.
#[test]
fn what_ansible_prints_is_an_inventory() {
    for case in cases() {
        let oracle: Json =
            serde_json::from_str(&std::fs::read_to_string(case.join("oracle.json")).unwrap()).unwrap();
        let (_folder, made, told) = import(&case, "oracle.json");
        compare(&case, &oracle, &made);
        let text = std::fs::read_to_string(&made).unwrap();
        assert!(!text.contains(SECRET) && !told.contains(SECRET), "{}: {text}{told}", case.display());
    }
}

/// The oracles are what Ansible says.
#[test]
fn the_oracles_are_those_of_ansible() {
    let settings = tempfile::tempdir().unwrap();
    std::fs::write(settings.path().join("ansible.cfg"), "").unwrap();
    let asked = |case: &Path| {
        Command::new("ansible-inventory")
            .args(["-i", &hosts_file(case), "--list"])
            .env("ANSIBLE_CONFIG", settings.path().join("ansible.cfg"))
            .current_dir(case)
            .output()
    };
    for case in cases() {
        let Ok(output) = asked(&case) else { return println!("skipped: there is no ansible-inventory here") };
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let answer: Json = serde_json::from_slice(&output.stdout).unwrap();
        let path = case.join("oracle.json");
        if accepts() {
            std::fs::write(&path, serde_json::to_string_pretty(&answer).unwrap() + "\n").unwrap();
        }
        let kept: Json = serde_json::from_str(&std::fs::read_to_string(&path).unwrap()).unwrap();
        assert_eq!(kept, answer, "{}", case.display());
    }
}
