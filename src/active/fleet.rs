//! Hosts that are logged in to, for tests that somebody else chooses: rounds of disjoint pairs.

use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;
use std::time::Duration;

use futures::StreamExt as _;
use tokio::time::Instant;

use super::member::{Participant, RailEnd, open};
use super::owners::{Claims, contested};
use super::pair_test::{DEADLINE, SECONDS, Tool, pair_of, without_gpu};
use super::perftest::Way;
use crate::checks::active::{BANDWIDTH, GPU_BANDWIDTH, LATENCY};
use crate::facts::base::busy::Busy;
use crate::facts::rdma::{Rdma, RdmaQuery};
use crate::facts::{BaseQuery, Facts, Query, batch};
use crate::inventory::{Host, Promises};
use crate::secrets::Secrets;
use crate::transport::{Frame, Transport};

/// Seconds for the two sides of a test to meet and to part.
const AROUND: u64 = 3;
/// Longest time for a question beside the tests.
const QUESTION: Duration = Duration::from_secs(20);
/// Longest time for a shell in place of one that hangs: twice `REVIVE` of the transport, where the server takes no second
/// session, and the end of what hangs.
const ANEW: Duration = Duration::from_secs(50);
/// With so many rails silent, the others of a pair are not tried: it is no card that keeps silent then.
const SILENT: usize = 2;

/// The measure of a test between two ports.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Measure {
    /// Gb/s from the memory of one host into that of the other.
    Write,
    /// Gb/s from the memory of a GPU into that of a GPU.
    GpuWrite,
    /// Microseconds of a read.
    Latency,
}

impl Measure {
    fn tool(self) -> Tool {
        match self {
            Self::Write => Tool::Bandwidth(Way::One),
            Self::GpuWrite => Tool::Bandwidth(Way::Gpu),
            Self::Latency => Tool::Latency,
        }
    }

    /// The command, as people would type it.
    pub fn command(self) -> &'static str {
        self.tool().command()
    }
}

/// A test from one port to another.
#[derive(Debug, Clone, PartialEq)]
pub struct Trial {
    /// The host that sent, by its place in the fleet.
    pub from: usize,
    /// The host that received.
    pub to: usize,
    /// The RDMA device on both.
    pub rail: String,
    /// The measure.
    pub measure: Measure,
    /// The figure, or why there is none.
    pub result: Result<f64, String>,
}

/// Two hosts that are to be tested with each other.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Meeting {
    /// Their places in the fleet.
    pub hosts: (usize, usize),
    /// The RDMA devices, one behind the other.
    pub rails: Vec<String>,
}

/// An error counter of a port that rose.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Grown {
    /// The host, by its place in the fleet.
    pub host: usize,
    /// The RDMA device.
    pub rail: String,
    /// The counter.
    pub counter: String,
    /// By how much.
    pub by: u64,
}

/// A round of pairs, as it went.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Met {
    /// Tests in the order of the pairs.
    pub trials: Vec<Trial>,
    /// Counters that rose meanwhile.
    pub grown: Vec<Grown>,
    /// Hosts whose counters could not be read before and after it.
    pub uncounted: Vec<usize>,
}

/// A port that can be tested.
#[derive(Debug, Clone, PartialEq)]
pub struct Port {
    /// The RDMA device.
    pub device: String,
    /// Number of the port.
    pub number: u32,
    /// Its place in the host; empty for devices without hardware.
    pub pci: String,
    /// Gb/s; none for devices without hardware, whose rate means nothing.
    pub rate: Option<f64>,
    /// Whether a read between two such ports is known to take [`LATENCY_US`](super::perftest::LATENCY_US) at most.
    pub is_fast: bool,
    /// Whether it is tested from the memory of a GPU.
    pub has_gpu: bool,
}

impl Port {
    /// The port as people call it.
    pub fn label(&self) -> String {
        format!("{} port {}", self.device, self.number)
    }
}

/// Hosts that are logged in to.
pub struct Fleet {
    pub(super) members: Vec<Participant>,
    pub(super) secrets: Secrets,
}

