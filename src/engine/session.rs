//! One host of a run: its connection, its facts, and how it stands.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;

use super::boot::Boot;
use super::context::{Context, Mode};
use super::hints;
use super::state::{self, HostState, SpoolReport};
use crate::events::{EventKind, HostStatus, TaskCounts};
use crate::facts::{self, Answer, BatchPart, Facts, Query};
use crate::inventory::Host;
use crate::plan::Planner;
use crate::probes;
use crate::project::Registered;
use crate::transport::{Frame, Part, PartEnd, Remote, TransportError};

/// Why nothing more can be done on a host.
#[derive(Debug)]
pub(super) struct Gone(pub HostStatus);

/// The host's kernel lock, as this session holds it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Lock {
    /// Not asked for: nothing was changed yet.
    Free,
    /// Held; large files go below this directory.
    Held { uploads: String },
}

/// One host of a run.
pub struct Session {
    pub(super) context: Arc<Context>,
    pub(super) host: Host,
    pub(super) remote: Option<Box<dyn Remote>>,
    pub(super) facts: Facts,
    pub(super) state: HostState,
    pub(super) gathered: bool,
    pub(super) lock: Lock,
    /// Handlers that this run notified or an earlier one left.
    pub(super) notified: BTreeSet<String>,
    /// Spool entries whose end this run saw: forgotten with the next frame.
    pub(super) seen: Vec<String>,
    /// Ends of spool entries that an earlier connection or run started, by key.
    pub(super) inherited: BTreeMap<String, SpoolReport>,
    pub(super) counts: TaskCounts,
    pub(super) status: Option<HostStatus>,
    pub(super) failed: bool,
    pub(super) pending: u64,
    pub(super) drift: bool,
    pub(super) locked: bool,
    pub(super) digests: Vec<String>,
    /// What asks for a reboot.
    pub(super) boot: Boot,
    /// Questions that some task of the run asks all hosts.
    pub(super) asked_by_all: BTreeSet<Query>,
    /// Registered answers of tasks that ended, by the index of their step; none where it was skipped.
    pub(super) answers: BTreeMap<usize, Option<Registered>>,
    /// What a plan of earlier stages will touch; only a plan has it, an apply has done it.
    pub(super) planner: Option<Planner>,
    /// Whether only a new session sees what was changed.
    pub(super) stale: bool,
    started: Instant,
    execs: u64,
}

impl std::fmt::Debug for Session {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Session").field("host", &self.host.name).finish_non_exhaustive()
    }
}

impl Session {
    /// A host that was not touched yet.
    pub fn new(context: Arc<Context>, host: Host) -> Self {
        let mut facts = Facts::default();
        // No host is asked: the engine tells it to itself.
        facts.insert(Query::Reboot, Answer::Reboot(Vec::new()));
        Self {
            context,
            host,
            remote: None,
            facts,
            state: HostState::default(),
            gathered: false,
            lock: Lock::Free,
            notified: BTreeSet::new(),
            seen: Vec::new(),
            inherited: BTreeMap::new(),
            counts: TaskCounts::default(),
            status: None,
            failed: false,
            pending: 0,
            drift: false,
            locked: false,
            digests: Vec::new(),
            boot: Boot::default(),
            asked_by_all: BTreeSet::new(),
            answers: BTreeMap::new(),
            planner: None,
            stale: false,
            started: Instant::now(),
            execs: 0,
        }
    }

    /// Name of the host.
    pub fn name(&self) -> &str {
        &self.host.name
    }

    /// Index of the host in the inventory.
    pub fn index(&self) -> usize {
        self.host.index
    }

    /// Whether the run is over for this host.
    pub fn is_over(&self) -> bool {
        self.status.is_some()
    }

    /// Whether its queries were asked and it was not lost since.
    pub fn was_gathered(&self) -> bool {
        self.gathered && !self.is_gone()
    }

    /// What is known of the host.
    pub fn facts(&self) -> &Facts {
        &self.facts
    }

    /// How the host ended, with its tasks by outcome and the changes its plan still holds.
    pub fn result(&self) -> (HostStatus, TaskCounts, u64) {
        (self.status.clone().unwrap_or(HostStatus::Ok), self.counts, self.pending)
    }

