//! Rounds of disjoint pairs: no host is in two tests at a time.

use std::collections::BTreeSet;
use std::iter::FusedIterator;

use super::placed::{BOUNDARIES, Placed, by_place};

/// The distance of hosts that have no boundary in common.
const FURTHEST: usize = BOUNDARIES.len();

/// Two hosts, by their indexes.
pub type Couple = (usize, usize);

/// All pairs of so many hosts, each once, in as few rounds as can be.
///
/// It is the circle method: one host stays, the others move on by a place from round to round, and who stands opposite
/// is tested. With an odd number of hosts the one that stays is nobody, and another host rests in each round. A round is
/// made when it is asked for, so that the 499 500 pairs of 1000 hosts are never held together.
#[derive(Debug, Clone)]
pub struct Rounds {
    hosts: usize,
    /// Hosts that move; an odd number.
    moving: usize,
    next: usize,
}

impl Rounds {
    /// All rounds of hosts `0..hosts`.
    pub fn all(hosts: usize) -> Self {
        let moving = if hosts < 2 { 0 } else { hosts - 1 + hosts % 2 };
        Self { hosts, moving, next: 0 }
    }

    /// The pairs of a round.
    fn round(&self, round: usize) -> Vec<Couple> {
        let stays = (self.moving < self.hosts).then_some((round, self.moving));
        let opposite = (1..=self.moving / 2).map(|step| {
            let (ahead, behind) = ((round + step) % self.moving, (round + self.moving - step) % self.moving);
            (ahead.min(behind), ahead.max(behind))
        });
        stays.into_iter().chain(opposite).collect()
    }
}

impl Iterator for Rounds {
    type Item = Vec<Couple>;

    fn next(&mut self) -> Option<Self::Item> {
        let round = (self.next < self.moving).then(|| self.round(self.next))?;
        self.next += 1;
        Some(round)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let left = self.moving - self.next;
        (left, Some(left))
    }
}

impl ExactSizeIterator for Rounds {}
impl FusedIterator for Rounds {}

/// A few rounds in which each host is tested so many times, each pair at most once.
///
/// The first half of the rounds, rounded up, is between neighbours: hosts of one leaf, rack or rail as far as they go. The
/// others go across, as far as hosts can be apart. With an odd number of hosts somebody rests in each round, and one more
/// round makes up for it, in which some may be tested once more than asked.
///
/// When more than half of all pairs are asked for, it gives the first rounds of [`Rounds`], whoever is near whom.
pub fn quick(hosts: &[Placed], times: usize) -> Vec<Vec<Couple>> {
    // Somebody who is not there makes the number even; who is paired with it rests.
    let places = hosts.len() + hosts.len() % 2;
    if hosts.len() < 2 || 2 * times > places {
        return Rounds::all(hosts.len()).take(covering(hosts.len(), times)).collect();
    }
    let order = by_place(hosts);
    let ends = order.first().zip(order.last());
    let furthest = ends.map_or(0, |(first, last)| distance(hosts, *first, *last));
    let mut plan = Plan { hosts, order, furthest, used: BTreeSet::new() };
    if places > hosts.len() {
        plan.order.push(hosts.len());
    }
    let mut rounds = Vec::new();
    let mut rested = Vec::new();
    for round in 0..times {
        let aim = if round < times.div_ceil(2) { Aim::Near } else { Aim::Across };
        let couples = plan.round(aim);
        let (all, resting): (Vec<Couple>, Vec<Couple>) =
            couples.into_iter().partition(|(_, other)| *other < hosts.len());
        rested.extend(resting.into_iter().map(|(host, _)| host));
        rounds.push(all);
    }
    let late = plan.among(&rested);
    if !late.is_empty() {
        rounds.push(late);
    }
    rounds
}

/// The number of rounds that test each host so many times.
fn covering(hosts: usize, times: usize) -> usize {
    // Of an odd number each rests once in all rounds, in a round of its own.
    if hosts % 2 == 1 && times > 0 { times + 1 } else { times }
}

/// The pairs that a round is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Aim {
    /// Hosts of one place.
    Near,
    /// Hosts that are as far apart as can be.
    Across,
}

/// Rounds in the making.
struct Plan<'h> {
    hosts: &'h [Placed],
    /// Indexes by place, and at the end the one that is not there.
    order: Vec<usize>,
    /// The distance of the first and the last of them, and no two are further apart.
    furthest: usize,
    /// Pairs that were there already, the smaller index first.
    used: BTreeSet<Couple>,
}

