//! Hosts taken out of service for what interrupts them, and given back.
//!
//! ```text
//!   planned ─ want ─> wanted ─ drain ─> draining ─ no job left ─> ready ─ some ─> changing ─ give_back, leave ─> over
//!                        │                  └ its deadline: given back as it was ─┐
//!                        └ drained by an operator, down, no room for long ────────┴─> left
//! ```
//!
//! What outlives this program is with the scheduler: a node is drained with a reason that names the run. Only such a
//! node is ever resumed.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures::future::BoxFuture;
use tokio::sync::{Notify, watch};
use tokio::time::Instant;

use super::cancel::Stop;
use super::context::{Context, Drains};
use super::hints::human;
use super::scheduler_host::{Nodes, SchedulerHost, Snapshot};
use crate::backoff::Backoff;
use crate::events::{EventKind, MaintenancePhase as Phase};
use crate::hostlist::fold;
use crate::inventory::{Busy, Maintenance as Settings, Share};
use crate::scheduler::{Drain, Load, Node};

/// Time for which a node may be silent that was resumed a moment ago.
const SILENCE: Duration = Duration::from_mins(2);
/// Between two looks at all nodes: at first, and after a while in which nothing moved.
const PAUSES: (Duration, Duration) = (Duration::from_secs(3), Duration::from_secs(30));
/// The longest pause after two runs gave way to each other, in milliseconds: each has its own, so that they look again
/// at different times.
const SKEW: u64 = 2000;

/// Outcome of the wait for a host.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Turn {
    /// It is drained and idle.
    Ready,
    /// It is not changed by this run: why.
    Left(String),
}

/// State of a host.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Stand {
    /// Its batch is not near.
    Planned,
    /// It is to be drained when there is room.
    Wanted,
    /// It gets no new job.
    Draining,
    /// It has no job.
    Ready,
    /// The run works on it.
    Changing,
    /// The run does not change it: why. Nobody was told yet.
    Left(String),
    /// Nothing is to be done about it any more.
    Over,
}

#[derive(Debug)]
struct Entry {
    name: String,
    stand: Stand,
    /// Whether it is in the middle of its tasks. Who has the room it would wait for may wait for it.
    under_way: bool,
    /// Whether this run drained it.
    drained: bool,
    /// Since when it is waited for: that there is room for it, then that its jobs end.
    since: Instant,
    /// Since when it has only what is moved elsewhere.
    leaves: Option<Instant>,
    /// Since when it does not answer the scheduler.
    silent: Option<Instant>,
    /// Last message about it.
    said: String,
}

/// Numbers of nodes that limit how many may be drained now.
#[derive(Debug, Clone, Copy)]
struct Room {
    usable: usize,
    all: usize,
    must: usize,
}

impl Room {
    fn of(nodes: &Nodes, settings: &Settings) -> Self {
        let counted = || nodes.values().filter(|node| node.counted);
        let all = counted().count();
        let usable = counted().filter(|node| node.usable).count();
        let must = match settings.keep_up {
            None => 0,
            Some(Share::Hosts(number)) => usize::try_from(number).unwrap_or(usize::MAX),
            Some(Share::Percent(percent)) => {
                all.saturating_mul(usize::try_from(percent).unwrap_or(100)).div_ceil(100)
            }
        };
        Self { usable, all, must }
    }

    fn is_left(self) -> bool {
        self.must == 0 || self.usable > self.must
    }

