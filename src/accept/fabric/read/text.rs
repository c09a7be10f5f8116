//! A whole text.

use std::collections::BTreeMap;

use super::super::model::{Fabric, Section};
use super::{counters, links, managers, nodes};

/// Most lines that are read of a host: a fabric of some ten thousand hosts has fewer.
const LINES: usize = 4_000_000;
/// Status of `timeout` when it ended a program.
const OVERDUE: &str = "124";
/// Most characters of what a program complained of that are kept.
const COMPLAINT: usize = 200;

/// Lines of a part of the text.
#[derive(Debug, Default)]
struct Part<'a> {
    /// Lines that the program printed.
    lines: Vec<&'a str>,
    /// Its complaints.
    complaints: Vec<&'a str>,
    /// Its status, where it failed.
    status: Option<&'a str>,
}

impl Part<'_> {
    /// Why the part is missing or not whole.
    fn reason(&self) -> String {
        if self.status == Some(OVERDUE) {
            return "it took too long".to_owned();
        }
        match (self.complaints.last(), self.status) {
            (Some(complaint), _) => complaint.trim().chars().take(COMPLAINT).collect(),
            (None, Some(status)) => format!("its program ended with status {status}"),
            (None, None) => "nothing came".to_owned(),
        }
    }
}

/// Reads what [`SCRIPT`](crate::accept::fabric::SCRIPT) printed.
pub fn read(text: &str) -> Fabric {
    let (parts, is_whole) = parts(text);
    let empty = Part::default();
    let part = |name: &str| parts.get(name).unwrap_or(&empty);
    let mut fabric = Fabric::default();

    let nodes_part = part("nodes");
    nodes::read(&nodes_part.lines, &mut fabric);
    if fabric.nodes.is_empty() || nodes_part.status.is_some() {
        fabric.unread.insert(Section::Nodes, nodes_part.reason());
    }
    let links_part = part("links");
    if links::read(&links_part.lines, &mut fabric) == 0 || links_part.status.is_some() {
        fabric.unread.insert(Section::Links, links_part.reason());
    }
    let managers_part = part("managers");
    managers::read(&managers_part.lines, &mut fabric);
    if !parts.contains_key("managers") {
        fabric.unread.insert(Section::Managers, managers_part.reason());
    }
    let keys_part = part("keys");
    managers::read_keys(&keys_part.lines, &mut fabric);
    if keys_part.status.is_some() || !parts.contains_key("keys") {
        fabric.unread.insert(Section::Keys, keys_part.reason());
    }
    let (first, later) = (part("counters"), part("counters_later"));
    fabric.first = counters::read(&first.lines, &fabric);
    fabric.later = counters::read(&later.lines, &fabric);
    for (reading, part) in [(&fabric.first, first), (&fabric.later, later)] {
        if !reading.is_whole {
            fabric.unread.insert(Section::Counters, part.reason());
        }
    }
    if !is_whole {
        let last = fabric.unread.entry(Section::Counters).or_default();
        "the host did not come to the end".clone_into(last);
    }
    fabric
}

/// Takes the text apart. A node prints no beginning of a part: its lines stand behind `|`.
fn parts(text: &str) -> (BTreeMap<&str, Part<'_>>, bool) {
    let mut parts: BTreeMap<&str, Part<'_>> = BTreeMap::new();
    let mut name = "";
    for line in text.lines().take(LINES) {
        if let Some(next) = line.strip_prefix("=== ") {
            name = next;
            parts.entry(name).or_default();
            continue;
        }
        let Some(line) = line.strip_prefix('|').filter(|_| !name.is_empty()) else { continue };
        let part = parts.entry(name).or_default();
        part.status = None;
        if let Some(complaint) = line.strip_prefix('?') {
            part.complaints.push(complaint);
        } else if let Some(status) = line.strip_prefix('!') {
            part.status = Some(status);
        } else {
            part.lines.push(line);
        }
    }
    (parts, name == "end")
}
