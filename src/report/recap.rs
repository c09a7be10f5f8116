//! Failures once more at the end: by then they may have left the screen, and hosts that failed for one reason
//! may have been told apart, because they did so at different times.

use indexmap::IndexMap;

use super::fold::fold;
use super::unreachable::Away;
use crate::words::count;

/// Lines of a small screen that are left above the last ones.
const SCREEN: usize = 16;
/// Rows of hosts that failed at most; the others are one more row.
const MOST_FAILED: usize = 6;
/// Rows of hosts that are away at most; the others are one more row.
const MOST_AWAY: usize = 4;

/// Failures by host, task and reason.
#[derive(Debug, Default)]
pub(super) struct Recap {
    /// Hosts by task and reason.
    failed: IndexMap<(String, String), Vec<String>>,
    /// Number of lines that were shown before the first bad news.
    first: Option<usize>,
}

/// One row.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Row {
    pub(super) verb: &'static str,
    pub(super) hosts: String,
    pub(super) task: String,
    pub(super) text: String,
}

impl Recap {
    /// A task failed.
    pub(super) fn failed(&mut self, host: &str, task: &str, reason: &str) {
        let hosts = self.failed.entry((task.to_owned(), reason.to_owned())).or_default();
        hosts.push(host.to_owned());
    }

    /// Bad news is shown below so many lines.
    pub(super) fn shows(&mut self, lines: usize) {
        self.first.get_or_insert(lines);
    }

    /// The rows, when the first bad news is no longer to be seen after so many lines.
    pub(super) fn rows(&self, away: &Away, lines: usize) -> Vec<Row> {
        if self.first.is_none_or(|first| lines.saturating_sub(first) <= SCREEN) {
            return Vec::new();
        }
        let away = away.groups().into_iter().map(|group| {
            let (verb, hosts, task) = (verb(group.word), group.hosts, first_line(&group.reason).to_owned());
            Row { verb, hosts, task, text: String::new() }
        });
        let failed = self.failed.iter().map(|((task, reason), hosts)| Row {
            verb: "Failed",
            hosts: fold(hosts),
            task: task.clone(),
            text: reason.clone(),
        });
        let mut rows = shortened(away.collect(), MOST_AWAY, "Unreached");
        rows.extend(shortened(failed.collect(), MOST_FAILED, "Failed"));
        rows
    }
}

/// The verb of a host that is away, by [`HostStatus::word`](crate::events::HostStatus::word).
pub(super) fn verb(word: &str) -> &'static str {
    match word {
        "unreachable" => "Unreached",
        "quarantined" => "Quarantine",
        _ => "Left",
    }
}

fn first_line(text: &str) -> &str {
    text.lines().next().unwrap_or("")
}

/// The rows of most hosts, and one for all others: no host is left out.
fn shortened(mut rows: Vec<Row>, most: usize, verb: &'static str) -> Vec<Row> {
    if rows.len() <= most + 1 {
        return rows;
    }
    let number = |row: &Row| crate::hostlist::expand(&row.hosts).map_or(0, |hosts| hosts.len());
    rows.sort_by_key(|row| std::cmp::Reverse(number(row)));
    let rest = rows.split_off(most);
    let names: Vec<String> =
        rest.iter().filter_map(|row| crate::hostlist::expand(&row.hosts).ok()).flatten().collect();
    let task = format!("for {}", count(rest.len() as u64, "other reason"));
    rows.push(Row { verb, hosts: fold(&names), task, text: String::new() });
    rows
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::events::HostStatus;

    fn row(verb: &'static str, hosts: &str, task: &str, text: &str) -> Row {
        Row { verb, hosts: hosts.to_owned(), task: task.to_owned(), text: text.to_owned() }
    }

    #[test]
    fn one_reason_is_one_row_whenever_hosts_failed() {
        let (mut recap, mut away) = (Recap::default(), Away::default());
        for (host, reason) in [("n1", "E: no package"), ("n7", "E: locked"), ("n2", "E: no package")] {
            recap.failed(host, "driver", reason);
        }
        away.add("n9", &HostStatus::NotStarted("the canary n1 failed\nmore".to_owned()));
        recap.shows(10);
        recap.shows(90);
        assert_eq!(recap.rows(&away, 10 + SCREEN), []);
        let wanted = [
            row("Left", "n9", "the canary n1 failed", ""),
            row("Failed", "n[1-2]", "driver", "E: no package"),
            row("Failed", "n7", "driver", "E: locked"),
        ];
        assert_eq!(recap.rows(&away, 11 + SCREEN), wanted);
    }

    #[test]
    fn many_reasons_name_all_hosts_in_a_few_rows() {
        let mut recap = Recap::default();
        recap.shows(0);
        for host in 10..40 {
            recap.failed(&format!("n{host}"), "driver", &format!("E: {}", if host < 38 { host } else { 0 }));
        }
        let rows = recap.rows(&Away::default(), 100);
        assert_eq!(rows.len(), MOST_FAILED + 1);
        assert_eq!(rows.first(), Some(&row("Failed", "n[38-39]", "driver", "E: 0")));
        assert_eq!(rows.last(), Some(&row("Failed", "n[15-37]", "for 23 other reasons", "")));
    }
}
