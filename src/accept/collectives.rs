//! Collectives: groups that grow, and where one is bad, the search for what makes it so.
//!
//! First all hosts in pairs at the same time, which says what is usual here. Then groups of 4, 8, … and all of them. The
//! first one that is slow, fails or hangs ends that, and [`Bisection`] takes all hosts apart.

use std::collections::BTreeMap;

use super::bisect::{Answer, Bisection, Culprit, Outcome, Step, bound, growing};
use super::placed::Placed;
use super::record::{By, Figure, Finding, Pair, Stage, Threshold};
use super::rounds::{Couple, Rounds, quick};
use crate::active::perftest::{Way, threshold};
use crate::active::{Measure, Port, Reduced, Trial};
use crate::hostlist::fold;
use crate::words::count;

/// Of what pairs reach in the middle a group must reach so much by NCCL. A ring over many hosts is as fast as one over two
/// where nothing is in its way; what NCCL gains with two hosts by other ways is less than the rest.
pub const BY_NCCL: f64 = 0.75;
/// The same by MPI, whose ways change with the number of hosts.
pub const BY_MPI: f64 = 0.25;
/// With fewer pairs than this the best one says what is usual.
const FEW: usize = 4;
/// Of what rails of two hosts reach in the middle each must reach so much.
const OF_RAILS: f64 = 0.75;

/// The next thing to do.
#[derive(Debug, Clone, PartialEq)]
pub enum Next {
    /// Groups that are to be reduced at the same time; none has a host of another.
    Groups(Vec<Vec<String>>),
    /// It is over.
    Done,
}

/// The state of a run of the stage.
#[derive(Debug, Clone, PartialEq)]
enum Phase {
    /// Rounds that are left.
    Pairs(Vec<Vec<Couple>>),
    /// Groups that are left.
    Growing(Vec<Vec<String>>),
    Search(Bisection),
    Done(Option<Outcome>),
}

/// Groups of hosts as they are reduced.
#[derive(Debug, Clone)]
pub struct Collectives {
    hosts: Vec<Placed>,
    /// GB/s that is known of such hosts, and by whom; whether the inventory says so.
    floor: Option<(f64, String, bool)>,
    /// The share of what pairs reach that each group must reach.
    of_pairs: f64,
    /// Rounds of pairs.
    rounds: usize,
    phase: Phase,
    pairs: Vec<(String, String, Reduced)>,
    /// All groups in the order in which they were reduced.
    runs: Vec<(Vec<String>, Reduced)>,
}

impl Collectives {
    /// Begins with these hosts.
    pub fn new(hosts: Vec<Placed>, floor: Option<(f64, String, bool)>, of_pairs: f64) -> Self {
        // Of three hosts each pair is needed: of fewer the slow one would be in each.
        let pairs: Vec<Vec<Couple>> =
            if hosts.len() == 3 { Rounds::all(3).collect() } else { quick(&hosts, 1) };
        let rounds = pairs.len();
        Self {
            hosts,
            floor,
            of_pairs,
            rounds,
            phase: Phase::Pairs(pairs),
            pairs: Vec::new(),
            runs: Vec::new(),
        }
    }

    /// Runs one behind the other where all is well, and at most.
    pub fn bound(&self) -> (usize, usize) {
        let usual = self.rounds + self.growing().len();
        (usual, usual + bound(self.hosts.len()))
    }

    /// Groups behind the pairs.
    fn growing(&self) -> Vec<Vec<String>> {
        growing(&self.hosts).into_iter().filter(|group| group.len() > 2).collect()
    }

    /// Tells what is to be reduced next.
    pub fn next(&self) -> Next {
        match &self.phase {
            Phase::Pairs(rounds) => {
                let name = |at: usize| self.hosts.get(at).map(|host| host.host.clone()).unwrap_or_default();
                let pair = |(one, other): &Couple| vec![name(*one), name(*other)];
                rounds.first().map_or(Next::Done, |round| Next::Groups(round.iter().map(pair).collect()))
            }
            Phase::Growing(groups) => {
                groups.first().map_or(Next::Done, |group| Next::Groups(vec![group.clone()]))
            }
            Phase::Search(bisection) => match bisection.step() {
                Step::Test(group) => Next::Groups(vec![group]),
                Step::Done(_) => Next::Done,
            },
            Phase::Done(_) => Next::Done,
        }
    }

