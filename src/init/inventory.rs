//! The inventory as text: commented, and what `apply` takes.

use std::collections::{BTreeMap, BTreeSet};

use super::explore::{Found, Problem, Root};
use crate::config::yaml::scalar;
use crate::facts::Facts;
use crate::facts::base::os::Os;
use crate::facts::base::pci::{Pci, PciDevice};
use crate::inventory::Host;
use crate::inventory::file::OVER_BASE;
use crate::put;
use crate::report::fold::fold;
use crate::report::style::safe_line;

/// The group of all hosts with GPUs: what playbooks and our examples call it.
pub(super) const GPU: &str = "gpu";
/// The group of all other hosts.
pub(super) const NODES: &str = "nodes";

/// Number and model of a host's GPUs: two hosts with the same ones are of one kind.
type Kind = (usize, String);

fn kind(facts: &Facts) -> Kind {
    let gpus = facts.base().map_or(&[][..], |pci: &Pci| &pci.gpus);
    (gpus.len(), gpus.first().map(|gpu| gpu.model.clone()).unwrap_or_default())
}

/// Whether a network card can do RDMA, also where no driver for it is loaded yet.
///
/// By PCI ids: `ConnectX` of NVIDIA (`mlx4_core`, `mlx5_core`), eRDMA of Alibaba (`erdma`), E810 of Intel
/// (`ice_devids.h` of Linux), EFA of Amazon (`efa_main.c`); by driver: `bnxt_en` of Broadcom, whose cards
/// have `bnxt_re` beside it.
fn is_rdma_capable(nic: &PciDevice) -> bool {
    let id = nic.device.as_str();
    let by_id = match nic.vendor.as_str() {
        "15b3" => true,
        "1ded" => id == "107f",
        "8086" => ["1591", "1592", "1593", "1599", "159a", "159b"].contains(&id),
        "1d0f" => id.starts_with("efa"),
        _ => false,
    };
    by_id || nic.driver == "bnxt_en" || !nic.rdma_devices.is_empty()
}

/// Names for the groups of kinds: `gpu-x8-h100-80gb-hbm3`. No host has one of them.
fn kind_names<'a>(kinds: impl Iterator<Item = &'a Kind>, hosts: &BTreeSet<&str>) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for (count, model) in kinds {
        let plain = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' };
        let model: String = model.chars().take(40).map(plain).collect();
        let mut name = format!("{GPU}-x{count}-{model}").trim_end_matches('-').to_owned();
        while hosts.contains(name.as_str()) || names.contains(&name) {
            name.push_str("-other");
        }
        names.push(name);
    }
    names
}

/// The line of a host below `hosts:`.
fn host_line(host: &Host, with_user: bool) -> String {
    let mut ssh = Vec::new();
    if let Some(port) = host.ssh.port {
        ssh.push(format!("port: {port}"));
    }
    if let Some(user) = host.ssh.user.as_ref().filter(|_| with_user) {
        ssh.push(format!("user: {user}"));
    }
    let ssh = if ssh.is_empty() { String::new() } else { format!(", ssh: {{ {} }}", ssh.join(", ")) };
    format!("{}: {{ address: \"{}\"{ssh} }}", host.name, host.address)
}

fn of_kinds(found: &[Found]) -> BTreeMap<Kind, Vec<&Found>> {
    let mut kinds: BTreeMap<Kind, Vec<&Found>> = BTreeMap::new();
    for found in found {
        kinds.entry(kind(&found.facts)).or_default().push(found);
    }
    kinds
}

/// The distribution of a host, with its release where it has one.
fn os(facts: &Facts) -> String {
    let os = facts.base::<Os>();
    let id = os.map(|os| os.id.as_str()).filter(|id| !id.is_empty()).unwrap_or("?");
    let words: Vec<&str> = [Some(id), os.and_then(Os::release)].into_iter().flatten().collect();
    safe_line(&words.join(" "))
}

