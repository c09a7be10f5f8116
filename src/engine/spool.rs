//! Changes in the spool of one host: each outlives its connection and its run.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use super::cancel::Stop;
use super::connection::{CHANGE_LOSSES, Connection, Gone};
use super::deadline::Deadline;
use super::known::Known;
use super::lock;
use super::row::{self, Entry, Row, Start};
use super::state::{self, SpoolEntry, SpoolReport, SpoolState};
use crate::events::{EventKind, HostStatus};
use crate::facts::Query;
use crate::transport::{Frame, Script, TransportError};

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

    /// Notes entries whose end was seen, or that never began: they are forgotten with the next frame.
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
                let part = row::follow(&entry.key, FOLLOW);
                let ran = tokio::select! {
                    biased;
                    ran = connection.run_watched(part) => ran,
                    () = context.cancel.reached(Stop::Finish) => {
                        return Err(Gone(HostStatus::NotStarted(format!("stopped while `{}` of an earlier run is still running", entry.name))));
                    }
                };
                match ran {
                    Ok(end) => break SpoolReport::parse_redacted(&end.output, &context.secrets),
                    Err(TransportError::Lost { message }) if losses + 1 < CHANGE_LOSSES => {
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
        let row = Row {
            entries: vec![Entry {
                key: change.key.clone(),
                name: change.name,
                timeout: change.deadline.limit(),
            }],
            start: Start::Alone { script: change.script, leave: change.leave },
            deadline: change.deadline,
        };
        let mut ends = row.run(connection, known, again, &mut |_| {}).await?;
        let report = ends.pop().map_or(SpoolReport::Unstarted, |end| end.report);
        if !matches!(report, SpoolReport::Left(_) | SpoolReport::Refused(_)) {
            self.seen.push(change.key);
        }
        Ok(report)
    }

    /// Whether an earlier connection or run had started a task.
    pub(super) fn has_inherited(&self, task: &str) -> bool {
        self.inherited.contains_key(task)
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