impl std::fmt::Debug for Fleet {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Fleet").field("hosts", &self.names()).finish_non_exhaustive()
    }
}

/// Counters of a host by device and name.
type Counters = BTreeMap<(String, String), u64>;

impl Fleet {
    /// Logs in to hosts; those that could not be asked are named with the reason.
    pub async fn open(
        transport: &dyn Transport,
        hosts: &[(Host, Promises)],
        secrets: &Secrets,
        parallel: usize,
    ) -> (Self, BTreeMap<String, String>) {
        let opened: Vec<(String, Result<Participant, String>)> = futures::stream::iter(hosts)
            .map(|(host, promises)| async {
                (host.name.clone(), open(transport, host, promises, secrets).await)
            })
            .buffered(parallel.max(1))
            .collect()
            .await;
        let mut members = Vec::new();
        let mut silent = BTreeMap::new();
        for (name, member) in opened {
            match member {
                Ok(member) => members.push(member),
                Err(reason) => drop(silent.insert(name, reason)),
            }
        }
        settle(hosts, &mut members);
        (Self { members, secrets: secrets.clone() }, silent)
    }

    /// Closes the logins.
    pub async fn close(&self) {
        let all = self.members.iter().map(|member| async { member.remote.lock().await.close().await });
        futures::future::join_all(all).await;
    }

    /// Ends what the hosts run for a test, and closes the logins. Without it a test goes on until its time is over,
    /// since nothing on a host hears that its login has ended. Returns the hosts on which it may still go on.
    pub async fn stop(&self) -> Vec<String> {
        let all = self.members.iter().map(|member| async {
            let mut remote = member.remote.lock().await;
            let revived = remote.revive().await;
            remote.close().await;
            revived.is_err().then(|| member.name.clone())
        });
        futures::future::join_all(all).await.into_iter().flatten().collect()
    }

    /// Names of the hosts, by their places.
    pub fn names(&self) -> Vec<String> {
        self.members.iter().map(|member| member.name.clone()).collect()
    }

    /// The ports of a host that can be tested; none where it has no RDMA device that is up.
    ///
    /// # Errors
    /// The reason why they are not known, or cannot be tested.
    pub fn ports(&self, host: usize) -> Result<Vec<Port>, String> {
        let Some(member) = self.members.get(host) else { return Ok(Vec::new()) };
        let rails = member.rails.as_ref().map_err(Clone::clone)?;
        if rails.is_empty() {
            return Ok(Vec::new());
        }
        for check in [BANDWIDTH, LATENCY] {
            if let Some(left_out) = member.left_out(check) {
                return Err(format!("{check}: {}", left_out.message));
            }
        }
        let needed = ["ib_write_bw", "ib_read_lat", "timeout"];
        if let Some(tool) = needed.into_iter().find(|tool| !member.tools.contains(*tool)) {
            return Err(format!("{tool} is not installed"));
        }
        let with_gpus = without_gpu(Tool::Bandwidth(Way::Gpu), member).is_none()
            && member.left_out(GPU_BANDWIDTH).is_none();
        let port = |end: &RailEnd| Port {
            device: end.device.clone(),
            number: end.port,
            pci: end.pci.clone(),
            rate: end.rate,
            is_fast: end.fast,
            has_gpu: with_gpus && end.gpu.is_some(),
        };
        Ok(rails.values().map(port).collect())
    }

    /// Hosts that somebody uses, by their places, or of which that is not known.
    pub async fn busy(&self) -> BTreeMap<usize, String> {
        let query = Query::from(BaseQuery("busy"));
        let asked = self.members.iter().enumerate().map(|(place, member)| {
            let query = query.clone();
            async move {
                let facts = asked(member, query, &self.secrets).await;
                let busy = facts.as_ref().ok().and_then(Facts::base::<Busy>);
                let text = match (busy, &facts) {
                    (Some(busy), _) => format!("it is in use: {}", busy.told()?),
                    (None, Err(reason)) => format!("who works there is not known: {reason}"),
                    (None, Ok(_)) => "who works there is not known".to_owned(),
                };
                Some((place, text))
            }
        });
        futures::future::join_all(asked).await.into_iter().flatten().collect()
    }