    /// Whether a task failed on it.
    pub fn has_failed(&self) -> bool {
        self.failed
    }

    /// Whether it could not be reached or was lost.
    pub fn is_gone(&self) -> bool {
        matches!(self.status, Some(HostStatus::Unreachable { .. } | HostStatus::Quarantined { .. }))
    }

    /// Whether another run held its lock.
    pub fn locked(&self) -> bool {
        self.locked
    }

    /// Whether some steps are for it.
    pub(super) fn has_work(&self, range: Range<usize>) -> bool {
        let steps = self.context.project.steps.get(range).unwrap_or_default();
        steps.iter().any(|step| step.hosts.contains(&self.host.index))
    }

    /// Whether the run still has something for it, from a step on.
    pub(super) fn has_more(&self, from: usize) -> bool {
        !self.gathered || self.has_work(from..self.context.project.steps.len())
    }

    /// Ends it before its end, because the run is stopped.
    pub(super) fn not_started(&mut self, reason: &str) {
        if self.status.is_none() {
            self.status = Some(HostStatus::NotStarted(reason.to_owned()));
        }
    }

    /// Digest of its plan over all stages; `None` when it was not planned to the end.
    pub fn plan_digest(&self) -> Option<String> {
        if self.is_gone() || self.digests.is_empty() { None } else { Some(self.digests.join("-")) }
    }

    /// Whether it still needs a reboot.
    pub fn needs_reboot(&self) -> bool {
        !self.boot.pending().is_empty()
    }

    /// Whether its plan holds changes.
    pub fn has_drift(&self) -> bool {
        self.drift
    }

    pub(super) fn emit(&self, kind: EventKind) {
        self.context.emitter.emit(kind);
    }

    pub(super) fn warn(&self, message: impl Into<String>) {
        self.emit(EventKind::Warning { host: Some(self.host.name.clone()), message: message.into() });
    }

    /// Opens the connection and asks the first queries in the same round trip.
    pub(super) async fn open(&mut self, wanted: &BTreeSet<Query>) -> Result<(), Gone> {
        let host = self.host.name.clone();
        self.emit(EventKind::HostConnecting { host: host.clone() });
        let began = Instant::now();
        let parts = self.batch(wanted);
        let frame = self.query_frame(&parts);
        let mut ends = Vec::new();
        let deadline = self.context.deadlines.connect;
        let transport = self.context.transport.clone();
        let opened = transport.open_and_run(&self.host, deadline, &frame, &mut |end| ends.push(end)).await;
        let (remote, result) = opened.map_err(|error| self.unreachable(&error))?;
        self.execs += 1;
        self.remote = Some(remote);
        self.emit(EventKind::HostConnected { host, seconds: began.elapsed().as_secs_f64() });
        let budget = self.context.deadlines.gather;
        match tokio::time::timeout(budget, self.take_answers(parts, result, ends)).await {
            Ok(result) => result,
            Err(_) => Err(not_gathered(budget)),
        }
    }

    fn unreachable(&self, error: &TransportError) -> Gone {
        match error {
            TransportError::Connect { kind, message } => Gone(HostStatus::Unreachable {
                kind: *kind,
                reason: message.clone(),
                hint: hints::connect(*kind, &self.host, &self.context.project),
            }),
            TransportError::Lost { .. }
            | TransportError::PartTimedOut { .. }
            | TransportError::Protocol { .. } => Gone(HostStatus::Quarantined { reason: error.to_string() }),
        }
    }

