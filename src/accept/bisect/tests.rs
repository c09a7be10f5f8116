use std::collections::BTreeMap;

use super::*;
use crate::accept::placed::Placed;
use crate::accept::placed::tests::on_leaves;

/// Faults of a fabric that answers.
#[derive(Debug, Clone, Default)]
struct Planted {
    hosts: Vec<String>,
    links: Vec<(String, String)>,
    /// Two leaves.
    boundary: Option<(String, String)>,
    /// Two leaves that are bad together when so many hosts of each take part.
    narrow: Option<(String, String, usize)>,
    /// A test of so many is good by chance.
    one_good_in: Option<u64>,
    /// A test of so many is bad by chance.
    one_bad_in: Option<u64>,
}

/// A small generator of numbers (`SplitMix64`).
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut bits = self.0;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        bits ^ (bits >> 31)
    }

    fn below(&mut self, end: usize) -> usize {
        usize::try_from(self.next() % u64::try_from(end).unwrap()).unwrap()
    }

    fn is_one_in(&mut self, many: Option<u64>) -> bool {
        many.is_some_and(|many| self.next().is_multiple_of(many))
    }
}

impl Planted {
    fn answer(&self, places: &BTreeMap<String, String>, group: &[String], numbers: &mut Numbers) -> Answer {
        assert!(group.len() >= 2, "nobody tests alone: {group:?}");
        let has = |host: &String| group.contains(host);
        let on = |leaf: &String| group.iter().filter(|host| places[*host] == *leaf).count();
        let is_bad = self.hosts.iter().any(has)
            || self.links.iter().any(|(one, other)| has(one) && has(other))
            || self.boundary.iter().any(|(one, other)| on(one) > 0 && on(other) > 0)
            || self.narrow.iter().any(|(one, other, many)| on(one) >= *many && on(other) >= *many);
        let is_bad = is_bad && !numbers.is_one_in(self.one_good_in) || numbers.is_one_in(self.one_bad_in);
        if is_bad { Answer::Slow } else { Answer::Good }
    }
}

/// Runs a bisection to its end.
fn run(hosts: &[Placed], planted: &Planted, seed: u64) -> Outcome {
    let places = hosts.iter().map(|host| (host.host.clone(), host.label("leaf").to_owned())).collect();
    let mut bisection = Bisection::of(hosts);
    let mut numbers = Numbers(seed);
    for asked in 0.. {
        match bisection.step() {
            Step::Test(group) => {
                assert!(asked < bisection.bound(), "{asked} tests of {} hosts: {planted:?}", hosts.len());
                bisection.answer(planted.answer(&places, &group, &mut numbers));
            }
            Step::Done(outcome) => {
                assert_eq!(outcome.tests, asked);
                assert!(asked <= bound(hosts.len()));
                return outcome;
            }
        }
    }
    unreachable!()
}

fn host(index: usize) -> String {
    format!("h{index}")
}

const SIZES: [(usize, usize); 14] = [
    (3, 2),
    (4, 2),
    (5, 2),
    (6, 3),
    (7, 4),
    (8, 4),
    (13, 4),
    (16, 8),
    (31, 8),
    (32, 8),
    (64, 16),
    (100, 32),
    (128, 32),
    (1000, 32),
];

#[test]
fn one_bad_host() {
    let mut most = 0;
    for (count, each) in SIZES {
        let hosts = on_leaves(count, each);
        for index in (0..count).step_by(1.max(count / 40)) {
            let planted = Planted { hosts: vec![host(index)], ..Planted::default() };
            let outcome = run(&hosts, &planted, 1);
            let culprits = [Culprit::Host { host: host(index), how: Answer::Slow }];
            assert_eq!(outcome.culprits, culprits, "{count} hosts, {each} on a leaf");
            assert!(outcome.is_complete && outcome.is_reproduced);
            most = most.max(outcome.tests);
        }
    }
    assert!(most <= 25, "{most} of {}", bound(1000));
}

#[test]
fn two_bad_hosts() {
    for (count, each) in SIZES.into_iter().filter(|(count, _)| (5..=128).contains(count)) {
        let hosts = on_leaves(count, each);
        for one in (0..count).step_by(1.max(count / 13)) {
            for other in (one + 1..count).step_by(1.max(count / 11)) {
                let planted = Planted { hosts: vec![host(one), host(other)], ..Planted::default() };
                let mut outcome = run(&hosts, &planted, 1);
                outcome.culprits.sort();
                let mut culprits = planted.hosts.clone();
                culprits.sort();
                let culprits: Vec<Culprit> =
                    culprits.into_iter().map(|host| Culprit::Host { host, how: Answer::Slow }).collect();
                assert_eq!(outcome.culprits, culprits, "{count} hosts, {each} on a leaf");
                assert!(outcome.is_complete);
            }
        }
    }
}

