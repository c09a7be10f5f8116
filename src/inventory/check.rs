//! Checks of an inventory that only report: files of another kind, templates where none is read, sizes, names.

use std::sync::Arc;

use camino::Utf8Path;

use super::file::HostFile;
use super::host::{Host, Vars};
use super::promise::Declared;
use crate::config::{Diagnostic, Diagnostics, Node, SourceId, Span, Yaml, weight};
use crate::template::paths::is_template;

/// Parts of an inventory in which no template is read.
const PLAIN: [&str; 7] = ["nics", "labels", "ssh", "offline", "expect", "rollout", "sources"];

/// Fields of a network card that take templates all the same: they differ from host to host.
const OF_CARDS: [&str; 2] = ["address", "gateway"];

/// Reports templates that would be taken for what they look like; `plain` is the part that the node is in.
pub(super) fn no_templates(node: &Node, plain: Option<&str>, diagnostics: &mut Diagnostics) {
    match &node.value {
        Yaml::Str(text) if plain.is_some() && is_template(text) => {
            diagnostics.push(Diagnostic::error(node.span, "no template is read here").help(
                "write the value itself; `vars`, the `address` of a host and that of a card take templates",
            ));
        }
        Yaml::List(items) => items.iter().for_each(|item| no_templates(item, plain, diagnostics)),
        Yaml::Map(entries) => {
            let read = |key: &str| {
                ["vars", "with", "lab"].contains(&key) || plain == Some("nics") && OF_CARDS.contains(&key)
            };
            for (key, value) in entries.iter().filter(|(key, _)| !read(&key.value)) {
                let part = PLAIN.into_iter().find(|part| key.value == *part);
                no_templates(value, plain.or(part), diagnostics);
            }
        }
        Yaml::Null | Yaml::Bool(_) | Yaml::Int(_) | Yaml::Float(_) | Yaml::Str(_) => {}
    }
}

/// Keys of Ansible's plays.
const PLAY: [&str; 4] = ["hosts", "tasks", "roles", "import_playbook"];

/// Returns the message about a file of another kind: a playbook, or an inventory of Ansible.
pub(super) fn other_file(node: &Node, path: &Utf8Path) -> Option<Diagnostic> {
    let has = |key: &str| node.get(key).is_some();
    if has("cluster") {
        return None;
    }
    let plays = if let Yaml::List(plays) = &node.value {
        plays.first().filter(|play| PLAY.iter().any(|key| play.get(key).is_some()))
    } else {
        Some(node).filter(|_| has("tasks"))
    };
    let name = path.file_name().unwrap_or(path.as_str());
    if let Some(plays) = plays {
        let help = format!("an inventory names its hosts, and the playbook by `playbooks: [./{name}]`");
        return Some(Diagnostic::error(plays.span, "this is a playbook, not an inventory").help(help));
    }
    (has("all") || has("_meta")).then(|| {
        let help = format!("`provision inventory import {path}` makes an inventory of it");
        Diagnostic::error(node.span, "this is an inventory of Ansible").help(help)
    })
}

/// The first line of an inventory of Ansible in its own form: `[gpu]`, or hosts above that. No map of YAML begins
/// like that.
pub(super) fn ini(text: &str, source: SourceId) -> Option<Span> {
    let silent = |line: &&str| line.trim().is_empty() || line.starts_with(['#', ';']);
    let section = |line: &str| {
        let name = line.trim_end().strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
        name.is_some_and(|name| !name.is_empty() && !name.contains([',', ' ', '[', ']', '"', '\'']))
    };
    let start: usize = text.split_inclusive('\n').take_while(silent).map(str::len).sum();
    let first = text.get(start..)?.lines().next()?.trim_end();
    let sets =
        first.split_whitespace().skip(1).any(|word| word.starts_with("ansible_") && word.contains('='));
    let is_yaml = first.starts_with(['{', '-', '%', ' ']) || first.contains(": ") || first.ends_with(':');
    let is_ini = section(first) || sets || !is_yaml && text.lines().any(section);
    let byte = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
    is_ini.then(|| Span { source, start: byte(start), end: byte(start + first.len()) })
}

/// The most that all hosts together are given, in bytes: 10 000 hosts with 60 variables of their own have it.
pub(super) const MOST_GIVEN: usize = 192 << 20;
/// Bytes that a variable takes besides its value: its name, and where it comes from.
const VARIABLE: usize = 220;
/// Bytes that a label takes besides: it is looked for by its value as well.
const LABEL: usize = 450;

/// Returns the bytes that a host is given; the variables that it shares with others aside.
pub(super) fn weight_of(host: &Host, shared: &Vars) -> usize {
    let own = !Arc::ptr_eq(&host.vars, shared);
    let vars = host.vars.values().filter(|_| own).map(|var| VARIABLE + weight(&var.value, MOST_GIVEN));
    let labels = host.labels.iter().map(|(name, value)| LABEL + name.len() + value.len());
    let nics = host.nics.iter().map(|nic| weight(&nic.view(), MOST_GIVEN));
    let declared = Declared::from(&host.expect);
    let expect = declared.iter().map(|value| weight(value, MOST_GIVEN));
    vars.chain(labels).chain(nics).chain(expect).fold(0, usize::saturating_add)
}

/// The bytes that an entry gives each of its hosts: its variables and labels.
pub(super) fn weight_of_file(file: &HostFile) -> usize {
    let vars = file.vars.0.iter().map(|(_, value)| VARIABLE + weight(&value.to_json(), MOST_GIVEN));
    let labels = file.labels.0.iter().map(|(name, value)| LABEL + name.value.len() + value.len());
    vars.chain(labels).fold(0, usize::saturating_add)
}

/// Reports hosts that are given too much.
pub(super) fn too_much_given(span: Span) -> Diagnostic {
    let text = format!(
        "the variables, labels, cards and expectations of all hosts come to more than {} MiB",
        MOST_GIVEN >> 20
    );
    Diagnostic::error(span, text)
        .label("each host has its own copy of what its groups say: this one is too many")
        .help("give large lists to the tasks that need them, by `with:` or `params:` of a playbook")
}

/// Whether a cluster can be called so.
///
/// # Errors
/// What such a name is.
pub fn check_cluster_name(name: &str) -> Result<(), &'static str> {
    let good = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
    let rest = |c: char| good(c) || matches!(c, '.' | '_' | '-');
    if name.starts_with(good) && name.len() <= 64 && name.chars().all(rest) {
        return Ok(());
    }
    Err("it begins with a small letter or a digit and holds those, `.`, `_` and `-`")
}