    /// Gets a lost host back within the budget.
    pub(super) async fn reconnect(&mut self, reason: &str) -> Result<(), Gone> {
        self.emit(EventKind::HostLost { host: self.host.name.clone(), reason: reason.to_owned() });
        self.drop_remote().await;
        let budget = self.context.deadlines.reconnect;
        let end = Instant::now() + budget;
        let mut pause = Duration::from_millis(500);
        loop {
            match self.context.transport.open(&self.host, self.context.deadlines.connect).await {
                Ok(remote) => {
                    self.remote = Some(remote);
                    return Ok(());
                }
                Err(error) if Instant::now() + pause < end => {
                    tracing::debug!(host = %self.host.name, %error, "reconnect");
                    tokio::time::sleep(pause).await;
                    pause = (pause * 2).min(Duration::from_secs(8));
                }
                Err(error) => {
                    let reason = format!("{reason}; not back within {}: {error}", human(budget));
                    return Err(Gone(HostStatus::Quarantined { reason }));
                }
            }
        }
    }

    pub(super) async fn drop_remote(&mut self) {
        if let Some(mut remote) = self.remote.take() {
            remote.close().await;
        }
        self.lock = Lock::Free;
    }

    /// Asks queries in one exec; a hung kind costs a second one, and its answers are unknown.
    pub(super) async fn ask(&mut self, queries: &BTreeSet<Query>) -> Result<(), Gone> {
        if queries.is_empty() {
            return Ok(());
        }
        let budget = self.context.deadlines.gather;
        let parts = self.batch(queries);
        match tokio::time::timeout(budget, self.ask_parts(parts)).await {
            Ok(result) => result,
            Err(_) => Err(not_gathered(budget)),
        }
    }

    fn batch(&self, queries: &BTreeSet<Query>) -> Vec<BatchPart> {
        probes::in_jobs_of(facts::batch(queries, self.context.deadlines.query), &self.host)
    }

    fn query_frame(&self, parts: &[BatchPart]) -> Frame {
        Frame {
            prelude: state::FUNCTIONS.to_owned(),
            parts: parts.iter().map(|part| part.part.clone()).collect(),
            secrets: self.context.secrets.clone(),
        }
    }

    async fn ask_parts(&mut self, parts: Vec<BatchPart>) -> Result<(), Gone> {
        let frame = self.query_frame(&parts);
        let (result, ends) = self.run_frame(&frame).await;
        self.take_answers(parts, result, ends).await
    }

    /// Takes what a frame of queries gave, and asks again for what it did not give.
    async fn take_answers(
        &mut self,
        mut parts: Vec<BatchPart>,
        mut result: Result<(), TransportError>,
        mut ends: Vec<PartEnd>,
    ) -> Result<(), Gone> {
        let mut lost = 0;
        loop {
            for end in &ends {
                if let Some(part) = parts.get(end.index) {
                    self.facts.absorb(part, end);
                }
            }
            let answered = ends.len();
            match result {
                Ok(()) => return Ok(()),
                Err(TransportError::PartTimedOut { index, part, deadline }) => {
                    let reason = format!("`{part}` gave no answer within {}", human(deadline));
                    self.warn(reason.clone());
                    if let Some(hung) = parts.get(index) {
                        self.facts.unknown(hung, &reason);
                    }
                    parts.drain(..parts.len().min(index + 1));
                    if let Some(remote) = self.remote.as_mut() {
                        if let Err(error) = remote.revive().await {
                            let reason =
                                format!("{reason}, and the host does not take a second session: {error}");
                            return Err(Gone(HostStatus::Quarantined { reason }));
                        }
                        // The shell that held the lock is gone.
                        self.lock = Lock::Free;
                    }
                }
                Err(TransportError::Lost { message }) => {
                    lost += 1;
                    if lost > 3 {
                        return Err(Gone(HostStatus::Quarantined {
                            reason: format!("lost again and again: {message}"),
                        }));
                    }
                    parts.drain(..parts.len().min(answered));
                    self.reconnect(&message).await?;
                }
                Err(error) => return Err(self.unreachable(&error)),
            }
            if parts.is_empty() {
                return Ok(());
            }
            let frame = self.query_frame(&parts);
            (result, ends) = self.run_frame(&frame).await;
        }
    }

    /// Runs a frame and collects its parts.
    pub(super) async fn run_frame(&mut self, frame: &Frame) -> (Result<(), TransportError>, Vec<PartEnd>) {
        self.execs += 1;
        let mut ends = Vec::new();
        let Some(remote) = self.remote.as_mut() else {
            let message = "there is no connection".to_owned();
            return (Err(TransportError::Protocol { message }), ends);
        };
        let result = remote.run(frame, &mut |end| ends.push(end)).await;
        (result, ends)
    }

