//! The next step of a host that is taken out of service: a pure decision, from what is known of the host and one look
//! at the nodes.

use std::fmt;
use std::time::Duration;

use tokio::time::Instant;

use super::hints::human;
use super::scheduler_host::Nodes;
use crate::inventory::{Maintenance as Settings, Share};
use crate::scheduler::{Drain, Load, Node};

/// Time for which a node may be silent that was resumed a moment ago.
const SILENCE: Duration = Duration::from_mins(2);

/// State of a host.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum NodeState {
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
    /// The run does not change it. Nobody was told yet.
    Left(Reason),
    /// Nothing is to be done about it any more.
    Over,
}

/// Reason why the run does not change a host, or cannot give it back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Reason {
    /// This scheduler has no such node.
    NoNode(&'static str),
    /// An operator had drained it before this run, for this reason.
    Operator(String),
    /// An operator drained it during this run, for this reason.
    OperatorMeanwhile(String),
    /// Somebody resumed it.
    Resumed,
    /// It is down or silent, in the words of the scheduler.
    Down(String),
    /// These jobs run there, and the project does not wait for jobs.
    Busy(String),
    /// There is no room, and the host is in the middle of its tasks.
    NoRoom(Room),
    /// There was no room within this time.
    NoTurn(Duration, Room),
    /// Its jobs did not end within this time.
    NotIdle(Duration, String),
    /// Jobs or users that were asked to leave did not leave within this time.
    NotLeft(Duration, Leaving),
    /// The order to drain it failed.
    NotDrained(String),
    /// The scheduler gave no answer, or an error.
    Scheduler(String),
}

impl Reason {
    /// Whether the node is in the hands of an operator, who resumes it.
    pub(super) fn is_operator(&self) -> bool {
        matches!(self, Self::Operator(_) | Self::OperatorMeanwhile(_))
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let given =
            |why: &str| if why.is_empty() { "no reason was given".to_owned() } else { why.to_owned() };
        match self {
            Self::NoNode(scheduler) => write!(f, "{scheduler} has no node of this name any more"),
            Self::Operator(why) => {
                write!(f, "an operator has drained it ({}) and is left alone", given(why))
            }
            Self::OperatorMeanwhile(why) => {
                write!(f, "an operator drained it meanwhile ({}) and is left alone", given(why))
            }
            Self::Resumed => f.write_str("somebody resumed it while it was waited for"),
            Self::Down(why) | Self::Scheduler(why) => f.write_str(why),
            Self::Busy(jobs) => write!(f, "{jobs} runs there, and `policy.busy` is refuse"),
            Self::NoRoom(room) => write!(f, "{room}; the next run drains it first"),
            Self::NoTurn(within, room) => write!(f, "it had no turn within {}: {room}", human(*within)),
            Self::NotIdle(within, jobs) => write!(f, "not idle within {}: {jobs}", human(*within)),
            Self::NotLeft(within, what) => write!(f, "not left within {}: {what}", human(*within)),
            Self::NotDrained(why) => write!(f, "it cannot be drained: {why}"),
        }
    }
}

/// Work that is asked to leave a host.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Leaving {
    /// The work, for people.
    pub what: String,
    /// Reason why some of it has not left.
    pub kept: Option<String>,
}

impl fmt::Display for Leaving {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.kept {
            Some(why) => write!(f, "{}: {why}", self.what),
            None => f.write_str(&self.what),
        }
    }
}

/// Event that a host waits for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Wait {
    /// Another host comes back into service.
    Room(Room),
    /// These jobs end.
    Jobs(String),
    /// This work leaves.
    Leaving(Leaving),
    /// The scheduler takes notice: no job runs there.
    Idle,
    /// The node changes its state, which these words of the scheduler describe.
    Node(String),
    /// The scheduler answers.
    Scheduler(String),
}

impl fmt::Display for Wait {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Room(room) => room.fmt(f),
            Self::Leaving(leaving) => leaving.fmt(f),
            Self::Idle => f.write_str("no job runs there"),
            Self::Jobs(text) | Self::Node(text) | Self::Scheduler(text) => f.write_str(text),
        }
    }
}

