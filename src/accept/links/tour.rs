//! The order in which pairs are tested, and who is left out meanwhile.

use std::collections::{BTreeMap, BTreeSet};

use super::entrants::Entrant;
use crate::accept::placed::Placed;
use crate::accept::rounds::{Couple, Rounds, quick};
use crate::active::{Meeting, Trial};

/// Times that a host is tested where it is to be quick.
const TIMES: usize = 3;
/// A port that kept silent with so many partners, and spoke with none, is not asked again.
const PATIENCE: usize = 2;
/// Rounds in which pairs are tested once more.
const AGAIN: usize = 2;

#[derive(Debug)]
enum Plan {
    All(Rounds),
    Short(std::vec::IntoIter<Vec<Couple>>),
}

/// Partners with whom something was seen, and those with whom nothing was.
#[derive(Debug, Default)]
struct Partners {
    good: BTreeSet<usize>,
    silent: BTreeSet<usize>,
}

impl Partners {
    fn is_out(&self) -> bool {
        self.good.is_empty() && self.silent.len() >= PATIENCE
    }
}

/// Devices of a host that were tested with nobody.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unmet {
    /// Their names.
    pub devices: Vec<String>,
    /// Whether the host has no others.
    pub is_all: bool,
    /// Whether another host has one of that name: then none of those was left, or in the rounds.
    pub is_shared: bool,
}

impl Unmet {
    /// The sentence that names them, with the reason.
    pub fn text(&self) -> String {
        let why = if self.is_shared {
            "the rounds brought it together with no host that answers and has such a device"
        } else {
            "no other host has a device of that name"
        };
        format!("{} was tested with nobody: {why}", self.devices.join(", "))
    }
}

/// Rounds of pairs, as they are tested.
#[derive(Debug)]
pub struct Tour {
    /// Devices of the hosts.
    rails: Vec<BTreeSet<String>>,
    /// Hosts of the plan, by their places.
    on: Vec<usize>,
    plan: Plan,
    rounds: usize,
    hosts: BTreeMap<usize, Partners>,
    ports: BTreeMap<(usize, String), Partners>,
    /// Devices of hosts that were in a round.
    met: BTreeSet<(usize, String)>,
}

impl Tour {
    /// Plans all pairs of hosts that have ports, each once; where it is to be short, a few for each host.
    pub fn new(entrants: &[Entrant], is_short: bool) -> Self {
        let on: Vec<usize> = entrants
            .iter()
            .enumerate()
            .filter(|(_, host)| !host.ports.is_empty())
            .map(|(at, _)| at)
            .collect();
        let placed: Vec<Placed> =
            on.iter().filter_map(|at| entrants.get(*at)).map(|host| host.placed.clone()).collect();
        let (plan, rounds) = if is_short {
            let rounds = quick(&placed, TIMES);
            let number = rounds.len();
            (Plan::Short(rounds.into_iter()), number)
        } else {
            let rounds = Rounds::all(placed.len());
            let number = rounds.len();
            (Plan::All(rounds), number)
        };
        let rails = entrants.iter().map(|host| host.ports.keys().cloned().collect()).collect();
        let (hosts, ports, met) = (BTreeMap::new(), BTreeMap::new(), BTreeSet::new());
        Self { rails, on, plan, rounds, hosts, ports, met }
    }

    /// Counts the hosts that take part.
    pub fn hosts(&self) -> usize {
        self.on.len()
    }

    /// The most rails that a pair can have.
    pub fn rails(&self) -> usize {
        self.rails.iter().map(BTreeSet::len).max().unwrap_or(0)
    }

    /// Rounds of the plan, and at most with those that are made once more.
    pub fn rounds(&self) -> (usize, usize) {
        (self.rounds, if self.rounds == 0 { 0 } else { self.rounds + AGAIN })
    }

