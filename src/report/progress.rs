//! Progress of a run: the texts of the bar and of the rows of running hosts. Pure.

use std::collections::{BTreeMap, BTreeSet};

use super::bars::ROWS;
use super::rows::pad;
use super::style::{cut, safe, seconds, width_of};
use crate::events::HostStatus;
use crate::words::count;

/// Counts of a run while it goes on.
#[derive(Debug, Default)]
pub(super) struct Progress {
    /// Hosts of the run.
    pub(super) hosts: usize,
    /// Of these, how many are done.
    finished: usize,
    /// Of these, those that have a plan.
    ended: BTreeSet<String>,
    /// Work that goes on now, by host.
    running: BTreeMap<String, Doing>,
    /// By host: tasks that its plan changes, and those of them that ended.
    work: BTreeMap<String, (u64, u64)>,
    /// Tasks that changed something.
    changed: u64,
    /// Hosts of which a task failed.
    failed: BTreeSet<String>,
    /// Hosts that were not reached or were lost.
    away: u64,
    /// Hosts that ended without a plan.
    unplanned: usize,
}

/// Work that goes on at a host.
#[derive(Debug)]
struct Doing {
    what: String,
    since: f64,
    /// The line that it printed last.
    said: String,
}

impl Doing {
    /// Its row; where there is room, with what was printed last.
    fn row(&self, host: &str, now: f64, width: usize) -> String {
        let time = seconds(now - self.since);
        let room = width.saturating_sub(width_of(host) + time.len() + 4);
        let row = |room| format!("{host}  {}  {time}", cut(&safe(&self.what), room));
        // What goes on stays readable where what it printed is long.
        let short = row(room.min(width / 3));
        let left = width.saturating_sub(width_of(&short) + 2);
        if self.said.is_empty() || left < SAID {
            return cut(&row(room), width);
        }
        format!("{short}  {}", cut(&self.said, left))
    }
}

/// Columns that a row has at least for what was printed last; else it is left out.
const SAID: usize = 12;

/// Steps of the bar for one host.
const SHARE: u64 = 1000;

impl Progress {
    /// A host has begun something.
    pub(super) fn begins(&mut self, host: &str, what: &str, now: f64) {
        let doing = Doing { what: what.to_owned(), since: now, said: String::new() };
        self.running.insert(host.to_owned(), doing);
    }

    /// Takes the last line that the work at a host printed.
    pub(super) fn says(&mut self, host: &str, line: &str) {
        if let Some(doing) = self.running.get_mut(host) {
            line.clone_into(&mut doing.said);
        }
    }

    /// Nothing goes on at a host.
    pub(super) fn rests(&mut self, host: &str) {
        self.running.remove(host);
    }

    /// So many tasks more are planned.
    pub(super) fn planned(&mut self, host: &str, tasks: u64) {
        self.work.entry(host.to_owned()).or_default().0 += tasks;
    }

    /// A task that was planned ended.
    pub(super) fn did(&mut self, host: &str) {
        if let Some((_, done)) = self.work.get_mut(host) {
            *done += 1;
        }
    }

    /// A task changed something.
    pub(super) fn changed(&mut self) {
        self.changed += 1;
    }

    /// A task failed.
    pub(super) fn failed(&mut self, host: &str) {
        self.failed.insert(host.to_owned());
    }

    /// A host is done.
    pub(super) fn finished(&mut self, host: &str, status: &HostStatus) {
        self.finished += 1;
        self.running.remove(host);
        match self.work.get_mut(host) {
            Some((all, done)) => {
                *done = *all;
                self.ended.insert(host.to_owned());
            }
            None => self.unplanned += 1,
        }
        if matches!(status, HostStatus::Unreachable { .. } | HostStatus::Quarantined { .. }) {
            self.away += 1;
        }
    }

    /// Whether all hosts are done.
    pub(super) fn is_done(&self) -> bool {
        self.finished >= self.hosts && self.hosts > 0
    }

    /// One row for each running host that is shown, those that run longest first.
    pub(super) fn rows(&self, now: f64, width: usize) -> Vec<String> {
        let mut running: Vec<_> = self.running.iter().collect();
        running.sort_by(|a, b| a.1.since.total_cmp(&b.1.since));
        let column = running.iter().take(ROWS).map(|(host, _)| width_of(host)).max().unwrap_or(0);
        let mut rows: Vec<String> = running
            .iter()
            .take(ROWS)
            .map(|(host, doing)| doing.row(&pad(host, column), now, width))
            .collect();
        if running.len() > ROWS
            && let Some(last) = rows.last_mut()
        {
            let more = format!("  and {} more", running.len() - ROWS);
            *last = format!("{}{more}", cut(last, width.saturating_sub(more.len())));
        }
        rows
    }

