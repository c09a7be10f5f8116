//! Several short changes of one host in one exec. Each has an entry of its own in the spool, a deadline and an
//! end of its own; what they touched is asked again once, behind the last one.
//!
//! ```text
//!   frame   batch                one runner starts, and makes the changes up to the first that fails
//!           task, task, ...      each waits for the end of its change
//!           file, ...            the questions
//! ```

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use camino::Utf8Path;
use tokio::time::Instant;

use super::cancel::Stop;
use super::connection::{Connection, Gone};
use super::deadline::Deadline;
use super::known::Known;
use super::lock;
use super::spool::{LOSSES, OUTPUT_LIMIT, end_task, is_in_spool};
use super::state::{self, SpoolReport, Together, Way};
use super::writers::Duty;
use crate::events::{ChangeView, EventKind};
use crate::facts::state::StateQuery;
use crate::facts::{self, Query};
use crate::project::Instance;
use crate::resources::Change;
use crate::transport::{Part, PartEnd, Script, TransportError};

/// A change that is sent with others.
#[derive(Debug)]
pub(super) struct Short {
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

/// Result of one of these changes.
#[derive(Debug)]
pub(super) struct Went {
    pub report: SpoolReport,
    pub seconds: f64,
}

/// A task that was sent with an earlier one, and how it went.
#[derive(Debug)]
pub(super) struct Sent {
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
    sent: BTreeMap<String, Sent>,
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
    pub(super) fn take(&mut self, task: &str) -> Option<Sent> {
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
    pub(super) fn went(&mut self, task: String, sent: Sent) {
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

/// Runs changes together and asks `again` behind them, through deadlines and lost connections. `starts` is
/// told the number of each that starts. A change whose turn did not come is [`SpoolReport::Unstarted`].
pub(super) async fn run(
    connection: &mut Connection,
    known: &mut Known,
    changes: &[Short],
    again: &BTreeSet<Query>,
    starts: &mut (dyn FnMut(usize) + Send),
) -> Result<Vec<Went>, Gone> {
    let context = connection.context().clone();
    let batch = facts::batch(again, context.deadlines.query);
    let mut went: Vec<Went> = Vec::new();
    let mut sent = false;
    let mut losses = 0;
    let mut began = Instant::now();
    starts(0);
    loop {
        let first = went.len();
        let rest = changes.get(first..).unwrap_or_default();
        let lead = usize::from(!sent);
        let mut parts: Vec<Part> = Vec::new();
        if !sent {
            parts.push(connection.short("batch", start(&context, changes)));
        }
        parts.extend(rest.iter().enumerate().map(|(number, change)| {
            let began = if number == 0 { began } else { Instant::now() };
            next(change, Deadline::new(change.timeout, began).left())
        }));
        let others = parts.len();
        // A new host shell has no pipe of the runner.
        let before = if sent { "exec 8>&-" } else { "" };
        let mut frame = lock::frame_of(connection, before, parts, &batch);
        if !sent {
            frame.prelude.push_str("provision_pipe\n");
        }
        sent = true;
        let left = |answered: &BTreeSet<Query>| again.difference(answered).cloned().collect::<BTreeSet<_>>();
        let mut ends: Vec<PartEnd> = Vec::new();
        let mut on_part = |end: PartEnd| {
            if let Some(number) = end.index.checked_sub(lead).filter(|number| *number < rest.len()) {
                let report = SpoolReport::parse_redacted(&end.output, &context.secrets);
                let good = matches!(report, SpoolReport::Ended(0, _));
                went.push(Went { report, seconds: began.elapsed().as_secs_f64() });
                began = Instant::now();
                if good && number + 1 < rest.len() {
                    starts(first + number + 1);
                }
            } else {
                ends.push(end);
            }
        };
        let result = tokio::select! {
            biased;
            result = connection.watch_frame(&frame, &mut on_part) => result,
            () = context.cancel.reached(Stop::End) => {
                connection.revive("stopped").await?;
                let text = format!("stopped by the second Ctrl-C; {}", end_all(connection, changes).await);
                // Those that had ended are proven: they may be all.
                let answered = known.take_after(others, &batch, &ends);
                known.ask(connection, &left(&answered)).await?;
                return Ok(ended(went, changes, SpoolReport::Failed(text), began));
            }
        };
        let mut answered = known.take_after(others, &batch, &ends);
        match result {
            Ok(()) => return Ok(ended(went, changes, SpoolReport::Unstarted, began)),
            Err(TransportError::PartTimedOut { index, .. }) if index >= others => {
                if let Some(hung) = batch.get(index - others) {
                    known.hangs(connection, hung);
                    answered.extend(hung.queries.iter().cloned());
                }
                connection.revive("a query hangs").await?;
                known.ask(connection, &left(&answered)).await?;
                return Ok(ended(went, changes, SpoolReport::Unstarted, began));
            }
            Err(TransportError::PartTimedOut { index, .. }) => {
                connection.revive("a task missed its deadline").await?;
                let end = end_all(connection, changes).await;
                known.ask(connection, again).await?;
                let late = changes.get(went.len()).filter(|_| index >= lead);
                let report = late.map_or(SpoolReport::Unstarted, |change| {
                    SpoolReport::Failed(format!("{}; {end}", Deadline::new(change.timeout, began).missed()))
                });
                return Ok(ended(went, changes, report, began));
            }
            Err(TransportError::Lost { message }) => {
                losses += 1;
                connection.reconnect(&message).await?;
                let Some(current) = changes.get(went.len()) else {
                    known.ask(connection, &left(&answered)).await?;
                    return Ok(went);
                };
                let state = BTreeSet::from([StateQuery.into()]);
                if let Some(refused) = lock::take_again(connection, known, &state).await? {
                    return Ok(ended(went, changes, SpoolReport::Refused(refused), began));
                }
                if losses < LOSSES && is_in_spool(known, &current.key) {
                    let host = connection.host().name.clone();
                    connection.emit(EventKind::Attached { host, task: current.name.clone() });
                    continue;
                }
                // A cut frame runs nothing.
                known.ask(connection, again).await?;
                return Ok(ended(went, changes, SpoolReport::Unstarted, began));
            }
            Err(error) => {
                return Ok(ended(went, changes, SpoolReport::Failed(error.to_string()), began));
            }
        }
    }
}

fn start(context: &super::context::Context, changes: &[Short]) -> Script {
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
fn directories(changes: &[Short]) -> Vec<String> {
    let paths = changes.iter().flat_map(|change| &change.paths);
    let ways = paths.flat_map(|path| Utf8Path::new(path).ancestors().skip(1));
    let ways: BTreeSet<&Utf8Path> = ways.filter(|way| way.is_absolute()).collect();
    ways.into_iter().map(|way| way.as_str().to_owned()).collect()
}

fn next(change: &Short, deadline: Duration) -> Part {
    let script = state::batch_next(&change.key);
    Part { name: "task".to_owned(), script, deadline, limit: OUTPUT_LIMIT }
}

/// One runner has them all, and the last entry knows it to the end.
async fn end_all(connection: &mut Connection, changes: &[Short]) -> String {
    match changes.last() {
        Some(last) => end_task(connection, &last.key).await,
        None => String::new(),
    }
}

/// One end for each change: those that were seen, then `next`, then nothing of the others.
fn ended(mut went: Vec<Went>, changes: &[Short], next: SpoolReport, began: Instant) -> Vec<Went> {
    if went.len() < changes.len() {
        went.push(Went { report: next, seconds: began.elapsed().as_secs_f64() });
    }
    while went.len() < changes.len() {
        went.push(Went { report: SpoolReport::Unstarted, seconds: 0.0 });
    }
    went
}