/// Hosts of one kind and what they have: of hardware that of the first.
fn described((count, model): &Kind, members: &[&Found]) -> (String, String) {
    let names: Vec<&str> = members.iter().map(|found| found.host.name.as_str()).collect();
    let nics = members.first().and_then(|found| found.facts.base()).map_or(&[][..], |pci: &Pci| &pci.nics);
    let nics = nics.iter().filter(|nic| is_rdma_capable(nic)).count();
    let model = if model.is_empty() { String::new() } else { format!(" ({})", safe_line(model)) };
    let os: BTreeSet<String> = members.iter().map(|found| os(&found.facts)).collect();
    let os = os.into_iter().collect::<Vec<_>>().join(", ");
    (fold(&names), format!("{os}; GPUs: {count}{model}; RDMA-capable NICs: {nics}"))
}

/// Describes the hosts that were found, a line for each kind.
pub fn kinds_of(found: &[Found]) -> Vec<String> {
    let line = |(kind, members): (&Kind, &Vec<&Found>)| {
        let (hosts, what) = described(kind, members);
        format!("{hosts}  {what}")
    };
    of_kinds(found).iter().map(line).collect()
}

/// The groups: one for hosts with GPUs, with one below it for each kind where there are several.
fn groups(found: &[Found]) -> String {
    let kinds = of_kinds(found);
    // What the GPUs of a host without any are called says nothing.
    let several = kinds.keys().filter(|(count, _)| *count > 0).count() > 1;
    let hosts = found.iter().map(|found| found.host.name.as_str()).collect();
    let names = kind_names(kinds.keys().filter(|(count, _)| *count > 0), &hosts);
    let mut text = String::new();
    if several {
        put!(text, "  {GPU}:    # all hosts with GPUs\n    children: [{}]\n", names.join(", "));
    }
    let mut names = names.into_iter();
    for (kind, members) in &kinds {
        let name = match (kind.0 > 0, several) {
            (true, true) => names.next().unwrap_or_default(),
            (true, false) => GPU.to_owned(),
            (false, _) => NODES.to_owned(),
        };
        let (hosts, what) = described(kind, members);
        put!(text, "  {name}:    # {what}\n    hosts: \"{hosts}\"\n");
    }
    text
}

