//! Runner of changes: one alone, or several short ones in one exec. Each has an entry of its own in the spool, a
//! deadline and an end of its own; the questions about what they touched stand behind the last one.
//!
//! ```text
//!   frame   batch                only for several: the program on the host that makes one after the other
//!           task, task, ...      each waits for the end of its change
//!           file, ...            the questions
//! ```
//!
//! After a lost connection a change that is in the spool is followed, and a frame that was cut has run nothing.

use std::collections::BTreeSet;
use std::time::Duration;

use tokio::time::Instant;

use super::cancel::Stop;
use super::connection::{CHANGE_LOSSES, Connection, Gone};
use super::deadline::Deadline;
use super::known::Known;
use super::lock;
use super::state::{self, SpoolReport};
use crate::events::EventKind;
use crate::facts::state::StateQuery;
use crate::facts::{self, Query};
use crate::transport::{Frame, Part, PartEnd, Script, TransportError};

/// Bytes of a command's output that travel: what the spool keeps, and a little.
const OUTPUT_LIMIT: usize = 640 << 10;

/// A change of a row.
#[derive(Debug)]
pub(super) struct Entry {
    /// Its key in the spool.
    pub key: String,
    /// Name of its task.
    pub name: String,
    pub timeout: Duration,
}

/// The script that starts a row.
#[derive(Debug)]
pub(super) enum Start {
    /// It puts one change into the spool and waits for its end. With `leave` the change goes on when its time is over.
    Alone { script: Script, leave: bool },
    /// It starts all changes of the row, of which each runs when the one before it went well.
    Together(Script),
}

/// Changes that are started by one frame, in their order.
#[derive(Debug)]
pub(super) struct Row {
    pub entries: Vec<Entry>,
    pub start: Start,
    /// Deadline of the first. It may count from before its files were sent; that of each other one counts from the end
    /// of the one before it.
    pub deadline: Deadline,
}

/// End of one change of a row.
#[derive(Debug)]
pub(super) struct ChangeEnd {
    pub report: SpoolReport,
    pub seconds: f64,
}

/// State of a row that runs.
struct RowProgress {
    ends: Vec<ChangeEnd>,
    /// When the current change began.
    began: Instant,
    /// Deadline of the current change.
    deadline: Deadline,
}

impl Row {
    /// Runs the changes and asks `again` behind them, through deadlines and lost connections. `starts` is
    /// called with the number of each that starts. There is one end for each change; one whose turn did not come is
    /// [`SpoolReport::Unstarted`].
    ///
    /// # Errors
    /// When the host is given up.
    pub(super) async fn run(
        &self,
        connection: &mut Connection,
        known: &mut Known,
        again: &BTreeSet<Query>,
        starts: &mut (dyn FnMut(usize) + Send),
    ) -> Result<Vec<ChangeEnd>, Gone> {
        let context = connection.context().clone();
        let batch = facts::batch(again, context.deadlines.query);
        let mut progress = RowProgress { ends: Vec::new(), began: Instant::now(), deadline: self.deadline };
        let mut sent = false;
        let mut losses = 0;
        starts(0);
        loop {
            let first = progress.ends.len();
            let rest = self.entries.get(first..).unwrap_or_default();
            let (frame, lead) = self.frame(connection, rest, progress.deadline, sent, &batch);
            let others = frame.parts.len() - batch.len();
            let mut answers: Vec<PartEnd> = Vec::new();
            let mut on_part = |end: PartEnd| {
                let Some(number) = end.index.checked_sub(lead).filter(|number| *number < rest.len()) else {
                    answers.push(end);
                    return;
                };
                let report = SpoolReport::parse_redacted(&end.output, &context.secrets);
                let good = matches!(report, SpoolReport::Ended(0, _));
                progress.end(report);
                if let Some(next) = rest.get(number + 1) {
                    progress.deadline = Deadline::new(next.timeout, progress.began);
                    if good {
                        starts(first + number + 1);
                    }
                }
            };
            let result = tokio::select! {
                biased;
                result = connection.watch_frame(&frame, &mut on_part) => Some(result),
                () = context.cancel.reached(Stop::End) => None,
            };
            let mut answered = known.take_after(others, &batch, &answers);
            let left =
                |answered: &BTreeSet<Query>| again.difference(answered).cloned().collect::<BTreeSet<_>>();
            let current = self.entries.get(progress.ends.len());
            let Some(result) = result else {
                connection.revive("stopped").await?;
                let text = match current {
                    Some(_) => format!("stopped by the second Ctrl-C; {}", self.end_all(connection).await),
                    None => String::new(),
                };
                // Those that have ended are proven.
                if !progress.ends.is_empty() {
                    known.ask(connection, &left(&answered)).await?;
                }
                return Ok(self.ended(progress, SpoolReport::Failed(text)));
            };
            match result {
                Ok(()) => return Ok(self.ended(progress, self.silent())),
                Err(TransportError::PartTimedOut { index, .. }) if index >= others => {
                    if let Some(hung) = batch.get(index - others) {
                        known.hangs(connection, hung);
                        answered.extend(hung.queries.iter().cloned());
                    }
                    connection.revive("a query hangs").await?;
                    known.ask(connection, &left(&answered)).await?;
                    return Ok(self.ended(progress, self.silent()));
                }
                Err(TransportError::PartTimedOut { index, .. }) => {
                    connection.revive("a task missed its deadline").await?;
                    if let Start::Alone { leave: true, .. } = self.start {
                        let text = format!(
                            "still running after {}: to stop it half-way would break the host, so it goes on; the next run follows it",
                            progress.deadline.words()
                        );
                        return Ok(self.ended(progress, SpoolReport::Left(text)));
                    }
                    let end = self.end_all(connection).await;
                    known.ask(connection, again).await?;
                    let report = if index >= lead {
                        SpoolReport::Failed(format!("{}; {end}", progress.deadline.missed()))
                    } else {
                        SpoolReport::Unstarted
                    };
                    return Ok(self.ended(progress, report));
                }
                Err(TransportError::Lost { message }) => {
                    losses += 1;
                    connection.reconnect(&message).await?;
                    let Some(current) = current else {
                        known.ask(connection, &left(&answered)).await?;
                        return Ok(progress.ends);
                    };
                    let state = BTreeSet::from([StateQuery.into()]);
                    if let Some(refused) = lock::take_again(connection, known, &state).await? {
                        return Ok(self.ended(progress, SpoolReport::Refused(refused)));
                    }
                    // The shell that it was sent to is no more, the host is the same boot, and nobody else had
                    // the lock: either the frame came through, and the spool has the change, or it never will.
                    let started = is_in_spool(known, &current.key);
                    let alone = matches!(self.start, Start::Alone { .. });
                    if losses < CHANGE_LOSSES && started {
                        let host = connection.host().name.clone();
                        connection.emit(EventKind::Attached { host, task: current.name.clone() });
                        sent = true;
                        continue;
                    }
                    if losses < CHANGE_LOSSES && alone && !sent {
                        continue;
                    }
                    known.ask(connection, again).await?;
                    let report = if alone {
                        SpoolReport::Failed(format!(
                            "the connection was lost again and again, and its state is gone from the host: {message}"
                        ))
                    } else {
                        SpoolReport::Unstarted
                    };
                    return Ok(self.ended(progress, report));
                }
                Err(error) => return Ok(self.ended(progress, SpoolReport::Failed(error.to_string()))),
            }
        }
    }