    /// Takes how the groups went that [`Self::next`] told, in their order.
    pub fn take(&mut self, runs: Vec<Reduced>) {
        let Next::Groups(groups) = self.next() else { return };
        let met: Vec<(Vec<String>, Reduced)> = groups.into_iter().zip(runs).collect();
        self.runs.extend(met.iter().cloned());
        if matches!(self.phase, Phase::Pairs(_)) {
            self.pairs.extend(met.iter().filter_map(|(group, run)| match group.as_slice() {
                [one, other] => Some((one.clone(), other.clone(), run.clone())),
                _ => None,
            }));
        }
        // The usual speed is known behind the last of them, and then each is held against it.
        let is_bad = self.runs.iter().any(|(_, run)| self.answer(run) != Answer::Good);
        let first = met.first().map(|(_, run)| self.answer(run));
        self.phase = match std::mem::replace(&mut self.phase, Phase::Done(None)) {
            Phase::Pairs(rounds) if rounds.len() > 1 => Phase::Pairs(rounds.into_iter().skip(1).collect()),
            Phase::Pairs(_) | Phase::Growing(_) if is_bad => Phase::Search(Bisection::of(&self.hosts)),
            Phase::Pairs(_) => Phase::Growing(self.growing()),
            Phase::Growing(groups) => Phase::Growing(groups.into_iter().skip(1).collect()),
            Phase::Search(mut bisection) => {
                bisection.answer(first.unwrap_or(Answer::Failed));
                match bisection.step() {
                    Step::Test(_) => Phase::Search(bisection),
                    Step::Done(outcome) => Phase::Done(Some(outcome)),
                }
            }
            done @ Phase::Done(_) => done,
        };
    }

    /// The outcome of the search; none where nothing was bad.
    pub fn outcome(&self) -> Option<&Outcome> {
        match &self.phase {
            Phase::Done(outcome) => outcome.as_ref(),
            Phase::Pairs(_) | Phase::Growing(_) | Phase::Search(_) => None,
        }
    }

    /// All groups and how they went.
    pub fn runs(&self) -> &[(Vec<String>, Reduced)] {
        &self.runs
    }

    /// Thresholds of each group.
    fn thresholds(&self) -> Vec<Threshold> {
        let mut thresholds: Vec<Threshold> = Vec::new();
        if let Some((least, source, is_declared)) = &self.floor {
            let by = if *is_declared { By::Inventory } else { By::Floor };
            thresholds.push(Threshold { by, least: *least, source: source.clone() });
        }
        let mut reached: Vec<f64> = self.pairs.iter().filter_map(|(_, _, run)| busbw(run)).collect();
        reached.sort_by(f64::total_cmp);
        // Of a few the best one: with three hosts two of three pairs are slow where one host is. One alone says nothing.
        let middle = if reached.len() < FEW { reached.len().saturating_sub(1) } else { reached.len() / 2 };
        if let Some(usual) = reached.get(middle).filter(|_| self.pairs.len() > 1) {
            let what = if reached.len() < FEW { "best" } else { "median" };
            let source = format!(
                "{:.0} % of {usual:.1}, the {what} of {}",
                self.of_pairs * 100.0,
                count(reached.len() as u64, "pair")
            );
            thresholds.push(Threshold { by: By::Fleet, least: usual * self.of_pairs, source });
        }
        thresholds
    }

    /// The answer to a test.
    pub fn answer(&self, run: &Reduced) -> Answer {
        match run {
            Reduced::Hung => Answer::Hung,
            Reduced::Failed(_) => Answer::Failed,
            Reduced::Figures { busbw, .. } if self.thresholds().iter().any(|it| *busbw < it.least) => {
                Answer::Slow
            }
            Reduced::Figures { .. } => Answer::Good,
        }
    }

    /// Whether a run is as good as it must be; `None` for a figure that there is nothing to hold against.
    fn holds(&self, run: &Reduced) -> Option<bool> {
        let is_judged = busbw(run).is_none() || !self.thresholds().is_empty();
        is_judged.then(|| self.answer(run) == Answer::Good)
    }

    /// A run as a sentence.
    pub fn told(&self, group: &[String], run: &Reduced) -> String {
        let hosts = count(group.len() as u64, "host");
        match run {
            Reduced::Hung => format!("{hosts}: it did not end in its time"),
            Reduced::Failed(why) => format!("{hosts}: it failed: {why}"),
            Reduced::Figures { busbw, latency_us } => {
                let latency = latency_us.map(|us| format!(", {us:.1} µs for 8 bytes")).unwrap_or_default();
                let slow = self.thresholds().into_iter().find(|it| *busbw < it.least);
                let slow = slow.map(|it| format!(": {:.1} is the least ({})", it.least, it.source));
                let digits = if *busbw < 10.0 { 2 } else { 1 };
                format!("{hosts}: {busbw:.digits$} GB/s{latency}{}", slow.unwrap_or_default())
            }
        }
    }

