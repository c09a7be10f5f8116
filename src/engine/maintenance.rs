//! Hosts taken out of service for what interrupts them, and given back.
//!
//! ```text
//!   planned ─ want ─> wanted ─ drain ─> draining ─ no job left ─> ready ─ some ─> changing ─ give_back, leave ─> over
//!                        │                  └ its deadline: given back as it was ─┐
//!                        └ drained by an operator, down, no room for long ────────┴─> left
//! ```
//!
//! What outlives this program is with the scheduler: a node is drained with a reason that names the run. Only such a
//! node is ever resumed. The next step of each host is decided in `drain.rs`, and done here.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures::future::BoxFuture;
use tokio::sync::{Notify, watch};
use tokio::time::Instant;

use super::cancel::Stop;
use super::context::{Context, Drains};
use super::drain::{Entry, Leaving, Limits, NodeState, Reason, Room, Step, Wait, away};
use super::scheduler_host::{Nodes, SchedulerHost, Snapshot};
use crate::backoff::Backoff;
use crate::events::{EventKind, MaintenancePhase as Phase};
use crate::hostlist::fold;
use crate::inventory::{Busy, Maintenance as Settings};
use crate::scheduler::{Drain, Load, Node};

/// Between two looks at all nodes: at first, and after a while in which nothing moved.
const PAUSES: (Duration, Duration) = (Duration::from_secs(3), Duration::from_secs(30));
/// The longest pause after two runs gave way to each other, in milliseconds: each has its own, so that they look again
/// at different times.
const SKEW: u64 = 2000;

/// Outcome of the wait for a host.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum DrainOutcome {
    /// It is drained and idle.
    Ready,
    /// This run does not change it.
    Left(Reason),
}

impl Drains for Maintenance {
    fn drain<'a>(&'a self, host: &'a str) -> BoxFuture<'a, Result<(), String>> {
        Box::pin(async move {
            self.enlist([host.to_owned()]);
            for entry in self.entries().iter_mut().filter(|entry| entry.name == host) {
                entry.under_way = true;
            }
            let own = BTreeSet::from([host]);
            self.want(&own);
            match self.some(&own).await.remove(host) {
                Some(DrainOutcome::Ready) => {
                    self.phase(host, Phase::Changing, "");
                    Ok(())
                }
                Some(DrainOutcome::Left(why)) => Err(why.to_string()),
                None => Err("the run was stopped before that".to_owned()),
            }
        })
    }
}

/// Findings before anything is drained.
#[derive(Debug, Default)]
pub(super) struct Found {
    /// Hosts of the inventory that are nodes.
    pub nodes: BTreeSet<String>,
    /// Nodes that an earlier run drained, with what it said.
    pub left: BTreeMap<String, String>,
    /// Nodes that others have drained or that are down, with that.
    pub away: BTreeMap<String, String>,
    /// Reason why nothing can be drained.
    pub never: Option<String>,
}

/// Orders to the scheduler that are due.
#[derive(Debug, Default)]
struct Due {
    /// Hosts that are drained.
    drain: BTreeSet<String>,
    /// Work that is asked to leave, by host.
    evict: BTreeMap<String, String>,
    /// Hosts that are given back as they were, with the reason.
    back: BTreeMap<String, Reason>,
    /// Whether a host got another state.
    moved: bool,
}

/// The hosts of a run that are taken out of service.
pub(super) struct Maintenance {
    context: Arc<Context>,
    settings: Settings,
    scheduler: SchedulerHost,
    entries: Mutex<Vec<Entry>>,
    /// Wakes who looks at the nodes.
    poked: Notify,
    /// Wakes who waits for hosts.
    moved: watch::Sender<()>,
    closed: AtomicBool,
    /// Nodes that stay drained.
    left: Mutex<BTreeSet<String>>,
}

