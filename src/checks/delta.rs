//! Counters against those of the last `verify` (domain K1, D3, G16).

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::verdict::{Checked, Findings, Verdict};
use super::{Check, Kind, Subject};
use crate::events::CheckStatus::{Fail, Warn};

pub(super) const CHECKS: &[Check] = &[
    Check {
        id: "rdma.flaps",
        title: "no link went down since the last verify",
        kind: Kind::Delta,
        severity: Fail,
        expects: "link_downed and carrier_changes as they were",
        why: "A link that flaps ends the jobs that run over it, and is up again when somebody looks.",
        hint: "clean or replace the cable; `mlxlink -d DEV -m -c -e` shows its quality; then the switch port",
        source: "domain G16, K1",
        run: flaps,
    },
    Check {
        id: "rdma.errors",
        title: "error counters of RDMA ports did not grow since the last verify",
        kind: Kind::Delta,
        severity: Warn,
        expects: "no growth of symbol, receive, discard, sequence and time-out counters",
        why: "Growth is loss or a bad cable: collectives slow down long before anything fails. rx_icrc_encapsulated is corruption, and a failure.",
        hint: "symbol and receive errors: cable; sequence errors and time-outs: flow control, MTU or a congested path; out_of_buffer: the receiver",
        source: "domain D3, G16, K1",
        run: errors,
    },
    Check {
        id: "network.errors",
        title: "network devices behind RDMA counted no errors since the last verify",
        kind: Kind::Delta,
        severity: Warn,
        expects: "rx_errors and tx_errors as they were",
        why: "Errors of the Ethernet link hit RDMA and TCP alike.",
        hint: "`ethtool -S IF` says which kind; clean or replace the cable",
        source: "domain D3, G16",
        run: netdev_errors,
    },
    Check {
        id: "gpu.pcie_replays",
        title: "GPUs repeated no PCIe packet since the last verify",
        kind: Kind::Delta,
        severity: Warn,
        expects: "replay_counter as it was",
        why: "Each replay is a packet that arrived damaged: a bad contact that gets worse.",
        hint: "reseat the GPU or its riser",
        source: "domain G10, K2",
        run: replays,
    },
];

/// Counters of one host at one time.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Baseline {
    /// When.
    pub at: String,
    /// Of which boot: a reboot sets counters to nothing.
    pub boot: String,
    /// `rdma mlx5_0/1 symbol_error` to its value.
    pub counters: BTreeMap<String, u64>,
}

/// Counters of all hosts of a cluster.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Baselines(pub BTreeMap<String, Baseline>);

impl Baseline {
    /// The counters of a host now; none where nothing is counted.
    pub fn of(subject: &Subject<'_>, now: &str) -> Option<Self> {
        let counters = counters(subject);
        if counters.is_empty() {
            return None;
        }
        let boot = subject.fact("/ids/boot_id").unwrap_or_default().to_owned();
        Some(Self { at: now.to_owned(), boot, counters })
    }
}

fn counters(subject: &Subject<'_>) -> BTreeMap<String, u64> {
    let mut counters = BTreeMap::new();
    if let Ok(rdma) = subject.rdma() {
        for device in rdma.devices.iter().flatten() {
            for port in &device.ports {
                for (name, count) in &port.counters {
                    counters.insert(format!("rdma {}/{} {name}", device.name, port.number), *count);
                }
            }
            let Some(net) = device.netdev() else { continue };
            let Some(netdev) = rdma.netdevs.get(net) else { continue };
            if let Some(changes) = netdev.carrier_changes {
                counters.insert(format!("net {net} carrier_changes"), changes);
            }
            if let Some(errors) = netdev.errors {
                counters.insert(format!("net {net} errors"), errors);
            }
        }
    }
    if let Ok(smi) = subject.smi() {
        for (index, gpu) in smi.gpus.iter().enumerate() {
            if let Some(replays) = gpu.replays {
                counters.insert(format!("gpu GPU{index} replays"), replays);
            }
        }
    }
    counters
}

/// A counter that grew: device, counter, by how much.
struct Growth {
    device: String,
    counter: String,
    by: u64,
}