    /// The pairs, for the record.
    pub fn pairs(&self) -> Vec<Pair> {
        let pair = |(from, to, run): &(String, String, Reduced)| {
            let said = match run {
                Reduced::Figures { .. } => String::new(),
                Reduced::Failed(why) => why.clone(),
                Reduced::Hung => "it did not end in its time".to_owned(),
            };
            Pair {
                from: from.clone(),
                to: to.clone(),
                name: "all_reduce".to_owned(),
                value: busbw(run).unwrap_or(0.0),
                unit: "GB/s".to_owned(),
                holds: self.holds(run),
                from_port: String::new(),
                to_port: String::new(),
                said,
            }
        };
        self.pairs.iter().map(pair).collect()
    }

    /// Figures of hosts: what each reached in its pair, and in the largest group that it was part of.
    pub fn figures(&self) -> Vec<(String, Figure)> {
        let thresholds = self.thresholds();
        let mut figures = Vec::new();
        for (one, other, run) in &self.pairs {
            let Some(value) = busbw(run) else { continue };
            for host in [one, other] {
                figures.push((
                    host.clone(),
                    Figure {
                        name: "all_reduce".to_owned(),
                        part: String::new(),
                        value,
                        unit: "GB/s".to_owned(),
                        thresholds: thresholds.clone(),
                        holds: self.holds(run),
                    },
                ));
            }
        }
        figures
    }

    /// The result of the search: findings by host, and sentences about what is no host's.
    pub fn blamed(&self) -> (Vec<(String, Finding)>, Vec<String>) {
        let (mut findings, mut between) = (Vec::new(), Vec::new());
        let Some(outcome) = self.outcome() else { return (findings, between) };
        let tests = count(outcome.tests as u64, "run");
        if !outcome.is_reproduced {
            let bad = self.runs.iter().find(|(_, run)| self.answer(run) != Answer::Good);
            let group = bad.map_or(String::new(), |(group, _)| fold(group.iter().map(String::as_str)));
            between.push(format!(
                "{group}: bad once, and all hosts together were good in {tests}: nothing is named"
            ));
        }
        for culprit in &outcome.culprits {
            let text = format!("all_reduce: {}, found in {tests}", culprit.text());
            let action =
                "look at its cards and GPUs, then at the log of the kernel: `provision why`".to_owned();
            let finding = |text: &str| Finding {
                stage: Stage::Collectives,
                part: String::new(),
                text: text.to_owned(),
                action: action.clone(),
            };
            match culprit {
                Culprit::Host { host, .. } => findings.push((host.clone(), finding(&text))),
                Culprit::OneOf { hosts, .. } => {
                    findings.extend(hosts.iter().map(|host| (host.clone(), finding(&text))));
                }
                Culprit::Link { .. }
                | Culprit::Boundary { .. }
                | Culprit::Crossing { .. }
                | Culprit::Unsteady { .. } => between.push(text),
            }
        }
        if !outcome.is_complete {
            between.push(format!("the search ended after {tests}, and what is left was not seen to be good"));
        }
        (findings, between)
    }

    /// Pairs of hosts whose rails are worth a look, one for each culprit: the culprit and somebody who is none.
    pub fn suspects(&self) -> Vec<(String, String)> {
        let Some(outcome) = self.outcome() else { return Vec::new() };
        let blamed: Vec<&str> = outcome
            .culprits
            .iter()
            .filter_map(
                |culprit| if let Culprit::Host { host, .. } = culprit { Some(host.as_str()) } else { None },
            )
            .collect();
        let mut good = self.hosts.iter().map(|host| host.host.as_str()).filter(|host| !blamed.contains(host));
        let mut pairs = Vec::new();
        for culprit in &outcome.culprits {
            match culprit {
                Culprit::Host { host, .. } => {
                    pairs.extend(good.next().map(|other| (host.clone(), other.to_owned())));
                }
                Culprit::Link { from, to, .. } => pairs.push((from.clone(), to.clone())),
                Culprit::OneOf { hosts, .. } => {
                    if let [one, other] = hosts.as_slice() {
                        pairs.push((one.clone(), other.clone()));
                    }
                }
                Culprit::Boundary { .. } | Culprit::Crossing { .. } | Culprit::Unsteady { .. } => {}
            }
        }
        pairs
    }
}

