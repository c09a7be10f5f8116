//! `hosts_from`: hosts that a program or a file lists, in the words of the inventory or in those of NetBox.

use std::time::Duration;

use camino::Utf8PathBuf;

use super::file::{GroupFile, HostFile, HostsFromFile, InventoryFile, Nullable, Reason, Words};
use crate::config::{
    Bases, Diagnostic, Diagnostics, Entries, FromNode as _, Node, Sources, Sp, Span, Yaml, yaml,
};

/// Default time limit for a program that lists hosts.
const TIMEOUT: Duration = Duration::from_mins(1);

crate::record! {
    /// Content of a list of hosts.
    Document("a list of hosts") {
        /// The hosts, as in an inventory.
        def hosts: Entries<Nullable<HostFile>> = Entries::default(),
        /// Groups and the host lists of their members.
        def groups: Entries<Words> = Entries::default(),
    }
}

/// Source of a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Origin {
    /// A file.
    File(Utf8PathBuf),
    /// A program.
    Program {
        /// The program and its words.
        argv: Vec<String>,
        /// Directory that it runs in.
        directory: Utf8PathBuf,
        /// Time for which its answer is used again.
        cache: Option<Duration>,
        /// Its time limit.
        timeout: Duration,
    },
}

/// The text of a list.
#[derive(Debug)]
pub struct Listed {
    /// The text that was read or printed.
    pub text: String,
    /// Whether it was had just now, and may be used again.
    pub fresh: bool,
}

/// Provider of lists.
pub trait Lists {
    /// Gets the text of a list.
    ///
    /// # Errors
    /// Why there is none.
    fn ask(&self, origin: &Origin) -> Result<Listed, String>;

    /// Keeps a text that was a good list, to be used again.
    fn keep(&self, origin: &Origin, text: &str);

    /// Hears how many hosts the inventory names, before they are made.
    fn named(&self, _: usize) {}
}

/// Puts the hosts of all lists into an inventory.
pub(super) fn add(
    file: &mut InventoryFile,
    sources: &mut Sources,
    bases: Bases<'_>,
    lists: &dyn Lists,
    diagnostics: &mut Diagnostics,
) {
    for entry in std::mem::take(&mut file.hosts_from) {
        let Some((name, span, origin)) = origin(&entry.value, entry.span, bases, diagnostics) else {
            continue;
        };
        let Listed { text, fresh } = match lists.ask(&origin) {
            Ok(answer) => answer,
            Err(reason) => {
                diagnostics.push(Diagnostic::error(span, format!("no hosts from {name}: {reason}")).help(
                    "nothing is done with a list that may lack hosts: run it by hand, or look at the file",
                ));
                continue;
            }
        };
        let source = sources.add(name, text);
        let Some(node) = yaml::read(sources, source, diagnostics) else { continue };
        let Some(document) = document(&node, diagnostics) else { continue };
        // A mistake in it would be told for as long as it is kept.
        if fresh && !diagnostics.has_errors() {
            lists.keep(&origin, sources.text(source));
        }
        let hosts = file.hosts.get_or_insert_with(|| Sp::new(Entries::default(), entry.span));
        if let Some(group) = &entry.value.group {
            let names = document.hosts.0.iter().map(|(name, _)| name.clone()).collect();
            join(file.groups.get_or_insert_with(|| Sp::new(Entries::default(), entry.span)), group, names);
        }
        hosts.value.0.extend(document.hosts.0);
        for (name, members) in document.groups.0 {
            join(
                file.groups.get_or_insert_with(|| Sp::new(Entries::default(), entry.span)),
                &name,
                members.0,
            );
        }
    }
}

/// Returns the name of a list for messages, the place for its errors, and its source.
fn origin(
    entry: &HostsFromFile,
    span: Span,
    bases: Bases<'_>,
    diagnostics: &mut Diagnostics,
) -> Option<(String, Span, Origin)> {
    match (&entry.run, &entry.file) {
        (Some(run), None) if !run.is_empty() => {
            let mut argv: Vec<String> = run.iter().map(|word| word.value.clone()).collect();
            let name = argv.join(" ");
            // Without a slash it is looked for as any program is.
            if let Some(program) = argv.first_mut().filter(|program| program.contains('/')) {
                *program = bases.resolve(program).into_string();
            }
            let origin = Origin::Program {
                argv,
                directory: bases.directory.to_owned(),
                cache: entry.cache.as_ref().map(|period| period.value.0),
                timeout: entry.timeout.map_or(TIMEOUT, |period| period.0),
            };
            Some((name, run.span, origin))
        }
        (None, Some(path)) => {
            if let Some(cache) = &entry.cache {
                diagnostics.error(cache.span, "a file is read each time: `cache` is for programs");
            }
            let found = bases.resolve(&path.value);
            Some((found.to_string(), path.span, Origin::File(found)))
        }
        _ => {
            diagnostics.push(
                Diagnostic::error(span, "a list of hosts needs either `run` or `file`")
                    .help("such as `run: [./list-hosts, --site, fra1]` or `file: hosts.json`"),
            );
            None
        }
    }
}

