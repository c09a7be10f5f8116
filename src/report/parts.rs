//! Parts of hosts by serial number, for a terminal: what changed, and of few hosts everything that is known.

use std::collections::BTreeMap;

use serde_json::{Value as Json, json};

use super::rows::hanging;
use super::style::{BAD, DIM, GOOD, paint, safe_line};
use crate::accept::parts::{Change, HostParts, Ledger, history_lines, noun, summary};
use crate::accept::record::PartKind;
use crate::put;
use crate::words::count;

/// Hosts of which each part is shown.
const SHOWN: usize = 4;
/// Changes that are shown one by one.
const CHANGES: usize = 40;

/// Parts of hosts as a page for a terminal this wide.
/// `known` of the hosts were asked before.
pub fn text(
    hosts: &[HostParts],
    (changes, known): (&[Change], usize),
    ledger: &Ledger,
    width: Option<usize>,
) -> String {
    let mut page = Page { text: String::new(), width };
    if hosts.len() <= SHOWN {
        for host in hosts {
            page.host(host, ledger);
        }
    } else {
        page.counts(hosts);
    }
    if changes.is_empty() && known > 0 {
        page.put(0, &paint(GOOD, "No part changed since these hosts were asked last."));
    }
    page.changes(changes, "they were asked last");
    page.text
}

/// What changed since a record.
pub fn since(changes: &[Change], record: &str, width: Option<usize>) -> String {
    let mut page = Page { text: String::new(), width };
    if changes.is_empty() {
        page.put(0, &paint(GOOD, &format!("No part changed since {record}.")));
    }
    page.changes(changes, &format!("acceptance ({record})"));
    page.text
}

/// The same as one object.
pub fn object(hosts: &[HostParts], changes: &[Change], ledger: &Ledger) -> Json {
    let of = |host: &HostParts| {
        json!({
            "parts": host.parts,
            "counters": host.counters,
            "events": host.events,
            "software": host.versions,
            "notes": host.notes,
            "since": host.parts.iter().filter_map(|part| {
                let stay = ledger.parts.get(&part.key)?.stays.iter().rfind(|stay| stay.is_there)?;
                Some((part.key.clone(), stay.since.to_string()))
            }).collect::<BTreeMap<_, _>>(),
        })
    };
    let all: BTreeMap<&str, Json> = hosts.iter().map(|host| (host.host.as_str(), of(host))).collect();
    let changes: Vec<Json> = changes
        .iter()
        .map(|change| json!({ "hosts": change.hosts, "parts": change.parts, "text": change.text }))
        .collect();
    json!({ "hosts": all, "changes": changes })
}

struct Page {
    text: String,
    width: Option<usize>,
}

impl Page {
    fn put(&mut self, indent: usize, line: &str) {
        let line = " ".repeat(indent) + line;
        put!(self.text, "{}\n", hanging(&line, indent + 4, self.width));
    }

    fn host(&mut self, host: &HostParts, ledger: &Ledger) {
        self.put(0, &safe_line(&host.host));
        for part in &host.parts {
            let model = if part.model.is_empty() { String::new() } else { format!("  {}", part.model) };
            self.put(2, &safe_line(&format!("{:<30} {}{model}", part.key, part.place)));
            // The first line says that it is here, which was said.
            let history = ledger.parts.get(&part.key).map(history_lines).unwrap_or_default();
            for line in history.iter().filter(|_| history.len() > 1) {
                self.put(6, &paint(DIM, &safe_line(line)));
            }
        }
        for note in &host.notes {
            self.put(2, &paint(DIM, &safe_line(note)));
        }
        self.text.push('\n');
    }

    fn counts(&mut self, hosts: &[HostParts]) {
        let mut kinds: BTreeMap<PartKind, usize> = BTreeMap::new();
        for part in hosts.iter().flat_map(|host| &host.parts) {
            *kinds.entry(part.kind).or_default() += 1;
        }
        let words: Vec<String> =
            kinds.iter().map(|(kind, number)| format!("{number} {}", noun(*kind))).collect();
        self.put(0, &format!("{}: {}", count(hosts.len() as u64, "host"), words.join(", ")));
    }

    fn changes(&mut self, changes: &[Change], since: &str) {
        for line in summary(changes, since) {
            self.put(0, &paint(BAD, &safe_line(&line)));
        }
        for change in changes.iter().take(CHANGES) {
            self.put(2, &safe_line(&change.text));
        }
        if changes.len() > CHANGES {
            self.put(2, &paint(DIM, &format!("and {} more: --json", changes.len() - CHANGES)));
        }
    }
}