fn busbw(run: &Reduced) -> Option<f64> {
    match run {
        Reduced::Figures { busbw, .. } => Some(*busbw),
        Reduced::Failed(_) | Reduced::Hung => None,
    }
}

/// Ports that are silent with a host, or slow by their rate or beside the others.
pub fn odd_rails(ports: &[Port], trials: &[Trial]) -> Vec<String> {
    let mut values: Vec<f64> =
        trials.iter().filter(|trial| is_write(trial)).filter_map(|it| it.result.clone().ok()).collect();
    values.sort_by(f64::total_cmp);
    let usual = values.get(values.len() / 2).copied().unwrap_or(0.0);
    let mut odd: BTreeMap<&str, String> = BTreeMap::new();
    for trial in trials {
        let Some(port) = ports.iter().find(|port| port.device == trial.rail) else { continue };
        let least = port.rate.map_or(0.0, |rate| threshold(Way::One, rate)).max(usual * OF_RAILS);
        let label = port.label();
        match &trial.result {
            Err(why) => drop(odd.entry(&trial.rail).or_insert(format!("{label} gives no figure: {why}"))),
            Ok(value) if is_write(trial) && *value < least => {
                odd.entry(&trial.rail)
                    .or_insert(format!("{label} reaches {value:.1} Gb/s, {least:.0} is the least"));
            }
            Ok(_) => {}
        }
    }
    odd.into_values().collect()
}

