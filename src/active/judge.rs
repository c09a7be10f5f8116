//! From the outcomes of pairs to the results of hosts.

use std::collections::BTreeMap;

use super::pairs::{Blame, Outcomes, Pair};
use crate::events::{CheckResult, CheckStatus, Evidence, PairTest};

/// Result of the test of one pair: what it showed, or what went wrong.
pub type PairEnded = Result<String, String>;

/// The test of one pair.
#[derive(Debug, Clone)]
pub struct PairTrial {
    /// Result of the test.
    pub ended: PairEnded,
    /// Gb/s or microseconds, where they were measured.
    pub figure: Option<f64>,
    /// Status that the host at fault gets where the test did not go well.
    pub fault: CheckStatus,
}

/// Everything that was tested for one check: by rail, pairs with how they ended.
#[derive(Debug, Clone)]
pub struct RailTests {
    /// The command, for evidence.
    pub command: String,
    /// In the order in which they were made; the first pass, then the second.
    pub passes: [BTreeMap<Pair, PairTrial>; 2],
}

impl RailTests {
    /// None was made yet.
    pub fn new(command: &str) -> Self {
        Self { command: command.to_owned(), passes: Default::default() }
    }

    /// The outcomes of a pass.
    pub fn outcomes(&self, pass: usize) -> Outcomes {
        let mut outcomes = Outcomes::default();
        for (pair, trial) in self.passes.get(pass).into_iter().flatten() {
            outcomes.note(*pair, trial.ended.is_ok());
        }
        outcomes
    }

    /// Every test of a rail, for reports; its figures are Gb/s.
    pub fn pairs(&self, rail: &str, names: &[String]) -> Vec<PairTest> {
        let name = |host: usize| names.get(host).cloned().unwrap_or_default();
        let told = |(pair, trial): (&Pair, &PairTrial)| PairTest {
            rail: rail.to_owned(),
            hosts: [name(pair.0), name(pair.1)],
            gbps: trial.figure,
            error: trial.ended.as_ref().err().cloned(),
        };
        self.passes.iter().flatten().map(told).collect()
    }

    /// Returns what the two passes prove about hosts and the paths between them.
    pub fn blame(&self) -> Blame {
        self.outcomes(0).blame(&self.outcomes(1))
    }

    /// Returns the result of the tests for one host; `None` when it was in none.
    fn of(&self, host: usize, names: &[String]) -> Option<(CheckStatus, String, Vec<Evidence>)> {
        let name = |host: usize| names.get(host).map_or("?", String::as_str);
        let mut evidence = Vec::new();
        let mut passed = Vec::new();
        let mut failed = Vec::new();
        let mut fault = CheckStatus::Pass;
        for (pair, trial) in self.passes.iter().flatten() {
            let other = match *pair {
                (one, other) if one == host => other,
                (one, other) if other == host => one,
                _ => continue,
            };
            let text = match &trial.ended {
                Ok(text) => {
                    passed.push(format!("{} {text}", name(other)));
                    text
                }
                Err(text) => {
                    failed.push((other, text.clone()));
                    fault = fault.min(trial.fault);
                    text
                }
            };
            let from = format!("{} ({} - {})", self.command, name(pair.0), name(pair.1));
            evidence.push(Evidence { from, line: text.clone() });
        }
        let blame = self.blame();
        let first = failed.first().map(|(other, text)| format!("with {}: {text}", name(*other)));
        let Some(first) = first else {
            let text = passed.join(", ");
            return (!text.is_empty()).then_some((CheckStatus::Pass, text, evidence));
        };
        if blame.hosts.contains(&host) {
            let text = format!("fails with every partner, including one that is known to be good; {first}");
            return Some((fault, text, evidence));
        }
        let with = |pair: &&Pair| pair.0 == host || pair.1 == host;
        if let Some(pair) = blame.between.iter().find(with) {
            let other = if pair.0 == host { pair.1 } else { pair.0 };
            let text = format!(
                "fails with {} only; both work with others, so the fault is between them",
                name(other)
            );
            return Some((fault, text, evidence));
        }
        if blame.either.iter().any(|pair| with(&pair)) {
            let text = format!(
                "{first}; no host that is known to be good was left to tell which of the two is at fault"
            );
            return Some((fault, text, evidence));
        }
        let bad: Vec<&str> = failed
            .iter()
            .map(|(other, _)| *other)
            .filter(|other| blame.hosts.contains(other))
            .map(name)
            .collect();
        Some((
            CheckStatus::Pass,
            format!("{}; not with {}, which is at fault", passed.join(", "), bad.join(", ")),
            Vec::new(),
        ))
    }
}

/// The result of one check on each host; `rails` are tests of one device each.
pub fn results(
    check: &str,
    hint: &str,
    names: &[String],
    rails: &BTreeMap<String, RailTests>,
) -> BTreeMap<usize, CheckResult> {
    let mut results = BTreeMap::new();
    for host in 0..names.len() {
        let told: Vec<_> =
            rails.iter().filter_map(|(rail, tests)| Some((rail, tests.of(host, names)?))).collect();
        let Some(worst) = told.iter().map(|(_, (status, ..))| *status).min() else { continue };
        let these = told.iter().filter(|(_, (status, ..))| *status == worst);
        let messages: Vec<String> =
            these.clone().map(|(rail, (_, text, _))| format!("{rail}: {text}")).collect();
        let finding = worst.is_finding();
        results.insert(
            host,
            CheckResult {
                check: check.to_owned(),
                status: worst,
                message: messages.join("; "),
                evidence: these
                    .flat_map(|(_, (_, _, evidence))| evidence.clone())
                    .take(8)
                    .filter(|_| finding)
                    .collect(),
                hint: finding.then(|| hint.to_owned()),
                because: None,
                acknowledged: None,
            },
        );
    }
    results
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(number: usize) -> Vec<String> {
        (0..number).map(|host| format!("gpu{host}")).collect()
    }

    fn played(bad: &[usize]) -> RailTests {
        let mut tests = RailTests::new("rping");
        let ended = |pair: &Pair| {
            let ended = if bad.contains(&pair.0) || bad.contains(&pair.1) {
                Err("no answer".to_owned())
            } else {
                Ok("5 pings".to_owned())
            };
            PairTrial { ended, figure: None, fault: CheckStatus::Fail }
        };
        for pair in super::super::pairs::neighbours(6).iter().flatten() {
            tests.passes[0].insert(*pair, ended(pair));
        }
        for pair in tests.outcomes(0).again().iter().flatten() {
            tests.passes[1].insert(*pair, ended(pair));
        }
        tests
    }

    #[test]
    fn the_bad_host_is_named_and_its_neighbours_are_cleared() {
        use CheckStatus::{Fail, Pass};
        let rails = BTreeMap::from([("mlx5_0".to_owned(), played(&[2])), ("mlx5_1".to_owned(), played(&[]))]);
        let results = results("active.rping", "look", &names(6), &rails);
        let status: Vec<CheckStatus> = results.values().map(|result| result.status).collect();
        assert_eq!(status, [Pass, Pass, Fail, Pass, Pass, Pass]);
        let bad = &results[&2];
        assert!(bad.message.starts_with("mlx5_0: fails with every partner"), "{}", bad.message);
        assert_eq!(bad.hint.as_deref(), Some("look"));
        assert!(bad.evidence[0].from.starts_with("rping (gpu"), "{:?}", bad.evidence);
        assert!(results[&1].message.contains("not with gpu2, which is at fault"), "{}", results[&1].message);
        assert!(results[&5].message.contains("mlx5_1: gpu"), "{}", results[&5].message);
    }
}
