//! Knowledge of one host: what was asked, what it answered, what is unknown.

use std::collections::BTreeSet;
use std::time::Duration;

use jiff::Timestamp;

use super::connection::{Connection, Gone, LOSSES, Ran};
use super::hints::human;
use super::state;
use crate::facts::base::BaseQuery;
use crate::facts::clock::{Offset, OffsetQuery};
use crate::facts::filesystem::FilesystemsQuery;
use crate::facts::reboot::RebootQuery;
use crate::facts::software::in_jobs_of;
use crate::facts::system::SystemQuery;
use crate::facts::{self, Answer, BatchPart, CommandQuery, Facts, Query, Touches};
use crate::transport::{Frame, PartEnd, TransportError};

/// Knowledge of one host.
#[derive(Debug)]
pub(super) struct Known {
    facts: Facts,
    gathered: bool,
    /// Queries without an answer within their deadline: a change of another task is no reason to wait for
    /// them again.
    hung: BTreeSet<Query>,
}

impl Known {
    /// Nothing was asked yet.
    pub(super) fn nothing() -> Self {
        let mut facts = Facts::default();
        // No host is asked: the engine tells it to itself.
        facts.put(RebootQuery, Vec::new());
        Self { facts, gathered: false, hung: BTreeSet::new() }
    }

    pub(super) fn facts(&self) -> &Facts {
        &self.facts
    }

    /// Whether the first questions were asked.
    pub(super) fn is_gathered(&self) -> bool {
        self.gathered
    }

    /// Puts in what no host is asked.
    pub(super) fn tell(&mut self, query: Query, answer: Answer) {
        self.facts.insert(query, answer);
    }

    /// Notes the reasons why a reboot is due.
    pub(super) fn tell_reboot(&mut self, reasons: Vec<String>) {
        self.facts.put(RebootQuery, reasons);
    }

    /// Takes what a part of another session answered.
    pub(super) fn absorb(&mut self, part: &BatchPart, end: &PartEnd) {
        self.facts.absorb(part, end);
    }

    /// Notes that a part gave no answer and why.
    pub(super) fn unknown(&mut self, part: &BatchPart, reason: &str) {
        self.facts.unknown(part, reason);
    }

    /// Forgets what changes may have touched; the queries that it had answers for.
    pub(super) fn forget(&mut self, touches: &Touches) -> BTreeSet<Query> {
        self.facts.forget(touches)
    }

    /// Forgets what a session gets: it was asked in another one.
    pub(super) fn forget_session(&mut self) {
        self.facts.forget_asked();
    }

    /// Keeps the answers to these only, and how far the clock is off, which stands beside one of them.
    pub(super) fn keep(&mut self, queries: &BTreeSet<Query>) {
        let mut kept = queries.clone();
        kept.extend(queries.contains(&SystemQuery.into()).then(|| OffsetQuery.into()));
        self.facts.keep(&kept);
    }

    /// Takes what a change may have touched from the facts; of that, what is still of use is to be
    /// asked again, with the task's own queries. What hung is left until its own task is next.
    pub(super) fn touched(
        &mut self,
        touches: &Touches,
        own: &BTreeSet<Query>,
        later: &BTreeSet<Query>,
    ) -> BTreeSet<Query> {
        let mut again = self.facts.forget(touches);
        again.retain(|query| {
            let wanted = later.contains(query) || query.is::<FilesystemsQuery>();
            own.contains(query) || (wanted && !self.hung.contains(query))
        });
        again.extend(own.iter().cloned());
        again
    }

    /// Returns the queries that nobody asked yet.
    pub(super) fn missing(&self, mut queries: BTreeSet<Query>) -> BTreeSet<Query> {
        queries.retain(|query| self.facts.find(query).is_none());
        queries
    }

    /// Returns the queries that nobody asked yet, or that the host said nothing of.
    pub(super) fn unanswered(&self, mut queries: BTreeSet<Query>) -> BTreeSet<Query> {
        queries.retain(|query| self.facts.find(query).is_none() || self.facts.was_silent(query));
        queries
    }

    /// Opens the connection and asks the first queries in the same round trip.
    pub(super) async fn open(
        &mut self,
        connection: &mut Connection,
        wanted: &BTreeSet<Query>,
    ) -> Result<(), Gone> {
        let parts = batch(connection, wanted);
        let asked = crate::events::now();
        let ran = connection.open(&query_frame(connection, &parts)).await?;
        let budget = connection.context().deadlines.gather;
        match tokio::time::timeout(budget, self.take_answers(connection, parts, asked, ran)).await {
            Ok(result) => result?,
            Err(_) => return Err(self.not_gathered(budget)),
        }
        self.gathered = true;
        // What every host can say at once was late because the host is loaded, not because it hangs.
        let mut late = wanted.clone();
        late.retain(|query| query.is::<BaseQuery>() && !self.facts.knows(query));
        self.ask(connection, &late).await
    }

