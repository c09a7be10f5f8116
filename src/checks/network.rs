//! Network devices behind RDMA devices: MTU, traffic classes, addresses, declared cards.

use std::collections::{BTreeMap, BTreeSet};
use std::net::Ipv4Addr;

use super::shared::baseline::{Growths, growth};
use super::shared::values::majority;
use super::shared::verdict::{Checked, Findings, Verdict};
use super::{Check, Needs, Subject};
use crate::events::CheckStatus::{Fail, Warn};
use crate::facts::base::network::{Link, Network};
use crate::facts::fabric::Qos;
use crate::facts::rdma::Device;
use crate::facts::{Gap, GapKind};
use crate::words::count;

pub(in crate::checks) const CHECKS: &[Check] = &[
    Check {
        id: "network.mtu",
        title: "the network devices behind RDMA devices have the declared MTU",
        needs: Needs::Idle,
        severity: Fail,
        expects: "`mtu` of `nics:`, `expect.network.mtu`, else the MTU of most of these devices on this host",
        why: "With different MTUs small messages pass and large ones fail with status 12, or everything is slow and nothing reports it.",
        hint: "`ip link set dev IF mtu N`, and set it where the network manager keeps it; switch ports need 9216",
        source: "ip-link(8); Linux kernel: Documentation/ABI/testing/sysfs-class-net",
        run: mtu,
    },
    Check {
        id: "network.pfc",
        title: "priority flow control is as declared",
        needs: Needs::Idle,
        severity: Fail,
        expects: "`expect.network.pfc`; else the setting of most of these devices on this host",
        why: "Without flow control on its priority, RoCE loses packets under load, and each loss costs milliseconds.",
        hint: "`mlnx_qos -i IF --pfc 0,0,0,1,0,0,0,0` or `dcb pfc set`, and a unit that sets it at each boot; the switch must match",
        source: "Mellanox/mlnx-tools, mlnx_qos; dcb-pfc(8)",
        run: pfc,
    },
    Check {
        id: "network.trust",
        title: "cards trust the declared field, DSCP or PCP",
        needs: Needs::Idle,
        severity: Fail,
        expects: "`expect.network.trust`; else the setting of most of these devices on this host",
        why: "A card that trusts the wrong field puts RoCE traffic into a priority without flow control.",
        hint: "`mlnx_qos -i IF --trust dscp`, and a unit that sets it at each boot",
        source: "Mellanox/mlnx-tools, mlnx_qos; dcb-app(8)",
        run: trust,
    },
    Check {
        id: "network.ecn",
        title: "congestion notification is on where declared",
        needs: Needs::Idle,
        severity: Fail,
        expects: "`expect.network.ecn`; skipped when it is not declared",
        why: "Without it congestion leads to pauses that spread over the fabric.",
        hint: "`echo 1 > /sys/class/net/IF/ecn/roce_np/enable/PRIORITY`, and the same for roce_rp, at each boot",
        source: "MLNX_OFED documentation: Explicit Congestion Notification (ECN)",
        run: ecn,
    },
    Check {
        id: "network.nics",
        title: "every card of `nics:` is there and has a link",
        needs: Needs::Idle,
        severity: Fail,
        expects: "a network device for each entry of `nics:`, and none is down",
        why: "A storage or management card that is gone is noticed when the first job writes its checkpoint.",
        hint: "look at `ip -br link`: if the link is down, look at the cable and the switch port; if it is missing, at its driver and the card",
        source: "Linux kernel: Documentation/ABI/testing/sysfs-class-net",
        run: nics,
    },
    Check {
        id: "network.bond",
        title: "every member of a bond has its link",
        needs: Needs::Idle,
        severity: Fail,
        expects: "the bond finds each of its members up; skipped without bonds",
        why: "A bond that lost a cable carries on with half of its speed, and no command fails.",
        hint: "look at `cat /proc/net/bonding/BOND`, then at the cable and the switch port of the member that is down",
        source: "Linux kernel: Documentation/networking/bonding.rst",
        run: bond,
    },
    Check {
        id: "network.subnets",
        title: "RDMA devices are in different subnets, or ARP is set up for one subnet",
        needs: Needs::Idle,
        severity: Warn,
        expects: "one subnet for each device; else arp_ignore 1 or 2 and arp_announce 2",
        why: "Several devices in one subnet answer for each other's addresses, and traffic takes the wrong rail.",
        hint: "one subnet per rail, or the playbook `rails`, which sets `net.ipv4.conf.all.arp_ignore=1`, `arp_announce=2` and a table of routes for each rail",
        source: "Linux kernel: Documentation/networking/ip-sysctl.rst",
        run: subnets,
    },
    Check {
        id: "network.address_twice",
        title: "no address is on two links of the host",
        needs: Needs::Idle,
        severity: Warn,
        expects: "each IPv4 address once",
        why: "MPI and NCCL pick links by address; an address that two links have may lead to the wrong one.",
        hint: "remove the address from one of the links; `ip -br addr` shows them",
        source: "ip-address(8); NCCL User Guide: Environment Variables (NCCL_SOCKET_IFNAME)",
        run: twice,
    },
    Check {
        id: "network.errors",
        title: "network devices behind RDMA counted no errors since the last verify",
        needs: Needs::Delta,
        severity: Warn,
        expects: "rx_errors and tx_errors have not grown",
        why: "Errors of the Ethernet link slow down RDMA and TCP.",
        hint: "`ethtool -S IF` says which kind; clean or replace the cable",
        source: "Linux kernel: Documentation/ABI/testing/sysfs-class-net-statistics",
        run: netdev_errors,
    },
];

