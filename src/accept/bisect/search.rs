//! The search itself.

use std::collections::{BTreeMap, BTreeSet};

use super::outcome::{Answer, Culprit, Outcome, Step};
use crate::accept::placed::{BOUNDARIES, Placed, by_place};

/// A group is tested so often before it is believed that nothing is wrong with it.
const BELIEVED: usize = 3;

/// After so many culprits it ends; a cluster with more is not ready for a collective.
const CULPRITS: usize = 3;

/// A suspect is tested with so many others.
const PARTNERS: usize = 3;

/// The most tests that a group of so many hosts takes, whatever the answers.
///
/// To believe it takes three. Then each culprit has 4 for each time that the group can be halved: two halves on the way
/// down, and twice two where it is what lies between two groups that is looked for. The rest are the tests once more
/// before somebody is blamed (4), both suspects with others (6), boundaries (3), and what is left without the
/// culprit (2).
pub fn bound(hosts: usize) -> usize {
    if hosts < 2 {
        return 0;
    }
    let halvings = (hosts - 1).ilog2() as usize + 1;
    BELIEVED + CULPRITS * (4 * halvings + 15)
}

/// A group that was slow, and the answers so far.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bisection {
    /// Neighbours beside each other, so that halves are cut along boundaries as far as can be.
    hosts: Vec<Placed>,
    answers: Vec<Answer>,
}

/// Hosts by index, in order.
type Group = Vec<usize>;

/// The reason why the search stands still.
enum Stop {
    /// This is to be tested.
    Ask(Group),
    /// There were as many tests as were said.
    Spent,
}

/// A result of the search, or what it waits for.
type Found<T> = Result<T, Stop>;

/// Culprits of a group, and groups that hold all that is left of it.
type Blamed = (Vec<Culprit>, Vec<Group>);

impl Bisection {
    /// Begins with a group that was slow or hung.
    pub fn of(hosts: &[Placed]) -> Self {
        let order = by_place(hosts).into_iter();
        Self { hosts: order.filter_map(|index| hosts.get(index)).cloned().collect(), answers: Vec::new() }
    }

    /// The most tests that it takes.
    pub fn bound(&self) -> usize {
        bound(self.hosts.len())
    }

    /// Adds the answer to the last [`Step::Test`].
    pub fn answer(&mut self, answer: Answer) {
        self.answers.push(answer);
    }

    /// Tells the next test, or the outcome.
    ///
    /// The search runs from its beginning each time, with the answers that are there, so nothing but answers has to be
    /// kept.
    pub fn step(&self) -> Step {
        let mut lab = Lab { answers: &self.answers, most: self.bound(), ..Lab::default() };
        let mut outcome = Outcome::default();
        match self.search(&mut lab, &mut outcome) {
            Err(Stop::Ask(group)) => return Step::Test(self.names(&group)),
            Err(Stop::Spent) => {}
            Ok(is_complete) => outcome.is_complete = is_complete,
        }
        outcome.tests = lab.asked;
        Step::Done(outcome)
    }

    /// Looks for culprits until what is left is good; whether it is.
    fn search(&self, lab: &mut Lab<'_>, outcome: &mut Outcome) -> Found<bool> {
        let all: Group = (0..self.hosts.len()).collect();
        if all.len() < 2 {
            return Ok(true);
        }
        for _ in 0..BELIEVED {
            if lab.again(&all)?.is_bad() {
                outcome.is_reproduced = true;
                break;
            }
        }
        let mut left = if outcome.is_reproduced { vec![all] } else { Vec::new() };
        while let Some(group) = left.pop() {
            let group = without(&group, &lab.blamed);
            if group.len() < 2 || !lab.ask(&group)?.is_bad() {
                continue;
            }
            if outcome.culprits.len() >= CULPRITS {
                return Ok(false);
            }
            let (culprits, rest) = self.find(lab, &group)?;
            outcome.culprits.extend(culprits);
            left.extend(rest);
        }
        Ok(true)
    }

    /// Finds the culprits of a group that is bad.
    fn find(&self, lab: &mut Lab<'_>, group: &[usize]) -> Found<Blamed> {
        let mut bad: Group = group.to_vec();
        loop {
            let half = bad.len().div_ceil(2);
            let (Some(first), Some(last)) = (bad.get(..half), bad.get(bad.len() - half..)) else {
                return Ok((vec![self.unsteady(&bad)], Vec::new()));
            };
            let (first, last) = (first.to_vec(), last.to_vec());
            if let [one, other] = bad.as_slice() {
                return self.two(lab, group, *one, *other);
            }
            if lab.ask(&first)?.is_bad() {
                bad = first;
            } else if lab.ask(&last)?.is_bad() {
                bad = last;
            // One that is bad now and then looks as if only both halves together were bad: all three are tested again.
            } else if lab.again(&first)?.is_bad() {
                bad = first;
            } else if lab.again(&last)?.is_bad() {
                bad = last;
            } else if lab.again(&bad)?.is_bad() {
                return self.between(lab, group, &bad, half);
            } else {
                return Ok((vec![self.unsteady(&bad)], vec![without(group, &bad)]));
            }
        }
    }

