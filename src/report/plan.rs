//! A plan on stdout: task by task, hosts with the same changes folded, with diffs.

use indexmap::IndexMap;

use super::fold::by_value;
use super::record::Record;
use super::style::{BAD, CHANGE, DIM, paint, safe};
use super::terminal::style_diff;
use crate::events::{ChangeView, PlannedVerdict};

/// The plan of a run as text; empty when nothing would be done.
pub fn text(record: &Record) -> String {
    let mut tasks: IndexMap<
        (String, Option<usize>),
        (String, String, Vec<(String, PlannedVerdict, Option<String>)>),
    > = IndexMap::new();
    for (host, entry) in &record.hosts {
        for planned in &entry.plan {
            if matches!(planned.verdict, PlannedVerdict::Unchanged | PlannedVerdict::Skipped(_)) {
                continue;
            }
            let key = (planned.task.id.clone(), planned.task.item);
            let names = (planned.task.name.clone(), planned.task.resource.clone(), Vec::new());
            let (_, _, verdicts) = tasks.entry(key).or_insert(names);
            verdicts.push((host.clone(), planned.verdict.clone(), planned.pending_since.clone()));
        }
    }
    let mut text = String::new();
    for (name, resource, verdicts) in tasks.values() {
        text.push_str(&format!("{}  {}\n", safe(name), paint(DIM, resource)));
        let keyed = verdicts
            .iter()
            .map(|(host, verdict, since)| (host.clone(), VerdictKey(verdict.clone(), since.clone())));
        for (hosts, VerdictKey(verdict, since)) in by_value(keyed) {
            text.push_str(&host_block(&hosts, &verdict, since.as_deref()));
        }
        text.push('\n');
    }
    text
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct VerdictKey(PlannedVerdict, Option<String>);

impl std::hash::Hash for VerdictKey {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        // Equal verdicts have equal first summaries; the rest is left to `Eq`.
        let first = match &self.0 {
            PlannedVerdict::Changes(changes) | PlannedVerdict::Runs(changes) => {
                changes.first().map(|change| change.summary.clone()).unwrap_or_default()
            }
            PlannedVerdict::Blocked(text)
            | PlannedVerdict::KnownAfter(text)
            | PlannedVerdict::Skipped(text) => text.clone(),
            PlannedVerdict::Failed(failure) => failure.message.clone(),
            PlannedVerdict::Unchanged => String::new(),
        };
        first.hash(state);
    }
}

fn host_block(hosts: &str, verdict: &PlannedVerdict, since: Option<&str>) -> String {
    let lead = |sign: &str, style: anstyle::Style| format!("  {} {hosts}", paint(style, sign));
    let mut text = match verdict {
        PlannedVerdict::Changes(changes) => format!("{}\n{}", lead("~", CHANGE), changes_block(changes)),
        PlannedVerdict::Runs(changes) => {
            format!("{}  runs every time\n{}", lead("!", CHANGE), changes_block(changes))
        }
        PlannedVerdict::Blocked(reason) => format!("{}  blocked: {}\n", lead("x", CHANGE), safe(reason)),
        PlannedVerdict::KnownAfter(name) => {
            format!("{}  known after task \"{}\"\n", lead("?", CHANGE), safe(name))
        }
        PlannedVerdict::Failed(failure) => {
            format!("{}  cannot be planned: {}\n", lead("E", BAD), safe(&failure.message))
        }
        PlannedVerdict::Skipped(_) | PlannedVerdict::Unchanged => String::new(),
    };
    if let Some(since) = since {
        text.push_str(&format!("      pending: {since}\n"));
    }
    text
}

fn changes_block(changes: &[ChangeView]) -> String {
    let mut text = String::new();
    for change in changes {
        let class =
            if change.disruption == "none" { String::new() } else { format!("  [{}]", change.disruption) };
        text.push_str(&format!("      {}{class}\n", safe(&change.summary)));
        for line in safe(&change.diff).lines() {
            text.push_str(&format!("        {}\n", style_diff(line)));
        }
    }
    text
}
