//! A recorded run for people: host by host what was done, with diffs; hosts with the same story
//! are one, and those that went well come first. A run of one host has the times of its tasks too.

use super::fold::by_value;
use super::rows::hanging;
use super::style::{BAD, CHANGE, DIM, GOOD, HINT, paint, safe, safe_line, seconds, style_diff};
use super::unreachable::{self, Away};
use super::wording::{details, summary};
use super::{checks, plan};
use crate::events::{Attempt, CheckResult, CheckStatus, HostRecord, HostStatus, Outcome, Record, TaskRecord};
use crate::transport::without_host;
use crate::words::count;
use crate::{exit, put};

/// Beginning of a line of a command's output.
const OUTPUT: &str = "      | ";

/// The run as text for a terminal this wide; `outputs` adds what the commands printed.
pub fn text(record: &Record, outputs: bool, width: Option<usize>) -> String {
    let at = record.at.map(|at| at.strftime("%Y-%m-%d %H:%M:%S UTC").to_string()).unwrap_or_default();
    let mut text = format!("run {}  {} {}  {at}\n", record.run, record.command, record.inventory);
    match record.exit_code {
        Some(code) => {
            let stopped = if code == exit::INTERRUPTED { ", stopped by Ctrl-C" } else { "" };
            put!(text, "exit code {code} after {}{stopped}\n", seconds(record.seconds));
        }
        None if record.running => put!(text, "still running, for {}\n", seconds(record.seconds)),
        None => text
            .push_str("its end is not recorded: it was killed, the machine went down or its disk was full\n"),
    }
    let times = record.hosts.len() == 1;
    let unverified = is_unverified(record);
    let stories = record.hosts.iter().map(|(name, host)| {
        let found = unverified && has_findings(host);
        let mut story = story(name, host, found, outputs, times, width);
        if record.running && host.status.is_none() {
            story.status = paint(CHANGE, "running");
        }
        (name.clone(), story)
    });
    let away = Away::of(record);
    // What went wrong stands where a terminal ends.
    let mut stories = by_value(stories);
    stories.sort_by_key(|(_, story)| !story.well);
    for (hosts, story) in stories {
        let mut head = format!("{hosts}  {}", story.status);
        let (reason, hint) = away.told(&hosts).unwrap_or_default();
        if !reason.is_empty() {
            put!(head, ": {}", safe_line(&reason));
        }
        put!(head, "{}", story.unchanged);
        put!(text, "\n{}\n", hanging(&head, 2, width));
        let tasks = if hosts == story.first {
            story.tasks.replace(&printed_by(&story.first), "")
        } else {
            story.tasks
        };
        if let Some(hint) = hint {
            let hint = paint(HINT, &format!("hint: {}", safe_line(&hint)));
            put!(text, "{}\n", hanging(&format!("  {hint}"), 8, width));
        }
        text.push_str(&tasks);
    }
    if record.hosts.is_empty() {
        text.push_str("\nno host failed\n");
    }
    if looked(record) && !record.hosts.is_empty() {
        put!(text, "\n{}{}", plan::text(record, width), checks::text(record, outputs, width));
    }
    for (host, why) in record.left_drained.iter().filter(|(host, _)| !record.hosts.contains_key(*host)) {
        put!(text, "\n{host}  {}: {}\n", paint(BAD, "stays drained"), safe_line(why));
    }
    for (host, reason) in &record.offline {
        put!(text, "\n{host}  offline: {}\n", safe_line(reason));
    }
    text
}

/// Whether the run only looked: what its plan holds is still to be done.
fn looked(record: &Record) -> bool {
    record.command == "verify"
}

/// Whether a look did not end well.
fn is_unverified(record: &Record) -> bool {
    looked(record) && record.exit_code != Some(exit::OK)
}

/// Whether a look showed that a host is not as declared, or left that open.
fn has_findings(host: &HostRecord) -> bool {
    let open = |check: &CheckResult| matches!(check.status, CheckStatus::Fail | CheckStatus::Unknown);
    host.plan.iter().any(|task| task.is_to_do()) || host.checks.iter().any(open)
}

/// Parts of a report that several hosts share. The output of a failed command may differ, and is shown of the
/// first.
struct Story {
    first: String,
    well: bool,
    status: String,
    /// Reason why it was not reached or not taken to its end, but for its address.
    reason: Option<String>,
    unchanged: String,
    tasks: String,
    /// The tasks as they are compared.
    said: String,
}

impl Story {
    fn same(&self) -> (bool, &str, Option<&str>, &str, &str) {
        (self.well, &self.status, self.reason.as_deref(), &self.unchanged, &self.said)
    }
}

impl PartialEq for Story {
    fn eq(&self, other: &Self) -> bool {
        self.same() == other.same()
    }
}

impl Eq for Story {}

impl std::hash::Hash for Story {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.same().hash(state);
    }
}

/// Stands above the output of a failed command.
fn printed_by(host: &str) -> String {
    format!("      {} printed:\n", safe_line(host))
}

