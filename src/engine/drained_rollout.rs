//! A rollout on a cluster that carries jobs: a silent look at the plans of all hosts, then batch by batch through all
//! stages. What interrupts is done only on hosts that are drained and idle.
//!
//! ```text
//!   look ─> who is drained, who goes when ─> for each batch: wave of hosts that are ready ─> stages ─> settle
//!                                             └ the next batch is drained meanwhile
//! ```

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::Semaphore;
use tokio::time::Instant;

use super::cancel::{self, Cancel, Stop};
use super::context::{Consent, Context, Mode};
use super::health_gate;
use super::hosts::{healthy, leaders, together, warn_of_absent};
use super::maintenance::{DrainOutcome, Found, Maintenance, names};
use super::rollout::Budget;
use super::session::{Service, Session};
use super::work::Leaders;
use crate::active::{self, Fleet};
use crate::checks;
use crate::events::{
    CheckStatus, Emitter, Event, EventKind, HostStatus, MaintenancePhase as Phase, PlannedTask, Sink,
};
use crate::facts::Query;
use crate::inventory::Host;
use crate::inventory::rollout::Gate;
use crate::project::Slot;
use crate::words::count;

/// Time for which a finding must last to count.
const AGAIN: Duration = Duration::from_secs(30);

/// Whether a run is rolled out this way.
pub(super) fn is_for(context: &Context) -> bool {
    context.mode == Mode::Apply && context.project.is_live()
}

/// Hosts by what their plans hold.
#[derive(Debug, Default)]
struct Look {
    /// Hosts that were reached.
    reached: BTreeSet<usize>,
    /// Hosts with something to do.
    work: BTreeSet<usize>,
    /// Classes of what the plans of hosts interrupt.
    interrupts: BTreeMap<usize, BTreeSet<String>>,
}

/// A rollout.
struct Roll<'a> {
    context: &'a Arc<Context>,
    stages: &'a [Range<usize>],
    budget: &'a Arc<Budget>,
    leaders: Leaders,
    /// Maintenance that drains hosts, where they are drained.
    maintenance: Option<&'a Maintenance>,
    found: &'a Found,
    /// Hosts that are drained.
    held: BTreeSet<usize>,
    /// Hosts that passed the gate.
    passed: Mutex<BTreeSet<usize>>,
}

/// Rolls a project out; how many nodes stay drained is the second result.
pub(super) async fn roll(
    context: &Arc<Context>,
    sessions: Vec<Session>,
    stages: &[Range<usize>],
    budget: &Arc<Budget>,
) -> (Vec<Session>, usize) {
    let hosts: Vec<Host> = sessions.iter().map(|session| session.host().clone()).collect();
    let look = look(context, &hosts, stages).await;
    for range in stages {
        warn_of_absent(context, range.clone());
    }
    let maintenance = Maintenance::new(context).map(Arc::new);
    let (found, unknown) = match &maintenance {
        None => (Found::default(), None),
        Some(maintenance) => match maintenance.find().await {
            Ok(found) => (found, None),
            Err(why) => (Found::default(), Some(why)),
        },
    };
    let mut sessions: BTreeMap<usize, Session> =
        sessions.into_iter().map(|session| (session.index(), session)).collect();
    let mut done = Vec::new();
    let mut held = BTreeSet::new();
    if let Some(maintenance) = &maintenance {
        held = to_drain(context, maintenance.scheduler(), &look, &found, unknown.as_deref(), &mut sessions)
            .await;
        for session in sessions.values_mut().filter(|session| session.service == Service::Working) {
            session.drains = Some(maintenance.clone());
        }
        let gone = |session: &Session| {
            let why =
                found.away.get(session.name()).filter(|_| look.interrupts.contains_key(&session.index()));
            why.cloned()
        };
        let away: Vec<(usize, String)> =
            sessions.values().filter_map(|session| Some((session.index(), gone(session)?))).collect();
        for (index, why) in away {
            let Some(mut session) = sessions.remove(&index) else { continue };
            session.not_started(&why);
            session.finish().await;
            done.push(session);
        }
    }
    let all: Vec<usize> = sessions.keys().copied().collect();
    let work: BTreeSet<usize> = look.work.union(&held).copied().collect();
    let slots = context.project.slots(&all, &work);
    budget.begin_with(slots.iter().filter(|slot| slot.canary).flat_map(|slot| slot.hosts.clone()).collect());
    let order: Vec<usize> = slots.iter().flat_map(|slot| slot.hosts.iter().copied()).collect();
    let able: Vec<usize> = order.iter().copied().filter(|host| look.reached.contains(host)).collect();
    let leaders = stages.iter().flat_map(|range| leaders(context, &able, range.clone())).collect();
    let passed = Mutex::default();
    let roll = Roll {
        context,
        stages,
        budget,
        leaders,
        maintenance: maintenance.as_deref(),
        found: &found,
        held,
        passed,
    };
    let Some(maintenance) = &maintenance else {
        done.extend(roll.slots(slots, sessions).await);
        return (done, 0);
    };
    maintenance.enlist(roll.nodes(&order));
    let work = async {
        let done = roll.slots(slots, sessions).await;
        maintenance.close(&found.left).await;
        done
    };
    let (rolled, ()) = tokio::join!(work, maintenance.drive());
    done.extend(rolled);
    (done, maintenance.left())
}