fn mtu(subject: &Subject<'_>) -> Checked {
    let devices = subject.devices()?;
    // For InfiniBand the network device is IPoIB, and its MTU has nothing to do with verbs.
    let ethernet = devices.iter().filter(|d| d.ports.iter().any(|port| port.link_layer == "Ethernet"));
    let with_mtu: Vec<(&Device, &str, Option<u32>)> = ethernet
        .filter_map(|device| {
            let name = device.netdev()?;
            Some((*device, name, subject.mtu(name)))
        })
        .collect();
    if with_mtu.is_empty() {
        return Err(Verdict::Skip("no Ethernet device behind RDMA".to_owned()));
    }
    let declared = subject.expect_network().mtu;
    let usual = majority(with_mtu.iter().filter_map(|(_, _, mtu)| *mtu));
    let mut findings = Findings::default();
    let mut as_declared = BTreeSet::new();
    for (device, name, mtu) in &with_mtu {
        let from = format!("/sys/class/net/{name}/mtu");
        let from_nics = subject.nic_of(device).and_then(|nic| nic.mtu);
        let wanted = from_nics.or(declared).or_else(|| subject.promised_of("network.mtu", name));
        if wanted.is_some() {
            as_declared.insert(wanted);
        }
        match (mtu, wanted, usual) {
            (None, _, _) => findings.unknown(name, "its MTU cannot be read", from),
            (Some(seen), Some(wanted), _) if *seen != wanted => {
                findings.wrong(name, format!("{seen}, expected {wanted}"), from, seen);
            }
            (Some(seen), None, Some(usual)) if *seen != usual => {
                findings.wrong(name, format!("{seen}, the others of this host have {usual}"), from, seen);
            }
            (Some(seen), None, None) => {
                findings.wrong(name, format!("{seen}; no value has a majority"), from, seen);
            }
            (Some(_), _, _) => {}
        }
    }
    let told = match as_declared.first() {
        Some(one) if as_declared.len() == 1 => *one,
        _ => usual,
    };
    Ok(findings.verdict(told.map_or_else(|| "as declared".to_owned(), |mtu| mtu.to_string())))
}

