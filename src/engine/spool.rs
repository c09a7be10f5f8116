//! Changes in the spool of one host: each outlives its connection and its run.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use super::cancel::Stop;
use super::connection::{Connection, Gone};
use super::deadline::Deadline;
use super::known::Known;
use super::lock;
use super::state::{self, SpoolEntry, SpoolReport, SpoolState};
use crate::events::{EventKind, HostStatus};
use crate::facts::state::StateQuery;
use crate::facts::{self, Query};
use crate::transport::{Frame, Part, Script, TransportError};

/// Bytes of a command's output that travel: what the spool keeps, and a little.
pub(super) const OUTPUT_LIMIT: usize = 640 << 10;

/// Number of lost connections after which a change is no longer followed.
pub(super) const LOSSES: u32 = 6;

/// Time for which work of an earlier run is followed before the host is given up.
const FOLLOW: Duration = Duration::from_hours(2);

/// Number of waits for the lock, and length of each, before tidying the spool is given up: the last processes
/// of an earlier run's task may hold it for a moment after its end was seen.
const TIDY_WAITS: u32 = 10;
const TIDY_WAIT: Duration = Duration::from_millis(300);

/// The spool of one host.
#[derive(Debug, Default)]
pub(super) struct Spool {
    /// Entries that an earlier connection or run started and that nobody saw end.
    left: Vec<SpoolEntry>,
    /// Entries whose end this run saw: forgotten with the next frame.
    seen: Vec<String>,
    /// Ends of entries that an earlier connection or run started, by task.
    inherited: BTreeMap<String, SpoolReport>,
}

impl Spool {
    /// With what was found on the host.
    pub(super) fn found(left: Vec<SpoolEntry>) -> Self {
        Self { left, ..Self::default() }
    }

    /// These are forgotten with the next frame.
    pub(super) fn forget(&mut self, keys: impl IntoIterator<Item = String>) {
        self.seen.extend(keys);
    }

    /// The host was rebooted: nothing goes on there.
    pub(super) fn after_boot(&mut self) {
        self.left.clear();
        self.inherited.clear();
    }

    /// Whether work of earlier runs is to be followed.
    pub(super) fn is_left(&self) -> bool {
        !self.left.is_empty()
    }

    /// Takes the report of a task that an earlier connection or run started, if there is one.
    pub(super) fn take_inherited(&mut self, task: &str) -> Option<SpoolReport> {
        self.inherited.remove(task)
    }

    /// Follows what earlier connections or runs started until it ends.
    pub(super) async fn attach(&mut self, connection: &mut Connection) -> Result<(), Gone> {
        let context = connection.context().clone();
        for entry in std::mem::take(&mut self.left) {
            if entry.state == SpoolState::Running {
                let host = connection.host().name.clone();
                connection.emit(EventKind::Attached { host, task: entry.name.clone() });
            }
            let mut losses = 0;
            let report = loop {
                let part = follow(&entry.key, FOLLOW);
                let ran = tokio::select! {
                    biased;
                    ran = connection.run_watched(part) => ran,
                    () = context.cancel.reached(Stop::Finish) => {
                        return Err(Gone(HostStatus::NotStarted(format!("stopped while `{}` of an earlier run is still running", entry.name))));
                    }
                };
                match ran {
                    Ok(end) => break SpoolReport::parse_redacted(&end.output, &context.secrets),
                    Err(TransportError::Lost { message }) if losses < 5 => {
                        losses += 1;
                        connection.reconnect(&message).await?;
                    }
                    Err(error) => {
                        let reason =
                            format!("`{}` of an earlier run could not be followed: {error}", entry.name);
                        return Err(Gone::quarantined(reason));
                    }
                }
            };
            self.seen.push(entry.key);
            self.inherited.insert(entry.name, report);
        }
        Ok(())
    }

    /// Runs a change with the re-asked queries behind it, through deadlines and lost connections. With
    /// `leave` it is not ended when its time is over.
    pub(super) async fn run(
        &mut self,
        connection: &mut Connection,
        known: &mut Known,
        change: Spooled,
        again: &BTreeSet<Query>,
    ) -> Result<SpoolReport, Gone> {
        let report = follow_through(connection, known, &change, again).await?;
        if !matches!(report, SpoolReport::Left(_) | SpoolReport::Refused(_)) {
            self.seen.push(change.key);
        }
        Ok(report)
    }

    /// Whether an earlier connection or run had started a task.
    pub(super) fn has_inherited(&self, task: &str) -> bool {
        self.inherited.contains_key(task)
    }

    /// Notes entries whose end was seen, or that never began.
    pub(super) fn saw(&mut self, keys: impl IntoIterator<Item = String>) {
        self.seen.extend(keys);
    }

    /// Forgets on the host these notifications, by the names of their files, and what this run saw end: under
    /// its lock, since another run may come back for it. `last`: nothing follows, and this shell has the lock.
    pub(super) async fn tidy(
        &mut self,
        connection: &mut Connection,
        notifications: &[String],
        last: bool,
    ) -> Result<(), String> {
        if notifications.is_empty() && self.seen.is_empty() {
            return Ok(());
        }
        let seen = std::mem::take(&mut self.seen);
        let mut waits = TIDY_WAITS;
        loop {
            let part = connection.short("tidy", state::tidy(notifications, &seen));
            let frame = Frame { last, ..lock::frame(connection, part, &[]) };
            let (result, ends) = connection.run_frame(&frame).await;
            result.map_err(|error| error.to_string())?;
            let said = ends.first().map(|end| SpoolReport::parse(&end.output));
            let Some(SpoolReport::Refused(state)) = said else { return Ok(()) };
            if waits == 0 || !state.starts_with("busy") {
                return Err(lock::text(&state));
            }
            waits -= 1;
            tokio::time::sleep(TIDY_WAIT).await;
        }
    }
}