/// Says beside a plan what an apply would find at the scheduler: why it would drain nobody, and which hosts it would leave.
pub(super) async fn preview(context: &Arc<Context>, sessions: &[Session]) {
    let to_do = |session: &&Session| session.result().2 > 0;
    let hosts: BTreeSet<&str> = sessions.iter().filter(to_do).map(Session::name).collect();
    if hosts.is_empty() {
        return;
    }
    let Some(maintenance) = Maintenance::new(context) else { return };
    let warn = |host: Option<&str>, message: String| {
        context.emitter.emit(EventKind::Warning { host: host.map(str::to_owned), message });
    };
    match maintenance.find().await {
        Err(why) => warn(None, format!("an apply would do nothing that interrupts jobs: {why}")),
        Ok(found) => {
            if let Some(never) = found.never {
                warn(None, format!("an apply would do nothing that interrupts jobs: {never}"));
            }
            for (host, why) in found.away.iter().filter(|(host, _)| hosts.contains(host.as_str())) {
                warn(Some(host), format!("an apply would do nothing that interrupts jobs: {why}"));
            }
            for (host, why) in found.left.iter().filter(|(host, _)| hosts.contains(host.as_str())) {
                warn(
                    Some(host),
                    format!("it stayed drained ({why}): an apply begins with it and gives it back"),
                );
            }
        }
    }
    maintenance.hang_up().await;
}