/// Numbers of nodes that limit how many may be drained now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Room {
    /// Nodes in service.
    pub usable: usize,
    /// All nodes.
    pub all: usize,
    /// Nodes that have to stay in service.
    pub must: usize,
}

impl Room {
    pub(super) fn of(nodes: &Nodes, settings: &Settings) -> Self {
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

    /// Whether one more node may be drained.
    pub(super) fn is_left(self) -> bool {
        self.must == 0 || self.usable > self.must
    }

    /// Takes the room of a node that is drained.
    pub(super) fn take(&mut self, node: &Node) {
        self.usable -= usize::from(takes_room(node));
    }
}

/// Whether a node that is drained is missed.
fn takes_room(node: &Node) -> bool {
    node.counted && node.usable
}

impl fmt::Display for Room {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { usable, all, must } = self;
        write!(f, "{usable} of {all} nodes are in service, and `keep_up` wants {must}")
    }
}

/// Limits of the waits of a run.
#[derive(Debug, Clone, Copy)]
pub(super) struct Limits {
    /// Name of the scheduler.
    pub scheduler: &'static str,
    /// Longest wait for room, and then for the end of jobs.
    pub wait: Duration,
    /// Longest wait for work that is asked to leave.
    pub leave: Duration,
    /// Whether a host with jobs is left at once.
    pub refuses_busy: bool,
}

/// A host of the run in the ledger.
#[derive(Debug, Clone)]
pub(super) struct Entry {
    /// Its name.
    pub name: String,
    /// Its state.
    pub state: NodeState,
    /// Whether it is in the middle of its tasks. Another host may wait for this one to give its room back.
    pub under_way: bool,
    /// Whether this run drained it.
    pub drained: bool,
    /// Beginning of the wait for room, then for the end of its jobs.
    pub since: Instant,
    /// Time at which it was found to have only work that can leave.
    pub leaves: Option<Instant>,
    /// Time at which it was first found to be silent.
    pub silent: Option<Instant>,
    /// Last wait that was reported.
    pub said: Option<Wait>,
}

/// The next step of a host that is waited for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Step {
    /// It waits.
    Wait(Wait),
    /// It waits for a node that does not answer the scheduler.
    WaitForSilent(String),
    /// This work is asked to leave it.
    Evict(String),
    /// It is drained.
    Drain,
    /// An earlier run has drained it already.
    Adopt,
    /// It is drained and idle.
    Ready,
    /// It is left as it is.
    Leave(Reason),
    /// It is left, and given back.
    GiveBack(Reason),
}

impl Entry {
    /// A host of whose batch nothing is known yet.
    pub(super) fn new(name: String) -> Self {
        Self {
            name,
            state: NodeState::Planned,
            under_way: false,
            drained: false,
            since: Instant::now(),
            leaves: None,
            silent: None,
            said: None,
        }
    }

    /// Whether the run waits for it: for room, or for the end of its jobs.
    pub(super) fn is_awaited(&self) -> bool {
        matches!(self.state, NodeState::Wanted | NodeState::Draining)
    }

    /// Decides the next step of a host that [is awaited](Self::is_awaited), from its node and the load there.
    pub(super) fn next(
        &self,
        node: Option<&Node>,
        load: Load,
        room: Room,
        limits: &Limits,
        now: Instant,
    ) -> Step {
        let Some(node) = node else { return Step::Leave(Reason::NoNode(limits.scheduler)) };
        if self.state == NodeState::Wanted {
            self.to_drain(node, load, room, limits, now)
        } else {
            self.to_empty(node, load, limits, now)
        }
    }

    /// Decides about a host that is to be drained.
    fn to_drain(&self, node: &Node, load: Load, room: Room, limits: &Limits, now: Instant) -> Step {
        if matches!(node.drain(), Drain::Ours(..)) {
            return Step::Adopt;
        }
        if let Some(reason) = away(node) {
            return Step::Leave(reason);
        }
        if node.silent {
            let is_new = self.silent.is_none_or(|since| now.duration_since(since) < SILENCE);
            let told = node.told.clone();
            return if is_new { Step::WaitForSilent(told) } else { Step::Leave(Reason::Down(told)) };
        }
        match load.jobs {
            Some(jobs) if limits.refuses_busy => Step::Leave(Reason::Busy(jobs)),
            _ if !takes_room(node) || room.is_left() => Step::Drain,
            _ if self.under_way => Step::Leave(Reason::NoRoom(room)),
            _ if self.is_late(limits, now) => Step::Leave(Reason::NoTurn(limits.wait, room)),
            _ => Step::Wait(Wait::Room(room)),
        }
    }