/// The inventory of what was found. Hosts with problems are in it as comments, to be taken in by hand.
pub fn inventory(cluster: &str, found: &[Found], problems: &[Problem]) -> String {
    let become_root = if found.iter().any(|found| matches!(found.root, Root::Sudo | Root::SudoWithPassword)) {
        "sudo"
    } else {
        "none"
    };
    let mut text = String::new();
    put!(
        text,
        "# yaml-language-server: $schema=./inventory.schema.json\n# Editors check this file with: provision generate schema inventory > inventory.schema.json\n# Written by `provision init`. `provision explain` and docs/ tell what can be added.\ncluster: {}\n\nssh:\n",
        scalar(cluster)
    );
    let all = || found.iter().map(|found| &found.host).chain(problems.iter().map(|problem| &problem.host));
    let users: BTreeSet<_> = all().map(|host| host.ssh.user.clone()).collect();
    let several = users.len() > 1;
    if let (false, Some(Some(user))) = (several, users.first()) {
        put!(text, "  user: {}\n", scalar(user));
    }
    if let Some(path) = found.iter().find_map(|found| found.host.ssh.identity_file.clone()) {
        put!(text, "  identity_file: {}\n", scalar(path.as_str()));
    }
    text.push_str(
        "  known_hosts: ./known_hosts    # strict; recorded by init, later by `provision inventory trust`\n",
    );
    let note = if found.iter().any(|found| found.root == Root::SudoWithPassword) {
        "    # wants a password: --ask-become-pass, or { method: sudo, password: { secret: NAME } }"
    } else {
        ""
    };
    put!(text, "  become: {become_root}{note}\n\n");
    // The host file for MPI has the hosts of one group.
    let base = if found.iter().any(|found| kind(&found.facts).0 > 0) {
        "base".to_owned()
    } else {
        format!("{{ use: base, with: {{ mpi_group: {NODES} }} }}")
    };
    put!(
        text,
        "# What is done, in this order; `provision playbook list` shows what is built in.\nplaybooks:\n{OVER_BASE}  - {base}\n\ngroups:\n{}\nhosts:\n",
        groups(found)
    );
    for found in found {
        put!(text, "  {}\n", host_line(&found.host, several));
    }
    for Problem { host, text: why, .. } in problems {
        put!(
            text,
            "  # No login: {}. When that is mended, run the same init again with --force; or take away the `#` and add it to its group.\n  # {}\n",
            safe_line(why).trim_end_matches('.'),
            host_line(host, several)
        );
    }
    text
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::facts::BaseQuery;
    use crate::inventory::{Ssh, TransportKind};

    fn host(name: &str) -> Host {
        Host {
            name: name.to_owned(),
            index: 0,
            number: None,
            groups: BTreeSet::new(),
            labels: BTreeMap::new(),
            offline: None,
            address: format!("{name}.example.org"),
            transport: TransportKind::Ssh,
            ssh: Ssh { port: Some(2222), ..Ssh::default() },
            vars: crate::inventory::Vars::default(),
            nics: Vec::new(),
            expect: crate::inventory::Expect::default(),
            mesh_user: None,
            span: crate::config::Span::NONE,
        }
    }

    fn found(name: &str, models: &[&str]) -> Found {
        let gpus: Vec<_> = models.iter().map(|model| json!({ "model": model })).collect();
        let mut found = Found { host: host(name), facts: Facts::default(), root: Root::Login };
        put(&mut found, "os", json!({ "id": "debian", "version_id": "12" }));
        put(&mut found, "pci", json!({ "gpus": gpus, "nics": [{ "vendor": "15b3" }] }));
        found
    }

    fn put(found: &mut Found, fact: &'static str, value: serde_json::Value) {
        found.facts.put(BaseQuery(fact), value.into());
    }

    /// The groups of each host and the playbooks as the inventory that was written gives them.
    fn loaded(text: &str) -> Vec<String> {
        let folder = tempfile::tempdir().unwrap();
        let file = camino::Utf8Path::from_path(folder.path()).unwrap().join("inventory.yaml");
        std::fs::write(&file, text).unwrap();
        let project = match crate::project::load(&file, &crate::project::LoadOptions::default()) {
            Ok(project) => project,
            Err(error) => panic!("{}\n{text}", error.diagnostics.render(&error.sources, false)),
        };
        let groups = |host: &Host| host.groups.iter().cloned().collect::<Vec<_>>().join(",");
        let mut all: Vec<_> =
            project.hosts.iter().map(|host| format!("{} {}", host.name, groups(host))).collect();
        all.sort();
        all
    }

    #[test]
    fn a_host_writes_nothing_into_the_inventory() {
        let forged = "x\nvars: { evil: 1 }\u{2028}vars: {}\u{85}y";
        let mut one = found("gpu0", &[forged]);
        put(&mut one, "os", json!({ "id": forged, "version_id": forged }));
        let problem =
            Problem { host: host("gpu1"), shown: String::new(), text: forged.to_owned(), hint: None };
        let text = inventory("c", &[one], &[problem]);
        let mut forged = text.lines().filter(|line| line.contains("evil")).map(str::trim_start);
        assert!(forged.all(|line| line.starts_with("gpu:    # x vars") || line.starts_with("# ")), "{text}");
        assert!(!text.contains(['\u{2028}', '\u{85}']), "{text}");
        assert_eq!(loaded(&text), ["gpu0 gpu"]);
    }

    #[test]
    fn names_that_look_like_other_values_are_quoted() {
        for name in ["123", "1.5", "1e3", "true", "null", "0x10", "mine"] {
            let mut host = host("gpu0");
            host.ssh.user = Some(name.to_owned());
            let one = Found { host, facts: Facts::default(), root: Root::Login };
            assert_eq!(loaded(&inventory(name, &[one], &[])), ["gpu0 nodes"], "{name}");
        }
    }

    #[test]
    fn hosts_with_gpus_are_the_group_gpu_whatever_their_kinds() {
        let all = [
            found("gpu0", &["H100 80GB HBM3"; 8]),
            found("gpu1", &["A100/SXM4"; 8]),
            found("gpu-x8-a100-sxm4", &["A100/SXM4"; 8]),
            found("login0", &[]),
        ];
        let text = inventory("c", &all, &[]);
        assert!(text.contains("    # debian 12; GPUs: 8 (H100 80GB HBM3); "), "{text}");
        assert_eq!(
            loaded(&text),
            [
                "gpu-x8-a100-sxm4 gpu,gpu-x8-a100-sxm4-other",
                "gpu0 gpu,gpu-x8-h100-80gb-hbm3",
                "gpu1 gpu,gpu-x8-a100-sxm4-other",
                "login0 nodes"
            ]
        );
        assert!(text.contains("\n  - base\n"), "{text}");
        let text = inventory("c", &[found("gpu0", &["A10"])], &[]);
        assert_eq!(loaded(&text), ["gpu0 gpu"]);
        // Without GPUs, too, `base` writes a host file with hosts.
        let text = inventory("c", &[found("n0", &[])], &[]);
        assert_eq!(loaded(&text), ["n0 nodes"]);
        assert!(text.contains("mpi_group: nodes"), "{text}");
    }

    #[test]
    fn hosts_of_one_kind_and_several_systems() {
        let mut all = [found("n0", &[]), found("n1", &[]), found("n2", &[])];
        put(&mut all[1], "os", json!({ "id": "debian", "version_id": "", "codename": "forky" }));
        put(&mut all[2], "os", json!({ "id": "nixos", "version_id": "", "codename": "" }));
        let text = inventory("c", &all, &[]);
        assert!(text.contains("nodes:    # debian 12, debian forky, nixos; GPUs: 0;"), "{text}");
    }

    #[test]
    fn a_host_that_failed_keeps_its_address() {
        let mut failed = host("gpu1");
        failed.ssh.user = Some("me".to_owned());
        let problem = Problem { host: failed, shown: String::new(), text: "refused.".to_owned(), hint: None };
        let text = inventory("c", &[found("gpu0", &["A10"])], &[problem]);
        assert!(text.contains("# No login: refused. When"), "{text}");
        let line = "gpu1: { address: \"gpu1.example.org\", ssh: { port: 2222, user: me } }";
        assert!(text.contains(&format!("  # {line}\n")), "{text}");
        // It is a line of the inventory, but for the `#`, and its group is for the reader to name.
        let text = text.replace(&format!("# {line}"), line).replace("hosts: \"gpu0\"", "hosts: \"gpu[0-1]\"");
        assert_eq!(loaded(&text), ["gpu0 gpu", "gpu1 gpu"]);
    }

    #[test]
    fn cards_without_rdma_are_not_counted() {
        let nics = json!([
            { "vendor": "1af4", "device": "1041", "driver": "virtio-pci", "rdma_devices": [] },
            { "vendor": "8086", "device": "1572", "driver": "i40e", "rdma_devices": [] },
            { "vendor": "1d0f", "device": "ec20", "driver": "ena" },
            { "vendor": "15b3", "device": "101b", "driver": "" },
            { "vendor": "8086", "device": "159b", "driver": "ice", "rdma_devices": [] },
            { "vendor": "1d0f", "device": "efa1", "driver": "efa" },
            { "vendor": "1af4", "device": "1041", "driver": "virtio-pci", "rdma_devices": ["rxe0"] },
        ]);
        let mut one = found("gpu0", &["A10"]);
        put(&mut one, "pci", json!({ "gpus": [{ "model": "A10" }], "nics": nics }));
        let text = inventory("c", &[one], &[]);
        assert!(text.contains("RDMA-capable NICs: 4\n"), "{text}");
    }
}
