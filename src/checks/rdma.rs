//! RDMA devices and their ports (domain G1, G4, G17, D1).

use super::gpu::majority;
use super::verdict::{Checked, Findings, Verdict, evidence};
use super::{Check, Kind, Subject};
use crate::events::CheckStatus::Fail;
use crate::probes::rdma::{Device, Port};

pub(super) const CHECKS: &[Check] = &[
    Check {
        id: "rdma.devices",
        title: "every RDMA device that should be there is",
        kind: Kind::Idle,
        severity: Fail,
        expects: "`expect.rdma.count`, `expect.rdma.devices` and the compute cards of `nics:`; else the fleet is compared",
        why: "A card that is gone takes its rail with it: collectives run over fewer rails, or hang on the host without it.",
        hint: "`lspci | grep -iE 'mellanox|infiniband|ethernet'`; on the bus but no device: load its driver; not on the bus: reseat the card",
        source: "domain C5, G2",
        run: devices,
    },
    Check {
        id: "rdma.port_active",
        title: "every port is up",
        kind: Kind::Idle,
        severity: Fail,
        expects: "ACTIVE; `expect.rdma.state` when it is declared. Ports without any cable are left out with `expect.rdma.ignore`",
        why: "A port that is down is one rail less; one that is INIT waits for a subnet manager.",
        hint: "DOWN and Polling: cable or switch port; DOWN and Disabled: `ip link set IF up`; INIT: start a subnet manager",
        source: "domain G1, G3, N3",
        run: port_active,
    },
    Check {
        id: "rdma.rate",
        title: "every port runs at its full rate",
        kind: Kind::Idle,
        severity: Fail,
        expects: "`rate_gbps` of `nics:`, `expect.rdma.rate_gbps`, else the rate that most ports of the same kind have on this host",
        why: "A link that trained at half its lanes halves the bandwidth of every collective.",
        hint: "reseat or replace the cable, then check the switch port's speed and `mlxlink -d DEV -m`",
        source: "domain G4, G17",
        run: rate,
    },
    Check {
        id: "network.mtu",
        title: "the network devices behind RDMA devices have the declared MTU",
        kind: Kind::Idle,
        severity: Fail,
        expects: "`mtu` of `nics:`, `expect.network.mtu`, else the MTU that most of these devices have on this host",
        why: "With different MTUs small messages pass and large ones fail with status 12, or everything is slow without a message.",
        hint: "`ip link set dev IF mtu N`, and where the network manager keeps it; switch ports need 9216",
        source: "domain D1, L7",
        run: mtu,
    },
];

/// A file of a port, as evidence names it.
pub(super) fn port_file(device: &Device, port: &Port, file: &str) -> String {
    format!("/sys/class/infiniband/{}/ports/{}/{file}", device.name, port.number)
}

fn devices(subject: &Subject<'_>) -> Checked {
    let all = subject.seen(subject.rdma().map(|rdma| &rdma.devices), None)?;
    let expect = subject.expect_rdma();
    let ignored = expect.ignore.unwrap_or_default();
    let seen: Vec<&Device> = all.iter().filter(|device| !ignored.contains(&device.name)).collect();
    if seen.is_empty() && !subject.wants_rdma() {
        return Err(Verdict::Skip("no RDMA device".to_owned()));
    }
    let from = "/sys/class/infiniband";
    let names: Vec<&str> = seen.iter().map(|device| device.name.as_str()).collect();
    let list = if names.is_empty() { "nothing".to_owned() } else { names.join(" ") };
    let mut findings = Findings::default();
    for name in expect.devices.iter().flatten().filter(|name| !names.contains(&name.as_str())) {
        findings.wrong(name, "no such device", from, &list);
    }
    for nic in subject.compute_nics() {
        let known = seen.iter().any(|device| subject.nic_of(device) == Some(nic));
        if !known {
            let matching = nic.get("match").map(ToString::to_string).unwrap_or_default();
            findings.wrong(&matching.replace(['{', '}', '"'], ""), "no RDMA device", from, &list);
        }
    }
    if let Some(wanted) = expect.count
        && usize::try_from(wanted) != Ok(seen.len())
    {
        findings.wrong("the kernel", format!("{} of {wanted} RDMA devices", seen.len()), from, &list);
    }
    let count = format!("{} devices", seen.len());
    let mut verdict = findings.verdict(count);
    if let Verdict::Finding { evidence: lines, .. } = &mut verdict {
        // Every line is this list.
        *lines = vec![evidence(from, &list)];
    }
    Ok(verdict)
}