/// The hosts that are drained: what an earlier run left so, and those whose changes interrupt when that is agreed to.
/// Every other node is not to be interrupted.
async fn to_drain(
    context: &Context,
    scheduler: &str,
    look: &Look,
    found: &Found,
    unknown: Option<&str>,
    sessions: &mut BTreeMap<usize, Session>,
) -> BTreeSet<usize> {
    let name = |host: &usize| context.project.at(*host).map(|host| host.name.clone()).unwrap_or_default();
    let warn = |message| context.emitter.emit(EventKind::Warning { host: None, message });
    let (nodes, others): (BTreeSet<usize>, BTreeSet<usize>) = look
        .interrupts
        .keys()
        .copied()
        .partition(|host| unknown.is_some() || found.nodes.contains(&name(host)));
    if !others.is_empty() {
        warn(format!(
            "{scheduler} has no node {}: what interrupts there is done without a drain, when the host is idle",
            names(&others.iter().map(name).collect())
        ));
    }
    if let Some(why) = unknown {
        warn(format!("which nodes are drained is not known: {why}"));
    }
    let is_left = |host: &usize| found.left.contains_key(&name(host)) && sessions.contains_key(host);
    let mut held: BTreeSet<usize> = look.reached.iter().copied().filter(is_left).collect();
    let fresh: BTreeSet<usize> = nodes
        .iter()
        .copied()
        .filter(|host| !held.contains(host) && !found.away.contains_key(&name(host)))
        .collect();
    let mut why = unknown.or(found.never.as_deref()).map(str::to_owned);
    if why.is_none() && !fresh.is_empty() {
        let classes: BTreeSet<&String> =
            fresh.iter().filter_map(|host| look.interrupts.get(host)).flatten().collect();
        let classes = classes.into_iter().cloned().collect::<Vec<_>>().join(", ");
        let what = format!(
            "{} ({}) will be drained, changed and given back; the changes interrupt: {classes}",
            count(fresh.len() as u64, "host"),
            names(&fresh.iter().map(name).collect())
        );
        // Nothing is drained for what nobody agreed to.
        if context.consent.has(&what).await {
            held.extend(&fresh);
        } else {
            why = Some("agree with --yes".to_owned());
        }
    }
    for (index, session) in sessions {
        if unknown.is_some() || found.nodes.contains(session.name()) {
            let foreseen = unknown.is_some() || found.never.is_some() || nodes.contains(index);
            session.service = match &why {
                Some(why) if foreseen => Service::Carries(why.clone()),
                _ => Service::Working,
            };
        }
    }
    held
}

/// Takes of all plans only what is looked for: those of thousands of hosts are large.
#[derive(Debug, Default, Clone)]
struct Plans(Arc<Mutex<BTreeMap<String, BTreeSet<String>>>>);

impl Sink for Plans {
    fn write(&mut self, event: &Event) -> Result<(), String> {
        if let EventKind::HostPlanned { host, tasks } = &event.kind
            && tasks.iter().any(PlannedTask::is_to_do)
        {
            let mut plans = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            let classes = tasks.iter().flat_map(PlannedTask::interrupts).map(str::to_owned);
            plans.entry(host.clone()).or_default().extend(classes);
        }
        Ok(())
    }
}

/// Plans all hosts without a word.
async fn look(context: &Arc<Context>, hosts: &[Host], stages: &[Range<usize>]) -> Look {
    let plans = Plans::default();
    let silent = silent(context, BTreeSet::new(), plans.clone(), context.cancel.clone());
    let sessions = silently(&silent, hosts, stages).await;
    let mut plans = plans.0.lock().unwrap_or_else(PoisonError::into_inner);
    let mut look = Look::default();
    for session in &sessions {
        if session.was_gathered() {
            look.reached.insert(session.index());
        }
        let Some(classes) = plans.remove(session.name()) else { continue };
        look.work.insert(session.index());
        if !classes.is_empty() {
            look.interrupts.insert(session.index(), classes);
        }
    }
    look
}

/// A look of which nobody but `plans` hears.
fn silent(context: &Arc<Context>, queries: BTreeSet<Query>, plans: Plans, cancel: Cancel) -> Arc<Context> {
    let (emitter, events) = Emitter::new(context.emitter.run(), Some(Box::new(plans)));
    drop(events);
    let own = context.clone();
    Arc::new(Context {
        project: context.project.clone(),
        transport: context.transport.clone(),
        emitter: Arc::new(emitter.hiding(context.secrets.clone())),
        mode: Mode::Plan,
        deadlines: context.deadlines,
        cancel,
        secrets: context.secrets.clone(),
        controller: context.controller.clone(),
        alive: Box::new(move |run| (own.alive)(run)),
        queries,
        expected: None,
        consent: Consent::refused(),
        reboots: Semaphore::new(1),
        fleet: context.fleet.clone(),
        watch: None,
    })
}