    /// Returns how much is done, of how much, and that in words. Each host is the same share of it, whether
    /// it was started or not: its number of tasks is known only then.
    pub(super) fn bar(&self, room: usize) -> (u64, u64, String) {
        let hosts = self.hosts as u64;
        let share = |(all, done): &(u64, u64)| if *all == 0 { 0 } else { SHARE.min(SHARE * done / all) };
        let ended = self.finished as u64 * SHARE;
        let running: u64 = self.running_work().map(share).sum();
        let done = (ended + running).min(hosts * SHARE);
        let (all_tasks, done_tasks) =
            self.work.values().fold((0, 0), |sum, work| (sum.0 + work.0, sum.1 + work.1));
        let tasks = match self.work.len() + self.unplanned >= self.hosts {
            true if all_tasks > 0 => format!("{done_tasks}/{all_tasks} tasks"),
            false if done_tasks > 0 => count(done_tasks, "task"),
            _ => String::new(),
        };
        let part = |number: u64, word: &str| {
            if number > 0 { format!("{number} {word}") } else { String::new() }
        };
        // What comes last is left out first.
        let parts = [
            part(self.failed.len() as u64, "failed"),
            part(self.away, "unreachable"),
            tasks,
            part(self.changed, "changed"),
        ];
        let mut text = format!("{}/{hosts} hosts", self.finished);
        for part in parts.iter().filter(|part| !part.is_empty()) {
            if width_of(&text) + 2 + width_of(part) > room {
                break;
            }
            text = format!("{text}, {part}");
        }
        (done, hosts * SHARE, cut(&text, room))
    }

    /// The plans of hosts that are not done.
    fn running_work(&self) -> impl Iterator<Item = &(u64, u64)> {
        self.work.iter().filter(|(host, _)| !self.ended.contains(*host)).map(|(_, work)| work)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::bars::BESIDE;
    use crate::transport::ConnectKind;

    fn away() -> HostStatus {
        HostStatus::Unreachable { kind: ConnectKind::Refused, reason: "refused".to_owned(), hint: None }
    }

    #[test]
    fn a_row_shows_what_its_task_printed_last() {
        let mut progress = Progress { hosts: 2, ..Progress::default() };
        progress.says("gpu0", "nobody runs there");
        progress.begins("gpu0", "the driver of the GPUs", 0.0);
        assert_eq!(progress.rows(65.0, 68), ["gpu0  the driver of the GPUs  65.0s"]);
        progress.says("gpu0", "Building module nvidia.ko for 6.12.48+deb13-amd64, please be patient");
        assert_eq!(
            progress.rows(65.0, 68),
            ["gpu0  the driver of the GPUs  65.0s  Building module nvidia.ko for …"]
        );
        assert!(progress.rows(65.0, 188)[0].ends_with("please be patient"));
        // Without room for a word of it the row is as before.
        assert_eq!(progress.rows(65.0, 32), ["gpu0  the driver of the …  65.0s"]);
        assert!((20..200).all(|width| width_of(&progress.rows(65.0, width)[0]) <= width));
        // The next task has printed nothing.
        progress.begins("gpu0", "reboot", 66.0);
        assert_eq!(progress.rows(67.0, 68), ["gpu0  reboot  1.0s"]);
    }

    #[test]
    fn hosts_that_did_not_start_are_a_part_of_the_bar() {
        let mut progress = Progress { hosts: 100, ..Progress::default() };
        for host in ["n00", "n01"] {
            progress.planned(host, 4);
            progress.did(host);
            progress.did(host);
        }
        // Two of a hundred hosts have half of their tasks behind them: that is one percent, not half.
        assert_eq!(progress.bar(80), (1000, 100_000, "0/100 hosts, 4 tasks".to_owned()));
        progress.finished("n00", &HostStatus::Ok);
        progress.finished("n02", &away());
        assert_eq!(progress.bar(80), (2500, 100_000, "2/100 hosts, 1 unreachable, 6 tasks".to_owned()));
    }

    #[test]
    fn tasks_are_counted_against_all_once_all_are_known() {
        let mut progress = Progress { hosts: 2, ..Progress::default() };
        progress.planned("a", 3);
        progress.did("a");
        assert_eq!(progress.bar(80).2, "0/2 hosts, 1 task");
        progress.finished("b", &away());
        assert_eq!(progress.bar(80).2, "1/2 hosts, 1 unreachable, 1/3 tasks");
    }

    #[test]
    fn failures_are_the_last_to_be_cut_off() {
        let mut progress = Progress { hosts: 1000, ..Progress::default() };
        for host in 0..300 {
            let name = format!("n{host}");
            progress.planned(&name, 40);
            progress.changed();
            if host < 120 {
                progress.failed(&name);
                // A host with two failed tasks is one host.
                progress.failed(&name);
            }
            progress.finished(&name, &if host < 290 { HostStatus::Failed } else { away() });
        }
        // As much room as there is at 80 columns.
        assert_eq!(progress.bar(80 - BESIDE).2, "300/1000 hosts, 120 failed, 10 unreachable");
        assert_eq!(
            progress.bar(200 - BESIDE).2,
            "300/1000 hosts, 120 failed, 10 unreachable, 12000 tasks, 300 changed"
        );
    }
}