fn is_write(trial: &Trial) -> bool {
    matches!(trial.measure, Measure::Write | Measure::GpuWrite)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::super::placed::tests::on_leaves;
    use super::*;
    use crate::active::{By as ReducedBy, reduce_seconds};

    fn figures(busbw: f64, latency_us: Option<f64>) -> Reduced {
        Reduced::Figures { busbw, latency_us }
    }

    /// Runs it to its end: hosts that are slow, fail and hang.
    fn played(hosts: usize, slow: &[usize], fails: &[usize], hangs: &[usize]) -> (Collectives, usize) {
        let mut groups = Collectives::new(on_leaves(hosts, 8), None, BY_NCCL);
        let (_, most) = groups.bound();
        let mut rounds = 0;
        while let Next::Groups(next) = groups.next() {
            rounds += 1;
            assert!(rounds <= most, "{rounds} of {most}");
            let busy: BTreeSet<&String> = next.iter().flatten().collect();
            assert_eq!(busy.len(), next.iter().map(Vec::len).sum::<usize>(), "no host twice at a time");
            let run = |group: &Vec<String>| {
                let has = |bad: &[usize]| bad.iter().any(|host| group.contains(&format!("h{host}")));
                if has(hangs) {
                    Reduced::Hung
                } else if has(fails) {
                    Reduced::Failed("Test NCCL failure".to_owned())
                } else {
                    figures(if has(slow) { 41.0 } else { 380.0 }, Some(31.0))
                }
            };
            let runs = next.iter().map(run).collect();
            groups.take(runs);
        }
        (groups, rounds)
    }

    #[test]
    fn the_bad_host_is_named_within_the_bound() {
        for hosts in [3, 4, 5, 8, 16, 33, 128] {
            let (groups, rounds) = played(hosts, &[], &[], &[]);
            assert_eq!((groups.blamed(), rounds), ((Vec::new(), Vec::new()), groups.bound().0), "{hosts}");
            for bad in [0, 1, hosts - 1] {
                for (slow, fails, hangs) in
                    [(vec![bad], vec![], vec![]), (vec![], vec![bad], vec![]), (vec![], vec![], vec![bad])]
                {
                    let (groups, _) = played(hosts, &slow, &fails, &hangs);
                    let (findings, between) = groups.blamed();
                    let named: Vec<&str> = findings.iter().map(|(host, _)| host.as_str()).collect();
                    assert_eq!(
                        named,
                        [format!("h{bad}")],
                        "{hosts} {slow:?} {fails:?} {hangs:?}: {between:?}"
                    );
                    assert_eq!(between, Vec::<String>::new(), "{hosts} {slow:?} {fails:?} {hangs:?}");
                    assert_eq!(groups.suspects().len(), 1);
                }
            }
        }
        let (groups, _) = played(16, &[3], &[], &[9]);
        let (findings, _) = groups.blamed();
        assert_eq!(
            findings
                .iter()
                .map(|(host, finding)| format!("{host}: {}", finding.text))
                .collect::<Vec<_>>()
                .len(),
            2,
            "{findings:?}"
        );
    }

    #[test]
    fn a_group_is_held_against_pairs_and_against_what_is_known() {
        let (groups, _) = played(4, &[2], &[], &[]);
        let slow = groups.pairs().into_iter().filter(|pair| pair.holds == Some(false)).count();
        assert_eq!(slow, 1);
        let (group, run) = &groups.runs()[0];
        assert_eq!(groups.told(group, run), "2 hosts: 380.0 GB/s, 31.0 µs for 8 bytes");
        let (group, run) = &groups.runs()[1];
        assert_eq!(
            groups.told(group, run),
            "2 hosts: 41.0 GB/s, 31.0 µs for 8 bytes: 285.0 is the least (75 % of 380.0, the best of 2 pairs)"
        );
        // A fleet that is slow as a whole.
        let floor = Some((382.5, "85 % of 450 GB/s".to_owned(), false));
        let mut groups = Collectives::new(on_leaves(4, 8), floor, BY_NCCL);
        groups.take(vec![figures(380.0, None); 2]);
        assert_eq!(groups.answer(&figures(380.0, None)), Answer::Slow);
        assert_eq!(groups.figures()[0].1.holds, Some(false));
    }

    /// Over the transport: one host makes all runs slow, another one makes them hang.
    #[tokio::test(start_paused = true)]
    async fn a_search_over_logins_ends_in_the_time_that_was_said() {
        let fleet = crate::active::testing::reducing(6, |group| match group {
            _ if group.contains(&"h4") => None,
            _ if group.contains(&"h1") => Some(41.0),
            _ => Some(380.0),
        })
        .await;
        let reducers = fleet.reducers(&(0..6).collect()).await;
        assert_eq!(
            (reducers.by, reducers.programs.len(), reducers.each),
            (ReducedBy::Nccl, 6, 1),
            "{reducers:?}"
        );
        let mut groups = Collectives::new(on_leaves(6, 8), reducers.floor.clone(), BY_NCCL);
        let (_, most) = groups.bound();
        let began = tokio::time::Instant::now();
        while let Next::Groups(next) = groups.next() {
            let mut runs = Vec::new();
            for group in &next {
                let places: Vec<usize> =
                    group.iter().map(|host| host.trim_start_matches('h').parse().unwrap()).collect();
                runs.push(fleet.reduce(&reducers, &places).await);
            }
            groups.take(runs);
        }
        let bound = std::time::Duration::from_secs(reduce_seconds()) * u32::try_from(most).unwrap();
        assert!(began.elapsed() <= bound, "{:?} of {bound:?}", began.elapsed());
        let (mut findings, between) = groups.blamed();
        findings.sort_by(|one, other| one.0.cmp(&other.0));
        let said: Vec<String> =
            findings.iter().map(|(host, finding)| format!("{host}: {}", finding.text)).collect();
        assert!(between.is_empty(), "{between:?}");
        assert!(
            matches!(&said[..], [one, other]
                if one.starts_with("h1: all_reduce: h1 is slow with each host")
                    && other.starts_with("h4: all_reduce: h4 is hung with each host")),
            "{said:?}"
        );
        assert!(
            groups
                .runs()
                .iter()
                .any(|(group, run)| groups.told(group, run) == "2 hosts: 380.0 GB/s, 31.5 µs for 8 bytes")
        );
    }

    #[test]
    fn the_card_of_a_culprit_is_named() {
        let port = |rail: usize| Port {
            device: format!("mlx5_{rail}"),
            number: 1,
            pci: String::new(),
            rate: Some(400.0),
            is_fast: true,
            has_gpu: true,
        };
        let ports: Vec<Port> = (0..3).map(port).collect();
        let trial = |rail: usize, result| Trial {
            from: 0,
            to: 1,
            rail: format!("mlx5_{rail}"),
            measure: Measure::GpuWrite,
            result,
        };
        let trials =
            [trial(0, Ok(390.0)), trial(1, Ok(96.0)), trial(2, Err("it printed no result".to_owned()))];
        assert_eq!(
            odd_rails(&ports, &trials),
            [
                "mlx5_1 port 1 reaches 96.0 Gb/s, 360 is the least",
                "mlx5_2 port 1 gives no figure: it printed no result"
            ]
        );
    }
}
