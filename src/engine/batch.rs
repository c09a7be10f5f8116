//! Short changes of several tasks of one host that are sent in one exec.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use camino::Utf8Path;
use tokio::time::Instant;

use super::connection::{Connection, Gone};
use super::deadline::Deadline;
use super::known::Known;
use super::row::{ChangeEnd, Entry, Row, Start};
use super::state::{self, SpoolReport, Together, Way};
use super::writers::Duty;
use crate::events::ChangeView;
use crate::facts::Query;
use crate::project::Instance;
use crate::resources::Change;
use crate::transport::Script;

/// A change that is sent with others.
#[derive(Debug)]
pub(super) struct ShortChange {
    pub key: String,
    /// Name of its task.
    pub name: String,
    pub script: Script,
    pub timeout: Duration,
    pub notify: Vec<String>,
    /// Its effect on directories.
    pub way: Way,
    /// Paths of what it changes.
    pub paths: Vec<String>,
}

/// A task that was sent with an earlier one, and how it went.
#[derive(Debug)]
pub(super) struct SentTask {
    /// As it was filled in then.
    pub instance: Instance,
    pub changes: Vec<Change>,
    pub report: SpoolReport,
    pub seconds: f64,
    /// To whom it is to be told.
    pub duty: Option<Duty>,
}

/// Tasks that were sent before their turn.
#[derive(Debug, Default)]
pub(super) struct Ahead {
    sent: BTreeMap<String, SentTask>,
    begun: BTreeMap<String, Vec<ChangeView>>,
    refused: bool,
}

impl Ahead {
    /// Whether a task was sent.
    pub(super) fn has(&self, task: &str) -> bool {
        self.sent.contains_key(task)
    }

    /// Whether some task was sent whose turn did not come yet.
    pub(super) fn is_ahead(&self) -> bool {
        !self.sent.is_empty()
    }

    /// Takes how a task went that was sent.
    pub(super) fn take(&mut self, task: &str) -> Option<SentTask> {
        let sent = self.sent.remove(task)?;
        self.begun.remove(task);
        Some(sent)
    }

    /// Takes what was said to be made by a task that began and of which nobody knows how it went.
    pub(super) fn take_begun(&mut self, task: &str) -> Option<Vec<ChangeView>> {
        self.begun.remove(task)
    }

    /// Notes that a task began.
    pub(super) fn begins(&mut self, task: String, changes: Vec<ChangeView>) {
        self.begun.insert(task, changes);
    }

    /// Notes how a task went.
    pub(super) fn went(&mut self, task: String, sent: SentTask) {
        self.sent.insert(task, sent);
    }

    /// Nothing is sent together any more: this host does not start it.
    pub(super) fn refuse(&mut self) {
        self.refused = true;
    }

    pub(super) fn is_refused(&self) -> bool {
        self.refused
    }
}

/// Runs changes together and asks `again` behind them; see [`Row::run`].
pub(super) async fn run(
    connection: &mut Connection,
    known: &mut Known,
    changes: &[ShortChange],
    again: &BTreeSet<Query>,
    starts: &mut (dyn FnMut(usize) + Send),
) -> Result<Vec<ChangeEnd>, Gone> {
    let timeout = changes.first().map_or(Duration::ZERO, |change| change.timeout);
    let entry = |change: &ShortChange| Entry {
        key: change.key.clone(),
        name: change.name.clone(),
        timeout: change.timeout,
    };
    let row = Row {
        entries: changes.iter().map(entry).collect(),
        start: Start::Together(start(connection.context(), changes)),
        deadline: Deadline::new(timeout, Instant::now()),
    };
    row.run(connection, known, again, starts).await
}

fn start(context: &super::context::Context, changes: &[ShortChange]) -> Script {
    state::batch(Together {
        entries: changes.iter().map(|it| (it.key.as_str(), it.name.as_str(), it.notify.as_slice())).collect(),
        scripts: changes.iter().map(|it| it.script.clone()).collect(),
        run: context.emitter.run(),
        cluster: &context.project.cluster,
        directories: directories(changes),
        ways: changes.iter().map(|it| it.way.clone()).collect(),
    })
}

/// All directories on the ways to what is changed; each stands behind the one that it is in.
fn directories(changes: &[ShortChange]) -> Vec<String> {
    let paths = changes.iter().flat_map(|change| &change.paths);
    let ways = paths.flat_map(|path| Utf8Path::new(path).ancestors().skip(1));
    let ways: BTreeSet<&Utf8Path> = ways.filter(|way| way.is_absolute()).collect();
    ways.into_iter().map(|way| way.as_str().to_owned()).collect()
}
