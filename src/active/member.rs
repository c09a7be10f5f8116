//! A host that takes part in tests between hosts, and how it is asked.

use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;
use std::time::Duration;

use tokio::sync::Mutex;

use super::gate::{Fabric, Network};
use super::owners::Claims;
use crate::checks::{LEFT_OUT, Subject};
use crate::events::{CheckResult, CheckStatus, Evidence};
use crate::facts::base::network::is_of_one_host;
use crate::facts::fabric::FabricQuery;
use crate::facts::nvidia::{Gpu, NvidiaQuery, Topology};
use crate::facts::rdma::{Device, Gid, RdmaQuery};
use crate::facts::software::{Software, SoftwareQuery, in_jobs_of};
use crate::facts::{Facts, batch};
use crate::inventory::Nic;
use crate::inventory::expect::{ExpectActive, ExpectSoftware};
use crate::inventory::{Host, Promises};
use crate::secrets::Secrets;
use crate::shell;
use crate::transport::{CONNECT, Frame, Part, Remote, Script, Transport, TransportError};

/// Bytes of output that are kept, for each host that has a part in it: NCCL's log grows with the ranks, and its table
/// comes last.
pub(super) const LIMIT: usize = 256 << 10;

/// The end of a rail on a host.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct RailEnd {
    pub device: String,
    pub port: u32,
    /// Its place in the host; empty for devices without hardware.
    pub pci: String,
    /// Index of its RoCE v2 GID; none on InfiniBand.
    pub gid: Option<u32>,
    /// Address that the other side connects to over RDMA.
    pub address: String,
    /// Address over which the two sides of perftest agree, before anything goes over RDMA.
    pub meet: String,
    /// Whether `address` is one of the RDMA device.
    pub own_address: bool,
    /// Gb/s; none for devices without hardware, whose rate means nothing.
    pub rate: Option<f64>,
    /// Whether a read between two such ends takes [`LATENCY_US`](super::perftest::LATENCY_US) at most; of other devices it is not known.
    pub fast: bool,
    /// The number of a GPU under the same `PCIe` switch.
    pub gpu: Option<u32>,
}

#[cfg(test)]
impl RailEnd {
    /// A port of 400 Gb/s without a GPU beside it.
    pub(super) fn played(rail: usize, address: String) -> Self {
        Self {
            device: format!("mlx5_{rail}"),
            port: 1,
            pci: format!("0000:0{rail}:00.0"),
            gid: Some(3),
            meet: address.clone(),
            address,
            own_address: true,
            rate: Some(400.0),
            fast: true,
            gpu: None,
        }
    }
}

/// A host that takes part.
pub(super) struct Participant {
    pub name: String,
    /// Hostname that it reports.
    pub hostname: String,
    /// The cards of jobs, whatever state they are in.
    pub fabric: Option<Fabric>,
    /// The ends of its rails by device, or why they are not known.
    pub rails: Result<BTreeMap<String, RailEnd>, String>,
    /// Its GPUs, or why they are not known.
    pub gpus: Result<Vec<Gpu>, String>,
    /// Tools of the tests that are there.
    pub tools: BTreeSet<String>,
    /// Installed software.
    pub software: Option<Software>,
    /// Declared expectations of the software.
    pub expect: ExpectSoftware,
    /// Declared thresholds of speeds.
    pub thresholds: ExpectActive,
    /// Whether `NCCL_CROSS_NIC=0` keeps jobs on their rails.
    pub keeps_rails: bool,
    /// Whether GPUs must be reachable for the cards.
    pub gdr: Option<bool>,
    /// Tests in which it takes no part.
    pub ignore: Vec<String>,
    pub remote: Mutex<Box<dyn Remote>>,
}

impl Participant {
    /// Names of its rails.
    pub(super) fn rails(&self) -> impl Iterator<Item = &String> {
        self.rails.iter().flat_map(BTreeMap::keys)
    }

    /// Returns its result for a test that the inventory leaves out for it; `None` where it takes part.
    pub(super) fn left_out(&self, check: &str) -> Option<CheckResult> {
        self.ignore.iter().any(|id| id == check).then(|| skipped(check, LEFT_OUT))
    }

    /// Its GPUs, or why no test may use them now.
    pub(super) fn idle_gpus(&self) -> Result<&[Gpu], String> {
        let gpus = self.gpus.as_ref().map_err(|reason| format!("its GPUs are not known: {reason}"))?;
        if gpus.is_empty() {
            return Err("no GPU".to_owned());
        }
        match gpus.iter().map(|gpu| gpu.processes).sum::<u64>() {
            0 => Ok(gpus),
            number => Err(format!("its GPUs are in use; processes on them: {number}")),
        }
    }