fn port_active(subject: &Subject<'_>) -> Checked {
    let devices = subject.devices()?;
    let wanted = subject.expect_rdma().state.unwrap_or_else(|| "ACTIVE".to_owned());
    let wanted = wanted.trim_start_matches("PORT_").to_ascii_uppercase();
    let mut findings = Findings::default();
    for device in &devices {
        for port in &device.ports {
            if port.state.is_empty() {
                findings.unknown(&device.name, "its state cannot be read", port_file(device, port, "state"));
            } else if port.state != wanted {
                let how = format!("{} ({}), expected {wanted}", port.state, port.physical);
                findings.wrong(&device.name, how, port_file(device, port, "state"), &port.state);
            }
        }
        if device.ports.is_empty() {
            findings.unknown(
                &device.name,
                "it has no port",
                format!("/sys/class/infiniband/{}/ports", device.name),
            );
        }
    }
    Ok(findings.verdict(format!("{} ports {wanted}", devices.len())))
}

fn rate(subject: &Subject<'_>) -> Checked {
    let devices = subject.devices()?;
    let declared = subject.expect_rdma().rate_gbps.map(u64::from);
    let mut findings = Findings::default();
    let mut pass = Vec::new();
    // The rate of a port that is down says nothing; rdma.port_active has it.
    let up = || devices.iter().flat_map(|device| device.ports.iter().map(move |port| (device, port)));
    for (device, port) in up().filter(|(_, port)| port.state == "ACTIVE") {
        let same = up().filter(|(other, port)| other.hca_type == device.hca_type && port.state == "ACTIVE");
        let usual = || majority(same.map(|(_, port)| port.rate.clone()));
        let wanted = subject.nic_number(device, "rate_gbps").or(declared);
        let from = port_file(device, port, "rate");
        match (port.rate_gbps, wanted) {
            (None, _) => findings.unknown(&device.name, "its rate cannot be read", from),
            #[expect(clippy::cast_precision_loss, reason = "rates are small numbers")]
            (Some(seen), Some(wanted)) if seen < wanted as f64 => {
                findings.wrong(
                    &device.name,
                    format!("{}, expected {wanted} Gb/s", port.rate),
                    from,
                    &port.rate,
                );
            }
            (Some(_), Some(_)) => pass.push(port.rate.clone()),
            (Some(seen), None) => match usual() {
                Some(usual) if usual != port.rate && seen < leading(&usual) => {
                    let how = format!("{}, the others of its kind have {usual}", port.rate);
                    findings.wrong(&device.name, how, from, &port.rate);
                }
                _ => pass.push(port.rate.clone()),
            },
        }
    }
    pass.sort();
    pass.dedup();
    Ok(findings.verdict(if pass.is_empty() { "no port is up".to_owned() } else { pass.join(", ") }))
}

fn leading(rate: &str) -> f64 {
    rate.split(' ').next().and_then(|number| number.parse().ok()).unwrap_or(0.0)
}

fn mtu(subject: &Subject<'_>) -> Checked {
    let devices = subject.devices()?;
    let rdma = subject.rdma().map_err(|gap| Verdict::gap(&gap, None))?;
    // For InfiniBand the network device is IPoIB, and its MTU has nothing to do with verbs.
    let ethernet = devices.iter().filter(|d| d.ports.iter().any(|port| port.link_layer == "Ethernet"));
    let with_mtu: Vec<(&Device, &str, Option<u32>)> = ethernet
        .filter_map(|device| {
            let name = device.netdev()?;
            Some((*device, name, rdma.netdevs.get(name).and_then(|netdev| netdev.mtu)))
        })
        .collect();
    if with_mtu.is_empty() {
        return Err(Verdict::Skip("no Ethernet device behind RDMA".to_owned()));
    }
    let declared = subject.expect_network().mtu;
    let usual = majority(with_mtu.iter().filter_map(|(_, _, mtu)| *mtu));
    let mut findings = Findings::default();
    for (device, name, mtu) in &with_mtu {
        let from = format!("/sys/class/net/{name}/mtu");
        let from_nics = subject.nic_number(device, "mtu").and_then(|mtu| u32::try_from(mtu).ok());
        match (mtu, from_nics.or(declared), usual) {
            (None, _, _) => findings.unknown(name, "its MTU cannot be read", from),
            (Some(seen), Some(wanted), _) if *seen != wanted => {
                findings.wrong(name, format!("{seen}, expected {wanted}"), from, seen);
            }
            (Some(seen), None, Some(usual)) if *seen != usual => {
                findings.wrong(name, format!("{seen}, the others of this host have {usual}"), from, seen);
            }
            (Some(seen), None, None) => {
                findings.wrong(name, format!("{seen}, and no two of this host agree"), from, seen);
            }
            (Some(_), _, _) => {}
        }
    }
    Ok(findings.verdict(declared.or(usual).map_or_else(|| "as declared".to_owned(), |mtu| mtu.to_string())))
}