    /// Decides about a host that is drained and may have jobs.
    fn to_empty(&self, node: &Node, load: Load, limits: &Limits, now: Instant) -> Step {
        match node.drain() {
            Drain::No => return Step::Leave(Reason::Resumed),
            Drain::Others(why) => return Step::Leave(Reason::OperatorMeanwhile(why.to_owned())),
            Drain::Ours(..) => {}
        }
        match (load.jobs, load.movable) {
            (None, None) if node.emptied => Step::Ready,
            (None, Some(what)) => {
                if self.leaves.is_none_or(|since| now.duration_since(since) < limits.leave) {
                    return Step::Evict(what);
                }
                let leaving = self.leaving(&what).cloned().unwrap_or(Leaving { what, kept: None });
                Step::GiveBack(Reason::NotLeft(limits.leave, leaving))
            }
            (jobs, _) if self.is_late(limits, now) => {
                Step::GiveBack(Reason::NotIdle(limits.wait, jobs.unwrap_or_else(|| node.told.clone())))
            }
            (Some(jobs), _) => Step::Wait(Wait::Jobs(jobs)),
            (None, None) => Step::Wait(Wait::Node(node.told.clone())),
        }
    }

    fn is_late(&self, limits: &Limits, now: Instant) -> bool {
        now.duration_since(self.since) >= limits.wait
    }

    /// Returns the last report about work that leaves, when it was about this work.
    pub(super) fn leaving(&self, work: &str) -> Option<&Leaving> {
        match &self.said {
            Some(Wait::Leaving(leaving)) if leaving.what == work => Some(leaving),
            _ => None,
        }
    }
}

