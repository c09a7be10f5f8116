//! A plan on stdout: task by task, hosts with the same changes folded, with diffs.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use indexmap::IndexMap;

use super::fold::{by_value, fold};
use super::rows::{MOST_HOSTS, hanging, pad};
use super::style::{
    BAD, CALM, CHANGE, DIM, GOOD, VERB, paint, safe, safe_line, seconds, style_diff, width_of,
};
use super::unreachable::Away;
use super::wording::details;
use crate::events::{ChangeView, HostRecord, PlannedTask, PlannedVerdict, Record};
use crate::journal::{LastOutage, Outages};
use crate::project::Project;
use crate::put;
use crate::words::count;

/// A task on the hosts that have it in their plan.
struct Planned<'a> {
    name: &'a str,
    resource: &'a str,
    hosts: Vec<(String, &'a PlannedTask)>,
}

/// The plan of a run as text for a terminal this wide, in the order of the playbooks; empty when nothing would be
/// done.
pub fn text(record: &Record, width: Option<usize>) -> String {
    let places: BTreeMap<&str, usize> =
        record.steps.iter().enumerate().map(|(place, id)| (id.as_str(), place)).collect();
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
    // The first host of the plan may lack what the next one has. Handlers come last.
    tasks.sort_by_key(|(id, item), _| (places.get(id).copied().unwrap_or(usize::MAX), *item));
    let mut text = String::new();
    for task in tasks.values() {
        // Writing to a string cannot fail.
        let _written = writeln!(text, "{}  {}", safe_line(task.name), paint(DIM, task.resource));
        let keyed = task.hosts.iter().map(|(host, planned)| (host.clone(), Same(planned)));
        for (hosts, Same(planned)) in by_value(keyed) {
            host_block(&mut text, &hosts, planned, width);
        }
        text.push('\n');
    }
    text
}

/// Describes the hosts that change at each point of the schedule, and the time that it took last; empty
/// unless an apply drains hosts or looks at them before it goes on.
pub fn schedule(record: &Record, project: &Project, last: &Outages) -> String {
    let mut text = String::new();
    if !project.is_live() {
        return text;
    }
    let hosts: BTreeMap<usize, &HostRecord> =
        record.hosts.iter().filter_map(|(name, host)| Some((project.host(name)?.index, host))).collect();
    let to_do = |host: &HostRecord| host.plan.iter().any(|task| task.is_to_do());
    let work: BTreeSet<usize> =
        hosts.iter().filter(|(_, host)| to_do(host)).map(|(index, _)| *index).collect();
    let all: Vec<usize> = work.iter().copied().collect();
    let mut verb = "Schedule";
    for slot in project.slots(&all, &work) {
        let mut kinds: IndexMap<String, (Vec<&str>, Vec<&LastOutage>)> = IndexMap::new();
        for index in &slot.hosts {
            let (Some(host), Some(record)) = (project.at(*index), hosts.get(index)) else { continue };
            let classes: BTreeSet<&str> = record.plan.iter().flat_map(|task| task.interrupts()).collect();
            let before = last.of(&host.name, &classes);
            let classes = classes.into_iter().collect::<Vec<_>>().join(", ");
            let kind = match (classes.as_str(), &project.maintenance) {
                ("", _) => "changed in service".to_owned(),
                (_, Some(_)) => format!("drained, changed [{classes}], verified, given back"),
                (_, None) => format!("changed [{classes}]"),
            };
            let (names, outages) = kinds.entry(kind).or_default();
            names.push(&host.name);
            outages.extend(before);
        }
        let name = slot.name.map(|name| format!("{}: ", safe_line(&name))).unwrap_or_default();
        for (kind, (hosts, outages)) in kinds {
            let lead = paint(CALM, &format!("{verb:>VERB$}"));
            put!(text, "{lead}  {name}{} {kind}{}\n", fold(&hosts), last_time(hosts.len(), &outages));
            verb = "";
        }
    }
    text
}

/// Describes the time that these hosts were out of service when the same was interrupted last, as far as that
/// is known.
fn last_time(hosts: usize, outages: &[&LastOutage]) -> String {
    let longest = |of: fn(&LastOutage) -> f64| outages.iter().map(|last| of(last)).max_by(f64::total_cmp);
    let (Some(changed), Some(waited)) = (longest(|last| last.changed), longest(|last| last.waited)) else {
        return String::new();
    };
    let most = if outages.len() > 1 { "at most " } else { "" };
    let who = match outages.len() {
        known if known < hosts => format!(" for {known} of them"),
        _ => String::new(),
    };
    let jobs =
        if waited < 1.0 { String::new() } else { format!(", and {} until jobs had ended", seconds(waited)) };
    format!(" (last time {most}{}{who}{jobs})", seconds(changed))
}

