//! Hosts taken out of service for what interrupts them, and given back.
//!
//! ```text
//!   planned ─ want ─> wanted ─ drain ─> draining ─ no job left ─> ready ─ some ─> changing ─ give_back, leave ─> over
//!                        │                  └ its deadline: given back as it was ─┐
//!                        └ drained by an operator, down, no room for long ────────┴─> left
//! ```
//!
//! What outlives this program is in the scheduler: a node is drained with a reason that names the run. Only such a
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
use crate::backoff::Backoff;
use crate::events::{EventKind, MaintenancePhase as Phase};
use crate::hostlist::fold;
use crate::inventory::{Busy, Host, Maintenance as Settings, Share};
use crate::scheduler::{self, Drain, Job, Known};
use crate::transport::{Frame, Part, PartEnd, Remote, TransportError};

/// How long a node may be silent that was resumed a moment ago.
const SILENCE: Duration = Duration::from_mins(2);
/// Between two looks at all nodes: at first, and after a while in which nothing moved.
const PAUSES: (Duration, Duration) = (Duration::from_secs(3), Duration::from_secs(30));

/// What a host waited for came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Turn {
    /// It is drained and idle.
    Ready,
    /// It is not changed by this run: why.
    Left(String),
}

/// Where a host stands.
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
    /// When it was wanted, then when it was drained.
    since: Instant,
    /// What was said of it last.
    said: String,
}

/// What the scheduler says at one moment.
struct Seen {
    nodes: BTreeMap<String, Known>,
    jobs: Vec<Job>,
}

/// How many nodes may be drained now.
#[derive(Debug, Clone, Copy)]
struct Room {
    usable: usize,
    all: usize,
    must: usize,
}