/// Plans hosts in sessions of their own. What they say of themselves is known to all.
async fn silently(silent: &Arc<Context>, hosts: &[Host], stages: &[Range<usize>]) -> Vec<Session> {
    let mut sessions: Vec<Session> =
        hosts.iter().map(|host| Session::new(silent.clone(), host.clone())).collect();
    let last = stages.len().saturating_sub(1);
    let free = Arc::new(Budget::new(silent.clone(), &sessions));
    for (number, range) in stages.iter().enumerate() {
        let leaders = leaders(silent, &healthy(&sessions), range.clone());
        let (mut done, open): (Vec<_>, Vec<_>) = sessions.into_iter().partition(Session::is_over);
        done.extend(together(silent, open, range.clone(), &leaders, &free, number == last).await);
        done.sort_by_key(Session::index);
        sessions = done;
    }
    sessions
}

impl Roll<'_> {
    /// All batches, one after another.
    async fn slots(&self, slots: Vec<Slot>, mut sessions: BTreeMap<usize, Session>) -> Vec<Session> {
        let mut done = Vec::new();
        let mut slots = slots.into_iter().peekable();
        while let Some(Slot { name, hosts, .. }) = slots.next() {
            let batch: Vec<Session> = hosts.iter().filter_map(|host| sessions.remove(host)).collect();
            if let Some(name) = name.filter(|_| self.budget.refusal().is_none()) {
                let hosts = batch.iter().map(|session| session.name().to_owned()).collect();
                self.context.emitter.emit(EventKind::BatchStarted { name, hosts });
            }
            let next = slots.peek().map(|slot| self.nodes(&slot.hosts)).unwrap_or_default();
            done.extend(self.slot(batch, &next).await);
        }
        done
    }

    /// Names of those of these hosts that are drained.
    fn nodes(&self, hosts: &[usize]) -> Vec<String> {
        let held = hosts.iter().filter(|host| self.held.contains(host));
        held.filter_map(|host| self.context.project.at(*host)).map(|host| host.name.clone()).collect()
    }

    /// One batch: hosts go together as they get ready.
    async fn slot(&self, batch: Vec<Session>, next: &[String]) -> Vec<Session> {
        let next: BTreeSet<&str> = next.iter().map(String::as_str).collect();
        let (mut waiting, mut ready): (Vec<Session>, Vec<Session>) =
            batch.into_iter().partition(|session| self.held.contains(&session.index()));
        let own: Vec<String> = waiting.iter().map(|session| session.name().to_owned()).collect();
        let own: BTreeSet<&str> = own.iter().map(String::as_str).collect();
        let mut done = Vec::new();
        loop {
            if let Some(reason) = self.budget.refusal() {
                for mut session in ready.into_iter().chain(waiting) {
                    if session.has_more(0) {
                        session.not_started(&reason);
                    }
                    done.push(self.settle(session).await);
                }
                return done;
            }
            let mut turns = BTreeMap::new();
            if let Some(maintenance) = self.maintenance {
                maintenance.want(&own);
                turns = if ready.is_empty() && !waiting.is_empty() {
                    maintenance.some(&own).await
                } else {
                    maintenance.decided(&own).await
                };
                if maintenance.is_settled(&own) {
                    maintenance.want(&next);
                }
            }
            for mut session in std::mem::take(&mut waiting) {
                match turns.get(session.name()) {
                    Some(DrainOutcome::Ready) => {
                        session.service = Service::Drained;
                        self.phase(session.name(), Phase::Changing);
                        ready.push(session);
                    }
                    Some(DrainOutcome::Left(reason)) => {
                        let why = reason.to_string();
                        session.not_started(&why);
                        self.budget.note_left(&session, &why);
                        session.finish().await;
                        done.push(session);
                    }
                    None => waiting.push(session),
                }
            }
            if ready.is_empty() && waiting.is_empty() {
                return done;
            }
            done.extend(self.wave(std::mem::take(&mut ready)).await);
        }
    }

    /// Hosts that go together through all stages.
    async fn wave(&self, mut sessions: Vec<Session>) -> Vec<Session> {
        for range in self.stages {
            let (mut done, open): (Vec<_>, Vec<_>) = sessions.into_iter().partition(Session::is_over);
            done.extend(together(self.context, open, range.clone(), &self.leaders, self.budget, false).await);
            for session in &mut done {
                session.under_way = true;
            }
            sessions = done;
        }
        self.hold(&mut sessions).await;
        self.verify(&mut sessions).await;
        let mut done = Vec::new();
        for session in sessions {
            done.push(self.settle(session).await);
        }
        done
    }

    /// Takes the lock of hosts that an earlier run left drained: it may be at work there still, on another controller.
    async fn hold(&self, sessions: &mut [Session]) {
        for session in sessions {
            let left = session.service == Service::Drained && self.found.left.contains_key(session.name());
            if left && !session.is_over() && !session.has_failed() {
                session.hold().await;
            }
        }
    }

    /// Looks at drained hosts before jobs get them, and at all that were changed where the inventory asks for it.
    async fn verify(&self, sessions: &mut [Session]) {
        let gated = self.context.project.rollout.gate.is_some();
        let mut changed = Vec::new();
        for session in sessions.iter().filter(|session| !session.is_over() && !session.has_failed()) {
            let held = session.service == Service::Drained;
            let (_, tasks, _) = session.result();
            if held {
                self.phase(session.name(), Phase::Verifying);
            }
            if held || gated && tasks.changed + tasks.ran > 0 {
                changed.push(session.host().clone());
            }
        }
        if changed.is_empty() {
            return;
        }
        let began = Instant::now();
        let mut wrong = self.judge(&changed).await;
        if !wrong.is_empty() && self.context.cancel.now() == Stop::No {
            // What starts after a boot may not be there yet.
            tokio::time::sleep(AGAIN).await;
            let doubtful: Vec<Host> =
                changed.iter().filter(|host| wrong.contains_key(&host.index)).cloned().collect();
            wrong = self.judge(&doubtful).await;
        }
        if self.context.project.rollout.gate == Some(Gate::Active) && self.context.cancel.now() == Stop::No {
            changed.retain(|host| !wrong.contains_key(&host.index));
            wrong.extend(self.test(&changed).await);
        }
        let mut passed = self.passed.lock().unwrap_or_else(PoisonError::into_inner);
        for session in sessions {
            if let Some(findings) = wrong.remove(&session.index()) {
                session.fails_gate(&findings, began.elapsed().as_secs_f64());
                self.budget.note(session);
            } else if changed.iter().any(|host| host.index == session.index()) {
                passed.insert(session.index());
            }
        }
    }

    /// Also in a run that starts nothing new: what was changed is looked at before it is given back.
    async fn judge(&self, hosts: &[Host]) -> BTreeMap<usize, Vec<String>> {
        let (_stopper, never) = cancel::channel();
        let silent = silent(self.context, checks::queries(), Plans::default(), never);
        tokio::select! {
            sessions = silently(&silent, hosts, self.stages) => health_gate::judge(&sessions),
            () = self.context.cancel.reached(Stop::End) => {
                let why = "the run was stopped before it was looked at";
                hosts.iter().map(|host| (host.index, vec![why.to_owned()])).collect()
            }
        }
    }

    /// Tests hosts with each other; what failed, by their index.
    async fn test(&self, hosts: &[Host]) -> BTreeMap<usize, Vec<String>> {
        let mut members: Vec<&Host> = hosts.iter().collect();
        if let [alone] = hosts {
            match self.neighbour(alone.index) {
                Some(other) => members.push(other),
                None => self.context.emitter.emit(EventKind::Warning {
                    host: Some(alone.name.clone()),
                    message: "the gate tests it alone: no host that is idle now could be its partner"
                        .to_owned(),
                }),
            }
        }
        let members = active::members(&self.context.project, members);
        let (transport, secrets) = (self.context.transport.as_ref(), &self.context.secrets);
        let parallel = self.context.project.rollout.parallel;
        let (fleet, silent) = Fleet::open(transport, &members, secrets, parallel).await;
        let traffic = tokio::select! {
            traffic = active::run(&fleet, silent, &|_| {}) => traffic,
            () = self.context.cancel.reached(Stop::End) => {
                fleet.stop().await;
                let why = "the run was stopped before it was tested";
                return hosts.iter().map(|host| (host.index, vec![why.to_owned()])).collect();
            }
        };
        fleet.close().await;
        let findings = |host: &Host| {
            let results = traffic.results.get(&host.name).into_iter().flatten();
            health_gate::findings(
                results.filter(|it| matches!(it.status, CheckStatus::Fail | CheckStatus::Unknown)),
            )
        };
        let found = hosts.iter().map(|host| (host.index, findings(host)));
        found.filter(|(_, findings)| !findings.is_empty()).collect()
    }

    /// A host that nobody works on: drained and idle before its turn, or without a scheduler one that passed.
    fn neighbour(&self, alone: usize) -> Option<&Host> {
        let index = match self.maintenance {
            Some(maintenance) => {
                let mut held = self.held.iter().filter_map(|index| self.context.project.at(*index));
                // What an earlier run left drained may be the one that is bad.
                held.find(|host| {
                    maintenance.is_ready(&host.name) && !self.found.left.contains_key(&host.name)
                })?
                .index
            }
            None => *self.passed.lock().unwrap_or_else(PoisonError::into_inner).last()?,
        };
        self.context.project.at(index).filter(|host| host.index != alone)
    }

    fn phase(&self, host: &str, phase: Phase) {
        if let Some(maintenance) = self.maintenance {
            maintenance.phase(host, phase, "");
        }
    }

    /// A host's turn is over: it is given back, or stays as it is.
    async fn settle(&self, mut session: Session) -> Session {
        if let Some(maintenance) = self.maintenance {
            self.give_back(maintenance, &mut session).await;
        }
        if !session.has_finished() {
            session.finish().await;
        }
        session
    }

    async fn give_back(&self, maintenance: &Maintenance, session: &mut Session) {
        let name = session.name().to_owned();
        let mine = maintenance.has_drained(&name);
        if session.service != Service::Drained {
            // Its turn did not come.
            if mine {
                let (HostStatus::NotStarted(why), ..) = session.result() else { return };
                self.back(maintenance, session, &format!("given back unchanged: {why}")).await;
            }
            return;
        }
        let (status, tasks, _) = session.result();
        let untouched = tasks.changed + tasks.ran + tasks.failed == 0;
        let why = match status {
            _ if session.has_failed() => session.trouble().unwrap_or("a task failed").to_owned(),
            HostStatus::Ok if mine || tasks.blocked == 0 => return self.back(maintenance, session, "").await,
            HostStatus::Ok => "what is left of its plan is blocked".to_owned(),
            HostStatus::NotStarted(why) if mine && untouched => {
                return self.back(maintenance, session, &format!("given back unchanged: {why}")).await;
            }
            HostStatus::NotStarted(why) if untouched => {
                let before = self.found.left.get(&name).map_or("", String::as_str);
                return maintenance.stays(&name, &format!("a run drained it ({before}); {why}"));
            }
            HostStatus::NotStarted(why)
            | HostStatus::Quarantined { reason: why }
            | HostStatus::Unreachable { reason: why, .. }
            | HostStatus::Offline(why) => why,
            HostStatus::Failed => "a task failed".to_owned(),
        };
        maintenance.leave(&name, &why).await;
    }

    async fn back(&self, maintenance: &Maintenance, session: &Session, why: &str) {
        if let Err(why) = maintenance.give_back(session.name(), why).await {
            session.warn(why);
        }
    }
}