/// A change on its way into the spool.
#[derive(Debug)]
pub(super) struct Spooled {
    pub key: String,
    /// Name of its task.
    pub name: String,
    pub script: Script,
    /// It counts from before its files were sent.
    pub deadline: Deadline,
    /// Whether it goes on after its deadline.
    pub leave: bool,
}

async fn follow_through(
    connection: &mut Connection,
    known: &mut Known,
    change: &Spooled,
    again: &BTreeSet<Query>,
) -> Result<SpoolReport, Gone> {
    let Spooled { key, deadline, .. } = change;
    let context = connection.context().clone();
    let name = "task";
    let batch = facts::batch(again, context.deadlines.query);
    let mut first = Part {
        name: name.to_owned(),
        script: change.script.clone(),
        deadline: deadline.left(),
        limit: OUTPUT_LIMIT,
    };
    let mut losses = 0;
    loop {
        let frame = Frame { watch: connection.watch(), ..lock::frame(connection, first.clone(), &batch) };
        let mut ends = Vec::new();
        let mut on_part = |end| ends.push(end);
        let result = tokio::select! {
            biased;
            result = connection.watch_frame(&frame, &mut on_part) => Some(result),
            () = context.cancel.reached(Stop::End) => None,
        };
        let (report, mut answered) = known.take_behind(&batch, &ends);
        let report = report.map(|end| SpoolReport::parse_redacted(&end.output, &context.secrets));
        let rest = |answered: &BTreeSet<Query>| again.difference(answered).cloned().collect::<BTreeSet<_>>();
        let Some(result) = result else {
            connection.revive("stopped").await?;
            // Only the questions behind it were cut off.
            if let Some(report) = report {
                known.ask(connection, &rest(&answered)).await?;
                return Ok(report);
            }
            let ended = end_task(connection, key).await;
            return Ok(SpoolReport::Failed(format!("stopped by the second Ctrl-C; {ended}")));
        };
        match (result, report) {
            (Ok(()), Some(report)) => return Ok(report),
            (Ok(()), None) => return Ok(SpoolReport::Failed(format!("`{name}` gave no result"))),
            // A re-asked query hangs: the change itself ended well.
            (Err(TransportError::PartTimedOut { index, .. }), Some(report)) => {
                if let Some(hung) = index.checked_sub(1).and_then(|index| batch.get(index)) {
                    known.hangs(connection, hung);
                    answered.extend(hung.queries.iter().cloned());
                }
                connection.revive("a query hangs").await?;
                known.ask(connection, &rest(&answered)).await?;
                return Ok(report);
            }
            (Err(TransportError::PartTimedOut { .. }), None) => {
                connection.revive("a task missed its deadline").await?;
                if change.leave {
                    let text = format!(
                        "still running after {}: to stop it half-way would break the host, so it goes on; the next run follows it",
                        deadline.words()
                    );
                    return Ok(SpoolReport::Left(text));
                }
                let ended = end_task(connection, key).await;
                known.ask(connection, again).await?;
                return Ok(SpoolReport::Failed(format!("{}; {ended}", deadline.missed())));
            }
            (Err(TransportError::Lost { message }), report) => {
                losses += 1;
                connection.reconnect(&message).await?;
                if let Some(report) = report {
                    known.ask(connection, &rest(&answered)).await?;
                    return Ok(report);
                }
                let state = BTreeSet::from([StateQuery.into()]);
                if let Some(refused) = lock::take_again(connection, known, &state).await? {
                    return Ok(SpoolReport::Refused(refused));
                }
                // The shell that it was sent to is no more, the host is the same boot, and nobody else had
                // the lock: either the frame came through, and the spool has the task; or it never will.
                let started = is_in_spool(known, key);
                if losses < LOSSES && !started && first.name == name {
                    // A cut frame runs nothing: it is sent again.
                    first.deadline = deadline.left();
                    continue;
                }
                if losses < LOSSES && started {
                    let host = connection.host().name.clone();
                    connection.emit(EventKind::Attached { host, task: change.name.clone() });
                    first = follow(key, deadline.left());
                    continue;
                }
                known.ask(connection, again).await?;
                return Ok(SpoolReport::Failed(format!(
                    "the connection was lost again and again, and its state is gone from the host: {message}"
                )));
            }
            (Err(error), _) => return Ok(SpoolReport::Failed(error.to_string())),
        }
    }
}

pub(super) fn is_in_spool(known: &Known, key: &str) -> bool {
    let state = known.facts().get(&StateQuery).answer().and_then(|text| state::HostState::parse(text).ok());
    state.is_some_and(|state| state.spool.iter().any(|entry| entry.key == key))
}

fn follow(key: &str, deadline: Duration) -> Part {
    Part { name: "follow".to_owned(), script: state::follow(key), deadline, limit: OUTPUT_LIMIT }
}

/// Ends what a task runs on the host; in words.
pub(super) async fn end_task(connection: &mut Connection, key: &str) -> String {
    match connection.run_short("end-task", state::end_task(key)).await {
        Ok(end) => state::ended(&String::from_utf8_lossy(&end.output)),
        Err(error) => format!("its processes on the host could not be ended: {error}"),
    }
}