/// Returns the reason why a node is not touched: others have drained it, or it is down.
pub(super) fn away(node: &Node) -> Option<Reason> {
    match node.drain() {
        Drain::Ours(..) => None,
        Drain::Others(why) => Some(Reason::Operator(why.to_owned())),
        Drain::No => (node.away && !node.silent).then(|| Reason::Down(node.told.clone())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMITS: Limits = Limits {
        scheduler: "Slurm",
        wait: Duration::from_hours(1),
        leave: Duration::from_mins(10),
        refuses_busy: false,
    };
    const FREE: Room = Room { usable: 3, all: 4, must: 2 };
    const FULL: Room = Room { usable: 2, all: 4, must: 2 };

    fn node(change: fn(&mut Node)) -> Node {
        let mut node = Node { usable: true, counted: true, told: "idle".to_owned(), ..Node::default() };
        change(&mut node);
        node
    }

    fn ours(node: &mut Node) {
        (node.held, node.reason) = (true, crate::scheduler::reason("run1", "is to be changed"));
    }

    fn emptied(node: &mut Node) {
        ours(node);
        node.emptied = true;
    }

    fn load(jobs: Option<&str>, movable: Option<&str>) -> Load {
        Load { jobs: jobs.map(str::to_owned), movable: movable.map(str::to_owned) }
    }

    /// Each row: whether it is drained already, its node, its load, the room, minutes since it is waited for, the step.
    #[test]
    fn each_state_has_its_next_step() {
        use NodeState::{Draining, Wanted};
        let idle = node(|_| {});
        let (drained, emptied) = (node(ours), node(emptied));
        let others = node(|node| (node.held, node.reason) = (true, "fan".to_owned()));
        let down = node(|node| node.away = true);
        let silent = node(|node| node.silent = true);
        let hour = LIMITS.wait;
        let jobs = || load(Some("job 7"), None);
        let pods = || load(None, Some("2 pods"));
        let pod = || Leaving { what: "2 pods".to_owned(), kept: None };
        let rows = [
            (Wanted, &idle, Load::default(), FREE, 0, Step::Drain),
            (Wanted, &idle, jobs(), FREE, 0, Step::Drain),
            (Wanted, &idle, Load::default(), FULL, 0, Step::Wait(Wait::Room(FULL))),
            (Wanted, &idle, Load::default(), FULL, 60, Step::Leave(Reason::NoTurn(hour, FULL))),
            (Wanted, &drained, jobs(), FULL, 0, Step::Adopt),
            (Wanted, &others, jobs(), FREE, 0, Step::Leave(Reason::Operator("fan".to_owned()))),
            (Wanted, &down, Load::default(), FREE, 0, Step::Leave(Reason::Down("idle".to_owned()))),
            (Wanted, &silent, Load::default(), FREE, 0, Step::WaitForSilent("idle".to_owned())),
            (Draining, &idle, Load::default(), FREE, 0, Step::Leave(Reason::Resumed)),
            (Draining, &others, jobs(), FREE, 0, Step::Leave(Reason::OperatorMeanwhile("fan".to_owned()))),
            (Draining, &emptied, Load::default(), FULL, 99, Step::Ready),
            (Draining, &emptied, jobs(), FREE, 0, Step::Wait(Wait::Jobs("job 7".to_owned()))),
            (Draining, &drained, Load::default(), FREE, 0, Step::Wait(Wait::Node("idle".to_owned()))),
            (Draining, &drained, jobs(), FREE, 60, Step::GiveBack(Reason::NotIdle(hour, "job 7".to_owned()))),
            (Draining, &emptied, pods(), FREE, 5, Step::Evict("2 pods".to_owned())),
            (Draining, &emptied, pods(), FREE, 10, Step::GiveBack(Reason::NotLeft(LIMITS.leave, pod()))),
        ];
        for (state, node, load, room, minutes, step) in rows {
            let mut entry = Entry::new("gpu0".to_owned());
            (entry.state, entry.leaves) = (state, Some(entry.since));
            let now = entry.since + Duration::from_mins(minutes);
            assert_eq!(entry.next(Some(node), load, room, &LIMITS, now), step, "{entry:?}");
        }
    }

    #[test]
    fn a_host_is_left_where_nothing_can_be_waited_for() {
        let mut entry = Entry::new("gpu0".to_owned());
        (entry.state, entry.under_way) = (NodeState::Wanted, true);
        let now = entry.since;
        let next = |entry: &Entry, node: &Node, load, limits: &Limits| {
            entry.next(Some(node), load, FULL, limits, now + SILENCE)
        };
        assert_eq!(entry.next(None, Load::default(), FREE, &LIMITS, now), {
            Step::Leave(Reason::NoNode("Slurm"))
        });
        let idle = node(|_| {});
        assert_eq!(next(&entry, &idle, Load::default(), &LIMITS), Step::Leave(Reason::NoRoom(FULL)));
        let refuses = Limits { refuses_busy: true, ..LIMITS };
        let busy = next(&entry, &idle, load(Some("job 7"), None), &refuses);
        assert_eq!(busy, Step::Leave(Reason::Busy("job 7".to_owned())));
        entry.silent = Some(now);
        let silent = node(|node| node.silent = true);
        let left = next(&entry, &silent, Load::default(), &LIMITS);
        assert_eq!(left, Step::Leave(Reason::Down("idle".to_owned())));
        // A node that is not counted takes no room.
        let spare = node(|node| node.counted = false);
        assert_eq!(next(&entry, &spare, Load::default(), &LIMITS), Step::Drain);
    }

    /// The words of an operator, of a scheduler and of an earlier run do not decide who holds a node.
    #[test]
    fn a_reason_is_of_an_operator_by_its_kind() {
        assert!(Reason::Operator(String::new()).is_operator());
        assert!(Reason::OperatorMeanwhile("hands off".to_owned()).is_operator());
        assert!(!Reason::Down("an operator has drained it".to_owned()).is_operator());
        assert_eq!(
            Reason::OperatorMeanwhile(String::new()).to_string(),
            "an operator drained it meanwhile (no reason was given) and is left alone"
        );
    }
}
