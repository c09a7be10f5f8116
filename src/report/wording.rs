//! Words and lines about a task and about a whole run.

use super::rows::HINT;
use crate::events::{Attempt, ChangeView, Failure, RunStats};
use crate::words::{command_line, count};

/// The summaries of a task's changes in one line.
pub(super) fn summary(changes: &[ChangeView]) -> String {
    changes.iter().map(|change| change.summary.as_str()).collect::<Vec<_>>().join(", ")
}

/// The diff of a change; none where its summary says all of it, as in `~ ssh.service (active -> reloaded)`.
pub(super) fn details(change: &ChangeView) -> &str {
    let mut lines = change.diff.lines();
    let only = lines.next().filter(|_| lines.next().is_none());
    let value = only.and_then(|line| line.split_once(": ")).map(|(_, value)| value);
    if value.is_some_and(|value| change.summary.ends_with(&format!("{value})"))) { "" } else { &change.diff }
}

/// Returns the lines below a failure: more of its message, the command, its last output, the hint.
pub(super) fn failure_lines(failure: &Failure) -> Vec<String> {
    let mut lines: Vec<String> = failure.message.lines().skip(1).map(str::to_owned).collect();
    if let Some(command) = &failure.command {
        let lead = match failure.attempt {
            Attempt::Changes => "was changing",
            Attempt::Command => "ran",
        };
        lines.push(format!("{lead}: {}", command_line(command)));
    }
    let output = failure.output.trim_end();
    if !output.is_empty() && output.trim() != failure.message.trim() {
        lines.push(prefixed(output, "| ", 12));
    }
    lines.extend(failure.hint.as_ref().map(|hint| format!("{HINT}{hint}")));
    lines
}

/// The last lines of a text, each behind a prefix; dots stand for those before.
pub(super) fn prefixed(text: &str, prefix: &str, most: usize) -> String {
    let lines: Vec<&str> = text.lines().collect();
    let from = lines.len().saturating_sub(most);
    let dots = (from > 0).then_some("...");
    let last = lines.get(from..).unwrap_or_default().iter().copied();
    dots.into_iter().chain(last).map(|line| format!("{prefix}{line}")).collect::<Vec<_>>().join("\n")
}

/// The task in a name of the spool, `base/tools` or `site.yaml/tools`.
pub(super) fn task_of(id: &str) -> String {
    id.split_once(".yaml/").or_else(|| id.split_once('/')).map_or(id, |(_, name)| name).to_owned()
}

/// Counts the hosts of a run by their final status. `blocked`: hosts on which nothing failed and something is
/// blocked; `lost`: the number of unreachable ones that were reached at first.
pub(super) fn sum_of_hosts(command: &str, stats: &RunStats, blocked: u64, lost: u64) -> String {
    // Who only looks has not said yet whether all is well.
    let looks = matches!(command, "plan" | "verify");
    let first =
        if looks { (stats.ok + stats.failed, "reached") } else { (stats.ok.saturating_sub(blocked), "ok") };
    let others = [
        (if looks { 0 } else { blocked }, "blocked"),
        (stats.failed, "failed"),
        (stats.unreachable.saturating_sub(lost), "unreachable"),
        (lost, "quarantined"),
        (stats.not_started, "not finished"),
        (stats.offline, "offline"),
    ];
    numbers("host", first, &others)
}

/// Counts the tasks of a run by their outcome.
pub(super) fn sum_of_tasks(command: &str, stats: &RunStats) -> String {
    let tasks = &stats.tasks;
    let first = match command {
        "apply" | "init" => (tasks.changed, "changed"),
        _ => (stats.pending, "to change"),
    };
    let others = [
        (tasks.ran, "ran"),
        (tasks.unchanged, "unchanged"),
        (tasks.skipped, "skipped"),
        (tasks.blocked, "blocked"),
        (tasks.failed, "failed"),
    ];
    numbers("task", first, &others)
}

/// The first number with what is counted, and the others where they are not 0.
fn numbers(counted: &str, (number, word): (u64, &str), others: &[(u64, &str)]) -> String {
    let mut text = format!("{} {word}", count(number, counted));
    for (number, word) in others.iter().filter(|(number, _)| *number > 0) {
        crate::put!(text, ", {number} {word}");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_left_out_is_marked() {
        assert_eq!(prefixed("a\nb\nc", "| ", 3), "| a\n| b\n| c");
        assert_eq!(prefixed("a\nb\nc", "| ", 2), "| ...\n| b\n| c");
    }

    #[test]
    fn hosts_whose_plan_failed_were_reached() {
        let stats = RunStats { ok: 1, failed: 2, unreachable: 1, ..RunStats::default() };
        assert_eq!(sum_of_hosts("verify", &stats, 0, 0), "3 hosts reached, 2 failed, 1 unreachable");
        assert_eq!(sum_of_hosts("apply", &stats, 0, 0), "1 host ok, 2 failed, 1 unreachable");
        assert_eq!(sum_of_hosts("apply", &stats, 0, 1), "1 host ok, 2 failed, 1 quarantined");
    }

    /// An apply that ends with 7 says why.
    #[test]
    fn hosts_on_which_something_is_blocked_are_not_ok() {
        let stats = RunStats { ok: 4, ..RunStats::default() };
        assert_eq!(sum_of_hosts("apply", &stats, 3, 0), "1 host ok, 3 blocked");
        assert_eq!(sum_of_hosts("plan", &stats, 3, 0), "4 hosts reached");
    }
}