    /// The addresses that it says are its own.
    pub(super) fn claims(&self) -> Claims<'_> {
        let ends = self.rails.iter().flat_map(BTreeMap::values).filter(|end| end.own_address);
        let addresses = ends.filter_map(|end| Some((end.device.as_str(), end.address.parse().ok()?)));
        Claims { host: &self.name, addresses: addresses.collect() }
    }

    /// Its end of a rail.
    pub(super) fn end(&self, rail: &str) -> Option<&RailEnd> {
        self.rails.as_ref().ok()?.get(rail)
    }
}

/// Returns the network of the cards of jobs and their total speed. Each card counts with its declared speed,
/// or else with the highest that any of them has, so that one that is down or slow lowers nothing. `None`
/// where there are no cards, as with EFA, or no speed is known.
fn fabric(subject: &Subject<'_>, devices: &[&Device]) -> Option<Fabric> {
    let layer = |name: &str| {
        devices.iter().filter(|device| device.ports.iter().any(|port| port.link_layer == name)).count()
    };
    let (ethernet, infiniband) = (layer("Ethernet"), layer("InfiniBand"));
    let network = if ethernet > infiniband { Network::Roce } else { Network::InfiniBand };
    let real = || devices.iter().filter(|device| !device.pci.is_empty());
    let rates = real().flat_map(|device| &device.ports).filter_map(|port| port.rate_gbps);
    let highest = rates.fold(0.0, f64::max);
    let rate =
        |device: &&&Device| subject.nic_of(device).and_then(|nic| nic.rate_gbps).map_or(highest, f64::from);
    let gbps: f64 = real().map(|device| rate(&device)).sum();
    (ethernet + infiniband > 0 && gbps > 0.0).then_some(Fabric { network, gbps })
}

/// The GPU that shares a `PCIe` switch with a device and no other device: its number, by device.
fn beside(topology: &Topology, devices: &[&Device]) -> BTreeMap<String, u32> {
    let mut beside = BTreeMap::new();
    for near in ["PIX", "PXB"] {
        for device in devices {
            let mut gpus = topology.iter().filter_map(|(gpu, row)| {
                let number: u32 = gpu.strip_prefix("GPU")?.parse().ok()?;
                (row.get(&device.name)? == near).then_some(number)
            });
            let free = gpus.find(|gpu| !beside.values().any(|taken| taken == gpu));
            if let Some(gpu) = free.filter(|_| !beside.contains_key(&device.name)) {
                beside.insert(device.name.clone(), gpu);
            }
        }
    }
    beside
}

/// The ends of the ports that are up, by device.
fn ends(devices: &[&Device], gpus: &BTreeMap<String, u32>, address: &str) -> BTreeMap<String, RailEnd> {
    let end = |device: &Device| {
        let port = device.ports.iter().find(|port| port.state == "ACTIVE")?;
        let rate = port.rate_gbps.filter(|_| !device.pci.is_empty());
        let (name, number) = (device.name.clone(), port.number);
        let gpu = gpus.get(&name).copied();
        let fast = device.is_mlx5() && rate.is_some_and(|rate| rate >= 100.0);
        let end = |gid, own: Option<IpAddr>, meet: Option<IpAddr>| RailEnd {
            device: name,
            port: number,
            pci: device.pci.clone(),
            gid,
            address: own.map_or_else(|| address.to_owned(), |own| own.to_string()),
            meet: meet.map_or_else(|| address.to_owned(), |meet| meet.to_string()),
            own_address: own.is_some(),
            rate,
            fast,
            gpu,
        };
        if port.link_layer == "InfiniBand" {
            // The two sides meet over the management network.
            return Some(end(None, None, None));
        }
        let gids = || port.gids.iter().filter(|gid| gid.kind == "RoCE v2");
        // The others would be led to themselves, or to somebody else.
        let reached = |gid: &Gid| gid.address().filter(|address| is_of_one_host(*address));
        let ipv4 = gids().find_map(|gid| Some((gid, reached(gid).filter(IpAddr::is_ipv4)?)));
        if let Some((gid, own)) = ipv4 {
            return Some(end(Some(gid.index), Some(own), Some(own)));
        }
        // perftest agrees over IPv4 unless it is told otherwise, so that the two sides meet over the management network.
        if let Some((gid, own)) = gids().find_map(|gid| Some((gid, reached(gid)?))) {
            return Some(end(Some(gid.index), Some(own), None));
        }
        // Neighbours on one link reach each other by these too; rdma_cm would have to be told the link.
        let gid = gids().find(|gid| gid.is_link_local())?;
        Some(end(Some(gid.index), None, None))
    };
    devices.iter().filter_map(|device| Some((device.name.clone(), end(device)?))).collect()
}

