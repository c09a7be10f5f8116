//! Carries tests between hosts out: one login per host, at most one test on a host at a time.

use std::collections::{BTreeMap, BTreeSet};

use super::fleet::Fleet;
use super::judge::{PairTrial, RailTests, results};
use super::member::{Participant, skipped, untold};
use super::pair_test::{Tool, pair_of, without_gpu};
use super::pairs::{Round, neighbours};
use super::perftest::Way;
use super::{jobs, rails};
use crate::checks;
use crate::checks::active::{BANDWIDTH, RPING};
use crate::events::{CheckResult, CheckStatus, PairTest};
use crate::secrets::Secrets;

/// Results of the tests between hosts.
#[derive(Debug, Default)]
pub struct Traffic {
    /// Results by host.
    pub results: BTreeMap<String, Vec<CheckResult>>,
    /// Bandwidth of each pair.
    pub pairs: Vec<PairTest>,
}

/// Tests the hosts of a fleet with each other; what is said of progress goes to `say`. Hosts that keep `silent` could not be
/// asked. The logins stay open.
pub async fn run(
    fleet: &Fleet,
    silent: BTreeMap<String, String>,
    say: &(dyn Fn(&str) + Send + Sync),
) -> Traffic {
    let (members, secrets) = (fleet.members.as_slice(), &fleet.secrets);
    let mut found = Traffic::default();
    for (name, reason) in silent {
        let all = checks::TABLE
            .iter()
            .filter(|check| check.needs == checks::Needs::Active)
            .map(|check| untold(check.id, &reason));
        found.results.insert(name, all.collect());
    }
    let mut results = Vec::new();
    let bandwidths = [Way::One, Way::Both, Way::Gpu].map(Tool::Bandwidth);
    for test in std::iter::once(Tool::Rping).chain(bandwidths).chain([Tool::Latency]) {
        let (told, pairs) = tested(test, members, secrets, say).await;
        results.push(told);
        if test == Tool::Bandwidth(Way::One) {
            found.pairs = pairs;
        }
    }
    let unfit = unfit(&results);
    results.push(rails::crossed(members, &unfit, secrets, say).await);
    results.push(jobs::mesh(members, secrets, say).await);
    results.push(jobs::mpirun(members, secrets, say).await);
    results.push(jobs::all_reduce(members, secrets, say).await);
    for (host, result) in results.into_iter().flatten() {
        if let Some(member) = members.get(host) {
            found.results.entry(member.name.clone()).or_default().push(result);
        }
    }
    found
}

/// Hosts whose rails do not work by themselves.
fn unfit(results: &[BTreeMap<usize, CheckResult>]) -> BTreeSet<usize> {
    let of_rails = |result: &CheckResult| [RPING, BANDWIDTH].contains(&result.check.as_str());
    let is_bad = |result: &CheckResult| of_rails(result) && result.status == CheckStatus::Fail;
    results.iter().flatten().filter(|(_, result)| is_bad(result)).map(|(host, _)| *host).collect()
}

/// One test on all rails: results by place in `members`, and every pair.
async fn tested(
    test: Tool,
    members: &[Participant],
    secrets: &Secrets,
    say: &(dyn Fn(&str) + Send + Sync),
) -> (BTreeMap<usize, CheckResult>, Vec<PairTest>) {
    let mut all: BTreeMap<usize, CheckResult> = BTreeMap::new();
    for (place, member) in members.iter().enumerate() {
        if let Some(result) = member.left_out(test.check()) {
            all.insert(place, result);
            continue;
        }
        let Ok(rails) = &member.rails else {
            let reason = member.rails.as_ref().err().map_or("", String::as_str);
            all.insert(place, untold(test.check(), reason));
            continue;
        };
        if rails.is_empty() {
            all.insert(place, skipped(test.check(), "no RDMA device that is up and has an address"));
        } else if let Some(result) = without_gpu(test, member) {
            all.insert(place, result);
        } else if !member.tools.contains(test.tool()) || !member.tools.contains("timeout") {
            all.insert(place, untold(test.check(), &format!("{} is not installed", test.tool())));
        } else if test == Tool::Rping && !rails.values().any(|end| end.own_address) {
            all.insert(
                place,
                skipped(
                    test.check(),
                    "ports without an address that rdma_cm could use: see active.ib_write_bw",
                ),
            );
        }
    }
    let ready: Vec<usize> = (0..members.len()).filter(|place| !all.contains_key(place)).collect();
    let names: Vec<String> = members.iter().map(|member| member.name.clone()).collect();
    let rails: BTreeSet<&String> =
        ready.iter().filter_map(|place| members.get(*place)).flat_map(Participant::rails).collect();
    let mut by_rail: BTreeMap<String, RailTests> = BTreeMap::new();
    for rail in rails {
        let on: Vec<usize> = ready
            .iter()
            .copied()
            .filter(|place| {
                let end = members.get(*place).and_then(|member| member.end(rail));
                end.is_some_and(|end| test != Tool::Bandwidth(Way::Gpu) || end.gpu.is_some())
            })
            .collect();
        let mut tests = RailTests::new(test.command());
        let placed = |rounds: Vec<Round>| -> Vec<Round> {
            let place = |at: usize| on.get(at).copied().unwrap_or_default();
            rounds
                .into_iter()
                .map(|round| round.into_iter().map(|(a, b)| (place(a), place(b))).collect())
                .collect()
        };
        for round in placed(neighbours(on.len())) {
            say(&format!("{} on {rail}: {} pairs", test.command(), round.len()));
            let [first, _] = &mut tests.passes;
            first.extend(round_of(test, rail, &round, members, secrets).await);
        }
        for round in tests.outcomes(0).again() {
            say(&format!(
                "{} on {rail}: {} suspects with hosts that are known to be good",
                test.command(),
                round.len()
            ));
            let ended = round_of(test, rail, &round, members, secrets).await;
            let [_, second] = &mut tests.passes;
            second.extend(ended);
        }
        by_rail.insert(rail.clone(), tests);
    }
    all.extend(results(test.check(), checks::hint(test.check()), &names, &by_rail));
    for place in ready {
        all.entry(place).or_insert_with(|| skipped(test.check(), "no other host to test it with"));
    }
    (all, by_rail.iter().flat_map(|(rail, tests)| tests.pairs(rail, &names)).collect())
}

/// The tests of one round, all at the same time.
async fn round_of(
    test: Tool,
    rail: &str,
    round: &Round,
    members: &[Participant],
    secrets: &Secrets,
) -> BTreeMap<super::pairs::Pair, PairTrial> {
    let tests = round.iter().map(|pair| async move {
        let sides = members.get(pair.0).zip(members.get(pair.1));
        let mut trial =
            PairTrial { ended: Err("no such host".to_owned()), figure: None, fault: CheckStatus::Fail };
        if let Some((server, client)) = sides {
            trial.ended = pair_of(test, (rail, rail), (server, client), secrets, &mut trial.figure).await;
            // What is too slow by a number that nobody has published for all machines, or declared for these.
            let slow = trial.figure.is_some();
            let declared = [server, client].iter().any(|side| test.declared(side).is_some());
            if slow && !declared && test.only_warns() {
                trial.fault = CheckStatus::Warn;
            }
        }
        ((pair.0.min(pair.1), pair.0.max(pair.1)), trial)
    });
    futures::future::join_all(tests).await.into_iter().collect()
}