/// The network device of an RDMA device, and the other links of its bond with that driver: the one device sends over all
/// of them.
fn links_of<'s>(subject: &'s Subject<'_>, device: &'s Device) -> Vec<&'s str> {
    let Some(own) = device.netdev() else { return Vec::new() };
    let all = links(subject).unwrap_or_default();
    let Some(link) = all.iter().find(|link| link.name == own) else { return vec![own] };
    let known = !link.bond.is_empty() && !link.driver.is_empty();
    let others = all.iter().filter(|other| known && other.bond == link.bond && other.driver == link.driver);
    let others = others.map(|link| link.name.as_str()).filter(|name| *name != own);
    std::iter::once(own).chain(others).collect()
}

/// Traffic classes by network device; an error says why there are none.
pub(super) fn classes(subject: &Subject<'_>) -> Result<BTreeMap<String, Result<Qos, Gap>>, Verdict> {
    let devices = subject.devices()?;
    let fabric = subject.fabric().map_err(|gap| Verdict::gap(&gap, None))?;
    let mut classes = BTreeMap::new();
    for device in devices.iter().filter(|d| d.ports.iter().any(|port| port.link_layer == "Ethernet")) {
        for net in links_of(subject, device).into_iter().filter(|_| !device.pci.is_empty()) {
            let gap = || Gap::new(GapKind::Failed, &format!("mlnx_qos -i {net}"), "it was not asked");
            classes.insert(net.to_owned(), fabric.qos.get(net).cloned().unwrap_or_else(|| Err(gap())));
        }
    }
    if classes.is_empty() {
        return Err(Verdict::Skip("no Ethernet card behind RDMA".to_owned()));
    }
    Ok(classes)
}

/// The command that told.
fn asked(net: &str) -> String {
    format!("mlnx_qos -i {net} (or dcb pfc show dev {net})")
}

/// Holds one value of all devices against what is declared of each, else against each other.
fn compare<T: Ord + Clone>(
    classes: &BTreeMap<String, Result<Qos, Gap>>,
    declared: impl Fn(&str) -> Option<T>,
    value: impl Fn(&Qos) -> Option<T>,
    show: impl Fn(&T) -> String,
) -> Checked {
    let seen: Vec<T> = classes.values().flatten().filter_map(&value).collect();
    if seen.is_empty() && classes.keys().all(|net| declared(net).is_none()) {
        return Err(Verdict::Skip("not declared, and these cards do not show it".to_owned()));
    }
    let usual = majority(seen.into_iter());
    let mut findings = Findings::default();
    for (net, class) in classes {
        match class.as_ref().map(&value) {
            Ok(Some(seen)) => {
                let how = match (declared(net), &usual) {
                    (Some(wanted), _) if seen == wanted => continue,
                    (Some(wanted), _) => format!("{}, expected {}", show(&seen), show(&wanted)),
                    (None, Some(usual)) if seen == *usual => continue,
                    (None, Some(usual)) => {
                        format!("{}, the others of this host have {}", show(&seen), show(usual))
                    }
                    (None, None) => format!("{}; no value has a majority", show(&seen)),
                };
                findings.wrong(net, how, asked(net), show(&seen));
            }
            Ok(None) => findings.unknown(net, "the tool does not show it", asked(net)),
            Err(gap) => findings.unknown(net, gap.reason.clone(), gap.command.clone()),
        }
    }
    let told = classes.keys().find_map(|net| declared(net)).or(usual);
    Ok(findings.verdict(told.as_ref().map(show).unwrap_or_default()))
}

fn priorities(list: &[u32]) -> String {
    if list.is_empty() {
        return "no priority".to_owned();
    }
    let list: Vec<String> = list.iter().map(u32::to_string).collect();
    format!("priority {}", list.join(", "))
}

fn pfc(subject: &Subject<'_>) -> Checked {
    let expect = subject.expect_network().pfc;
    let declared = |net: &str| {
        let mut list: Vec<u32> = expect.clone().or_else(|| subject.promised_of("network.pfc", net))?;
        list.sort_unstable();
        Some(list)
    };
    compare(&classes(subject)?, declared, |class| Some(class.pfc.clone()), |list| priorities(list))
}