impl Maintenance {
    /// For a project that says how; `None` without.
    pub(super) fn new(context: &Arc<Context>) -> Option<Self> {
        let settings = context.project.maintenance.clone()?;
        let scheduler = SchedulerHost::new(context, &settings)?;
        Some(Self {
            context: context.clone(),
            settings,
            scheduler,
            entries: Mutex::default(),
            poked: Notify::new(),
            moved: watch::Sender::new(()),
            closed: AtomicBool::new(false),
            left: Mutex::default(),
        })
    }

    /// Returns the name of the scheduler.
    pub(super) fn scheduler(&self) -> &'static str {
        self.scheduler.kind().name()
    }

    /// Looks at all nodes before anything is drained.
    pub(super) async fn find(&self) -> Result<Found, String> {
        let nodes = self.scheduler.nodes().await?;
        let (mut left, mut gone) = (BTreeMap::new(), BTreeMap::new());
        for (name, node) in &nodes {
            match (node.drain(), away(node)) {
                // Runs on other hosts of the cluster may go on beside this one.
                (Drain::Ours(run, _), _) if (self.context.alive)(run) => {
                    gone.insert(name.clone(), format!("run {run} has drained it and is still at work"));
                }
                (Drain::Ours(run, why), _) => {
                    left.insert(name.clone(), format!("{run}: {why}"));
                }
                (_, Some(why)) => {
                    gone.insert(name.clone(), why.to_string());
                }
                (Drain::No | Drain::Others(_), None) => {}
            }
        }
        let room = Room::of(&nodes, &self.settings);
        let never = match self.scheduler.kind().none_counted() {
            Some(none) if room.all == 0 => Some(none),
            _ if room.must > 0 && room.must >= room.all => Some(format!(
                "`keep_up` wants {} of {} nodes in service, so none can be drained",
                room.must, room.all
            )),
            _ => None,
        };
        Ok(Found { left, away: gone, never, nodes: nodes.into_keys().collect() })
    }

    /// Takes the hosts that are to be drained, in the order of their turns.
    pub(super) fn enlist(&self, names: impl IntoIterator<Item = String>) {
        self.entries().extend(names.into_iter().map(Entry::new));
    }

    /// The turn of these hosts is near.
    pub(super) fn want(&self, names: &BTreeSet<&str>) {
        for entry in self.entries().iter_mut().filter(|entry| names.contains(entry.name.as_str())) {
            if entry.state == NodeState::Planned {
                entry.state = NodeState::Wanted;
                entry.since = Instant::now();
            }
        }
        self.poked.notify_one();
    }

    /// Takes those of these hosts of which it is decided now. One may have waited for its batch for long, so
    /// it is looked at once more.
    pub(super) async fn decided(&self, names: &BTreeSet<&str>) -> BTreeMap<String, DrainOutcome> {
        let mut turns = self.take(names);
        let ready: BTreeSet<String> = turns
            .iter()
            .filter(|(_, turn)| matches!(turn, DrainOutcome::Ready))
            .map(|(name, _)| name.clone())
            .collect();
        if ready.is_empty() {
            return turns;
        }
        let seen = self.scheduler.look(&ready).await;
        for entry in self.entries().iter_mut().filter(|entry| ready.contains(&entry.name)) {
            let now = match &seen {
                Ok(seen) => {
                    let idle = seen.load(&entry.name) == Load::default();
                    match seen.nodes.get(&entry.name).map(|node| (node.drain(), node.emptied)) {
                        Some((Drain::Ours(..), true)) if idle => continue,
                        Some((Drain::Others(why), _)) => Some(Reason::OperatorMeanwhile(why.to_owned())),
                        Some((Drain::No, _)) => Some(Reason::Resumed),
                        None => Some(Reason::NoNode(self.scheduler())),
                        Some((Drain::Ours(..), _)) => None,
                    }
                }
                Err(_) => None,
            };
            if let Some(why) = now {
                entry.state = NodeState::Over;
                turns.insert(entry.name.clone(), DrainOutcome::Left(why));
            } else {
                entry.state = NodeState::Draining;
                entry.since = Instant::now();
                turns.remove(&entry.name);
            }
        }
        self.poked.notify_one();
        turns
    }

    fn take(&self, names: &BTreeSet<&str>) -> BTreeMap<String, DrainOutcome> {
        let mut turns = BTreeMap::new();
        for entry in self.entries().iter_mut().filter(|entry| names.contains(entry.name.as_str())) {
            let turn = match &entry.state {
                NodeState::Ready => {
                    entry.state = NodeState::Changing;
                    DrainOutcome::Ready
                }
                NodeState::Left(why) => {
                    let turn = DrainOutcome::Left(why.clone());
                    entry.state = NodeState::Over;
                    turn
                }
                NodeState::Planned
                | NodeState::Wanted
                | NodeState::Draining
                | NodeState::Changing
                | NodeState::Over => continue,
            };
            turns.insert(entry.name.clone(), turn);
        }
        turns
    }

    /// Waits until it is decided of one of these hosts, or the run is stopped.
    pub(super) async fn some(&self, names: &BTreeSet<&str>) -> BTreeMap<String, DrainOutcome> {
        let mut moved = self.moved.subscribe();
        loop {
            let turns = self.decided(names).await;
            if !turns.is_empty() || self.context.cancel.now() > Stop::No {
                return turns;
            }
            tokio::select! {
                () = self.context.cancel.reached(Stop::Finish) => {}
                _ = moved.changed() => {}
            }
        }
    }

    /// Whether all of these hosts are drained and idle, or are not waited for.
    pub(super) fn is_settled(&self, names: &BTreeSet<&str>) -> bool {
        let entries = self.entries();
        let mut own = entries.iter().filter(|entry| names.contains(entry.name.as_str()));
        own.all(|entry| !matches!(entry.state, NodeState::Planned | NodeState::Wanted | NodeState::Draining))
    }

    /// Whether a host is drained and idle, and waits for its batch.
    pub(super) fn is_ready(&self, name: &str) -> bool {
        self.entries().iter().any(|entry| entry.name == name && matches!(entry.state, NodeState::Ready))
    }

    /// Whether this run drained a host.
    pub(super) fn has_drained(&self, name: &str) -> bool {
        self.entries().iter().any(|entry| entry.name == name && entry.drained)
    }

    /// Drains hosts and looks when they are idle, until the run needs it no more.
    pub(super) async fn drive(&self) {
        let mut backoff = Backoff::new(PAUSES.0, PAUSES.1);
        while !self.closed.load(Ordering::Relaxed) {
            let awaited: BTreeSet<String> = {
                let entries = self.entries();
                entries.iter().filter(|entry| entry.is_awaited()).map(|entry| entry.name.clone()).collect()
            };
            if awaited.is_empty() {
                self.poked.notified().await;
                backoff = Backoff::new(PAUSES.0, PAUSES.1);
                continue;
            }
            if self.context.cancel.now() == Stop::No && self.turn(&awaited).await {
                backoff = Backoff::new(PAUSES.0, PAUSES.1);
                self.moved.send_replace(());
            }
            tokio::select! {
                () = tokio::time::sleep(backoff.pause()) => {}
                () = self.poked.notified() => backoff = Backoff::new(PAUSES.0, PAUSES.1),
            }
        }
    }

    /// Looks once and does what is due; whether anything moved.
    async fn turn(&self, awaited: &BTreeSet<String>) -> bool {
        let seen = match self.scheduler.look(awaited).await {
            Ok(seen) => seen,
            Err(why) => return self.blind(&why),
        };
        let Due { drain, evict, back, moved } = self.decide(awaited, &seen);
        if !drain.is_empty() {
            self.drain(&drain, &seen).await;
        }
        if !evict.is_empty() {
            self.evict(&evict).await;
        }
        for (name, why) in back {
            if self.has_drained(&name) {
                // What keeps it from that is said.
                let _said = self.resume(&name, &why.to_string()).await;
            } else {
                self.stays(&name, &format!("{why}; it was drained before this run"));
            }
        }
        moved
    }

    /// Takes the next step of each host in the ledger, and returns what is to be done about it.
    fn decide(&self, awaited: &BTreeSet<String>, seen: &Snapshot) -> Due {
        let now = Instant::now();
        let limits = Limits {
            scheduler: self.scheduler(),
            wait: self.settings.wait,
            leave: self.scheduler.kind().leaves_within(),
            refuses_busy: self.context.project.policy.busy == Busy::Refuse,
        };
        let mut room = Room::of(&seen.nodes, &self.settings);
        let mut due = Due::default();
        let mut entries = self.entries();
        // A host that waits for room that this run itself takes is not late.
        let own = entries
            .iter()
            .any(|entry| matches!(entry.state, NodeState::Draining | NodeState::Ready | NodeState::Changing));
        for entry in entries.iter_mut().filter(|entry| awaited.contains(&entry.name) && entry.is_awaited()) {
            if own && entry.state == NodeState::Wanted {
                entry.since = now;
            }
            let node = seen.nodes.get(&entry.name);
            let step = entry.next(node, seen.load(&entry.name), room, &limits, now);
            due.moved |= !matches!(step, Step::Wait(_) | Step::WaitForSilent(_) | Step::Evict(_));
            match step {
                Step::Wait(wait) => {
                    entry.leaves = None;
                    self.say(entry, wait);
                }
                Step::WaitForSilent(told) => {
                    entry.silent.get_or_insert(now);
                    self.say(entry, Wait::Node(told));
                }
                Step::Evict(what) => {
                    entry.leaves.get_or_insert(now);
                    if entry.leaving(&what).is_none() {
                        self.say(entry, Wait::Leaving(Leaving { what: what.clone(), kept: None }));
                    }
                    due.evict.insert(entry.name.clone(), what);
                }
                Step::Drain => {
                    if let Some(node) = node {
                        room.take(node);
                    }
                    due.drain.insert(entry.name.clone());
                    // `close` may ask in the middle of the drain.
                    entry.drained = true;
                    entry.state = NodeState::Draining;
                }
                Step::Adopt => (entry.state, entry.since) = (NodeState::Draining, now),
                Step::Ready => entry.state = NodeState::Ready,
                Step::Leave(reason) => entry.state = NodeState::Left(reason),
                Step::GiveBack(reason) => {
                    due.back.insert(entry.name.clone(), reason.clone());
                    entry.state = NodeState::Left(reason);
                }
            }
        }
        due
    }

    /// Asks the work on some hosts to leave, and says what of it did not.
    async fn evict(&self, work: &BTreeMap<String, String>) {
        let kept = self.scheduler.evict(&work.keys().cloned().collect()).await;
        for entry in self.entries().iter_mut() {
            if let (Some(why), Some(what)) = (kept.get(&entry.name), work.get(&entry.name)) {
                self.say(entry, Wait::Leaving(Leaving { what: what.clone(), kept: Some(why.clone()) }));
            }
        }
    }

    async fn drain(&self, names: &BTreeSet<String>, seen: &Snapshot) {
        let answers = self.scheduler.drain(names).await;
        let failed: BTreeMap<&String, &String> =
            answers.iter().filter_map(|(name, answer)| Some((name, answer.as_ref().err()?))).collect();
        let now = self.scheduler.nodes().await;
        for name in failed.keys() {
            // Whether it arrived is not known.
            let node = now.as_ref().ok().and_then(|nodes| nodes.get(*name));
            if node.is_none_or(|node| matches!(node.drain(), Drain::Ours(..))) {
                let _said = self.resume(name, "given back unchanged: it could not be drained").await;
            }
        }
        for entry in self.entries().iter_mut().filter(|entry| names.contains(&entry.name)) {
            if let Some(why) = failed.get(&entry.name) {
                entry.state = NodeState::Left(Reason::NotDrained((*why).clone()));
            } else {
                entry.since = Instant::now();
                let Load { jobs, movable } = seen.load(&entry.name);
                let leaving = movable.map(|what| Wait::Leaving(Leaving { what, kept: None }));
                self.say(entry, jobs.map(Wait::Jobs).or(leaving).unwrap_or(Wait::Idle));
            }
        }
        let drained = names.iter().filter(|name| !failed.contains_key(name));
        self.yield_room(drained, now.unwrap_or_default()).await;
    }

    /// Gives back what was drained a moment ago where somebody else has drained at the same moment, and both together
    /// have taken more than there is room for.
    async fn yield_room(&self, drained: impl DoubleEndedIterator<Item = &String>, now: Nodes) {
        let mut room = Room::of(&now, &self.settings);
        let mut gave_way = false;
        for name in drained.rev() {
            let counted = now.get(name).is_some_and(|node| node.counted);
            if room.must == 0 || room.usable >= room.must || !counted {
                continue;
            }
            let why = format!("given back unchanged: others have drained nodes meanwhile, and {room}");
            if self.resume(name, &why).await.is_err() {
                continue;
            }
            room.usable += 1;
            for entry in self.entries().iter_mut().filter(|entry| entry.name == *name) {
                (entry.state, entry.drained, entry.since) = (NodeState::Wanted, false, Instant::now());
                entry.said = None;
            }
            gave_way = true;
        }
        if gave_way {
            let run = self.context.emitter.run().bytes();
            let sum = run.fold(0, |sum: u64, byte| sum.wrapping_mul(31).wrapping_add(byte.into()));
            tokio::time::sleep(Duration::from_millis(sum % SKEW)).await;
        }
    }

    /// The scheduler does not answer. Nobody waits longer for it than for a host.
    fn blind(&self, why: &str) -> bool {
        let mut moved = false;
        for entry in self.entries().iter_mut() {
            if !entry.is_awaited() {
                continue;
            }
            if entry.since.elapsed() >= self.settings.wait {
                entry.state = NodeState::Left(Reason::Scheduler(why.to_owned()));
                moved = true;
                if entry.drained {
                    self.stays(&entry.name, &format!("it was drained, and {why}"));
                }
            } else {
                self.say(entry, Wait::Scheduler(why.to_owned()));
            }
        }
        moved
    }

    /// A host is as it should be.
    pub(super) async fn give_back(&self, name: &str, why: &str) -> Result<(), String> {
        self.over(name);
        let result = self.resume(name, why).await;
        // There is room for another one soon.
        self.poked.notify_one();
        result
    }

    async fn resume(&self, name: &str, why: &str) -> Result<(), String> {
        let result = async {
            let nodes = self.scheduler.nodes().await.map_err(Reason::Scheduler)?;
            match nodes.get(name).map(Node::drain) {
                Some(Drain::Ours(..)) => {}
                Some(Drain::No) => return Ok(false),
                Some(Drain::Others(why)) => return Err(Reason::OperatorMeanwhile(why.to_owned())),
                None => return Err(Reason::NoNode(self.scheduler())),
            }
            self.scheduler.resume(name).await.map(|()| true).map_err(Reason::Scheduler)
        }
        .await;
        match result {
            Ok(ours) => {
                let why =
                    if ours { why } else { "somebody had resumed it already: jobs may have started before" };
                self.phase(name, Phase::Back, why);
                Ok(())
            }
            Err(reason) => {
                let error = format!("it could not be given back: {reason}");
                if reason.is_operator() {
                    self.phase(name, Phase::LeftDrained, &error);
                } else {
                    self.stays(name, &error);
                }
                Err(error)
            }
        }
    }

    /// A host is not as it should be: it stays drained, and its reason says what is wrong.
    pub(super) async fn leave(&self, name: &str, why: &str) {
        self.over(name);
        let said = match self.scheduler.nodes().await {
            Ok(nodes) => match nodes.get(name).map(Node::drain) {
                Some(Drain::No) => {
                    let why = format!("somebody resumed it meanwhile, although: {why}");
                    return self.phase(name, Phase::Back, &why);
                }
                Some(Drain::Ours(..)) => self.scheduler.say(name, why).await,
                Some(Drain::Others(_)) => return self.phase(name, Phase::LeftDrained, why),
                None => Ok(()),
            },
            Err(error) => Err(error),
        };
        if let Err(error) = said {
            tracing::debug!(host = name, %error, "reason");
        }
        self.stays(name, why);
    }

    /// Names a host that stays drained, with the command that gives it back.
    pub(super) fn stays(&self, name: &str, why: &str) {
        self.enter(name, Phase::LeftDrained, why, self.scheduler.by_hand(name));
    }

    /// Gives back what was drained and not begun, and names what stays drained.
    pub(super) async fn close(&self, found: &BTreeMap<String, String>) {
        let rest: Vec<(String, bool)> = {
            let mut entries = self.entries();
            let open = |entry: &&mut Entry| !matches!(entry.state, NodeState::Over | NodeState::Changing);
            let entries = entries.iter_mut().filter(open);
            entries
                .map(|entry| {
                    entry.state = NodeState::Over;
                    (entry.name.clone(), entry.drained)
                })
                .collect()
        };
        for (name, drained) in rest {
            if drained {
                // What keeps it from that is said.
                let _said = self.resume(&name, "given back unchanged: its turn did not come").await;
            } else if let Some(why) = found.get(&name) {
                self.stays(&name, &format!("a run drained it ({why}), and its turn did not come"));
            }
        }
        let known: BTreeSet<String> = self.entries().iter().map(|entry| entry.name.clone()).collect();
        for (name, why) in found {
            if !known.contains(name) {
                self.stays(name, &format!("a run drained it ({why}), and this one has not looked at it"));
            }
        }
        self.closed.store(true, Ordering::Relaxed);
        self.poked.notify_one();
        self.scheduler.close().await;
    }

    /// Ends the connection, where nothing was begun.
    pub(super) async fn hang_up(&self) {
        self.scheduler.close().await;
    }

    /// Returns the number of nodes that stay drained.
    pub(super) fn left(&self) -> usize {
        self.left.lock().unwrap_or_else(PoisonError::into_inner).len()
    }

    fn over(&self, name: &str) {
        for entry in self.entries().iter_mut().filter(|entry| entry.name == name) {
            entry.state = NodeState::Over;
        }
    }

    /// Says what a host waits for, unless that was the last report about it.
    fn say(&self, entry: &mut Entry, wait: Wait) {
        let phase = if entry.state == NodeState::Wanted { Phase::Waiting } else { Phase::Draining };
        if entry.said.as_ref() != Some(&wait) {
            self.phase(&entry.name, phase, &wait.to_string());
            entry.said = Some(wait);
        }
    }

    /// Says that a host enters a phase.
    pub(super) fn phase(&self, host: &str, phase: Phase, why: &str) {
        self.enter(host, phase, why, None);
    }

    fn enter(&self, host: &str, phase: Phase, why: &str, by_hand: Option<String>) {
        let mut left = self.left.lock().unwrap_or_else(PoisonError::into_inner);
        if phase == Phase::LeftDrained {
            left.insert(host.to_owned());
        } else {
            left.remove(host);
        }
        drop(left);
        let (host, why) = (host.to_owned(), why.to_owned());
        self.context.emitter.emit(EventKind::HostMaintenance { host, phase, why, by_hand });
    }

    fn entries(&self) -> MutexGuard<'_, Vec<Entry>> {
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Names of hosts in a sentence.
pub(super) fn names(hosts: &BTreeSet<String>) -> String {
    fold(hosts.iter().map(String::as_str))
}
