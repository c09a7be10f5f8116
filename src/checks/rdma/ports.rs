//! RDMA devices and their ports.

use crate::checks::shared::values::majority;
use crate::checks::shared::verdict::{Checked, Findings, Verdict, evidence};
use crate::checks::{Check, Needs, Subject};
use crate::events::CheckStatus::Fail;
use crate::facts::base::network::Network;
use crate::facts::rdma::{Device, Port};
use crate::hostlist;
use crate::words::count;

pub(in crate::checks) const CHECKS: &[Check] = &[
    Check {
        id: "rdma.devices",
        title: "every expected RDMA device is there",
        needs: Needs::Idle,
        severity: Fail,
        expects: "`expect.rdma.count`, `expect.rdma.devices` and the compute cards of `nics:`; without them only hosts are compared with each other (fleet.hcas)",
        why: "Without a card its rail is gone: collectives run over fewer rails, or hang on this host.",
        hint: "`lspci | grep -iE 'mellanox|infiniband|ethernet'`; if the card is on the bus, load its driver; if not, reseat it",
        source: "Linux kernel: Documentation/ABI/stable/sysfs-class-infiniband",
        run: devices,
    },
    Check {
        id: "rdma.port_active",
        title: "every port is up",
        needs: Needs::Idle,
        severity: Fail,
        expects: "ACTIVE; `expect.rdma.state` when it is declared. An Ethernet port may be down where the inventory does not name it, it has no address and is in no bond, and it is up on no other host of the group. `expect.rdma.ignore` leaves devices out",
        why: "Without the port its rail is gone. A port in state INIT waits for a subnet manager.",
        hint: "DOWN and Polling: look at the cable and the switch port; DOWN and Disabled: `ip link set IF up`; INIT: start a subnet manager",
        source: "Linux kernel: Documentation/ABI/stable/sysfs-class-infiniband",
        run: port_active,
    },
    Check {
        id: "rdma.rate",
        title: "every port runs at its full rate",
        needs: Needs::Idle,
        severity: Fail,
        expects: "`rate_gbps` of `nics:`, `expect.rdma.rate_gbps`, else the rate of most ports of the same type on this host",
        why: "A link that came up with half its lanes halves the bandwidth of every collective.",
        hint: "reseat or replace the cable, then check the switch port's speed and `mlxlink -d DEV -m`",
        source: "Linux kernel: Documentation/ABI/stable/sysfs-class-infiniband",
        run: rate,
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
            findings.wrong(&nic.matching.to_string(), "no RDMA device", from, &list);
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
    let (mut up, mut spare) = (0, Vec::new());
    for device in &devices {
        for port in &device.ports {
            if port.state != wanted && is_spare(subject, device, port) {
                spare.push(device.name.as_str());
            } else if port.state.is_empty() {
                findings.unknown(&device.name, "its state cannot be read", port_file(device, port, "state"));
            } else if port.state != wanted {
                let how = format!("{} ({}), expected {wanted}", port.state, port.physical);
                findings.wrong(&device.name, how, port_file(device, port, "state"), &port.state);
            } else {
                up += 1;
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
    let without = match spare.as_slice() {
        [] => String::new(),
        names => format!("; nothing needs {} ({})", hostlist::fold(names.iter().copied()), "down, Ethernet"),
    };
    if up == 0 && findings.is_well() && !spare.is_empty() {
        let names = hostlist::fold(spare.iter().copied());
        findings.wrong(
            &names,
            format!("DOWN, expected {wanted} of one port at least"),
            "/sys/class/infiniband",
            "no port is up",
        );
    }
    Ok(findings.verdict(format!("{} {wanted}{without}", count(up, "port"))))
}

/// Whether an Ethernet port that is down may be one without a cable: the second of a card, one for storage or
/// management. A port that the inventory names is needed, one of InfiniBand has a cable, and so has one whose link the
/// system was told to bring up with an address, or that is alike the ports that are up while most hosts of the group
/// have it up.
fn is_spare(subject: &Subject<'_>, device: &Device, port: &Port) -> bool {
    let expect = subject.expect_rdma();
    let named = subject.nic_of(device).is_some()
        || expect.devices.iter().flatten().any(|name| *name == device.name)
        || expect.state.is_some()
        || expect.count.is_some() && subject.compute_nics().next().is_none();
    let is_down = port.link_layer == "Ethernet" && port.state == "DOWN";
    // A bond or an address says that somebody counts on it.
    let link = device.netdev().and_then(|name| subject.base::<Network>()?.link(name));
    let counted_on = link.is_some_and(|link| !link.addresses.is_empty() || !link.bond.is_empty());
    is_down && !named && !counted_on && !subject.is_up_elsewhere(&device.name, port.number)
}

fn rate(subject: &Subject<'_>) -> Checked {
    let devices = subject.devices()?;
    let declared = subject.expect_rdma().rate_gbps.map(u64::from);
    let mut findings = Findings::default();
    let mut pass = Vec::new();
    // The rate of a port that is down says nothing; rdma.port_active has it.
    let up = || devices.iter().flat_map(|device| device.ports.iter().map(move |port| (device, port)));
    for (device, port) in up().filter(|(_, port)| port.state == "ACTIVE") {
        // Storage and management cards may be of the same chip and have another speed.
        let kin = |other: &Device, of: &Port| {
            other.hca_type == device.hca_type
                && other.board == device.board
                && of.link_layer == port.link_layer
        };
        let same = up().filter(|(other, of)| kin(other, of) && of.state == "ACTIVE");
        let usual = || majority(same.map(|(_, port)| port.rate.clone()));
        let wanted = subject.nic_of(device).and_then(|nic| nic.rate_gbps).map(u64::from).or(declared);
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