/// The devices that carry traffic of jobs: those that are checked, and not for storage or management.
fn of_jobs<'a>(subject: &Subject<'_>, devices: &'a [Device]) -> Vec<&'a Device> {
    let mut devices = subject.checked(devices);
    devices.retain(|device| subject.nic_of(device).is_none_or(Nic::is_compute));
    devices
}

/// A check that could not be made, and why.
pub(super) fn untold(check: &str, reason: &str) -> CheckResult {
    CheckResult {
        check: check.to_owned(),
        status: CheckStatus::Unknown,
        message: reason.to_owned(),
        evidence: vec![Evidence { from: "verify --active".to_owned(), line: reason.to_owned() }],
        hint: None,
        because: None,
        acknowledged: None,
    }
}

/// A check that does not apply, and why.
pub(super) fn skipped(check: &str, reason: &str) -> CheckResult {
    CheckResult { status: CheckStatus::Skip, evidence: Vec::new(), ..untold(check, reason) }
}

/// Logs in and asks for devices, tools and software.
#[tracing::instrument(name = "host", skip_all, fields(host = host.name))]
pub(super) async fn open(
    transport: &dyn Transport,
    host: &Host,
    promises: &Promises,
    secrets: &Secrets,
) -> Result<Participant, String> {
    let asked = [RdmaQuery.into(), FabricQuery.into(), NvidiaQuery.into(), SoftwareQuery.into()];
    let parts = in_jobs_of(batch(&BTreeSet::from(asked), Duration::from_secs(20)), host.mpi_user());
    let probes = parts.len();
    let tools =
        Script::new(shell!("active/tools.sh")).args(["rping", "ib_write_bw", "ib_read_lat", "timeout"]);
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
        .open_and_run(host, CONNECT, &frame, &mut |end| ended.push(end))
        .await
        .map_err(|error| error.to_string())?;
    result.map_err(|error| error.to_string())?;
    let mut facts = Facts::default();
    let (mut tools, mut hostname) = (BTreeSet::new(), host.name.clone());
    for end in &ended {
        if let Some(part) = parts.get(end.index).filter(|_| end.index < probes) {
            facts.absorb(part, end);
            continue;
        }
        for (key, value) in
            String::from_utf8_lossy(&end.output).lines().filter_map(|line| line.split_once('='))
        {
            match key {
                "tool" => drop(tools.insert(value.to_owned())),
                "hostname" => value.clone_into(&mut hostname),
                _ => {}
            }
        }
    }
    let subject = Subject::new(host, &facts, 0).promised(promises);
    let devices = subject.rdma().and_then(|rdma| rdma.devices.as_ref().map_err(Clone::clone));
    let gpus = subject.nvidia().and_then(|nvidia| nvidia.smi.as_ref().map_err(Clone::clone));
    let topology = subject.nvidia().ok().and_then(|nvidia| nvidia.topology.as_ref().ok());
    let cards = devices.clone().map(|devices| of_jobs(&subject, devices)).unwrap_or_default();
    Ok(Participant {
        name: host.name.clone(),
        hostname,
        fabric: fabric(&subject, &cards),
        rails: devices
            .map(|devices| {
                let devices = of_jobs(&subject, devices);
                let gpus = topology.map(|topology| beside(topology, &devices)).unwrap_or_default();
                ends(&devices, &gpus, &host.address)
            })
            .map_err(|gap| gap.reason),
        gpus: gpus.map(|smi| smi.gpus.clone()).map_err(|gap| gap.reason),
        tools,
        software: subject.software().ok().cloned(),
        expect: subject.expect.software.clone().unwrap_or_default(),
        thresholds: subject.expect.active.clone().unwrap_or_default(),
        keeps_rails: subject.nccl_setting("NCCL_CROSS_NIC").is_some_and(|(_, value)| value == "0"),
        gdr: subject.expect_rdma().gdr,
        ignore: subject.expect.ignore.clone().unwrap_or_default(),
        remote: Mutex::new(remote),
    })
}