/// Writes the lines below a plan: how much it is, and which hosts have none or not all of it.
pub fn sum(record: &Record, width: Option<usize>) -> String {
    let stats = record.stats.clone().unwrap_or_default();
    let mut text = String::new();
    let away = Away::of(record).groups();
    let widths = away.iter().map(|group| width_of(&group.hosts)).filter(|width| *width <= MOST_HOSTS);
    let column = widths.max().unwrap_or_default();
    let mut line = |style, verb: &str, hosts: &str, rest: &str| {
        let verb = paint(style, &format!("{verb:>VERB$}"));
        let hosts = if hosts.is_empty() { String::new() } else { format!("{}  ", pad(hosts, column)) };
        let line = format!("{verb}  {hosts}{}", safe_line(rest));
        put!(text, "{}\n", hanging(&line, VERB + 2, width));
    };
    let mut failed: IndexMap<(&str, &str), Vec<&str>> = IndexMap::new();
    let (mut changed, mut runs, mut handlers, mut left, mut unplanned) = (0, 0, 0, 0, 0);
    let (mut interrupting, mut classes) = (0, BTreeSet::new());
    for (name, host) in &record.hosts {
        let (mut changes, mut fails) = (false, false);
        for planned in &host.plan {
            interrupting += u64::from(planned.interrupts().next().is_some());
            classes.extend(planned.interrupts());
            match &planned.verdict {
                PlannedVerdict::Failed(failure) => {
                    let why = failure.message.lines().next().unwrap_or_default();
                    failed.entry((&planned.task.name, why)).or_default().push(name);
                    fails = true;
                }
                // What an earlier run has left is pending, and no change.
                PlannedVerdict::Runs(_) | PlannedVerdict::Changes(_) | PlannedVerdict::KnownAfter(_)
                    if planned.pending_since.is_some() =>
                {
                    left += 1;
                }
                PlannedVerdict::Runs(_) => {
                    let number = if planned.notified_by.is_empty() { &mut runs } else { &mut handlers };
                    *number += 1;
                }
                PlannedVerdict::Changes(_) | PlannedVerdict::KnownAfter(_) => changes = true,
                PlannedVerdict::Blocked(_) | PlannedVerdict::Unchanged | PlannedVerdict::Skipped(_) => {}
            }
        }
        changed += u64::from(changes);
        unplanned += u64::from(fails);
    }
    for group in &away {
        if group.word != "offline" {
            unplanned += group.count as u64;
        }
        line(BAD, "Unplanned", &group.hosts, &format!("{}: {}", group.word.replace('_', " "), group.reason));
    }
    for ((task, why), hosts) in failed {
        line(BAD, "Failed", &fold(&hosts), &format!("{task}: {why}"));
    }
    let hosts = count(record.hosts.len() as u64, "host");
    let reached = record.hosts.len().saturating_sub(away.iter().map(|group| group.count).sum());
    if !away.is_empty() && reached == 0 {
        let none =
            if record.hosts.len() == 1 { "which was not reached" } else { "none of which was reached" };
        line(BAD, "Unplanned", "", &format!("{hosts}, {none}"));
        return text;
    }
    let what = match stats.pending.saturating_sub(left) {
        0 if unplanned > 0 => "nothing else to change".to_owned(),
        0 if away.is_empty() => "nothing to change".to_owned(),
        0 => format!("nothing to change on the {} reached", count(reached as u64, "host")),
        pending => format!("{} on {changed} of {hosts}", count(pending, "change")),
    };
    let runs = match runs {
        0 => String::new(),
        1 => ", 1 task that runs every time".to_owned(),
        number => format!(", {number} tasks that run every time"),
    };
    let blocked = match stats.tasks.blocked {
        0 => String::new(),
        number => format!(", {number} blocked"),
    };
    let handlers = match handlers + left {
        0 => String::new(),
        number => format!(", {} to run", count(number, "handler")),
    };
    let classes = classes.into_iter().collect::<Vec<_>>().join(", ");
    let interrupts = match interrupting {
        0 => String::new(),
        1 => format!(", 1 interrupts: {classes}"),
        number => format!(", {number} interrupt: {classes}"),
    };
    let whole = format!("{what}{handlers}{runs}{interrupts}{blocked}");
    if unplanned > 0 {
        let all = record.hosts.len() as u64;
        let part = if unplanned == all { hosts } else { format!("{unplanned} of {hosts}") };
        line(BAD, "Unplanned", "", &format!("{part}; {whole}"));
    } else {
        let style = if stats.pending > 0 || stats.tasks.blocked > 0 { CHANGE } else { GOOD };
        line(style, "Planned", "", &whole);
    }
    text
}

/// Plans of one task that are equal on two hosts.
struct Same<'a>(&'a PlannedTask);

impl PartialEq for Same<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.0.verdict == other.0.verdict
            && self.0.blocked == other.0.blocked
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

fn host_block(text: &mut String, hosts: &str, planned: &PlannedTask, width: Option<usize>) {
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
    let head = format!("  {} {hosts}{note}", paint(style, sign));
    put!(text, "{}\n", hanging(&head, 6, width));
    if !planned.notified_by.is_empty() {
        let tasks: Vec<_> =
            planned.notified_by.iter().map(|name| format!("\"{}\"", safe_line(name))).collect();
        let line = format!("      {}", paint(DIM, &format!("because of {}", tasks.join(", "))));
        put!(text, "{}\n", hanging(&line, 8, width));
    }
    if let Some(since) = &planned.pending_since {
        let _written = writeln!(text, "      {}", paint(DIM, &format!("pending: {since}")));
    }
    changes_block(text, changes, width);
    if let Some(reason) = &planned.blocked {
        let line = format!("  {} {hosts}  the rest is blocked: {}", paint(CHANGE, "x"), safe_line(reason));
        put!(text, "{}\n", hanging(&line, 6, width));
    }
}

fn changes_block(text: &mut String, changes: &[ChangeView], width: Option<usize>) {
    for change in changes {
        let class = match change.disruption.as_str() {
            // It interrupts only some containers, and is not made then.
            "none" | "reload" => String::new(),
            other => format!("  [{other}]"),
        };
        let line = format!("      {}{class}", safe_line(&change.summary));
        put!(text, "{}\n", hanging(&line, 8, width));
        for line in safe(details(change)).lines() {
            let _written = writeln!(text, "        {}", style_diff(line));
        }
    }
}
