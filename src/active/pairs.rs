//! Choice of the pairs that are tested, and of the host to blame when pairs fail.
//!
//! Neighbours are tested in rounds of disjoint pairs, so that no host is in two tests at once: two rounds for
//! an even number of hosts, three for an odd one, whatever their number. A pair that fails makes both hosts
//! suspect. Each suspect is then tested with a host of a pair that passed: one that fails again is bad; when
//! both pass, the fault lies between the two.

use std::collections::{BTreeMap, BTreeSet};

/// Two hosts by their place in a list; the first one serves.
pub type Pair = (usize, usize);

/// Pairs that are tested at the same time.
pub type Round = Vec<Pair>;

/// Every host with the next one, the last with the first.
pub fn neighbours(hosts: usize) -> Vec<Round> {
    match hosts {
        0 | 1 => return Vec::new(),
        2 => return vec![vec![(0, 1)]],
        _ => {}
    }
    let even = (0..hosts / 2).map(|pair| (2 * pair, 2 * pair + 1)).collect();
    let odd: Round = (0..(hosts - 1) / 2).map(|pair| (2 * pair + 1, 2 * pair + 2)).collect();
    let closing = (hosts - 1, 0);
    if hosts.is_multiple_of(2) {
        vec![even, odd.into_iter().chain([closing]).collect()]
    } else {
        // The last host is free in the first round, but the first one is not.
        vec![even, odd, vec![closing]]
    }
}

/// Results of the pairs tested so far.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Outcomes(BTreeMap<Pair, bool>);

impl Outcomes {
    /// Notes how a pair ended.
    pub fn note(&mut self, pair: Pair, passed: bool) {
        self.0.insert((pair.0.min(pair.1), pair.0.max(pair.1)), passed);
    }

    fn of(&self, passed: bool) -> impl Iterator<Item = Pair> {
        self.0.iter().filter(move |(_, ended)| **ended == passed).map(|(pair, _)| *pair)
    }

    fn hosts(&self, passed: bool) -> BTreeSet<usize> {
        self.of(passed).flat_map(|(one, other)| [one, other]).collect()
    }

    /// Hosts of pairs that failed.
    pub fn suspects(&self) -> BTreeSet<usize> {
        self.hosts(false)
    }

    /// Hosts that passed with every partner they had.
    pub fn good(&self) -> BTreeSet<usize> {
        self.hosts(true).difference(&self.hosts(false)).copied().collect()
    }

    /// Suspects with partners that are known to be good, in rounds. Empty when none is suspect, no host
    /// is known to be good, or all such pairs were tested.
    pub fn again(&self) -> Vec<Round> {
        let good: Vec<usize> = self.good().into_iter().collect();
        let mut rounds: Vec<Round> = Vec::new();
        let mut shift = 0;
        for suspect in self.suspects() {
            let fresh =
                |partner: &usize| !self.0.contains_key(&(suspect.min(*partner), suspect.max(*partner)));
            // Partners go round, so that they are not worn by one suspect after the other.
            let candidates = good.iter().cycle().skip(shift).take(good.len());
            let Some(partner) = candidates.copied().find(|partner| fresh(partner)) else { continue };
            shift += 1;
            let pair = (partner, suspect);
            let is_free =
                |round: &&mut Round| !round.iter().any(|(one, other)| *one == partner || *other == partner);
            match rounds.iter_mut().find(is_free) {
                Some(round) => round.push(pair),
                None => rounds.push(vec![pair]),
            }
        }
        rounds
    }

    /// Returns what is proven, after the suspects were tested again.
    pub fn blame(&self, again: &Self) -> Blame {
        let mut blame = Blame::default();
        let bad: BTreeSet<usize> =
            self.suspects().into_iter().filter(|host| again.suspects().contains(host)).collect();
        let cleared: BTreeSet<usize> =
            self.suspects().into_iter().filter(|host| again.hosts(true).contains(host)).collect();
        for pair in self.of(false) {
            let hosts = [pair.0, pair.1];
            if hosts.iter().any(|host| bad.contains(host)) {
                continue;
            }
            if hosts.iter().all(|host| cleared.contains(host)) {
                blame.between.push(pair);
            } else {
                blame.either.push(pair);
            }
        }
        blame.hosts = bad;
        blame
    }
}

/// Hosts and pairs at fault, by the pairs that failed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Blame {
    /// Failed with a partner that is known to be good as well.
    pub hosts: BTreeSet<usize>,
    /// Both hosts are well with others: it is what lies between them.
    pub between: Vec<Pair>,
    /// One of the two; no host that is known to be good could tell which.
    pub either: Vec<Pair>,
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Tests as they would end when these hosts and these links are broken.
    fn played(rounds: &[Round], bad: &[usize], cut: &[Pair]) -> Outcomes {
        let mut outcomes = Outcomes::default();
        for pair in rounds.iter().flatten() {
            let sorted = (pair.0.min(pair.1), pair.0.max(pair.1));
            let broken = bad.contains(&pair.0) || bad.contains(&pair.1) || cut.contains(&sorted);
            outcomes.note(*pair, !broken);
        }
        outcomes
    }

    proptest! {
        #[test]
        fn no_host_is_in_two_tests_and_each_has_its_neighbours(hosts in 0_usize..400) {
            let rounds = neighbours(hosts);
            prop_assert!(rounds.len() <= 3);
            let mut seen: BTreeSet<Pair> = BTreeSet::new();
            for round in &rounds {
                let mut busy = BTreeSet::new();
                for (one, other) in round {
                    prop_assert!(busy.insert(*one) && busy.insert(*other), "{round:?}");
                    prop_assert!(*one < hosts && *other < hosts);
                    prop_assert!(seen.insert((*one.min(other), *one.max(other))));
                }
            }
            let wanted = match hosts { 0 | 1 => 0, 2 => 1, more => more };
            prop_assert_eq!(seen.len(), wanted);
        }

        #[test]
        fn the_bad_hosts_are_named(hosts in 8_usize..60, picks in proptest::collection::btree_set(0_usize..60, 1..3)) {
            let bad: Vec<usize> = picks.into_iter().filter(|host| *host < hosts).collect();
            let first = played(&neighbours(hosts), &bad, &[]);
            let rounds = first.again();
            for round in &rounds {
                let mut busy = BTreeSet::new();
                for (one, other) in round {
                    prop_assert!(busy.insert(*one) && busy.insert(*other), "{round:?}");
                }
            }
            let blame = first.blame(&played(&rounds, &bad, &[]));
            prop_assert_eq!(blame.hosts.into_iter().collect::<Vec<_>>(), bad);
            prop_assert!(blame.between.is_empty() && blame.either.is_empty());
        }
    }

    #[test]
    fn a_cut_link_blames_neither_host() {
        let first = played(&neighbours(6), &[], &[(2, 3)]);
        let second = played(&first.again(), &[], &[(2, 3)]);
        let blame = first.blame(&second);
        assert_eq!((blame.hosts.len(), blame.between), (0, vec![(2, 3)]));
    }

    #[test]
    fn two_hosts_cannot_tell_which_of_them() {
        let first = played(&neighbours(2), &[1], &[]);
        assert!(first.again().is_empty());
        assert_eq!(first.blame(&Outcomes::default()).either, [(0, 1)]);
        assert!(neighbours(1).is_empty());
    }
}