fn trust(subject: &Subject<'_>) -> Checked {
    let expect = subject.expect_network().trust.map(|trust| trust.to_string());
    let declared = |net: &str| expect.clone().or_else(|| subject.promised_of("network.trust", net));
    compare(&classes(subject)?, declared, |class| class.trust.clone(), Clone::clone)
}

fn ecn(subject: &Subject<'_>) -> Checked {
    let devices = subject.devices()?;
    let expect = subject.expect_network().ecn;
    let declared = |net: &str| expect.clone().or_else(|| subject.promised_of("network.ecn", net));
    if expect.is_none()
        && !devices.iter().flat_map(|device| links_of(subject, device)).any(|net| declared(net).is_some())
    {
        return Err(Verdict::Skip("neither a task nor expect.network.ecn declares it".to_owned()));
    }
    let rdma = subject.rdma().map_err(|gap| Verdict::gap(&gap, None))?;
    let mut findings = Findings::default();
    let mut pass = BTreeSet::new();
    let of_ethernet = devices.iter().filter(|d| d.ports.iter().any(|port| port.link_layer == "Ethernet"));
    for net in of_ethernet.flat_map(|device| links_of(subject, device)) {
        let Some(wanted): Option<Vec<u32>> = declared(net) else { continue };
        let from = format!("/sys/class/net/{net}/ecn/roce_{{np,rp}}/enable");
        match rdma.netdevs.get(net).and_then(|netdev| netdev.ecn.as_ref()) {
            None => findings.unknown(net, "its driver does not show congestion notification", from),
            Some(on) => {
                let off: Vec<u32> =
                    wanted.iter().copied().filter(|priority| !on.contains(priority)).collect();
                if off.is_empty() {
                    pass.extend(wanted);
                } else {
                    findings.wrong(net, format!("off for {}", priorities(&off)), from, priorities(on));
                }
            }
        }
    }
    let pass: Vec<u32> = expect.unwrap_or_else(|| pass.into_iter().collect());
    Ok(findings.verdict(priorities(&pass)))
}

/// The links of the host.
///
/// # Errors
/// The verdict when they are not known.
fn links<'a>(subject: &Subject<'a>) -> Result<&'a [Link], Verdict> {
    let network = subject.base::<Network>();
    let unknown = || Verdict::unknown("the network links could not be read", "/sys/class/net", "no list");
    network.map(|network| network.links.as_slice()).ok_or_else(unknown)
}

fn nics(subject: &Subject<'_>) -> Checked {
    let nics = &subject.host.nics;
    if nics.is_empty() {
        return Err(Verdict::Skip("no `nics:` are declared".to_owned()));
    }
    let links = links(subject)?;
    let devices = subject.rdma().ok().and_then(|rdma| rdma.devices.as_ref().ok());
    let mut findings = Findings::default();
    for nic in nics {
        let name = nic.matching.to_string();
        match links.iter().find(|link| link.is(&nic.matching)) {
            Some(link) if link.state == "down" && !is_unused_ipoib(link) => {
                let from = format!("/sys/class/net/{}/operstate", link.name);
                findings.wrong(&name, "down", from, "down");
            }
            Some(_) => {}
            // InfiniBand without IPoIB has no network device.
            None if devices
                .is_some_and(|all| all.iter().any(|device| subject.nic_of(device) == Some(nic))) => {}
            None => findings.wrong(&name, "no such network device", "/sys/class/net", "not in the list"),
        }
    }
    Ok(findings.verdict(format!("{} cards", nics.len())))
}

fn bond(subject: &Subject<'_>) -> Checked {
    let links = links(subject)?;
    let members = || links.iter().filter(|link| !link.bond.is_empty());
    let bonds: BTreeSet<&str> = members().map(|link| link.bond.as_str()).collect();
    if bonds.is_empty() {
        return Err(Verdict::Skip("no link belongs to a bond".to_owned()));
    }
    let mut findings = Findings::default();
    for Link { name, bond, bond_link: status, .. } in members().filter(|link| link.bond_link != "up") {
        let from = format!("/sys/class/net/{name}/bonding_slave/mii_status");
        match status.as_str() {
            "" => findings.unknown(name, format!("{bond} does not say whether it has a link"), from),
            _ => findings.wrong(name, format!("{status} in {bond}"), from, status),
        }
    }
    let seen =
        format!("{} of {}", count(members().count() as u64, "member"), count(bonds.len() as u64, "bond"));
    Ok(findings.verdict(seen))
}