fn story(
    name: &str,
    host: &HostRecord,
    found: bool,
    outputs: bool,
    times: bool,
    width: Option<usize>,
) -> Story {
    let unchanged = host.tasks.iter().filter(|task| *task.outcome == Outcome::Unchanged).count();
    let status = match &host.status {
        Some(HostStatus::Ok) if found => paint(BAD, "not as declared"),
        Some(status @ HostStatus::Ok) => paint(GOOD, status.word()),
        // It may have begun, and was not taken to its end.
        Some(HostStatus::NotStarted(_)) => paint(BAD, "not finished"),
        Some(status) => paint(BAD, status.word()),
        None => paint(BAD, "did not end"),
    };
    let reason = host.status.as_ref().and_then(unreachable::reason).map(without_host);
    let unchanged = match unchanged {
        0 => String::new(),
        number => format!("  {}", paint(DIM, &format!("{} unchanged", count(number as u64, "task")))),
    };
    let mut text = String::new();
    for task in &host.tasks {
        task_lines(&mut text, name, task, outputs, times, width);
    }
    if !host.reboot.is_empty() {
        put!(text, "  {}  {}\n", paint(CHANGE, "reboot pending"), safe_line(&host.reboot.join("; ")));
    }
    if !host.handlers.is_empty() {
        put!(text, "  {}  {}\n", paint(CHANGE, "handlers pending"), safe(&host.handlers.join("; ")));
    }
    if let Some((phase, why)) = &host.maintenance {
        let why = if why.is_empty() { String::new() } else { format!("  {}", safe_line(why)) };
        put!(
            text,
            "  {}{why}\n",
            paint(CHANGE, &format!("maintenance: {}", phase.as_str().replace('_', " ")))
        );
    }
    for warning in &host.warnings {
        let line = format!("  {}  {}", paint(CHANGE, "warning"), safe_line(warning));
        put!(text, "{}\n", hanging(&line, 11, width));
    }
    let printed = printed_by(name);
    let differs = |line: &str| line == printed.trim_end() || !outputs && line.starts_with(OUTPUT);
    let said = text.lines().filter(|line| !differs(line)).collect();
    let well = host.status == Some(HostStatus::Ok) && !found;
    Story { first: name.to_owned(), well, status, reason, unchanged, tasks: text, said }
}

/// Leaves what `--failed` shows: hosts that need another run or are not as declared, and of their tasks those that
/// failed.
pub fn keep_failed(record: &mut Record) {
    let unverified = is_unverified(record);
    record.hosts.retain(|_, host| {
        host.status.as_ref().is_none_or(|status| status.again().is_some()) || unverified && has_findings(host)
    });
    for host in record.hosts.values_mut() {
        host.tasks.retain(|task| matches!(*task.outcome, Outcome::Failed(_)));
    }
    record.offline.clear();
}

fn task_lines(
    text: &mut String,
    host: &str,
    task: &TaskRecord,
    outputs: bool,
    times: bool,
    width: Option<usize>,
) {
    let (style, line, printed) = match &*task.outcome {
        Outcome::Unchanged | Outcome::Skipped(_) => return,
        Outcome::Changed { changes, output, .. } | Outcome::Ran { changes, output } => {
            (CHANGE, summary(changes), output.as_str())
        }
        Outcome::Blocked(reason) => (CHANGE, reason.clone(), ""),
        Outcome::Failed(failure) => (BAD, failure.message.clone(), failure.output.as_str()),
    };
    let mut line = safe_line(&line);
    if task.attached {
        line.push_str(if line.is_empty() {
            "started by an earlier run"
        } else {
            " (started by an earlier run)"
        });
    }
    if times {
        put!(line, "  {}", seconds(task.seconds));
    }
    let word = format!("{:7}", task.outcome.word());
    let line = format!("  {}  {}  {}", paint(style, &word), safe_line(&task.task.name), line.trim_start());
    put!(text, "{}\n", hanging(&line, 11, width));
    match &*task.outcome {
        Outcome::Changed { changes, .. } | Outcome::Ran { changes, .. } => {
            for line in changes.iter().flat_map(|change| details(change).lines()) {
                put!(text, "      {}\n", style_diff(&safe_line(line)));
            }
            if let Some(reason) = task.outcome.blocked() {
                put!(text, "      {}\n", paint(CHANGE, &safe_line(&format!("blocked: {reason}"))));
            }
        }
        Outcome::Failed(failure) => {
            if let Some(command) = &failure.command {
                let sign = match failure.attempt {
                    Attempt::Changes => "",
                    Attempt::Command => "$ ",
                };
                command.lines().for_each(|line| put!(text, "      {sign}{}\n", safe_line(line)));
            }
        }
        Outcome::Unchanged | Outcome::Skipped(_) | Outcome::Blocked(_) => {}
    }
    let failed = matches!(*task.outcome, Outcome::Failed(_));
    if failed && !outputs && !printed.is_empty() {
        text.push_str(&printed_by(host));
    }
    if outputs || failed {
        for line in safe(printed).lines() {
            put!(text, "{OUTPUT}{line}\n");
        }
    }
    if let Outcome::Failed(failure) = &*task.outcome
        && let Some(hint) = &failure.hint
    {
        let hint = paint(HINT, &format!("hint: {}", safe_line(hint)));
        put!(text, "{}\n", hanging(&format!("      {hint}"), 12, width));
    }
}