    fn told(self) -> String {
        let Self { usable, all, must } = self;
        format!("{usable} of {all} nodes are in service, and `keep_up` wants {must}")
    }
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
                Some(Turn::Ready) => {
                    self.phase(host, Phase::Changing, "");
                    Ok(())
                }
                Some(Turn::Left(why)) => Err(why),
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
                    gone.insert(name.clone(), why);
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
        let entry = |name| Entry {
            name,
            stand: Stand::Planned,
            under_way: false,
            drained: false,
            since: Instant::now(),
            leaves: None,
            silent: None,
            said: String::new(),
        };
        self.entries().extend(names.into_iter().map(entry));
    }

    /// The turn of these hosts is near.
    pub(super) fn want(&self, names: &BTreeSet<&str>) {
        for entry in self.entries().iter_mut().filter(|entry| names.contains(entry.name.as_str())) {
            if entry.stand == Stand::Planned {
                entry.stand = Stand::Wanted;
                entry.since = Instant::now();
            }
        }
        self.poked.notify_one();
    }

    /// Takes those of these hosts of which it is decided now. One may have waited for its batch for long, so
    /// it is looked at once more.
    pub(super) async fn decided(&self, names: &BTreeSet<&str>) -> BTreeMap<String, Turn> {
        let mut turns = self.take(names);
        let ready: BTreeSet<String> = turns
            .iter()
            .filter(|(_, turn)| matches!(turn, Turn::Ready))
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
                        Some((Drain::Others(why), _)) => {
                            Some(operator("an operator drained it meanwhile", why))
                        }
                        Some((Drain::No, _)) => {
                            Some("somebody resumed it while it was waited for".to_owned())
                        }
                        None => Some(self.no_node()),
                        Some((Drain::Ours(..), _)) => None,
                    }
                }
                Err(_) => None,
            };
            if let Some(why) = now {
                entry.stand = Stand::Over;
                turns.insert(entry.name.clone(), Turn::Left(why));
            } else {
                entry.stand = Stand::Draining;
                entry.since = Instant::now();
                turns.remove(&entry.name);
            }
        }
        self.poked.notify_one();
        turns
    }

    fn take(&self, names: &BTreeSet<&str>) -> BTreeMap<String, Turn> {
        let mut turns = BTreeMap::new();
        for entry in self.entries().iter_mut().filter(|entry| names.contains(entry.name.as_str())) {
            let turn = match &entry.stand {
                Stand::Ready => {
                    entry.stand = Stand::Changing;
                    Turn::Ready
                }
                Stand::Left(why) => {
                    let turn = Turn::Left(why.clone());
                    entry.stand = Stand::Over;
                    turn
                }
                Stand::Planned | Stand::Wanted | Stand::Draining | Stand::Changing | Stand::Over => continue,
            };
            turns.insert(entry.name.clone(), turn);
        }
        turns
    }

    /// Waits until it is decided of one of these hosts, or the run is stopped.
    pub(super) async fn some(&self, names: &BTreeSet<&str>) -> BTreeMap<String, Turn> {
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
        own.all(|entry| !matches!(entry.stand, Stand::Planned | Stand::Wanted | Stand::Draining))
    }

    /// Whether a host is drained and idle, and waits for its batch.
    pub(super) fn is_ready(&self, name: &str) -> bool {
        self.entries().iter().any(|entry| entry.name == name && matches!(entry.stand, Stand::Ready))
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
                let waits = |entry: &&Entry| matches!(entry.stand, Stand::Wanted | Stand::Draining);
                entries.iter().filter(waits).map(|entry| entry.name.clone()).collect()
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
        let mut room = Room::of(&seen.nodes, &self.settings);
        let (mut drain, mut back) = (BTreeSet::new(), BTreeMap::new());
        let mut evict = BTreeSet::new();
        let mut moved = false;
        // Who waits for room that this run itself takes is not late.
        let takes_room =
            |entry: &Entry| matches!(entry.stand, Stand::Draining | Stand::Ready | Stand::Changing);
        let own = self.entries().iter().any(takes_room);
        for entry in self.entries().iter_mut().filter(|entry| awaited.contains(&entry.name)) {
            if !matches!(entry.stand, Stand::Wanted | Stand::Draining) {
                continue;
            }
            if own && entry.stand == Stand::Wanted {
                entry.since = Instant::now();
            }
            let late = entry.since.elapsed() >= self.settings.wait;
            let node = seen.nodes.get(&entry.name);
            let Load { jobs, movable } = seen.load(&entry.name);
            let next = match (&entry.stand, node) {
                (_, None) => Stand::Left(self.no_node()),
                (Stand::Wanted, Some(node)) => match node.drain() {
                    Drain::Ours(..) => {
                        entry.since = Instant::now();
                        Stand::Draining
                    }
                    _ if let Some(why) = away(node) => Stand::Left(why),
                    _ if node.silent => {
                        if entry.silent.get_or_insert_with(Instant::now).elapsed() < SILENCE {
                            self.say(entry, Phase::Waiting, node.told.clone());
                            continue;
                        }
                        Stand::Left(node.told.clone())
                    }
                    Drain::Others(_) | Drain::No => match jobs {
                        Some(jobs) if self.context.project.policy.busy == Busy::Refuse => {
                            Stand::Left(format!("{jobs} runs there, and `policy.busy` is refuse"))
                        }
                        _ => {
                            let counts = node.counted && node.usable;
                            if !counts || room.is_left() {
                                room.usable -= usize::from(counts);
                                drain.insert(entry.name.clone());
                                // Who closes meanwhile asks after the drain.
                                entry.drained = true;
                                Stand::Draining
                            } else if entry.under_way {
                                Stand::Left(format!("{}; the next run drains it first", room.told()))
                            } else if late {
                                let wait = human(self.settings.wait);
                                Stand::Left(format!("it had no turn within {wait}: {}", room.told()))
                            } else {
                                self.say(entry, Phase::Waiting, room.told());
                                continue;
                            }
                        }
                    },
                },
                (_, Some(node)) => match node.drain() {
                    Drain::No => Stand::Left("somebody resumed it while it was waited for".to_owned()),
                    Drain::Others(why) => Stand::Left(operator("an operator drained it meanwhile", why)),
                    Drain::Ours(..) => match (jobs, movable) {
                        (None, None) if node.emptied => Stand::Ready,
                        (None, Some(movable)) => {
                            let leaves = entry.leaves.get_or_insert_with(Instant::now);
                            let within = self.scheduler.kind().leaves_within();
                            if leaves.elapsed() < within {
                                evict.insert(entry.name.clone());
                                if entry.said.is_empty() || !entry.said.starts_with(&movable) {
                                    self.say(entry, Phase::Draining, movable);
                                }
                                continue;
                            }
                            let kept = entry.said.strip_prefix(&movable).unwrap_or_default();
                            let why = format!("not left within {}: {movable}{kept}", human(within));
                            back.insert(entry.name.clone(), why.clone());
                            Stand::Left(why)
                        }
                        (jobs, _) if late => {
                            let jobs = jobs.unwrap_or_else(|| node.told.clone());
                            let why = format!("not idle within {}: {jobs}", human(self.settings.wait));
                            back.insert(entry.name.clone(), why.clone());
                            Stand::Left(why)
                        }
                        (jobs, _) => {
                            entry.leaves = None;
                            self.say(entry, Phase::Draining, jobs.unwrap_or_else(|| node.told.clone()));
                            continue;
                        }
                    },
                },
            };
            moved = true;
            entry.stand = next;
        }
        if !drain.is_empty() {
            self.drain(&drain, &seen).await;
        }
        if !evict.is_empty() {
            let kept = self.scheduler.evict(&evict).await;
            for entry in self.entries().iter_mut() {
                let Some(why) = kept.get(&entry.name) else { continue };
                let movable = seen.load(&entry.name).movable.unwrap_or_default();
                self.say(entry, Phase::Draining, format!("{movable}: {why}"));
            }
        }
        for (name, why) in back {
            if self.has_drained(&name) {
                // What keeps it from that is said.
                let _said = self.resume(&name, &why).await;
            } else {
                self.stays(&name, &format!("{why}; it was drained before this run"));
            }
        }
        moved
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
                entry.stand = Stand::Left(format!("it cannot be drained: {why}"));
            } else {
                entry.since = Instant::now();
                let Load { jobs, movable } = seen.load(&entry.name);
                let said = jobs.or(movable).unwrap_or_else(|| "no job runs there".to_owned());
                self.say(entry, Phase::Draining, said);
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
            let why =
                format!("given back unchanged: others have drained nodes meanwhile, and {}", room.told());
            if self.resume(name, &why).await.is_err() {
                continue;
            }
            room.usable += 1;
            for entry in self.entries().iter_mut().filter(|entry| entry.name == *name) {
                (entry.stand, entry.drained, entry.since) = (Stand::Wanted, false, Instant::now());
                entry.said.clear();
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
            if !matches!(entry.stand, Stand::Wanted | Stand::Draining) {
                continue;
            }
            if entry.since.elapsed() >= self.settings.wait {
                entry.stand = Stand::Left(why.to_owned());
                moved = true;
                if entry.drained {
                    self.stays(&entry.name, &format!("it was drained, and {why}"));
                }
            } else {
                let phase = if entry.stand == Stand::Wanted { Phase::Waiting } else { Phase::Draining };
                self.say(entry, phase, why.to_owned());
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
            match self.scheduler.nodes().await?.get(name).map(Node::drain) {
                Some(Drain::Ours(..)) => {}
                Some(Drain::No) => return Ok(false),
                Some(Drain::Others(why)) => return Err(operator("an operator drained it meanwhile", why)),
                None => return Err(self.no_node()),
            }
            self.scheduler.resume(name).await.map(|()| true)
        }
        .await;
        match result {
            Ok(ours) => {
                let why =
                    if ours { why } else { "somebody had resumed it already: jobs may have started before" };
                self.phase(name, Phase::Back, why);
                Ok(())
            }
            Err(error) => {
                let error = format!("it could not be given back: {error}");
                self.stays(name, &error);
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
                Some(Drain::Others(_)) | None => Ok(()),
            },
            Err(error) => Err(error),
        };
        if let Err(error) = said {
            tracing::debug!(host = name, %error, "reason");
        }
        self.stays(name, why);
    }

    /// Names a host that stays drained.
    pub(super) fn stays(&self, name: &str, why: &str) {
        self.phase(name, Phase::LeftDrained, why);
    }

    /// Gives back what was drained and not begun, and names what stays drained.
    pub(super) async fn close(&self, found: &BTreeMap<String, String>) {
        let rest: Vec<(String, bool)> = {
            let mut entries = self.entries();
            let open = |entry: &&mut Entry| !matches!(entry.stand, Stand::Over | Stand::Changing);
            let entries = entries.iter_mut().filter(open);
            entries
                .map(|entry| {
                    entry.stand = Stand::Over;
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
            entry.stand = Stand::Over;
        }
    }

    fn say(&self, entry: &mut Entry, phase: Phase, why: String) {
        if entry.said != why {
            self.phase(&entry.name, phase, &why);
            entry.said = why;
        }
    }

    /// Says where a host stands.
    pub(super) fn phase(&self, host: &str, phase: Phase, why: &str) {
        let mut left = self.left.lock().unwrap_or_else(PoisonError::into_inner);
        if phase == Phase::LeftDrained {
            left.insert(host.to_owned());
        } else {
            left.remove(host);
        }
        drop(left);
        let by_hand = (phase == Phase::LeftDrained && !why.contains("an operator"))
            .then(|| self.scheduler.by_hand(host))
            .flatten();
        let (host, why) = (host.to_owned(), why.to_owned());
        self.context.emitter.emit(EventKind::HostMaintenance { host, phase, why, by_hand });
    }

    fn no_node(&self) -> String {
        format!("{} has no node of this name any more", self.scheduler.kind().name())
    }

    fn entries(&self) -> MutexGuard<'_, Vec<Entry>> {
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns the reason why a node is not touched: others have drained it, or it is down.
fn away(node: &Node) -> Option<String> {
    match node.drain() {
        Drain::Ours(..) => None,
        Drain::Others(why) => Some(operator("an operator has drained it", why)),
        Drain::No => (node.away && !node.silent).then(|| node.told.clone()),
    }
}

fn operator(what: &str, why: &str) -> String {
    let why = if why.is_empty() { "no reason was given" } else { why };
    format!("{what} ({why}) and is left alone")
}

/// Names of hosts in a sentence.
pub(super) fn names(hosts: &BTreeSet<String>) -> String {
    fold(hosts.iter().map(String::as_str))
}