    /// Tests pairs at the same time, none of which has a host of another one.
    pub async fn meet(&self, meetings: &[Meeting]) -> Met {
        let mut met = Met::default();
        let hosts: Vec<usize> = meetings.iter().flat_map(|pair| [pair.hosts.0, pair.hosts.1]).collect();
        let before = self.counters(&hosts).await;
        let all = meetings.iter().map(|meeting| self.pair(meeting));
        met.trials = futures::future::join_all(all).await.into_iter().flatten().collect();
        let after = self.counters(&hosts).await;
        for host in hosts {
            let (Some(before), Some(after)) = (before.get(&host), after.get(&host)) else {
                met.uncounted.push(host);
                continue;
            };
            for ((rail, counter), now) in after {
                let by =
                    now.saturating_sub(before.get(&(rail.clone(), counter.clone())).copied().unwrap_or(*now));
                if by > 0 {
                    met.grown.push(Grown { host, rail: rail.clone(), counter: counter.clone(), by });
                }
            }
        }
        met
    }

    /// All tests of a pair, rail by rail. One that keeps silent is not asked for more.
    async fn pair(&self, meeting: &Meeting) -> Vec<Trial> {
        let (one, other) = meeting.hosts;
        let mut trials = Vec::new();
        let mut silent = 0;
        for rail in &meeting.rails {
            let with_gpus = [one, other].iter().all(|host| {
                let ports = self.ports(*host).unwrap_or_default();
                ports.iter().any(|port| port.device == *rail && port.has_gpu)
            });
            let write = if with_gpus { Measure::GpuWrite } else { Measure::Write };
            for (from, to, measure) in
                [(one, other, write), (other, one, write), (one, other, Measure::Latency)]
            {
                let result = self.trial(from, to, rail, measure).await;
                let is_silent = result.is_err();
                trials.push(Trial { from, to, rail: rail.clone(), measure, result });
                if is_silent {
                    silent += 1;
                    break;
                }
            }
            if silent >= SILENT {
                break;
            }
        }
        trials
    }

    /// One test: its figure, whether it is a good one or not.
    async fn trial(&self, from: usize, to: usize, rail: &str, measure: Measure) -> Result<f64, String> {
        let (Some(server), Some(client)) = (self.members.get(to), self.members.get(from)) else {
            return Err("no such host".to_owned());
        };
        let (mut figure, began) = (None, Instant::now());
        let ended = pair_of(measure.tool(), (rail, rail), (server, client), &self.secrets, &mut figure).await;
        match (figure, ended) {
            (Some(figure), _) => Ok(figure),
            (None, Ok(said)) => Err(said),
            // Of one that hangs nothing else is known.
            (None, Err(reason)) if began.elapsed() > Duration::from_secs(SECONDS + 5 * AROUND) => {
                Err(format!("{reason}, after {} s", began.elapsed().as_secs()))
            }
            (None, Err(reason)) => Err(reason),
        }
    }

    /// Error counters of the ports of hosts; those of hosts that did not tell are missing.
    async fn counters(&self, hosts: &[usize]) -> BTreeMap<usize, Counters> {
        let all = hosts.iter().map(|host| async move {
            let facts = asked(self.members.get(*host)?, RdmaQuery.into(), &self.secrets).await.ok()?;
            let rdma: &Rdma = facts.get(&RdmaQuery).answer()?;
            let devices = rdma.devices.as_ref().ok()?;
            let mut counters = Counters::new();
            for device in devices {
                for (name, value) in device.ports.iter().flat_map(|port| &port.counters) {
                    *counters.entry((device.name.clone(), name.clone())).or_default() += value;
                }
            }
            Some((*host, counters))
        });
        futures::future::join_all(all).await.into_iter().flatten().collect()
    }
}

