//! Planned changes that interrupt something: shown with the question that comes before the first of them.

use std::collections::BTreeSet;

use indexmap::IndexMap;

use super::style::safe_line;
use super::wording::summary;
use crate::events::{PlannedTask, PlannedVerdict, TaskRef};
use crate::hostlist;
use crate::words::count;

/// Lines at most; the others are counted.
const MOST: usize = 8;

/// One change, as all hosts have it that plan the same.
#[derive(Debug, PartialEq, Eq, Hash)]
struct Change {
    /// Classes that it interrupts.
    classes: String,
    task: String,
    text: String,
}

/// Changes that interrupt, with the hosts that still have them before them, and which task that is there.
#[derive(Debug, Default)]
pub(super) struct Interrupts(IndexMap<Change, Vec<(String, TaskRef)>>);

impl Interrupts {
    /// A host has a plan.
    pub(super) fn planned(&mut self, host: &str, tasks: &[PlannedTask]) {
        for planned in tasks {
            let classes: BTreeSet<&str> = planned.interrupts().collect();
            let (PlannedVerdict::Changes(changes) | PlannedVerdict::Runs(changes)) = &planned.verdict else {
                continue;
            };
            if !classes.is_empty() {
                let (classes, task) =
                    (classes.into_iter().collect::<Vec<_>>().join(", "), planned.task.name.clone());
                let change = Change { classes, task, text: summary(changes) };
                self.0.entry(change).or_default().push((host.to_owned(), planned.task.clone()));
            }
        }
    }

    /// A task ended on a host.
    pub(super) fn finished(&mut self, host: &str, task: &TaskRef) {
        self.0.retain(|change, hosts| {
            if change.task == task.name {
                hosts.retain(|(name, its)| name != host || its != task);
            }
            !hosts.is_empty()
        });
    }

    /// One line for each, as far as plans are there.
    pub(super) fn lines(&self) -> Vec<String> {
        let line = |(change, hosts): (&Change, &Vec<(String, TaskRef)>)| {
            let Change { classes, task, text } = change;
            let hosts = hostlist::fold(hosts.iter().map(|(host, _)| host.as_str()));
            format!("  [{classes}]  {hosts}  {}  {}", safe_line(task), safe_line(text))
        };
        let mut lines: Vec<String> = self.0.iter().take(MOST).map(line).collect();
        if self.0.len() > MOST {
            lines.push(format!("  and {}", count((self.0.len() - MOST) as u64, "other change")));
        }
        lines
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::events::ChangeView;

    fn planned(name: &str, class: &str, text: &str) -> PlannedTask {
        let (summary, disruption) = (text.to_owned(), class.to_owned());
        let change = ChangeView { object: String::new(), summary, diff: String::new(), disruption };
        PlannedTask {
            task: TaskRef {
                id: name.to_owned(),
                item: None,
                name: name.to_owned(),
                resource: "netdev".to_owned(),
            },
            verdict: PlannedVerdict::Changes(vec![change]),
            blocked: None,
            pending_since: None,
            notified_by: Vec::new(),
        }
    }

    #[test]
    fn all_hosts_that_plan_the_same_are_one_line() {
        let mut interrupts = Interrupts::default();
        let plan = [planned("MTU", "network", "mtu 1500 to 9000"), planned("file", "none", "new")];
        for host in ["n0", "n1", "n3"] {
            interrupts.planned(host, &plan);
        }
        interrupts.planned("n2", &[planned("driver", "reboot", "570 to 580")]);
        interrupts.finished("n0", &plan[0].task);
        assert_eq!(
            interrupts.lines(),
            ["  [network]  n[1,3]  MTU  mtu 1500 to 9000", "  [reboot]  n2  driver  570 to 580"]
        );
        interrupts.finished("n2", &planned("driver", "", "").task);
        assert_eq!(interrupts.lines().len(), 1);
    }

    #[test]
    fn many_are_counted() {
        let mut interrupts = Interrupts::default();
        for number in 0..30 {
            interrupts.planned("n0", &[planned(&format!("task {number}"), "gpu", "new")]);
        }
        let lines = interrupts.lines();
        assert_eq!(lines.len(), MOST + 1);
        assert_eq!(lines.last().map(String::as_str), Some("  and 22 other changes"));
    }
}