/// What grew of the counters of one group that a filter takes.
///
/// # Errors
/// The verdict when there is nothing to compare.
fn growth(
    subject: &Subject<'_>,
    group: &str,
    takes: impl Fn(&str) -> bool,
) -> Result<(Vec<Growth>, String), Verdict> {
    let now: Vec<(String, String, u64)> = counters(subject)
        .into_iter()
        .filter_map(|(key, count)| {
            let mut words = key.splitn(3, ' ');
            let (kind, device, counter) = (words.next()?, words.next()?, words.next()?);
            (kind == group && takes(counter)).then(|| (device.to_owned(), counter.to_owned(), count))
        })
        .collect();
    if now.is_empty() {
        return Err(Verdict::Skip("these devices count nothing of it".to_owned()));
    }
    let Some(before) = subject.baseline else {
        return Err(Verdict::Skip("the first verify: the counters are kept for the next one".to_owned()));
    };
    let rebooted = subject.fact("/ids/boot_id").is_ok_and(|boot| boot != before.boot);
    let mut grown = Vec::new();
    for (device, counter, count) in now {
        let key = format!("{group} {device} {counter}");
        let known = before.counters.get(&key).copied();
        let start = match known {
            // A device that is new has no growth that anybody can tell.
            None => continue,
            // Counters begin anew with a boot or when a driver is loaded.
            Some(old) if rebooted || count < old => 0,
            Some(old) => old,
        };
        // Links come up once in each boot.
        let usual = if rebooted && counter == "carrier_changes" { 2 } else { 0 };
        if count > start + usual {
            grown.push(Growth { device, counter, by: count - start });
        }
    }
    Ok((grown, before.at.get(..19).unwrap_or(&before.at).to_owned()))
}

fn from(growth: &Growth) -> String {
    match growth.device.split_once('/') {
        Some((device, port)) => {
            let name = growth.counter.strip_prefix("hw.");
            let folder = if name.is_some() { "hw_counters" } else { "counters" };
            format!(
                "/sys/class/infiniband/{device}/ports/{port}/{folder}/{}",
                name.unwrap_or(&growth.counter)
            )
        }
        None => format!("{} {}", growth.device, growth.counter),
    }
}

fn flaps(subject: &Subject<'_>) -> Checked {
    subject.devices()?;
    let down = growth(subject, "rdma", |counter| counter.trim_start_matches("hw.") == "link_downed");
    let carrier = growth(subject, "net", |counter| counter == "carrier_changes");
    let (grown, at) = match (down, carrier) {
        (Ok((mut one, at)), Ok((other, _))) => {
            one.extend(other);
            (one, at)
        }
        (Ok(one), Err(_)) | (Err(_), Ok(one)) => one,
        (Err(verdict), Err(_)) => return Err(verdict),
    };
    let mut findings = Findings::default();
    for one in grown {
        let device = one.device.split('/').next().unwrap_or("").to_owned();
        let how = format!("{} +{}", one.counter, one.by);
        findings.wrong(&device, how.clone(), from(&one), format!("{how} since {at}"));
    }
    Ok(findings.verdict(format!("none since {at}")))
}

/// Counters whose growth means trouble.
const TROUBLE: &[&str] = &[
    "symbol_error",
    "link_error_recovery",
    "port_rcv_errors",
    "port_rcv_remote_physical_errors",
    "port_xmit_discards",
    "local_link_integrity_errors",
    "excessive_buffer_overrun_errors",
    "hw.out_of_buffer",
    "hw.out_of_sequence",
    "hw.packet_seq_err",
    "hw.local_ack_timeout_err",
    "hw.rnr_nak_retry_err",
    "hw.req_transport_retries_exceeded",
    "hw.retry_exceeded_err",
    "hw.rx_icrc_encapsulated",
];

fn errors(subject: &Subject<'_>) -> Checked {
    subject.devices()?;
    let (grown, at) = growth(subject, "rdma", |counter| TROUBLE.contains(&counter))?;
    let corrupt = grown.iter().any(|one| one.counter == "hw.rx_icrc_encapsulated");
    let mut findings = Findings::default();
    for one in &grown {
        let device = one.device.split('/').next().unwrap_or("");
        let how = format!("{} +{}", one.counter.trim_start_matches("hw."), one.by);
        findings.wrong(device, how.clone(), from(one), format!("{how} since {at}"));
    }
    let verdict = findings.verdict(format!("none since {at}"));
    Ok(if corrupt { verdict.counted_as(Fail) } else { verdict })
}

fn netdev_errors(subject: &Subject<'_>) -> Checked {
    subject.devices()?;
    let (grown, at) = growth(subject, "net", |counter| counter == "errors")?;
    let mut findings = Findings::default();
    for one in grown {
        let from = format!("/sys/class/net/{}/statistics", one.device);
        findings.wrong(
            &one.device,
            format!("+{}", one.by),
            from,
            format!("rx_errors, tx_errors +{} since {at}", one.by),
        );
    }
    Ok(findings.verdict(format!("none since {at}")))
}

fn replays(subject: &Subject<'_>) -> Checked {
    subject.smi()?;
    let (grown, at) = growth(subject, "gpu", |counter| counter == "replays")?;
    let mut findings = Findings::default();
    for one in grown {
        let line = format!("replay_counter +{} since {at}", one.by);
        findings.wrong(&one.device, format!("+{}", one.by), "nvidia-smi -q -x", line);
    }
    Ok(findings.verdict(format!("none since {at}")))
}