    /// Adds what a round showed.
    pub fn take(&mut self, trials: &[Trial]) {
        let mut rails: BTreeMap<(usize, usize, &str), bool> = BTreeMap::new();
        for trial in trials {
            let pair = (trial.from.min(trial.to), trial.from.max(trial.to), trial.rail.as_str());
            let is_good = rails.entry(pair).or_insert(true);
            *is_good &= trial.result.is_ok();
        }
        for ((one, other, rail), is_good) in rails {
            for (host, partner) in [(one, other), (other, one)] {
                let port = self.ports.entry((host, rail.to_owned())).or_default();
                let host = self.hosts.entry(host).or_default();
                for partners in [port, host] {
                    let set = if is_good { &mut partners.good } else { &mut partners.silent };
                    set.insert(partner);
                }
            }
        }
    }

    /// Hosts that are not tested any more, since they kept silent with all partners so far.
    pub fn out(&self) -> BTreeSet<usize> {
        self.hosts.iter().filter(|(_, partners)| partners.is_out()).map(|(host, _)| *host).collect()
    }

    /// Devices that were in no round so far, by their host. Devices are tested with those of the same name.
    pub fn unmet(&self) -> BTreeMap<usize, Unmet> {
        let unmet = self.on.iter().filter_map(|host| {
            let rails = self.rails.get(*host)?;
            let devices: Vec<String> =
                rails.iter().filter(|rail| !self.met.contains(&(*host, (*rail).clone()))).cloned().collect();
            let has = |other: &usize| {
                devices.iter().any(|rail| self.rails.get(*other).is_some_and(|all| all.contains(rail)))
            };
            let is_shared = self.on.iter().filter(|other| *other != host).any(has);
            let is_all = devices.len() == rails.len();
            (!devices.is_empty()).then_some((*host, Unmet { devices, is_all, is_shared }))
        });
        unmet.collect()
    }

    fn is_out(&self, host: usize, rail: &str) -> bool {
        self.hosts.get(&host).is_some_and(Partners::is_out)
            || self.ports.get(&(host, rail.to_owned())).is_some_and(Partners::is_out)
    }

    /// A pair with the rails that both have and that were not left out.
    fn meeting(&self, (one, other): Couple) -> Option<Meeting> {
        let rails = self.rails.get(one)?.intersection(self.rails.get(other)?);
        let rails: Vec<String> =
            rails.filter(|rail| !self.is_out(one, rail) && !self.is_out(other, rail)).cloned().collect();
        (!rails.is_empty()).then_some(Meeting { hosts: (one, other), rails })
    }

    /// The next round; none at the end of the plan.
    pub fn next_round(&mut self) -> Option<Vec<Meeting>> {
        loop {
            let couples = match &mut self.plan {
                Plan::All(rounds) => rounds.next(),
                Plan::Short(rounds) => rounds.next(),
            }?;
            let place = |at: usize| self.on.get(at).copied();
            let couples = couples.into_iter().filter_map(|(one, other)| Some((place(one)?, place(other)?)));
            let meetings: Vec<Meeting> = couples.filter_map(|couple| self.meeting(couple)).collect();
            if !meetings.is_empty() {
                for Meeting { hosts: (one, other), rails } in &meetings {
                    for host in [one, other] {
                        self.met.extend(rails.iter().map(|rail| (*host, rail.clone())));
                    }
                }
                return Some(meetings);
            }
        }
    }

    /// Rounds in which pairs are tested once more, as many as there are rounds for.
    pub fn again<'s>(&self, pairs: impl IntoIterator<Item = (Couple, &'s str)>) -> Vec<Vec<Meeting>> {
        let mut wanted: BTreeMap<Couple, Vec<String>> = BTreeMap::new();
        for (couple, rail) in pairs {
            wanted.entry(couple).or_default().push(rail.to_owned());
        }
        let mut rounds: Vec<Vec<Meeting>> = vec![Vec::new(); AGAIN];
        for (hosts, rails) in wanted {
            let is_free = |round: &&mut Vec<Meeting>| {
                let busy = |host: usize| move |pair: &Meeting| pair.hosts.0 == host || pair.hosts.1 == host;
                !round.iter().any(|pair| busy(hosts.0)(pair) || busy(hosts.1)(pair))
            };
            if let Some(round) = rounds.iter_mut().find(is_free) {
                round.push(Meeting { hosts, rails });
            }
        }
        rounds.retain(|round| !round.is_empty());
        rounds
    }
}
