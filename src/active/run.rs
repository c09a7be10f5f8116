//! Carries the tests of pairs out: one login per host, at most one test on a host at a time.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use futures::StreamExt as _;
use tokio::sync::Mutex;

use super::catalogue::{self, BANDWIDTH, RPING};
use super::judge::{Ended, Tests, results};
use super::pairs::{Round, neighbours};
use super::{perftest, rping};
use crate::events::{CheckResult, CheckStatus, Evidence};
use crate::facts::{Answer, Facts, Query, batch};
use crate::inventory::Host;
use crate::probes::Observation;
use crate::probes::rdma::Device;
use crate::secrets::Secrets;
use crate::shell;
use crate::transport::{Frame, Part, Remote, Script, Transport, TransportError};

/// Pings of one test.
const PINGS: usize = 5;
/// Seconds that one bandwidth test sends.
const SECONDS: u64 = 3;
/// Longest time for one test with all that may go wrong.
const DEADLINE: Duration = Duration::from_secs(90);
/// Bytes of output that are kept.
const LIMIT: usize = 256 << 10;

/// The end of a rail on a host.
#[derive(Debug, Clone, PartialEq)]
struct End {
    device: String,
    port: u32,
    /// Index of its RoCE v2 GID with an IPv4 address; none on InfiniBand.
    gid: Option<u32>,
    /// What the other side connects to.
    address: String,
    /// Whether `address` is one of the RDMA device.
    own_address: bool,
    /// Gb/s; none for devices without hardware, whose rate means nothing.
    rate: Option<f64>,
}

/// A host that takes part.
struct Member {
    name: String,
    ends: BTreeMap<String, End>,
    tools: BTreeSet<String>,
    remote: Mutex<Box<dyn Remote>>,
}

/// What is tested.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Test {
    Rping,
    Bandwidth,
}