/// Runs one script on a host and gives what it printed, however it ended.
#[tracing::instrument(name = "host", level = "debug", skip_all, fields(host = member.name))]
pub(super) async fn said(
    member: &Participant,
    script: Script,
    deadline: Duration,
    limit: usize,
    secrets: &Secrets,
) -> Result<String, String> {
    let part = Part { name: "active".to_owned(), script, deadline, limit };
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
    use crate::facts::rdma::Port;

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
                gid(4, "0000:0000:0000:0000:0000:ffff:7f00:0001", "RoCE v2"),
                gid(2, "0000:0000:0000:0000:0000:ffff:0a00:0001", "IB/RoCE v1"),
                gid(3, "0000:0000:0000:0000:0000:ffff:0a00:0001", "RoCE v2"),
            ],
            ..Port::default()
        };
        let only = |gids: Vec<Gid>| Port { gids, ..port.clone() };
        let link = gid(1, "fe80:0000:0000:0000:ba59:9fff:fed4:4a0e", "RoCE v2");
        let six = only(vec![link.clone(), gid(3, "fd00:0000:0000:0000:0000:0000:0000:0001", "RoCE v2")]);
        let device = |name: &str, pci: &str, port: Port| Device {
            name: name.to_owned(),
            pci: pci.to_owned(),
            ports: vec![port],
            ..Device::default()
        };
        let down = Port { state: "DOWN".to_owned(), ..port.clone() };
        let ib = Port { link_layer: "InfiniBand".to_owned(), gids: Vec::new(), ..port.clone() };
        let devices = [
            device("mlx5_0", "0000:0c:00.0", port.clone()),
            device("mlx5_1", "0000:12:00.0", down),
            device("mlx5_2", "0000:4b:00.0", ib),
            device("mlx5_6", "0000:54:00.0", six),
            device("mlx5_7", "0000:54:00.1", only(vec![link])),
            device("rxe0", "", port.clone()),
        ];
        let found = ends(&devices.iter().collect::<Vec<_>>(), &BTreeMap::new(), "192.0.2.7");
        let roce = &found["mlx5_0"];
        assert_eq!((roce.gid, roce.address.as_str(), roce.rate), (Some(3), "10.0.0.1", Some(200.0)));
        assert!(!found.contains_key("mlx5_1"));
        assert_eq!((found["mlx5_2"].gid, found["mlx5_2"].address.as_str()), (None, "192.0.2.7"));
        // IPv6 alone: perftest meets over the management network, and rdma_cm needs an address beyond the link.
        let told = |name: &str| {
            let end = &found[name];
            (end.gid, end.address.as_str(), end.meet.as_str(), end.own_address)
        };
        assert_eq!(told("mlx5_0"), (Some(3), "10.0.0.1", "10.0.0.1", true));
        assert_eq!(told("mlx5_6"), (Some(3), "fd00::1", "192.0.2.7", true));
        assert_eq!(told("mlx5_7"), (Some(1), "192.0.2.7", "192.0.2.7", false));
        assert_eq!(found["rxe0"].rate, None, "the rate of software means nothing");
    }

    #[test]
    fn each_card_has_a_gpu_of_its_own() {
        let text = "\tGPU0\tGPU1\tGPU2\tNIC0\tNIC1\tNIC2\tNIC3\tCPU Affinity\n\
            GPU0\t X \tNV18\tNV18\tPXB\tPIX\tPXB\tSYS\t0-47\n\
            GPU1\tNV18\t X \tNV18\tPIX\tPXB\tPXB\tSYS\t0-47\n\
            GPU2\tNV18\tNV18\t X \tSYS\tSYS\tSYS\tNODE\t48-95\n\
            \nNIC Legend:\n\n  NIC0: mlx5_0\n  NIC1: mlx5_1\n  NIC2: mlx5_2\n  NIC3: mlx5_3\n";
        let topology = crate::facts::nvidia::topology(text).unwrap();
        let device = |name: &str| Device { name: name.to_owned(), ..Device::default() };
        let devices = ["mlx5_0", "mlx5_1", "mlx5_2", "mlx5_3"].map(device);
        let found = beside(&topology, &devices.iter().collect::<Vec<_>>());
        let found: Vec<_> = found.iter().map(|(device, gpu)| (device.as_str(), *gpu)).collect();
        assert_eq!(found, [("mlx5_0", 1), ("mlx5_1", 0)]);
    }

    #[test]
    fn only_devices_of_jobs_are_tested() {
        let case = crate::project::testing::Case::new(
            "--- inventory.yaml\ncluster: lab\nhosts:\n  gpu0:\n    nics:\n      - { match: { pci: \"0000:02:00.0\" }, role: storage }\n      - { match: { pci: \"0000:03:00.0\" }, role: compute }\n    expect: { rdma: { ignore: [mlx5_4] } }\n",
        );
        let host = case.load(&crate::project::LoadOptions::default()).unwrap().hosts.remove(0);
        let facts = Facts::default();
        let subject = Subject::new(&host, &facts, 0);
        let device = |n: u32| Device {
            name: format!("mlx5_{n}"),
            pci: format!("0000:0{n}:00.0"),
            manages_switch: n == 1,
            ..Device::default()
        };
        let devices = [0, 1, 2, 3, 4].map(device);
        let names: Vec<&str> = of_jobs(&subject, &devices).iter().map(|one| one.name.as_str()).collect();
        assert_eq!(names, ["mlx5_0", "mlx5_3"]);
    }
}
