//! How far a run is: what the bar and the rows of running hosts say. Pure.

use std::collections::BTreeMap;

use super::bars::ROWS;
use super::rows::pad;
use super::style::{cut, safe, seconds, width_of};

/// What is counted while a run goes on.
#[derive(Debug, Default)]
pub(super) struct Progress {
    /// Hosts of the run.
    pub(super) hosts: usize,
    /// Of these, done.
    pub(super) finished: usize,
    /// What goes on, since when.
    running: BTreeMap<String, (String, f64)>,
    /// By host: tasks that its plan changes, and those of them that ended.
    work: BTreeMap<String, (u64, u64)>,
    /// Tasks that changed something.
    changed: u64,
    /// Tasks that failed.
    failed: u64,
}

impl Progress {
    /// A host has begun something.
    pub(super) fn begins(&mut self, host: &str, what: &str, now: f64) {
        self.running.insert(host.to_owned(), (what.to_owned(), now));
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
    pub(super) fn failed(&mut self) {
        self.failed += 1;
    }

    /// A host is done.
    pub(super) fn finished(&mut self, host: &str) {
        self.finished += 1;
        self.running.remove(host);
        if let Some((all, done)) = self.work.get_mut(host) {
            *done = *all;
        }
    }

    /// One row for each running host that is shown, those that run longest first.
    pub(super) fn rows(&self, now: f64, width: usize) -> Vec<String> {
        let mut running: Vec<_> = self.running.iter().collect();
        running.sort_by(|a, b| a.1.1.total_cmp(&b.1.1));
        let column = running.iter().take(ROWS).map(|(host, _)| width_of(host)).max().unwrap_or(0);
        let mut rows: Vec<String> = running
            .iter()
            .take(ROWS)
            .map(|(host, (what, since))| {
                let time = seconds(now - since);
                let room = width.saturating_sub(column + time.len() + 4);
                cut(&format!("{}  {}  {time}", pad(host, column), cut(&safe(what), room)), width)
            })
            .collect();
        if running.len() > ROWS
            && let Some(last) = rows.last_mut()
        {
            let more = format!("  and {} more", running.len() - ROWS);
            *last = format!("{}{more}", cut(last, width.saturating_sub(more.len())));
        }
        rows
    }

    /// How much is done, of how much, and that in words.
    pub(super) fn bar(&self, room: usize) -> (u64, u64, String) {
        let planned = self.work.values().fold((0, 0), |sum, work| (sum.0 + work.0, sum.1 + work.1));
        let hosts = format!("{}/{} hosts", self.finished, self.hosts);
        let (all, done, message) = match planned {
            (0, _) => (self.hosts as u64, self.finished as u64, hosts),
            (all, done) => (all, done, format!("{done}/{all} tasks, {hosts}")),
        };
        let part = |number: u64, word: &str| {
            if number > 0 { format!(", {number} {word}") } else { String::new() }
        };
        let (changed, failed) = (part(self.changed, "changed"), part(self.failed, "failed"));
        (done, all, cut(&format!("{message}{changed}{failed}"), room))
    }
}
