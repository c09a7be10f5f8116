//! Carries tests between hosts out: one login per host, at most one test on a host at a time.

use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;
use std::time::Duration;

use futures::StreamExt as _;

use super::judge::{PairEnded, PairTrial, RailTests, results};
use super::member::{LIMIT, Participant, RailEnd, open, said, skipped, untold};
use super::owners::{Claims, contested};
use super::pairs::{Round, neighbours};
use super::perftest::{self, Way};
use super::{jobs, rails, rping};
use crate::checks;
use crate::checks::active::{BANDWIDTH, BOTH_WAYS, GPU_BANDWIDTH, LATENCY, RAILS, RPING};
use crate::events::{CheckResult, CheckStatus, PairTest};
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
/// A test between two hosts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Tool {
    Rping,
    Bandwidth(Way),
    Latency,
    /// Whether a read arrives at all.
    Reach,
}

impl Tool {
    fn check(self) -> &'static str {
        match self {
            Self::Rping => RPING,
            Self::Bandwidth(Way::One) => BANDWIDTH,
            Self::Bandwidth(Way::Both) => BOTH_WAYS,
            Self::Bandwidth(Way::Gpu) => GPU_BANDWIDTH,
            Self::Latency => LATENCY,
            Self::Reach => RAILS,
        }
    }

    /// As people would type it.
    fn command(self) -> &'static str {
        match self {
            Self::Rping => "rping",
            Self::Bandwidth(Way::One) => "ib_write_bw",
            Self::Bandwidth(Way::Both) => "ib_write_bw -b",
            Self::Bandwidth(Way::Gpu) => "ib_write_bw --use_cuda",
            Self::Latency | Self::Reach => "ib_read_lat",
        }
    }

    /// Returns the threshold that the inventory declares for a host.
    fn declared(self, member: &Participant) -> Option<f64> {
        let thresholds = &member.thresholds;
        let declared = match self {
            Self::Rping | Self::Reach => None,
            Self::Bandwidth(Way::One) => thresholds.ib_write_bw,
            Self::Bandwidth(Way::Both) => thresholds.ib_write_bw_both,
            Self::Bandwidth(Way::Gpu) => thresholds.gpu_write_bw,
            Self::Latency => thresholds.ib_read_lat,
        };
        declared.map(f64::from)
    }

    fn tool(self) -> &'static str {
        match self {
            Self::Rping => "rping",
            Self::Bandwidth(_) => "ib_write_bw",
            Self::Latency | Self::Reach => "ib_read_lat",
        }
    }

    /// Whether its number differs from site to site, so that missing an undeclared threshold only warns.
    fn only_warns(self) -> bool {
        matches!(self, Self::Bandwidth(Way::Both | Way::Gpu) | Self::Latency)
    }
}