impl Test {
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

/// The ends of the ports that are up, by device.
fn ends(devices: &[Device], address: &str) -> BTreeMap<String, End> {
    let end = |device: &Device| {
        let port = device.ports.iter().find(|port| port.state == "ACTIVE")?;
        let rate = port.rate_gbps.filter(|_| !device.pci.is_empty());
        let (name, number) = (device.name.clone(), port.number);
        if port.link_layer == "InfiniBand" {
            // The two sides meet over the management network.
            let end = End {
                device: name,
                port: number,
                gid: None,
                address: address.to_owned(),
                own_address: false,
                rate,
            };
            return Some(end);
        }
        let gid = port.gids.iter().filter(|gid| gid.kind == "RoCE v2").find(|gid| gid.ipv4().is_some())?;
        let address = gid.ipv4()?.to_string();
        Some(End { device: name, port: number, gid: Some(gid.index), address, own_address: true, rate })
    };
    devices.iter().filter_map(|device| Some((device.name.clone(), end(device)?))).collect()
}

/// Tests every host with its neighbours. Gives results by host; what is said of progress goes to `say`.
pub async fn run(
    transport: &dyn Transport,
    hosts: &[Host],
    secrets: &Secrets,
    parallel: usize,
    say: &(dyn Fn(&str) + Send + Sync),
) -> BTreeMap<String, Vec<CheckResult>> {
    let opened: Vec<(String, Result<Member, String>)> = futures::stream::iter(hosts)
        .map(|host| async { (host.name.clone(), open(transport, host, secrets).await) })
        .buffered(parallel.max(1))
        .collect()
        .await;
    let mut found: BTreeMap<String, Vec<CheckResult>> = BTreeMap::new();
    let mut members = Vec::new();
    for (name, member) in opened {
        match member {
            Ok(member) => members.push(member),
            Err(reason) => {
                let both = [RPING, BANDWIDTH].map(|check| untold(check, &reason));
                found.insert(name, both.to_vec());
            }
        }
    }
    for test in [Test::Rping, Test::Bandwidth] {
        for (host, result) in tested(test, &members, secrets, say).await {
            if let Some(member) = members.get(host) {
                found.entry(member.name.clone()).or_default().push(result);
            }
        }
    }
    futures::future::join_all(members.iter().map(|member| async {
        member.remote.lock().await.close().await;
    }))
    .await;
    found
}

fn untold(check: &str, reason: &str) -> CheckResult {
    CheckResult {
        check: check.to_owned(),
        status: CheckStatus::Unknown,
        message: reason.to_owned(),
        evidence: vec![Evidence { from: "the test of pairs".to_owned(), line: reason.to_owned() }],
        hint: None,
        because: None,
    }
}

fn skipped(check: &str, reason: &str) -> CheckResult {
    CheckResult { status: CheckStatus::Skip, evidence: Vec::new(), ..untold(check, reason) }
}

/// Logs in and asks for devices and tools.
async fn open(transport: &dyn Transport, host: &Host, secrets: &Secrets) -> Result<Member, String> {
    let parts = batch(&BTreeSet::from([Query::Probe("rdma")]), Duration::from_secs(20));
    let probes = parts.len();
    let tools = Script::new(shell!("active/tools.sh")).args(["rping", "ib_write_bw", "timeout"]);
    let mut frame = Frame { secrets: secrets.clone(), ..Frame::default() };
    frame.parts = parts.iter().map(|part| part.part.clone()).collect();
    frame.parts.push(Part {
        name: "tools".to_owned(),
        script: tools,
        deadline: Duration::from_secs(20),
        limit: LIMIT,
    });
    let mut ended = Vec::new();
    let (remote, result) = transport
        .open_and_run(host, Duration::from_secs(15), &frame, &mut |end| ended.push(end))
        .await
        .map_err(|error| error.to_string())?;
    result.map_err(|error| error.to_string())?;
    let mut facts = Facts::default();
    let mut tools = BTreeSet::new();
    for end in &ended {
        if end.index < probes {
            if let Some(part) = parts.get(end.index) {
                facts.absorb(part, end);
            }
            continue;
        }
        let text = String::from_utf8_lossy(&end.output);
        tools.extend(text.lines().filter_map(|line| line.strip_prefix("tool=")).map(str::to_owned));
    }
    let Some(Answer::Probe(seen)) = facts.get(&Query::Probe("rdma")) else {
        return Err("its RDMA devices could not be read".to_owned());
    };
    let Observation::Rdma(rdma) = seen.as_ref() else {
        return Err("its RDMA devices could not be read".to_owned());
    };
    let devices = rdma.devices.clone().map_err(|gap| gap.reason)?;
    Ok(Member {
        name: host.name.clone(),
        ends: ends(&devices, &host.address),
        tools,
        remote: Mutex::new(remote),
    })
}

/// One test on all rails; results by place in `members`.
async fn tested(
    test: Test,
    members: &[Member],
    secrets: &Secrets,
    say: &(dyn Fn(&str) + Send + Sync),
) -> BTreeMap<usize, CheckResult> {
    let mut all: BTreeMap<usize, CheckResult> = BTreeMap::new();
    for (place, member) in members.iter().enumerate() {
        if member.ends.is_empty() {
            all.insert(place, skipped(test.check(), "no RDMA device that is up and has an address"));
        } else if !member.tools.contains(test.tool()) || !member.tools.contains("timeout") {
            all.insert(place, untold(test.check(), &format!("{} is not installed", test.tool())));
        } else if test == Test::Rping && !member.ends.values().any(|end| end.own_address) {
            all.insert(
                place,
                skipped(test.check(), "InfiniBand ports without an address: see active.ib_write_bw"),
            );
        }
    }
    let ready: Vec<usize> = (0..members.len()).filter(|place| !all.contains_key(place)).collect();
    let names: Vec<String> = members.iter().map(|member| member.name.clone()).collect();
    let rails: BTreeSet<&String> =
        ready.iter().filter_map(|place| members.get(*place)).flat_map(|member| member.ends.keys()).collect();
    let mut by_rail: BTreeMap<String, Tests> = BTreeMap::new();
    for rail in rails {
        let on: Vec<usize> = ready
            .iter()
            .copied()
            .filter(|place| members.get(*place).is_some_and(|member| member.ends.contains_key(rail)))
            .collect();
        let mut tests = Tests { command: test.tool().to_owned(), ..Tests::default() };
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
    let hint = catalogue::CHECKS.iter().find(|check| check.id == test.check()).map_or("", |check| check.hint);
    all.extend(results(test.check(), hint, &names, &by_rail));
    for place in ready {
        all.entry(place).or_insert_with(|| skipped(test.check(), "no other host to test it with"));
    }
    all
}

/// The tests of one round, all at the same time.
async fn round_of(
    test: Test,
    rail: &str,
    round: &Round,
    members: &[Member],
    secrets: &Secrets,
) -> BTreeMap<super::pairs::Pair, Ended> {
    let tests = round.iter().map(|pair| async move {
        let sides = members.get(pair.0).zip(members.get(pair.1));
        let ended = match sides {
            Some((server, client)) => pair_of(test, rail, server, client, secrets).await,
            None => Err("no such host".to_owned()),
        };
        ((pair.0.min(pair.1), pair.0.max(pair.1)), ended)
    });
    futures::future::join_all(tests).await.into_iter().collect()
}

async fn pair_of(test: Test, rail: &str, server: &Member, client: &Member, secrets: &Secrets) -> Ended {
    let (Some(here), Some(there)) = (server.ends.get(rail), client.ends.get(rail)) else {
        return Err("the rail is gone".to_owned());
    };
    let (serve, send) = match test {
        Test::Rping => {
            let args = [here.address.clone(), PINGS.to_string()];
            (
                Script::new(shell!("active/rping_server.sh")).args(args.clone()),
                Script::new(shell!("active/rping_client.sh")).args(args),
            )
        }
        Test::Bandwidth => {
            let script = |end: &End| {
                let gid = end.gid.map(|gid| gid.to_string()).unwrap_or_default();
                let args = [SECONDS.to_string(), end.device.clone(), end.port.to_string(), gid];
                Script::new(shell!("active/bandwidth.sh")).args(args)
            };
            (script(here), script(there).arg(here.address.clone()))
        }
    };
    let (served, sent) = futures::join!(said(server, serve, secrets), said(client, send, secrets));
    let text = sent?;
    // Where the client says nothing of use, the server may.
    let or_server = |error: String| match &served {
        Err(reason) => format!("{error}; {}: {reason}", server.name),
        Ok(_) => error,
    };
    match test {
        Test::Rping => rping::client(&text, PINGS).map(|()| format!("{PINGS} pings")).map_err(or_server),
        Test::Bandwidth => {
            let seen = perftest::bandwidth(&text).map_err(or_server)?;
            let told = format!("{:.1} Gb/s", seen.average_gbps);
            let rate = here.rate.zip(there.rate).map(|(one, other)| one.min(other));
            match rate {
                Some(rate) if seen.average_gbps < perftest::threshold(rate) => {
                    Err(format!("{told} of {rate} Gb/s, at least {:.0} expected", perftest::threshold(rate)))
                }
                _ => Ok(told),
            }
        }
    }
}

/// Runs one script on a host and gives what it printed.
async fn said(member: &Member, script: Script, secrets: &Secrets) -> Result<String, String> {
    let part = Part { name: "active".to_owned(), script, deadline: DEADLINE, limit: LIMIT };
    let frame = Frame { parts: vec![part], secrets: secrets.clone(), ..Frame::default() };
    let mut remote = member.remote.lock().await;
    let mut text = String::new();
    let result =
        remote.run(&frame, &mut |end| text = secrets.redact(&String::from_utf8_lossy(&end.output))).await;
    if let Err(error) = result {
        if matches!(error, TransportError::PartTimedOut { .. })
            && let Err(error) = remote.revive().await
        {
            return Err(error.to_string());
        }
        return Err(error.to_string());
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::probes::rdma::{Gid, Port};

    #[test]
    fn ends_are_ports_that_are_up_and_can_be_reached() {
        let gid = |index: u32, gid: &str, kind: &str| Gid {
            index,
            gid: gid.to_owned(),
            netdev: "rdma0".to_owned(),
            kind: kind.to_owned(),
        };
        let port = Port {
            number: 1,
            state: "ACTIVE".to_owned(),
            link_layer: "Ethernet".to_owned(),
            rate_gbps: Some(200.0),
            gids: vec![
                gid(1, "fe80:0000:0000:0000:ba59:9fff:fed4:4a0e", "RoCE v2"),
                gid(2, "0000:0000:0000:0000:0000:ffff:0a00:0001", "IB/RoCE v1"),
                gid(3, "0000:0000:0000:0000:0000:ffff:0a00:0001", "RoCE v2"),
            ],
            ..Port::default()
        };
        let device = |name: &str, pci: &str, port: Port| Device {
            name: name.to_owned(),
            pci: pci.to_owned(),
            ports: vec![port],
            ..Device::default()
        };
        let down = Port { state: "DOWN".to_owned(), ..port.clone() };
        let ib = Port { link_layer: "InfiniBand".to_owned(), gids: Vec::new(), ..port.clone() };
        let found = ends(
            &[
                device("mlx5_0", "0000:0c:00.0", port.clone()),
                device("mlx5_1", "0000:12:00.0", down),
                device("mlx5_2", "0000:4b:00.0", ib),
                device("rxe0", "", port),
            ],
            "192.0.2.7",
        );
        let roce = &found["mlx5_0"];
        assert_eq!((roce.gid, roce.address.as_str(), roce.rate), (Some(3), "10.0.0.1", Some(200.0)));
        assert!(!found.contains_key("mlx5_1"));
        assert_eq!((found["mlx5_2"].gid, found["mlx5_2"].address.as_str()), (None, "192.0.2.7"));
        assert_eq!(found["rxe0"].rate, None, "the rate of software means nothing");
    }
}