    /// Returns the frame that waits for the changes `rest`, and the number of parts before these. `sent`: they have been
    /// started.
    fn frame(
        &self,
        connection: &Connection,
        rest: &[Entry],
        deadline: Deadline,
        sent: bool,
        batch: &[facts::BatchPart],
    ) -> (Frame, usize) {
        let mut parts: Vec<Part> = Vec::new();
        if let (Start::Together(script), false) = (&self.start, sent) {
            parts.push(connection.short("batch", script.clone()));
        }
        let lead = parts.len();
        for (number, entry) in rest.iter().enumerate() {
            let deadline =
                if number == 0 { deadline } else { Deadline::new(entry.timeout, Instant::now()) }.left();
            parts.push(match &self.start {
                Start::Alone { script, .. } if !sent => task(script.clone(), deadline),
                Start::Alone { .. } => follow(&entry.key, deadline),
                Start::Together(_) => task(state::batch_next(&entry.key), deadline),
            });
        }
        // What an earlier batch left open is no pipe of what starts now.
        let before = if lead == 0 { "exec 8>&-" } else { "" };
        let mut frame = lock::frame_of(connection, before, parts, batch);
        match self.start {
            Start::Alone { .. } => frame.watch = connection.watch(),
            Start::Together(_) if lead > 0 => frame.prelude.push_str("provision_pipe\n"),
            Start::Together(_) => {}
        }
        (frame, lead)
    }

    /// Report of a change of which a whole frame said nothing.
    fn silent(&self) -> SpoolReport {
        match self.start {
            Start::Alone { .. } => SpoolReport::Failed("`task` gave no result".to_owned()),
            Start::Together(_) => SpoolReport::Unstarted,
        }
    }

    /// Ends what runs on the host; in words. All of a row is ended by the key of the last one.
    async fn end_all(&self, connection: &mut Connection) -> String {
        let Some(last) = self.entries.last() else { return String::new() };
        match connection.run_short("end-task", state::end_task(&last.key)).await {
            Ok(end) => state::ended(&String::from_utf8_lossy(&end.output)),
            Err(error) => format!("its processes on the host could not be ended: {error}"),
        }
    }

    /// One end for each change: those that were seen, then `next`, then nothing of the others.
    fn ended(&self, mut progress: RowProgress, next: SpoolReport) -> Vec<ChangeEnd> {
        if progress.ends.len() < self.entries.len() {
            progress.end(next);
        }
        progress
            .ends
            .resize_with(self.entries.len(), || ChangeEnd { report: SpoolReport::Unstarted, seconds: 0.0 });
        progress.ends
    }
}

impl RowProgress {
    fn end(&mut self, report: SpoolReport) {
        self.ends.push(ChangeEnd { report, seconds: self.began.elapsed().as_secs_f64() });
        self.began = Instant::now();
    }
}

fn task(script: Script, deadline: Duration) -> Part {
    Part { name: "task".to_owned(), script, deadline, limit: OUTPUT_LIMIT }
}

/// The part that waits for the end of an entry of the spool.
pub(super) fn follow(key: &str, deadline: Duration) -> Part {
    Part { name: "follow".to_owned(), script: state::follow(key), deadline, limit: OUTPUT_LIMIT }
}

fn is_in_spool(known: &Known, key: &str) -> bool {
    let state = known.facts().get(&StateQuery).answer().and_then(|text| state::HostState::parse(text).ok());
    state.is_some_and(|state| state.spool.iter().any(|entry| entry.key == key))
}