/// Makes hosts members of a group.
fn join(groups: &mut Sp<Entries<Nullable<GroupFile>>>, name: &Sp<String>, members: Vec<Sp<String>>) {
    let place = groups.value.0.iter().position(|(known, _)| known.value == name.value).unwrap_or_else(|| {
        groups.value.0.push((name.clone(), Nullable(None)));
        groups.value.0.len() - 1
    });
    if let Some((_, group)) = groups.value.0.get_mut(place) {
        let group = group.0.get_or_insert_with(super::file::empty_group);
        group.hosts.get_or_insert_with(|| Words(Vec::new())).0.extend(members);
    }
}

/// Reads a list of any kind.
fn document(node: &Node, diagnostics: &mut Diagnostics) -> Option<Document> {
    if matches!(node.value, Yaml::List(_)) {
        let names: Vec<Sp<String>> = Vec::from_node(node, diagnostics)?;
        let hosts = names.into_iter().map(|name| (name, Nullable(None))).collect();
        return Some(Document { hosts: Entries(hosts), groups: Entries::default() });
    }
    match node.get("results") {
        Some(results) => netbox(node, results, diagnostics),
        None => Document::from_node(node, diagnostics),
    }
}

/// Reads an answer of the API of NetBox: `{ "count": 2, "next": null, "results": [{ "name": "gpu0",
/// "primary_ip": { "address": "10.0.0.1/24" }, "role": { "slug": "gpu" }, "status": { "value": "active" },
/// ... }] }`. Before its version 3.6 the role of a device was `device_role`. What is `null` is not set.
fn netbox(node: &Node, results: &Node, diagnostics: &mut Diagnostics) -> Option<Document> {
    if let Some(next) = node.get("next").filter(|next| !next.is_null()) {
        diagnostics.push(
            Diagnostic::error(next.span, "this is the first of several pages")
                .help("ask for all devices at once: `?limit=0`, or follow `next` in the program"),
        );
        return None;
    }
    let Yaml::List(devices) = &results.value else {
        diagnostics.error(results.span, "`results` is no list");
        return None;
    };
    let mut document = Document { hosts: Entries::default(), groups: Entries::default() };
    for device in devices {
        let text = |path: &[&str]| {
            let found = path.iter().try_fold(device, |node, key| node.get(key))?;
            found.as_str().map(|text| Sp::new(text.to_owned(), found.span))
        };
        let Some(name) = text(&["name"]) else {
            diagnostics.push(
                Diagnostic::error(device.span, "a device without a name")
                    .help("filter it out, or name it in NetBox"),
            );
            continue;
        };
        let address = ["primary_ip", "primary_ip4"].iter().find_map(|key| text(&[key, "address"]));
        let bare = |address: Sp<String>| {
            let bare = address.value.split('/').next().unwrap_or_default().to_owned();
            Sp::new(bare, address.span)
        };
        let status = text(&["status", "value"]).filter(|status| status.value != "active");
        let labels = [("site", text(&["site", "slug"])), ("rack", text(&["rack", "name"]))];
        let labels = labels.into_iter().filter_map(|(label, value)| {
            let value = value?;
            Some((Sp::new(label.to_owned(), value.span), value.value))
        });
        let host = HostFile {
            address: address.map(bare),
            labels: Entries(labels.collect()),
            offline: status.map(|status| Sp::new(Reason(format!("{} in NetBox", status.value)), status.span)),
            ..super::file::empty_host()
        };
        document.hosts.0.push((name.clone(), Nullable(Some(host))));
        let tags = match device.get("tags").map(|tags| &tags.value) {
            Some(Yaml::List(tags)) => tags.as_slice(),
            _ => &[],
        };
        let slug = |node: &Node| {
            node.get("slug").and_then(Node::as_str).map(|text| Sp::new(text.to_owned(), node.span))
        };
        let role = ["role", "device_role"].iter().find_map(|key| text(&[key, "slug"]));
        for group in role.into_iter().chain(tags.iter().filter_map(slug)) {
            let groups = &mut document.groups.0;
            match groups.iter_mut().find(|(known, _)| known.value == group.value) {
                Some((_, members)) => members.0.push(name.clone()),
                None => groups.push((group, Words(vec![name.clone()]))),
            }
        }
    }
    Some(document)
}