impl Room {
    fn of(nodes: &BTreeMap<String, Known>, settings: &Settings) -> Self {
        let counted = |known: &&Known| is_counted(known, settings);
        let all = nodes.values().filter(counted).count();
        let usable = nodes.values().filter(counted).filter(|known| known.node.is_usable()).count();
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

fn is_counted(known: &Known, settings: &Settings) -> bool {
    settings.partition.as_ref().is_none_or(|partition| known.partitions.contains(partition))
}

/// What is found before anything is drained.
#[derive(Debug, Default)]
pub(super) struct Found {
    /// Hosts of the inventory that are nodes.
    pub nodes: BTreeSet<String>,
    /// Nodes that an earlier run drained, with what it said.
    pub left: BTreeMap<String, String>,
    /// Nodes that others have drained or that are down, with that.
    pub away: BTreeMap<String, String>,
    /// Why nothing can be drained.
    pub never: Option<String>,
}

/// The hosts of a run that are taken out of service.
pub(super) struct Maintenance {
    context: Arc<Context>,
    settings: Settings,
    controller: Host,
    remote: tokio::sync::Mutex<Option<Box<dyn Remote>>>,
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
        let controller = context.project.host(&settings.at)?.clone();
        Some(Self {
            context: context.clone(),
            settings,
            controller,
            remote: tokio::sync::Mutex::new(None),
            entries: Mutex::default(),
            poked: Notify::new(),
            moved: watch::Sender::new(()),
            closed: AtomicBool::new(false),
            left: Mutex::default(),
        })
    }

    /// Looks at all nodes before anything is drained.
    pub(super) async fn find(&self) -> Result<Found, String> {
        let nodes = self.nodes().await?;
        let (mut left, mut gone) = (BTreeMap::new(), BTreeMap::new());
        for (name, known) in &nodes {
            match (known.drain(), away(known)) {
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
        let never = match &self.settings.partition {
            Some(partition) if room.all == 0 => Some(format!("Slurm has no partition `{partition}`")),
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

    /// Those of these hosts of which it is decided now; they are taken. One may have waited for its batch for long, so
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
        let seen = self.look(&ready).await;
        for entry in self.entries().iter_mut().filter(|entry| ready.contains(&entry.name)) {
            let now = match &seen {
                Ok(seen) => {
                    let jobs = scheduler::jobs_on(&seen.jobs, &entry.name);
                    match seen.nodes.get(&entry.name).map(|known| (known.drain(), known.node.is_drained())) {
                        Some((Drain::Ours(..), true)) if jobs.is_none() => continue,
                        Some((Drain::Others(why), _)) => {
                            Some(operator("an operator drained it meanwhile", why))
                        }
                        Some((Drain::No, _)) => {
                            Some("somebody resumed it while it was waited for".to_owned())
                        }
                        None => Some("Slurm has no node of this name any more".to_owned()),
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
        let seen = match self.look(awaited).await {
            Ok(seen) => seen,
            Err(why) => return self.blind(&why),
        };
        let mut room = Room::of(&seen.nodes, &self.settings);
        let (mut drain, mut back) = (BTreeSet::new(), BTreeMap::new());
        let mut moved = false;
        for entry in self.entries().iter_mut().filter(|entry| awaited.contains(&entry.name)) {
            if !matches!(entry.stand, Stand::Wanted | Stand::Draining) {
                continue;
            }
            let late = entry.since.elapsed() >= self.settings.wait;
            let known = seen.nodes.get(&entry.name);
            let jobs = scheduler::jobs_on(&seen.jobs, &entry.name);
            let next = match (&entry.stand, known) {
                (_, None) => Stand::Left("Slurm has no node of this name any more".to_owned()),
                (Stand::Wanted, Some(known)) => match known.drain() {
                    Drain::Ours(..) => {
                        entry.since = Instant::now();
                        Stand::Draining
                    }
                    _ if let Some(why) = away(known) => Stand::Left(why),
                    _ if known.node.is_silent() => {
                        if entry.since.elapsed() < SILENCE {
                            self.say(entry, Phase::Waiting, known.told());
                            continue;
                        }
                        Stand::Left(known.told())
                    }
                    Drain::Others(_) | Drain::No => match jobs {
                        Some(jobs) if self.context.project.policy.busy == Busy::Refuse => {
                            Stand::Left(format!("{jobs} runs there, and `policy.busy` is refuse"))
                        }
                        _ => {
                            let counts = is_counted(known, &self.settings) && known.node.is_usable();
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
                (_, Some(known)) => match known.drain() {
                    Drain::No => Stand::Left("somebody resumed it while it was waited for".to_owned()),
                    Drain::Others(why) => Stand::Left(operator("an operator drained it meanwhile", why)),
                    Drain::Ours(..) if known.node.is_drained() && jobs.is_none() => Stand::Ready,
                    Drain::Ours(..) if late => {
                        let jobs = jobs.unwrap_or_else(|| known.told());
                        let why = format!("not idle within {}: {jobs}", human(self.settings.wait));
                        back.insert(entry.name.clone(), why.clone());
                        Stand::Left(why)
                    }
                    Drain::Ours(..) => {
                        self.say(entry, Phase::Draining, jobs.unwrap_or_else(|| known.told()));
                        continue;
                    }
                },
            };
            moved = true;
            entry.stand = next;
        }
        if !drain.is_empty() {
            self.drain(&drain, &seen).await;
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

    async fn drain(&self, names: &BTreeSet<String>, seen: &Seen) {
        let reason = scheduler::reason(self.context.emitter.run(), "is to be changed");
        let answer =
            self.ask(vec![scheduler::drain(names.iter().map(String::as_str), &reason)]).await.map(drop);
        if answer.is_err() {
            // Whether it arrived is not known.
            let now = self.nodes().await.unwrap_or_default();
            let ours =
                |name: &&String| now.get(*name).is_none_or(|known| matches!(known.drain(), Drain::Ours(..)));
            for name in names.iter().filter(ours) {
                let _said = self.resume(name, "it is as it was: it could not be drained").await;
            }
        }
        for entry in self.entries().iter_mut().filter(|entry| names.contains(&entry.name)) {
            match &answer {
                Ok(()) => {
                    entry.since = Instant::now();
                    let jobs = scheduler::jobs_on(&seen.jobs, &entry.name);
                    self.say(entry, Phase::Draining, jobs.unwrap_or_else(|| "no job runs there".to_owned()));
                }
                Err(why) => {
                    entry.stand = Stand::Left(format!("it cannot be drained: {why}"));
                }
            }
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
            match self.nodes().await?.get(name).map(Known::drain) {
                Some(Drain::Ours(..)) => {}
                Some(Drain::No) => return Ok(false),
                Some(Drain::Others(why)) => return Err(operator("an operator drained it meanwhile", why)),
                None => return Err("Slurm has no node of this name any more".to_owned()),
            }
            self.ask(vec![scheduler::resume([name])]).await.map(|_| true)
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
        let result: Result<(), String> = async {
            if let Some(Drain::Ours(..)) = self.nodes().await?.get(name).map(Known::drain) {
                let reason = scheduler::reason(self.context.emitter.run(), why);
                self.ask(vec![scheduler::drain([name], &reason)]).await?;
            }
            Ok(())
        }
        .await;
        if let Err(error) = result {
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
                let _said = self.resume(&name, "it is as it was: its turn did not come").await;
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
        if let Some(mut remote) = self.remote.lock().await.take() {
            remote.close().await;
        }
    }

    /// How many nodes stay drained.
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
        let (host, why) = (host.to_owned(), why.to_owned());
        self.context.emitter.emit(EventKind::HostMaintenance { host, phase, why });
    }

    async fn nodes(&self) -> Result<BTreeMap<String, Known>, String> {
        let texts = self.ask(vec![scheduler::ask_nodes()]).await?;
        Ok(scheduler::nodes(texts.first().map_or("", String::as_str)))
    }

    async fn look(&self, names: &BTreeSet<String>) -> Result<Seen, String> {
        let nodes = self.nodes().await?;
        // squeue refuses all for one that Slurm does not know.
        let known: Vec<&str> =
            names.iter().map(String::as_str).filter(|name| nodes.contains_key(*name)).collect();
        if known.is_empty() {
            return Ok(Seen { nodes, jobs: Vec::new() });
        }
        let texts = self.ask(vec![scheduler::ask_jobs(known)]).await?;
        Ok(Seen { nodes, jobs: scheduler::jobs(texts.first().map_or("", String::as_str)) })
    }

    /// What the parts print on the host that has the scheduler's commands. All of them may be sent twice.
    async fn ask(&self, parts: Vec<Part>) -> Result<Vec<String>, String> {
        let at = &self.controller.name;
        let frame = Frame { parts, secrets: self.context.secrets.clone(), ..Frame::default() };
        let mut remote = self.remote.lock().await;
        let mut ends: Vec<PartEnd> = Vec::new();
        let mut again = remote.is_some();
        loop {
            ends.clear();
            let result: Result<(), TransportError> = async {
                if remote.is_none() {
                    let deadline = self.context.deadlines.connect;
                    *remote = Some(self.context.transport.open(&self.controller, deadline).await?);
                }
                match remote.as_mut() {
                    Some(open) => open.run(&frame, &mut |end| ends.push(end)).await,
                    None => Ok(()),
                }
            }
            .await;
            let Err(error) = result else { break };
            if let Some(mut lost) = remote.take() {
                lost.close().await;
            }
            if !std::mem::take(&mut again) {
                return Err(format!("{at} does not answer: {error}"));
            }
        }
        let mut texts = Vec::new();
        for (part, end) in frame.parts.iter().zip(&ends) {
            if end.status != 0 {
                let said = end.last_line().unwrap_or_else(|| format!("{} failed", part.name));
                return Err(format!("{at}: {said}"));
            }
            texts.push(String::from_utf8_lossy(&end.output).into_owned());
        }
        Ok(texts)
    }

    fn entries(&self) -> MutexGuard<'_, Vec<Entry>> {
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Why a node is not touched: others have drained it, or it is down.
fn away(known: &Known) -> Option<String> {
    match known.drain() {
        Drain::Ours(..) => None,
        Drain::Others(why) => Some(operator("an operator has drained it", why)),
        Drain::No => (known.node.is_away() && !known.node.is_silent()).then(|| known.told()),
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
