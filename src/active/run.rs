//! Carries tests between hosts out: one login per host, at most one test on a host at a time.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use futures::StreamExt as _;

use super::judge::{PairEnded, PairTrial, RailTests, results};
use super::member::{LIMIT, Participant, RailEnd, open, said, skipped, untold};
use super::pairs::{Round, neighbours};
use super::{jobs, perftest, rping};
use crate::checks;
use crate::checks::active::{BANDWIDTH, RPING};
use crate::events::{CheckResult, PairTest};
use crate::inventory::{Host, Promises};
use crate::secrets::Secrets;
use crate::shell;
use crate::transport::{Script, Transport};

/// Pings of one test.
const PINGS: usize = 5;
/// Seconds that one bandwidth test sends.
const SECONDS: u64 = 3;
/// Longest time for one test with all that may go wrong.
const DEADLINE: Duration = Duration::from_secs(90);
/// What is tested.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Tool {
    Rping,
    Bandwidth,
}

impl Tool {
    fn check(self) -> &'static str {
        match self {
            Self::Rping => RPING,
            Self::Bandwidth => BANDWIDTH,
        }
    }

    fn tool(self) -> &'static str {
        match self {
            Self::Rping => "rping",
            Self::Bandwidth => "ib_write_bw",
        }
    }
}

/// What tests between hosts found.
#[derive(Debug, Default)]
pub struct Traffic {
    /// Results by host.
    pub results: BTreeMap<String, Vec<CheckResult>>,
    /// What pairs carry.
    pub pairs: Vec<PairTest>,
}

/// Tests hosts with each other; what is said of progress goes to `say`.
pub async fn run(
    transport: &dyn Transport,
    hosts: &[(Host, Promises)],
    secrets: &Secrets,
    parallel: usize,
    say: &(dyn Fn(&str) + Send + Sync),
) -> Traffic {
    let opened: Vec<(String, Result<Participant, String>)> = futures::stream::iter(hosts)
        .map(|(host, promises)| async { (host.name.clone(), open(transport, host, promises, secrets).await) })
        .buffered(parallel.max(1))
        .collect()
        .await;
    let mut found = Traffic::default();
    let mut members = Vec::new();
    for (name, member) in opened {
        match member {
            Ok(member) => members.push(member),
            Err(reason) => {
                let all = checks::TABLE
                    .iter()
                    .filter(|check| check.needs == checks::Needs::Active)
                    .map(|check| untold(check.id, &reason));
                found.results.insert(name, all.collect());
            }
        }
    }
    let mut results = Vec::new();
    for test in [Tool::Rping, Tool::Bandwidth] {
        let (told, pairs) = tested(test, &members, secrets, say).await;
        results.push(told);
        if test == Tool::Bandwidth {
            found.pairs = pairs;
        }
    }
    results.push(jobs::mesh(&members, secrets, say).await);
    results.push(jobs::mpirun(&members, secrets, say).await);
    results.push(jobs::all_reduce(&members, secrets, say).await);
    for (host, result) in results.into_iter().flatten() {
        if let Some(member) = members.get(host) {
            found.results.entry(member.name.clone()).or_default().push(result);
        }
    }
    futures::future::join_all(members.iter().map(|member| async {
        member.remote.lock().await.close().await;
    }))
    .await;
    found
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
        let Ok(rails) = &member.rails else {
            let reason = member.rails.as_ref().err().map_or("", String::as_str);
            all.insert(place, untold(test.check(), reason));
            continue;
        };
        if rails.is_empty() {
            all.insert(place, skipped(test.check(), "no RDMA device that is up and has an address"));
        } else if !member.tools.contains(test.tool()) || !member.tools.contains("timeout") {
            all.insert(place, untold(test.check(), &format!("{} is not installed", test.tool())));
        } else if test == Tool::Rping && !rails.values().any(|end| end.own_address) {
            all.insert(
                place,
                skipped(test.check(), "InfiniBand ports without an address: see active.ib_write_bw"),
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
            .filter(|place| members.get(*place).is_some_and(|member| member.end(rail).is_some()))
            .collect();
        let mut tests = RailTests { command: test.tool().to_owned(), ..RailTests::default() };
        let placed = |rounds: Vec<Round>| -> Vec<Round> {
            let place = |at: usize| on.get(at).copied().unwrap_or_default();
            rounds
                .into_iter()
                .map(|round| round.into_iter().map(|(a, b)| (place(a), place(b))).collect())
                .collect()
        };
        for round in placed(neighbours(on.len())) {
            say(&format!("{} on {rail}: {} pairs", test.tool(), round.len()));
            let [first, _] = &mut tests.passes;
            first.extend(round_of(test, rail, &round, members, secrets).await);
        }
        for round in tests.outcomes(0).again() {
            say(&format!(
                "{} on {rail}: {} suspects with hosts that are known to be good",
                test.tool(),
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
        let mut gbps = None;
        let ended = match sides {
            Some((server, client)) => pair_of(test, rail, (server, client), secrets, &mut gbps).await,
            None => Err("no such host".to_owned()),
        };
        ((pair.0.min(pair.1), pair.0.max(pair.1)), PairTrial { ended, gbps })
    });
    futures::future::join_all(tests).await.into_iter().collect()
}

/// Tests one pair; what it carries goes into `gbps`.
async fn pair_of(
    test: Tool,
    rail: &str,
    (server, client): (&Participant, &Participant),
    secrets: &Secrets,
    gbps: &mut Option<f64>,
) -> PairEnded {
    let (Some(here), Some(there)) = (server.end(rail), client.end(rail)) else {
        return Err("the rail is gone".to_owned());
    };
    let (serve, send) = match test {
        Tool::Rping => {
            let args = [here.address.clone(), PINGS.to_string()];
            (
                Script::new(shell!("active/rping_server.sh")).args(args.clone()),
                Script::new(shell!("active/rping_client.sh")).args(args),
            )
        }
        Tool::Bandwidth => {
            let script = |end: &RailEnd| {
                let gid = end.gid.map(|gid| gid.to_string()).unwrap_or_default();
                let args = [SECONDS.to_string(), end.device.clone(), end.port.to_string(), gid];
                Script::new(shell!("active/bandwidth.sh")).args(args)
            };
            (script(here), script(there).arg(here.address.clone()))
        }
    };
    let (served, sent) = futures::join!(
        said(server, serve, DEADLINE, LIMIT, secrets),
        said(client, send, DEADLINE, LIMIT, secrets)
    );
    let text = sent?;
    // Where the client says nothing of use, the server may.
    let or_server = |error: String| match &served {
        Err(reason) => format!("{error}; {}: {reason}", server.name),
        Ok(_) => error,
    };
    match test {
        Tool::Rping => rping::client(&text, PINGS).map(|()| format!("{PINGS} pings")).map_err(or_server),
        Tool::Bandwidth => {
            let seen = perftest::bandwidth(&text).map_err(or_server)?;
            *gbps = Some(seen.average_gbps);
            let told = format!("{:.1} Gb/s", seen.average_gbps);
            let rate = here.rate.zip(there.rate).map(|(one, other)| one.min(other));
            let declared = [client, server].iter().filter_map(|end| end.thresholds.ib_write_bw).min();
            match (declared.map(f64::from), rate) {
                (Some(wanted), _) if seen.average_gbps < wanted => {
                    Err(format!("{told}, at least {wanted} expected"))
                }
                (None, Some(rate)) if seen.average_gbps < perftest::threshold(rate) => {
                    Err(format!("{told} of {rate} Gb/s, at least {:.0} expected", perftest::threshold(rate)))
                }
                _ => Ok(told),
            }
        }
    }
}