    /// Finds the culprits where both halves of a group are good and only together bad.
    fn between(&self, lab: &mut Lab<'_>, group: &[usize], bad: &[usize], half: usize) -> Found<Blamed> {
        // The one in the middle was good with both.
        let whole = (bad.get(..bad.len() - half).unwrap_or_default(), bad.get(half..).unwrap_or_default());
        let (mut one, mut other) = (whole.0.to_vec(), whole.1.to_vec());
        let how = lab.ask(bad)?;
        for is_first in [true, false] {
            loop {
                let (narrowed, kept) = if is_first { (&one, &other) } else { (&other, &one) };
                let Some((left, right)) =
                    narrowed.split_at_checked(narrowed.len() / 2).filter(|(left, _)| !left.is_empty())
                else {
                    break;
                };
                let (left, right) = (left.to_vec(), right.to_vec());
                let narrower = if lab.ask(&joined(&left, kept))?.is_bad() {
                    left
                } else if lab.ask(&joined(&right, kept))?.is_bad() {
                    right
                } else {
                    return Ok(self.crossing(group, whole.0, whole.1, how));
                };
                if is_first {
                    one = narrower;
                } else {
                    other = narrower;
                }
            }
        }
        if let ([one], [other]) = (one.as_slice(), other.as_slice())
            && lab.ask(&joined(&[*one], &[*other]))?.is_bad()
        {
            return self.link(lab, group, *one, *other);
        }
        Ok(self.crossing(group, whole.0, whole.1, how))
    }

