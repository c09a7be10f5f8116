//! A plan on stdout: task by task, hosts with the same changes folded, with diffs.

use std::fmt::Write as _;

use indexmap::IndexMap;

use super::fold::by_value;
use super::style::{BAD, CHANGE, DIM, paint, safe, safe_line, style_diff};
use crate::events::{ChangeView, PlannedTask, PlannedVerdict, Record};

/// A task on the hosts that have it in their plan.
struct Planned<'a> {
    name: &'a str,
    resource: &'a str,
    hosts: Vec<(String, &'a PlannedTask)>,
}

/// The plan of a run as text; empty when nothing would be done.
pub fn text(record: &Record) -> String {
    let mut tasks: IndexMap<(&str, Option<usize>), Planned<'_>> = IndexMap::new();
    for (host, entry) in &record.hosts {
        for planned in &entry.plan {
            if matches!(planned.verdict, PlannedVerdict::Unchanged | PlannedVerdict::Skipped(_)) {
                continue;
            }
            let task = &planned.task;
            let entry = tasks.entry((&task.id, task.item)).or_insert_with(|| Planned {
                name: &task.name,
                resource: &task.resource,
                hosts: Vec::new(),
            });
            entry.hosts.push((host.clone(), planned));
        }
    }
    let mut text = String::new();
    for task in tasks.values() {
        // Writing to a string cannot fail.
        let _written = writeln!(text, "{}  {}", safe_line(task.name), paint(DIM, task.resource));
        let keyed = task.hosts.iter().map(|(host, planned)| (host.clone(), Same(planned)));
        for (hosts, Same(planned)) in by_value(keyed) {
            host_block(&mut text, &hosts, planned);
        }
        text.push('\n');
    }
    text
}

/// Plans of one task that are equal on two hosts.
struct Same<'a>(&'a PlannedTask);

impl PartialEq for Same<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.0.verdict == other.0.verdict
            && self.0.pending_since == other.0.pending_since
            && self.0.notified_by == other.0.notified_by
    }
}

impl Eq for Same<'_> {}

impl std::hash::Hash for Same<'_> {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        // Equal verdicts have equal first summaries; the rest is left to `Eq`.
        let first = match &self.0.verdict {
            PlannedVerdict::Changes(changes) | PlannedVerdict::Runs(changes) => {
                changes.first().map_or("", |change| change.summary.as_str())
            }
            PlannedVerdict::Blocked(text)
            | PlannedVerdict::KnownAfter(text)
            | PlannedVerdict::Skipped(text) => text,
            PlannedVerdict::Failed(failure) => &failure.message,
            PlannedVerdict::Unchanged => "",
        };
        first.hash(state);
    }
}

fn host_block(text: &mut String, hosts: &str, planned: &PlannedTask) {
    let (sign, style, note, changes): (_, _, _, &[ChangeView]) = match &planned.verdict {
        PlannedVerdict::Changes(changes) => ("~", CHANGE, String::new(), changes),
        PlannedVerdict::Runs(changes)
            if planned.notified_by.is_empty() && planned.pending_since.is_none() =>
        {
            ("!", CHANGE, "runs every time: nothing tells whether it is already done".to_owned(), changes)
        }
        PlannedVerdict::Runs(changes) => ("!", CHANGE, String::new(), changes),
        PlannedVerdict::Blocked(reason) => ("x", CHANGE, format!("blocked: {}", safe_line(reason)), &[]),
        PlannedVerdict::KnownAfter(name) => {
            ("?", CHANGE, format!("known after task \"{}\"", safe_line(name)), &[])
        }
        PlannedVerdict::Failed(failure) => {
            ("E", BAD, format!("cannot be planned: {}", safe_line(&failure.message)), &[])
        }
        PlannedVerdict::Skipped(_) | PlannedVerdict::Unchanged => return,
    };
    let note = if note.is_empty() { note } else { format!("  {note}") };
    let _written = writeln!(text, "  {} {hosts}{note}", paint(style, sign));
    if !planned.notified_by.is_empty() {
        let tasks: Vec<_> =
            planned.notified_by.iter().map(|name| format!("\"{}\"", safe_line(name))).collect();
        let _written = writeln!(text, "      {}", paint(DIM, &format!("because of {}", tasks.join(", "))));
    }
    if let Some(since) = &planned.pending_since {
        let _written = writeln!(text, "      {}", paint(DIM, &format!("pending: {since}")));
    }
    changes_block(text, changes);
}

fn changes_block(text: &mut String, changes: &[ChangeView]) {
    for change in changes {
        let class =
            if change.disruption == "none" { String::new() } else { format!("  [{}]", change.disruption) };
        let _written = writeln!(text, "      {}{class}", safe_line(&change.summary));
        for line in safe(&change.diff).lines() {
            let _written = writeln!(text, "        {}", style_diff(line));
        }
    }
}