#[test]
fn one_bad_link() {
    for (count, each) in SIZES.into_iter().filter(|(count, _)| *count <= 128) {
        let hosts = on_leaves(count, each);
        for one in (0..count).step_by(1.max(count / 13)) {
            for other in (one + 1..count).step_by(1.max(count / 11)) {
                let planted = Planted { links: vec![(host(one), host(other))], ..Planted::default() };
                let outcome = run(&hosts, &planted, 1);
                let (from, to) = (host(one), host(other));
                let link = |from, to| Culprit::Link { from, to, how: Answer::Slow };
                let found = outcome.culprits.as_slice();
                let what = format!("{count} hosts, {each} on a leaf: {planted:?}: {outcome:?}");
                assert!(found == [link(from.clone(), to.clone())] || found == [link(to, from)], "{what}");
                assert!(outcome.is_complete, "{what}");
            }
        }
    }
}

#[test]
fn one_bad_boundary() {
    for (count, each) in [(6, 3), (16, 8), (32, 8), (31, 8), (64, 16), (100, 30), (128, 32), (1000, 32)] {
        let hosts = on_leaves(count, each);
        let leaves = count.div_ceil(each);
        for one in 0..leaves.min(6) {
            for other in one + 1..leaves.min(7) {
                let (from, to) = (format!("leaf{one:03}"), format!("leaf{other:03}"));
                let planted = Planted { boundary: Some((from.clone(), to.clone())), ..Planted::default() };
                let outcome = run(&hosts, &planted, 1);
                let culprit = Culprit::Boundary { kind: "leaf".to_owned(), from, to, how: Answer::Slow };
                assert_eq!(outcome.culprits, [culprit], "{count} hosts, {each} on a leaf");
                assert!(outcome.is_complete);
            }
        }
    }
}

#[test]
fn a_boundary_that_is_too_narrow() {
    let hosts = on_leaves(16, 8);
    let planted =
        Planted { narrow: Some(("leaf000".to_owned(), "leaf001".to_owned(), 5)), ..Planted::default() };
    let outcome = run(&hosts, &planted, 1);
    let (from, to) = ("leaf000".to_owned(), "leaf001".to_owned());
    let culprit = Culprit::Boundary { kind: "leaf".to_owned(), from, to, how: Answer::Slow };
    assert_eq!(outcome.culprits, [culprit]);
    // Where no label tells the halves apart, the halves themselves are said.
    let mut bare = hosts.clone();
    let places: BTreeMap<String, String> =
        hosts.iter().map(|host| (host.host.clone(), host.label("leaf").to_owned())).collect();
    for host in &mut bare {
        host.labels.clear();
    }
    let mut bisection = Bisection::of(&bare);
    let outcome = loop {
        match bisection.step() {
            Step::Test(group) => bisection.answer(planted.answer(&places, &group, &mut Numbers(1))),
            Step::Done(outcome) => break outcome,
        }
    };
    assert!(matches!(outcome.culprits.as_slice(), [Culprit::Crossing { .. }]), "{outcome:?}");
}

#[test]
fn a_host_and_a_link() {
    let hosts = on_leaves(32, 8);
    for seed in 0..200 {
        let mut numbers = Numbers(seed);
        let [one, other, third] = [(); 3].map(|()| numbers.below(32));
        if one == other || other == third || one == third {
            continue;
        }
        let planted =
            Planted { hosts: vec![host(one)], links: vec![(host(other), host(third))], ..Planted::default() };
        let outcome = run(&hosts, &planted, seed);
        assert_eq!(outcome.culprits.len(), 2, "{planted:?}: {outcome:?}");
        let is_host =
            |culprit: &Culprit| matches!(culprit, Culprit::Host { host: named, .. } if *named == host(one));
        assert!(outcome.culprits.iter().any(is_host), "{planted:?}: {outcome:?}");
        assert!(
            outcome.culprits.iter().any(|culprit| matches!(culprit, Culprit::Link { .. })),
            "{outcome:?}"
        );
        assert!(outcome.is_complete, "{planted:?}: {outcome:?}");
    }
}