    /// Finds the culprits where two hosts are bad together.
    fn two(&self, lab: &mut Lab<'_>, group: &[usize], one: usize, other: usize) -> Found<Blamed> {
        let pair = joined(&[one], &[other]);
        let how = lab.ask(&pair)?;
        let mut suspects = Vec::new();
        for suspect in [one, other] {
            let mut partners = Vec::new();
            let mut is_bad = true;
            while let Some(partner) = self.partner(lab, suspect, &pair, &partners) {
                partners.push(partner);
                if !lab.ask(&joined(&[suspect], &[partner]))?.is_bad() {
                    is_bad = false;
                    break;
                }
            }
            suspects.push((suspect, is_bad, partners));
        }
        let blamed: Vec<&(usize, bool, Group)> = suspects.iter().filter(|(_, is_bad, _)| *is_bad).collect();
        if blamed.is_empty() {
            return self.link(lab, group, one, other);
        }
        // A partner that is good with others is not to blame itself, so all others are tested if none is known yet.
        let is_sure = |lab: &Lab<'_>| {
            let good = |partners: &Group| partners.iter().any(|partner| lab.good.contains(partner));
            blamed.iter().all(|(_, _, partners)| good(partners))
        };
        let others = without(group, &pair);
        if !is_sure(lab) && others.len() > 1 {
            lab.ask(&others)?;
        }
        if is_sure(lab) {
            let hosts: Group = blamed.iter().map(|(host, _, _)| *host).collect();
            let culprits = hosts.iter().map(|host| Culprit::Host { host: self.name(*host), how }).collect();
            lab.blamed.extend(&hosts);
            return Ok((culprits, vec![without(group, &hosts)]));
        }
        Ok((vec![Culprit::OneOf { hosts: self.names(&pair), how }], vec![others]))
    }

    /// The next host that a suspect is tested with: one of its own place, one of another, and any.
    fn partner(&self, lab: &Lab<'_>, suspect: usize, pair: &[usize], tried: &[usize]) -> Option<usize> {
        let own = self.hosts.get(suspect)?;
        if tried.len() >= PARTNERS {
            return None;
        }
        let others = self.hosts.iter().enumerate();
        let others = others.filter(|(index, _)| {
            !pair.contains(index) && !tried.contains(index) && !lab.blamed.contains(index)
        });
        let rank = |(index, host): &(usize, &Placed)| {
            let is_near = own.place() == host.place();
            let is_wanted = match tried.len() {
                0 => is_near,
                1 => !is_near,
                _ => true,
            };
            (!is_wanted, !lab.good.contains(index))
        };
        others.min_by_key(rank).map(|(index, _)| index)
    }

    /// Two hosts that are bad together, and each is good with others: a link, or a boundary.
    fn link(&self, lab: &mut Lab<'_>, group: &[usize], one: usize, other: usize) -> Found<Blamed> {
        let pair = joined(&[one], &[other]);
        let how = lab.again(&pair)?;
        if !how.is_bad() {
            return Ok((vec![self.unsteady(&pair)], vec![without(group, &pair)]));
        }
        for kind in BOUNDARIES {
            let (from, to) = (self.label(one, kind), self.label(other, kind));
            if from.is_empty() || to.is_empty() || from == to {
                continue;
            }
            let stands_in = |host: usize, label: &str| {
                let is_same =
                    |at: &usize| self.label(*at, kind) == label && *at != host && !lab.blamed.contains(at);
                let mut same = (0..self.hosts.len()).filter(is_same);
                let good = same.clone().find(|at| lab.good.contains(at));
                good.or_else(|| same.next()).unwrap_or(host)
            };
            let others = joined(&[stands_in(one, from)], &[stands_in(other, to)]);
            if others == pair || !lab.ask(&others)?.is_bad() {
                continue;
            }
            let (from, to) = (from.to_owned(), to.to_owned());
            let side = |label: &str| {
                group.iter().copied().filter(|at| self.label(*at, kind) == label).collect::<Group>()
            };
            let rest = vec![without(group, &side(&from)), without(group, &side(&to))];
            return Ok((vec![Culprit::Boundary { kind: kind.to_owned(), from, to, how }], rest));
        }
        let (from, to) = (self.name(one), self.name(other));
        let rest = vec![without(group, &[one]), without(group, &[other])];
        Ok((vec![Culprit::Link { from, to, how }], rest))
    }

    /// Two groups that are bad together and in no smaller part.
    fn crossing(&self, group: &[usize], one: &[usize], other: &[usize], how: Answer) -> Blamed {
        let common = |kind: &str, side: &[usize]| {
            let first = self.label(*side.first()?, kind);
            let is_common = !first.is_empty() && side.iter().all(|at| self.label(*at, kind) == first);
            is_common.then(|| first.to_owned())
        };
        let boundary = BOUNDARIES.into_iter().find_map(|kind| {
            let (from, to) = (common(kind, one)?, common(kind, other)?);
            (from != to).then(|| Culprit::Boundary { kind: kind.to_owned(), from, to, how })
        });
        let culprit = boundary.unwrap_or_else(|| Culprit::Crossing {
            from: self.names(one),
            to: self.names(other),
            how,
        });
        (vec![culprit], vec![without(group, one), without(group, other)])
    }

    fn unsteady(&self, group: &[usize]) -> Culprit {
        Culprit::Unsteady { hosts: self.names(group) }
    }

    fn label(&self, host: usize, kind: &str) -> &str {
        self.hosts.get(host).map_or("", |host| host.label(kind))
    }

    fn name(&self, host: usize) -> String {
        self.hosts.get(host).map(|host| host.host.clone()).unwrap_or_default()
    }

    fn names(&self, group: &[usize]) -> Vec<String> {
        group.iter().map(|host| self.name(*host)).collect()
    }
}

/// Gives the answers that are there, and counts.
#[derive(Default)]
struct Lab<'a> {
    answers: &'a [Answer],
    asked: usize,
    most: usize,
    /// The last answer for each group.
    known: BTreeMap<Group, Answer>,
    /// Hosts of groups that were good.
    good: BTreeSet<usize>,
    /// Hosts that are named already.
    blamed: Group,
}

impl Lab<'_> {
    /// The answer for a group, from before where it was tested already.
    fn ask(&mut self, group: &[usize]) -> Found<Answer> {
        match self.known.get(group) {
            Some(answer) => Ok(*answer),
            None => self.again(group),
        }
    }

    /// The answer of one more test.
    fn again(&mut self, group: &[usize]) -> Found<Answer> {
        if self.asked >= self.most {
            return Err(Stop::Spent);
        }
        let Some(answer) = self.answers.get(self.asked).copied() else {
            return Err(Stop::Ask(group.to_vec()));
        };
        self.asked += 1;
        self.known.insert(group.to_vec(), answer);
        if !answer.is_bad() {
            self.good.extend(group.iter().copied());
        }
        Ok(answer)
    }
}

/// Both groups as one, in order.
fn joined(one: &[usize], other: &[usize]) -> Group {
    let all: BTreeSet<usize> = one.iter().chain(other).copied().collect();
    all.into_iter().collect()
}

/// A group without some of it.
fn without(group: &[usize], some: &[usize]) -> Group {
    group.iter().copied().filter(|host| !some.contains(host)).collect()
}