/// Seconds of a round over so many rails: usually, and at most. At most as long as that, but for hosts with a
/// `login_timeout` of their own: each test is ended then, and so are the questions around the round.
pub fn seconds(rails: usize) -> (u64, u64) {
    let tests = 3 * rails as u64;
    // Either side of a test may hang, and so may the two questions.
    let anew = (tests + 2) * ANEW.as_secs();
    (tests * (SECONDS + AROUND), tests * DEADLINE.as_secs() + 2 * QUESTION.as_secs() + anew)
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

/// Asks a host one question.
async fn asked(member: &Participant, query: Query, secrets: &Secrets) -> Result<Facts, String> {
    let parts = batch(&[query].into(), QUESTION);
    let frame = Frame {
        parts: parts.iter().map(|part| part.part.clone()).collect(),
        secrets: secrets.clone(),
        ..Frame::default()
    };
    let mut facts = Facts::default();
    let mut remote = member.remote.lock().await;
    let ended = remote
        .run(&frame, &mut |end| {
            if let Some(part) = parts.get(end.index) {
                facts.absorb(part, &end);
            }
        })
        .await;
    if let Err(error) = ended {
        // The question is ended; the login is needed for the next test.
        drop(remote.revive().await);
        return Err(error.to_string());
    }
    Ok(facts)
}

/// Hosts that a function plays.
#[cfg(test)]
pub(crate) mod testing {
    use std::sync::atomic::{AtomicU64, Ordering};

    use super::*;
    use crate::facts::{Gap, GapKind};
    use crate::project::LoadOptions;
    use crate::project::testing::Case;
    use crate::transport::{CONNECT, Reply, Scripted};

    const TABLE: &str = include_str!("../../tests/cases/active/ib_write_bw-100g-noise.txt");
    const TIMES: &str = include_str!("../../tests/cases/active/ib_read_lat-rxe.txt");

    /// A test, as one of its sides is asked.
    pub(crate) struct Asked<'a> {
        /// The host that is asked.
        pub(crate) host: &'a str,
        /// The one that it sends to; none where it serves.
        pub(crate) server: Option<&'a str>,
        /// Whether it is a latency.
        pub(crate) is_latency: bool,
    }

    /// Hosts h0, h1, … with so many ports of 400 Gb/s. perftest prints what `figure` gives; with none the side hangs.
    /// A counter of h1 rises whenever it is read.
    pub(crate) async fn fleet(
        hosts: usize,
        rails: usize,
        figure: impl Fn(&Asked<'_>) -> Option<f64> + Send + Sync + 'static,
    ) -> Fleet {
        let risen = AtomicU64::new(0);
        let scripted = Scripted::default().answer(move |sent| {
            if sent.part == "rdma" {
                let errors = if sent.host == "h1" { risen.fetch_add(1, Ordering::Relaxed) } else { 0 };
                let text = format!(
                    "\n\u{1e}ask sysfs\ndevice=mlx5_0\nfw_ver=28.39.1002\nhca_type=MT4129\nboard_id=X\nnode_guid=1:0\npci=0000:00:00.0\nport=1\nstate=4: ACTIVE\nphys_state=5: LinkUp\nrate=400 Gb/sec (4X NDR)\nlink_layer=Ethernet\nlid=0x0\nsm_lid=0x0\ncounter.symbol_error={errors}\nnet=rdma0\noperstate=up\n\n\u{1e}end 0\n"
                );
                return Some(Reply::default().output(text));
            }
            if sent.part != "active" {
                return None;
            }
            let words: Vec<&str> = sent.text.lines().collect();
            let server = words.last().and_then(|last| last.strip_prefix("10.0.0.")).map(|host| format!("h{host}"));
            let is_latency = words.contains(&"latency");
            let asked = Asked { host: &sent.host, server: server.as_deref(), is_latency };
            Some(figure(&asked).map_or_else(
                || Reply::default().hang(),
                |figure| {
                    let figure = format!("{figure:.2}");
                    let text =
                        if is_latency { TIMES.replace("24.78", &figure) } else { TABLE.replace("98.02", &figure) };
                    Reply::default().output(text)
                },
            ))
        });
        logged_in(&scripted, hosts, rails).await
    }

    /// Hosts with a GPU each that reduce; what `busbw` gives for the hosts of a run is what nccl-tests prints, with none it
    /// hangs.
    pub(crate) async fn reducing(
        hosts: usize,
        busbw: impl Fn(&[&str]) -> Option<f64> + Send + Sync + 'static,
    ) -> Fleet {
        let scripted = Scripted::default().answer(move |sent| {
            if sent.part != "active" {
                return None;
            }
            let list = sent.text.lines().skip_while(|line| *line != "--host").nth(1)?;
            let group: Vec<&str> = list.split(',').filter_map(|host| host.strip_suffix(":1")).collect();
            let Some(figure) = busbw(&group) else { return Some(Reply::default().hang()) };
            let ranks: Vec<String> = group
                .iter()
                .enumerate()
                .map(|(rank, host)| format!("#  Rank  {rank} Group  0 Pid  {rank} on {host} device  0 [0x00] NVIDIA H200\n"))
                .collect();
            Some(Reply::default().output(format!(
                "{}NCCL version 2.30.7\n\
                 h0:1:1 [0] NCCL INFO Channel 00/0 : 1[0] -> 0[0] [receive] via NET/IB/0/GDRDMA\n\
                 #       size         count      type   redop    root     time   algbw   busbw #wrong     time   algbw   busbw #wrong\n\
                 8 2 float sum -1 31.5 0.00 0.00 0 31.2 0.00 0.00 0\n\
                 1073741824 268435456 float sum -1 11013 97.50 {figure} 0 11099 96.74 {figure} 0\n\
                 # Out of bounds values : 0 OK\n# Avg bus bandwidth    : 150.209\n",
                ranks.concat()
            )))
        });
        let mut fleet = logged_in(&scripted, hosts, 1).await;
        for member in &mut fleet.members {
            let unasked = || Gap::new(GapKind::Absent, "software", "nobody asked");
            let linked = Ok(crate::facts::software::Linked::default());
            member.software = Some(crate::facts::software::Software {
                openmpi: [("/opt/openmpi".to_owned(), Ok("5.0.7".to_owned()))].into(),
                tests: [("/opt/nccl-tests/build/all_reduce_perf".to_owned(), linked)].into(),
                files: Err(unasked()),
                half_done: Err(unasked()),
            });
            member.expect.mpi_user = Some("mpi".to_owned());
            let gpu = crate::facts::nvidia::Gpu { name: "NVIDIA H200".to_owned(), ..Default::default() };
            member.gpus = Ok(vec![gpu]);
        }
        fleet
    }

    async fn logged_in(scripted: &Scripted, hosts: usize, rails: usize) -> Fleet {
        let names: Vec<String> = (0..hosts).map(|host| format!("  h{host}: {{}}\n")).collect();
        let case = Case::new(&format!("--- inventory.yaml\ncluster: lab\nhosts:\n{}", names.concat()));
        let project = case.load(&LoadOptions::default()).unwrap();
        let mut members = Vec::new();
        for (at, host) in project.hosts.iter().enumerate() {
            let end = |rail: usize| RailEnd::played(rail, format!("10.0.{rail}.{at}"));
            members.push(Participant {
                name: host.name.clone(),
                hostname: host.name.clone(),
                fabric: None,
                rails: Ok((0..rails).map(|rail| (format!("mlx5_{rail}"), end(rail))).collect()),
                gpus: Ok(Vec::new()),
                tools: ["ib_write_bw", "ib_read_lat", "timeout"].map(str::to_owned).into(),
                software: None,
                expect: crate::inventory::expect::ExpectSoftware::default(),
                thresholds: crate::inventory::expect::ExpectActive::default(),
                keeps_rails: false,
                gdr: None,
                ignore: Vec::new(),
                remote: tokio::sync::Mutex::new(scripted.open(host, CONNECT).await.unwrap()),
            });
        }
        Fleet { members, secrets: Secrets::default() }
    }
}