/// `IPoIB` is down where nobody gave it an address, and `rdma.port_active` tells of the port.
fn is_unused_ipoib(link: &Link) -> bool {
    link.kind == "infiniband" && link.addresses.is_empty()
}

/// IPv4 addresses with their prefix by link.
///
/// # Errors
/// The verdict when the links are not known.
pub(super) fn addresses(subject: &Subject<'_>) -> Result<Vec<(String, Ipv4Addr, u32)>, Verdict> {
    let links = links(subject)?;
    let mut found = Vec::new();
    for link in links {
        for address in &link.addresses {
            let (address, prefix) = address.split_once('/').unwrap_or((address, "32"));
            if let (Ok(address), Ok(prefix)) = (address.parse(), prefix.parse()) {
                found.push((link.name.clone(), address, prefix));
            }
        }
    }
    Ok(found)
}

/// Whether a link is a card or a bond of cards: no bridge and no loopback.
pub(super) fn leads_out(subject: &Subject<'_>, name: &str) -> bool {
    let all = links(subject).unwrap_or_default();
    all.iter().any(|link| link.name == name && !link.pci.is_empty() || link.bond == name)
}

fn subnets(subject: &Subject<'_>) -> Checked {
    let devices = subject.devices()?;
    let names: Vec<&str> = devices.iter().filter_map(|device| device.netdev()).collect();
    let mut nets: BTreeMap<(u32, u32), Vec<String>> = BTreeMap::new();
    for (link, address, prefix) in addresses(subject)? {
        if names.contains(&link.as_str()) && (1..=30).contains(&prefix) {
            let net = u32::from(address) >> (32 - prefix) << (32 - prefix);
            nets.entry((net, prefix)).or_default().push(link);
        }
    }
    if nets.is_empty() {
        return Err(Verdict::Skip("the network devices behind RDMA have no addresses".to_owned()));
    }
    let settings = subject.seen(subject.fabric().map(|fabric| &fabric.settings), None)?;
    let set = |name: &str| settings.sysctl.get(name).map_or("", String::as_str);
    let told = matches!(set("arp_ignore"), "1" | "2") && set("arp_announce") == "2";
    let mut findings = Findings::default();
    for ((net, prefix), mut links) in nets {
        links.sort();
        links.dedup();
        if links.len() > 1 && !told {
            let line = format!("arp_ignore {}, arp_announce {}", set("arp_ignore"), set("arp_announce"));
            let net = format!("{}/{prefix}", Ipv4Addr::from(net));
            findings.wrong(
                &links.join(", "),
                format!("in one subnet, {net}"),
                "/proc/sys/net/ipv4/conf/all",
                line,
            );
        }
    }
    Ok(findings.verdict(if told { "arp_ignore and arp_announce are set" } else { "one subnet each" }))
}

fn twice(subject: &Subject<'_>) -> Checked {
    subject.devices()?;
    let mut links: BTreeMap<Ipv4Addr, Vec<String>> = BTreeMap::new();
    for (link, address, _) in addresses(subject)? {
        links.entry(address).or_default().push(link);
    }
    let mut findings = Findings::default();
    for (address, mut links) in links {
        links.sort();
        links.dedup();
        if links.len() > 1 {
            findings.wrong(&links.join(", "), format!("both have {address}"), "ip -o addr", address);
        }
    }
    Ok(findings.verdict("each address once"))
}

fn netdev_errors(subject: &Subject<'_>) -> Checked {
    subject.devices()?;
    let Growths { grown, at, .. } = growth(subject, "net", |counter| counter == "errors")?;
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