#[test]
fn nothing_that_can_be_seen_again() {
    let outcome = run(&on_leaves(64, 8), &Planted::default(), 1);
    assert_eq!(outcome, Outcome { is_complete: true, tests: 3, ..Outcome::default() });
    for few in 0..2 {
        assert_eq!(run(&on_leaves(few, 2), &Planted::default(), 1).tests, 0);
    }
}

#[test]
fn of_two_hosts_nobody_can_be_named() {
    let planted = Planted { hosts: vec![host(1)], ..Planted::default() };
    let outcome = run(&on_leaves(2, 2), &planted, 1);
    let hosts = vec![host(0), host(1)];
    assert_eq!(outcome.culprits, [Culprit::OneOf { hosts, how: Answer::Slow }]);
}

/// Whatever is answered, it ends within its bound.
#[test]
fn any_answers_end() {
    for (count, each) in SIZES.into_iter().filter(|(count, _)| *count <= 128) {
        for seed in 0..20 {
            for planted in [
                Planted { one_bad_in: Some(2), ..Planted::default() },
                Planted { one_bad_in: Some(1), ..Planted::default() },
                Planted { one_bad_in: Some(10), ..Planted::default() },
                Planted { hosts: vec![host(1)], one_good_in: Some(3), ..Planted::default() },
                Planted { hosts: (0..count).map(host).collect(), one_good_in: Some(4), ..Planted::default() },
            ] {
                assert!(run(&on_leaves(count, each), &planted, seed).tests <= bound(count));
            }
        }
    }
}

/// A bad host that is good once in ten tests is found most of the time, and nobody else is blamed.
#[test]
fn a_host_that_is_bad_most_of_the_time() {
    let hosts = on_leaves(64, 8);
    let (mut found, mut innocent) = (0, 0);
    for seed in 0..400 {
        let planted = Planted { hosts: vec![host(37)], one_good_in: Some(10), ..Planted::default() };
        for culprit in run(&hosts, &planted, seed).culprits {
            match culprit {
                Culprit::Host { host: named, .. } if named == host(37) => found += 1,
                Culprit::Host { .. } => innocent += 1,
                Culprit::Link { .. }
                | Culprit::Boundary { .. }
                | Culprit::Crossing { .. }
                | Culprit::OneOf { .. }
                | Culprit::Unsteady { .. } => {}
            }
        }
    }
    assert!(found >= 270, "{found} of 400");
    assert_eq!(innocent, 0);
}

#[test]
fn bounds_are_said_beforehand() {
    let bounds: Vec<usize> = [0, 1, 2, 3, 8, 64, 1000].into_iter().map(bound).collect();
    assert_eq!(bounds, [0, 0, 60, 72, 84, 120, 168]);
}

#[test]
fn a_hung_test_is_said_as_such() {
    let hosts = on_leaves(4, 4);
    let mut bisection = Bisection::of(&hosts);
    let outcome = loop {
        match bisection.step() {
            Step::Test(group) if group.contains(&host(2)) => bisection.answer(Answer::Hung),
            Step::Test(_) => bisection.answer(Answer::Good),
            Step::Done(outcome) => break outcome,
        }
    };
    let texts: Vec<String> = outcome.culprits.iter().map(Culprit::text).collect();
    assert_eq!(texts, ["h2 is hung with each host it was tested with"]);
}

#[test]
fn groups_grow_within_a_leaf() {
    let mut hosts = on_leaves(20, 8);
    hosts.reverse();
    let groups = growing(&hosts);
    let sizes: Vec<usize> = groups.iter().map(Vec::len).collect();
    assert_eq!(sizes, [2, 4, 8, 16, 20]);
    assert!(groups.windows(2).all(|two| two[0].iter().all(|host| two[1].contains(host))));
    let leaf = |name: &String| hosts.iter().find(|host| host.host == *name).unwrap().label("leaf").to_owned();
    for group in &groups[..3] {
        assert!(group.iter().all(|host| leaf(host) == leaf(&group[0])), "{group:?}");
    }
    // The largest leaf comes first.
    let mut hosts = on_leaves(9, 3);
    hosts.retain(|host| host.host != "h1" && host.host != "h7");
    assert_eq!(growing(&hosts)[0], ["h3", "h4"]);
    assert_eq!(growing(&on_leaves(1, 1)), Vec::<Vec<String>>::new());
    assert_eq!(growing(&on_leaves(2, 1)).len(), 1);
    assert_eq!(growing(&on_leaves(8, 1)).len(), 3, "the last is not there twice");
}