    /// Asks queries in one exec; a hung kind costs a second one, and its answers are unknown.
    pub(super) async fn ask(
        &mut self,
        connection: &mut Connection,
        queries: &BTreeSet<Query>,
    ) -> Result<(), Gone> {
        if queries.is_empty() {
            return Ok(());
        }
        let budget = connection.context().deadlines.gather;
        let parts = batch(connection, queries);
        match tokio::time::timeout(budget, self.ask_parts(connection, parts)).await {
            Ok(result) => result,
            Err(_) => Err(self.not_gathered(budget)),
        }
    }

    async fn ask_parts(&mut self, connection: &mut Connection, parts: Vec<BatchPart>) -> Result<(), Gone> {
        let frame = query_frame(connection, &parts);
        let asked = crate::events::now();
        let ran = connection.run_frame(&frame).await;
        self.take_answers(connection, parts, asked, ran).await
    }

    /// Takes what a frame of queries gave, and asks again for what it did not give.
    async fn take_answers(
        &mut self,
        connection: &mut Connection,
        mut parts: Vec<BatchPart>,
        mut asked: Timestamp,
        (mut result, mut ends): Ran,
    ) -> Result<(), Gone> {
        let mut lost = 0;
        loop {
            for end in &ends {
                if let Some(part) = parts.get(end.index) {
                    self.facts.absorb(part, end);
                    if part.queries.iter().any(Query::is::<SystemQuery>) {
                        self.compare_clocks(asked);
                    }
                }
            }
            let answered = ends.len();
            match result {
                Ok(()) => return Ok(()),
                Err(TransportError::PartTimedOut { index, part, deadline }) => {
                    let reason = match parts.get(index) {
                        Some(hung) => self.hangs(connection, hung),
                        None => no_answer(&part, deadline),
                    };
                    parts.drain(..parts.len().min(index + 1));
                    connection.revive_once(&reason).await?;
                }
                Err(TransportError::Lost { message }) => {
                    lost += 1;
                    if lost > LOSSES {
                        return Err(Gone::quarantined(format!("lost again and again: {message}")));
                    }
                    parts.drain(..parts.len().min(answered));
                    connection.reconnect(&message).await?;
                }
                Err(error) => return Err(connection.unreachable(&error)),
            }
            if parts.is_empty() {
                return Ok(());
            }
            let frame = query_frame(connection, &parts);
            asked = crate::events::now();
            (result, ends) = connection.run_frame(&frame).await;
        }
    }

    /// Notes how far the clock of the host is from ours, where it just said what the time is.
    fn compare_clocks(&mut self, asked: Timestamp) {
        let files = self.facts.get(&SystemQuery).answer().and_then(|system| system.files.as_ref().ok());
        if let Some(seconds) = files.and_then(|files| files.now) {
            self.facts.put(OffsetQuery, Offset::new(seconds, asked, crate::events::now()));
        }
    }

    /// Takes the answers of questions that ran behind so many other parts; what was answered.
    pub(super) fn take_after(
        &mut self,
        others: usize,
        batch: &[BatchPart],
        ends: &[PartEnd],
    ) -> BTreeSet<Query> {
        let mut answered = BTreeSet::new();
        for end in ends {
            if let Some(part) = end.index.checked_sub(others).and_then(|index| batch.get(index)) {
                self.facts.absorb(part, end);
                answered.extend(part.queries.iter().cloned());
            }
        }
        answered
    }

    fn not_gathered(&self, budget: Duration) -> Gone {
        let hung = self.hung.iter().filter_map(Query::get::<CommandQuery>);
        let hung: Vec<_> = hung.map(|asked| format!("`{}`", asked.command.display())).collect();
        let hung =
            if hung.is_empty() { String::new() } else { format!("; no answer from {}", hung.join(", ")) };
        Gone::quarantined(format!("its facts were not gathered within {}{hung}", human(budget)))
    }

    /// Notes that a kind of questions hangs, in words, and warns of it once.
    pub(super) fn hangs(&mut self, connection: &Connection, hung: &BatchPart) -> String {
        let reason = no_answer(&hung.title(), hung.part.deadline);
        self.facts.unknown(hung, &reason);
        if !hung.queries.iter().all(|query| self.hung.contains(query)) {
            connection.warn(reason.clone());
        }
        self.hung.extend(hung.queries.iter().filter(|query| query.is::<CommandQuery>()).cloned());
        reason
    }
}

fn no_answer(what: &str, deadline: Duration) -> String {
    format!("`{what}` gave no answer within {}", human(deadline))
}

fn batch(connection: &Connection, queries: &BTreeSet<Query>) -> Vec<BatchPart> {
    in_jobs_of(facts::batch(queries, connection.context().deadlines.query), connection.host().mpi_user())
}

fn query_frame(connection: &Connection, parts: &[BatchPart]) -> Frame {
    Frame {
        prelude: state::FUNCTIONS.to_owned(),
        parts: parts.iter().map(|part| part.part.clone()).collect(),
        secrets: connection.context().secrets.clone(),
        ..Frame::default()
    }
}