fn couple(one: usize, other: usize) -> Couple {
    (one.min(other), one.max(other))
}

/// The distance of two hosts: 0 in the same place, more the further out they part.
fn distance(hosts: &[Placed], one: usize, other: usize) -> usize {
    match (hosts.get(one), hosts.get(other)) {
        (Some(one), Some(other)) => {
            let equal = one.place().into_iter().zip(other.place()).take_while(|(own, theirs)| own == theirs);
            FURTHEST - equal.count()
        }
        // Who rests is neither near nor far: the last choice of both.
        (None, _) | (_, None) => usize::MAX,
    }
}

impl Plan<'_> {
    fn is_free(&self, one: usize, other: usize) -> bool {
        one != other && !self.used.contains(&couple(one, other))
    }

    /// A round in which each is in one pair.
    fn round(&mut self, aim: Aim) -> Vec<Couple> {
        let mut open: Vec<usize> = self.order.clone();
        let mut couples: Vec<Couple> = Vec::new();
        let mut left = Vec::new();
        while !open.is_empty() {
            let host = open.remove(0);
            match self.fellow(host, &open, aim) {
                Some(at) => couples.push(couple(host, open.remove(at))),
                None => left.push(host),
            }
        }
        self.mend(&mut couples, left);
        self.used.extend(couples.iter().copied());
        couples
    }

    /// The place in `open` of who is best tested with a host.
    fn fellow(&self, host: usize, open: &[usize], aim: Aim) -> Option<usize> {
        // Neighbours are looked for from here on; who is across, from the middle of those who are open.
        let from = match aim {
            Aim::Near => 0,
            Aim::Across => open.len() / 2,
        };
        let mut best: Option<(usize, usize)> = None;
        for (at, other) in open.iter().enumerate().cycle().skip(from).take(open.len()) {
            if !self.is_free(host, *other) {
                continue;
            }
            let distance = distance(self.hosts, host, *other);
            let rank = match (aim, distance) {
                (Aim::Near, _) | (Aim::Across, usize::MAX) => distance,
                (Aim::Across, _) => self.furthest.saturating_sub(distance),
            };
            if rank == 0 {
                return Some(at);
            }
            if best.is_none_or(|(least, _)| rank < least) {
                best = Some((rank, at));
            }
        }
        best.map(|(_, at)| at)
    }

    /// Pairs those who found nobody, by parting a pair for each two of them.
    ///
    /// Each has met less than half of the others, so two that are left have more free ones among the pairs than there are
    /// pairs, and some pair has one for each of them.
    fn mend(&self, couples: &mut Vec<Couple>, mut left: Vec<usize>) {
        while let (Some(one), Some(other)) = (left.pop(), left.pop()) {
            let parted = couples.iter().enumerate().find_map(|(at, (first, second))| {
                let straight = self.is_free(one, *first) && self.is_free(other, *second);
                let crossed = self.is_free(one, *second) && self.is_free(other, *first);
                match (straight, crossed) {
                    (true, _) => Some((at, couple(one, *first), couple(other, *second))),
                    (false, true) => Some((at, couple(one, *second), couple(other, *first))),
                    (false, false) => None,
                }
            });
            let Some((at, new, newer)) = parted else { continue };
            couples.splice(at..=at, [new, newer]);
        }
    }

    /// A round for those who rested once, among themselves, and for the one who is left with somebody else.
    fn among(&mut self, rested: &[usize]) -> Vec<Couple> {
        let mut open: Vec<usize> = rested.to_vec();
        let mut busy: BTreeSet<usize> = BTreeSet::new();
        let mut couples = Vec::new();
        while let Some(host) = open.pop() {
            if busy.contains(&host) {
                continue;
            }
            let fellow = open.iter().copied().filter(|other| !busy.contains(other));
            let anybody = self.order.iter().copied().filter(|other| {
                *other < self.hosts.len() && !busy.contains(other) && !rested.contains(other)
            });
            let other = fellow.chain(anybody).find(|other| self.is_free(host, *other));
            let Some(other) = other else { continue };
            busy.extend([host, other]);
            couples.push(couple(host, other));
        }
        self.used.extend(couples.iter().copied());
        couples
    }
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use super::super::placed::tests::on_leaves;
    use super::*;

    /// Whether nobody is in two pairs of a round.
    fn is_disjoint(round: &[Couple]) -> bool {
        let hosts: BTreeSet<usize> = round.iter().flat_map(|(one, other)| [*one, *other]).collect();
        hosts.len() == 2 * round.len()
    }

    #[test]
    fn each_pair_once_and_nobody_twice_at_a_time() {
        for hosts in (0..=65).chain([100, 127, 128]) {
            let rounds: Vec<Vec<Couple>> = Rounds::all(hosts).collect();
            let pairs: Vec<Couple> = rounds.iter().flatten().copied().collect();
            let once: BTreeSet<Couple> = pairs.iter().copied().collect();
            assert_eq!(pairs.len(), hosts * hosts.saturating_sub(1) / 2, "{hosts}");
            assert_eq!(once.len(), pairs.len(), "{hosts}");
            assert!(once.iter().all(|(one, other)| one < other && *other < hosts), "{hosts}");
            assert!(rounds.iter().all(|round| is_disjoint(round)), "{hosts}");
            assert_eq!(rounds.len(), Rounds::all(hosts).len(), "{hosts}");
            // Fewer rounds cannot hold all pairs.
            let fewest = if hosts < 2 { 0 } else { hosts - 1 + hosts % 2 };
            assert_eq!(rounds.len(), fewest, "{hosts}");
            assert!(rounds.iter().all(|round| round.len() == hosts / 2), "{hosts}");
        }
    }

    #[test]
    fn a_thousand_hosts_are_planned_at_once() {
        let began = Instant::now();
        let pairs: usize = Rounds::all(1000).map(|round| round.len()).sum();
        assert_eq!(pairs, 499_500);
        for hosts in [on_leaves(1000, 32), vec![Placed::default(); 1000]] {
            let plan = quick(&hosts, 8);
            assert_eq!(plan.iter().flatten().count(), 4000);
        }
        let took = began.elapsed();
        assert!(took.as_secs() < 5, "{took:?} without optimisation, on a busy machine");
    }

    fn pairs_of(plan: &[Vec<Couple>], hosts: usize) -> Vec<usize> {
        let mut pairs = vec![0; hosts];
        for (one, other) in plan.iter().flatten() {
            pairs[*one] += 1;
            pairs[*other] += 1;
        }
        pairs
    }

    #[test]
    fn a_quick_plan_tests_each_host_so_many_times() {
        for hosts in 0..40 {
            for each in [1, 2, 3, 5, 8, 40] {
                for times in 0..8_usize {
                    let plan = quick(&on_leaves(hosts, each), times);
                    let what = format!("{hosts} hosts, {each} on a leaf, {times} times: {plan:?}");
                    assert!(plan.iter().all(|round| is_disjoint(round)), "{what}");
                    let pairs: Vec<Couple> = plan.iter().flatten().copied().collect();
                    let once: BTreeSet<Couple> = pairs.iter().copied().collect();
                    assert_eq!(once.len(), pairs.len(), "twice in {what}");
                    let wanted = times.min(hosts.saturating_sub(1));
                    for tested in pairs_of(&plan, hosts) {
                        let most = if hosts % 2 == 0 { wanted } else { wanted + 1 };
                        assert!((wanted..=most).contains(&tested), "{tested} in {what}");
                    }
                    assert!(plan.len() <= times + hosts % 2, "{what}");
                }
            }
        }
    }

    #[test]
    fn neighbours_come_first_and_then_those_across() {
        let hosts = on_leaves(64, 8);
        let plan = quick(&hosts, 4);
        let is_near = |couple: &Couple| is_near_of(&hosts, couple);
        assert!(plan[..2].iter().flatten().all(is_near), "{plan:?}");
        assert!(!plan[2..].iter().flatten().any(is_near), "{plan:?}");
        // Of three on a leaf one has nobody left there, and meets one of another leaf.
        let hosts = on_leaves(12, 3);
        let plan = quick(&hosts, 2);
        assert_eq!(plan[0].iter().filter(|couple| !is_near_of(&hosts, couple)).count(), 2, "{plan:?}");
        assert!(plan[1].iter().all(|couple| !is_near_of(&hosts, couple)), "{plan:?}");
        // Without labels there is nothing to prefer.
        let bare = vec![Placed::default(); 10];
        assert_eq!(quick(&bare, 3).iter().flatten().count(), 15);
    }

    fn is_near_of(hosts: &[Placed], (one, other): &Couple) -> bool {
        hosts[*one].label("leaf") == hosts[*other].label("leaf")
    }
}