    /// Runs one script as a frame of its own; its output.
    pub(super) async fn run_part(&mut self, part: Part, prelude: String) -> Result<PartEnd, TransportError> {
        let frame = Frame { prelude, parts: vec![part], secrets: self.context.secrets.clone() };
        let (result, ends) = self.run_frame(&frame).await;
        result?;
        ends.into_iter()
            .next()
            .ok_or_else(|| TransportError::Protocol { message: "a part gave no end".to_owned() })
    }

    /// Asks what all tasks of the run need, in one exec, and attaches to work that is going on.
    pub(super) async fn gather(&mut self, wanted: &BTreeSet<Query>) -> Result<(), Gone> {
        let began = Instant::now();
        let execs = self.execs;
        self.open(wanted).await?;
        self.gathered = true;
        self.read_state()?;
        if self.context.mode == Mode::Apply {
            if !self.state.spool.is_empty() {
                self.attach().await?;
                // What ended meanwhile may have changed anything.
                self.ask(wanted).await?;
            }
            self.settle_guards().await;
        }
        if wanted.contains(&Query::Probe(probes::LOGIN)) && self.wants_login() {
            self.look_at_login().await;
        }
        let unknown =
            wanted.iter().filter(|q| matches!(self.facts.get(q), Some(Answer::Unknown(_)) | None)).count();
        self.emit(EventKind::HostGathered {
            host: self.host.name.clone(),
            queries: wanted.len() as u64,
            execs: self.execs - execs,
            unknown: unknown as u64,
            seconds: began.elapsed().as_secs_f64(),
        });
        self.tell_fleet();
        Ok(())
    }

    fn read_state(&mut self) -> Result<(), Gone> {
        if let Some(Answer::State(text)) = self.facts.get(&Query::State) {
            match HostState::parse(text) {
                Ok(state) => {
                    self.state = state;
                    self.notified.extend(self.left_behind());
                }
                Err(reason) => return Err(Gone(HostStatus::Quarantined { reason })),
            }
        }
        Ok(())
    }

    /// Ends the connection and says how the host ended.
    pub async fn finish(&mut self) {
        if self.remote.is_some()
            && !self.seen.is_empty()
            && !matches!(self.status, Some(HostStatus::Quarantined { .. }))
        {
            let seen = std::mem::take(&mut self.seen);
            let part = Part {
                name: "tidy".to_owned(),
                script: state::tidy(&[], &seen),
                deadline: self.context.deadlines.query,
                limit: 4096,
            };
            if let Err(error) = self.run_part(part, state::FUNCTIONS.to_owned()).await {
                tracing::debug!(host = %self.host.name, %error, "tidy");
            }
        }
        self.drop_remote().await;
        self.tell_reboot();
        self.tell_handlers();
        // Nobody asks for those of tasks any more, and a thousand hosts have many.
        self.facts.keep(&self.context.queries);
        let status = match self.status.take() {
            Some(status) => status,
            None if self.failed => HostStatus::Failed,
            None => HostStatus::Ok,
        };
        self.emit(EventKind::HostFinished {
            host: self.host.name.clone(),
            status: status.clone(),
            tasks: self.counts,
            seconds: self.started.elapsed().as_secs_f64(),
        });
        self.status = Some(status);
    }
}

fn not_gathered(budget: Duration) -> Gone {
    Gone(HostStatus::Quarantined { reason: format!("its facts were not gathered within {}", human(budget)) })
}

/// A duration as people write it: `15s`, `10m`, `2h`.
pub(super) fn human(duration: Duration) -> String {
    let seconds = duration.as_secs();
    if seconds == 0 {
        return format!("{}ms", duration.as_millis());
    }
    if seconds.is_multiple_of(3600) {
        return format!("{}h", seconds / 3600);
    }
    if seconds.is_multiple_of(60) && seconds >= 120 {
        return format!("{}m", seconds / 60);
    }
    format!("{seconds}s")
}