/// Results of the tests between hosts.
#[derive(Debug, Default)]
pub struct Traffic {
    /// Results by host.
    pub results: BTreeMap<String, Vec<CheckResult>>,
    /// Bandwidth of each pair.
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
    settle(hosts, &mut members);
    let mut results = Vec::new();
    let bandwidths = [Way::One, Way::Both, Way::Gpu].map(Tool::Bandwidth);
    for test in std::iter::once(Tool::Rping).chain(bandwidths).chain([Tool::Latency]) {
        let (told, pairs) = tested(test, &members, secrets, say).await;
        results.push(told);
        if test == Tool::Bandwidth(Way::One) {
            found.pairs = pairs;
        }
    }
    let unfit = unfit(&results);
    results.push(rails::crossed(&members, &unfit, secrets, say).await);
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

/// Leaves out the cards of hosts that claim an address of another host.
fn settle(hosts: &[(Host, Promises)], members: &mut [Participant]) {
    let mut inventory: BTreeMap<IpAddr, BTreeSet<&str>> = BTreeMap::new();
    for (host, _) in hosts {
        if let Ok(address) = host.address.parse::<IpAddr>() {
            inventory.entry(address).or_default().insert(&host.name);
        }
    }
    let claims: Vec<Claims<'_>> = members.iter().map(Participant::claims).collect();
    let contested = contested(&claims, &inventory);
    for (place, why) in contested {
        if let Some(member) = members.get_mut(place) {
            member.rails = Err(why);
        }
    }
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

/// Returns the reason why a host does not take part in a test from GPU to GPU.
fn without_gpu(test: Tool, member: &Participant) -> Option<CheckResult> {
    if test != Tool::Bandwidth(Way::Gpu) {
        return None;
    }
    let has_gpus = member.gpus.as_ref().is_ok_and(|gpus| !gpus.is_empty());
    let why = match member.idle_gpus() {
        _ if has_gpus && member.gdr == Some(false) => "`expect.rdma.gdr` is false".to_owned(),
        Err(why) => why,
        Ok(_) if member.rails.iter().flat_map(BTreeMap::values).all(|end| end.gpu.is_none()) => {
            "no RDMA device has a GPU under its PCIe switch".to_owned()
        }
        Ok(_) if member.tools.contains("ib_write_bw") && !member.tools.contains("use_cuda") => {
            "its `ib_write_bw` cannot use GPU memory: build perftest with CUDA, and load nvidia_peermem or build it with DMA-BUF".to_owned()
        }
        Ok(_) => return None,
    };
    Some(skipped(GPU_BANDWIDTH, &why))
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

/// Tests one pair on these rails of its sides; what it measures goes into `figure`.
pub(super) async fn pair_of(
    test: Tool,
    rails: (&str, &str),
    (server, client): (&Participant, &Participant),
    secrets: &Secrets,
    figure: &mut Option<f64>,
) -> PairEnded {
    let (Some(here), Some(there)) = (server.end(rails.0), client.end(rails.1)) else {
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
        Tool::Bandwidth(_) | Tool::Latency | Tool::Reach => {
            let script = |end: &RailEnd| {
                let gid = end.gid.map(|gid| gid.to_string()).unwrap_or_default();
                let way = match (test, end.gpu) {
                    (Tool::Latency | Tool::Reach, _) => "latency".to_owned(),
                    (Tool::Bandwidth(Way::Gpu), Some(gpu)) => gpu.to_string(),
                    (Tool::Bandwidth(Way::Both), _) => "both".to_owned(),
                    (Tool::Bandwidth(Way::One | Way::Gpu) | Tool::Rping, _) => "one".to_owned(),
                };
                let args = [SECONDS.to_string(), end.device.clone(), end.port.to_string(), gid, way];
                Script::new(shell!("active/perftest.sh")).args(args)
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
    let or_server = |error: String| {
        let said = match (&served, test) {
            (Err(reason), _) => Some(reason.clone()),
            (Ok(text), Tool::Bandwidth(_) | Tool::Latency | Tool::Reach) => perftest::trouble(text),
            (Ok(_), Tool::Rping) => None,
        };
        said.map_or(error.clone(), |said| format!("{error}; {}: {said}", server.name))
    };
    match test {
        Tool::Rping => rping::client(&text, PINGS).map(|()| format!("{PINGS} pings")).map_err(or_server),
        Tool::Bandwidth(way) => {
            let seen = perftest::bandwidth(&text).map_err(or_server)?;
            *figure = Some(seen.average_gbps);
            let told = format!("{:.1} Gb/s", seen.average_gbps);
            let rate = here.rate.zip(there.rate).map(|(one, other)| one.min(other));
            let declared = [client, server].iter().filter_map(|end| test.declared(end)).reduce(f64::min);
            match (declared, rate) {
                (Some(wanted), _) if seen.average_gbps < wanted => {
                    Err(format!("{told}, at least {wanted} expected"))
                }
                (None, Some(rate)) if seen.average_gbps < perftest::threshold(way, rate) => Err(format!(
                    "{told} over a link of {rate} Gb/s, at least {:.0} expected",
                    perftest::threshold(way, rate)
                )),
                _ => Ok(told),
            }
        }
        Tool::Reach => perftest::latency(&text).map(|took| format!("{took:.1} µs")).map_err(or_server),
        Tool::Latency => {
            let took = perftest::latency(&text).map_err(or_server)?;
            *figure = Some(took);
            let declared = [client, server].iter().filter_map(|end| test.declared(end)).reduce(f64::max);
            let known = (here.fast && there.fast).then_some(perftest::LATENCY_US);
            match declared.or(known) {
                Some(most) if took > most => Err(format!("{took:.1} µs, at most {most} expected")),
                _ => Ok(format!("{took:.1} µs")),
            }
        }
    }
}
