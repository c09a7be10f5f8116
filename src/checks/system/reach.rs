//! The way of others to the host: its firewall and its name.

use std::collections::BTreeSet;
use std::net::Ipv4Addr;

use crate::checks::shared::verdict::{Checked, Findings, Verdict};
use crate::checks::{Check, Needs, Subject, network};
use crate::events::CheckStatus::{Fail, Warn};
use crate::facts::base::hostname::Hostname;
use crate::facts::firewall::Backend;
use crate::facts::rdma::Gid;

pub(in crate::checks) const CHECKS: &[Check] = &[
    Check {
        id: "system.firewall",
        title: "no firewall stands between the hosts",
        needs: Needs::Idle,
        severity: Warn,
        expects: "no policy or last rule that drops or rejects incoming packets, on hosts with GPUs or RDMA devices; or the networks of its RDMA devices are let in as a whole, now and after a boot",
        why: "NCCL and MPI listen on ports that are not known beforehand: behind a firewall jobs hang for a minute and fail.",
        hint: "let the cluster's subnets in: `ufw allow from SUBNET` or `firewall-cmd --zone=trusted --add-source=SUBNET`",
        source: "nft(8); iptables(8); ufw(8); firewalld(1)",
        run: firewall,
    },
    Check {
        id: "system.own_name",
        title: "the host's own name does not resolve to a loopback address",
        needs: Needs::Idle,
        severity: Fail,
        expects: "`getent hosts NAME` gives no address of 127.0.0.0/8 or ::1; a warning on hosts that have neither GPUs nor RDMA devices",
        why: "MPI, NCCL, PyTorch and Slurm tell other hosts the address of this name: with 127.0.1.1 the others connect to themselves.",
        hint: "put the host's real address before its name in /etc/hosts, and take the name off the lines with 127.0.0.1 and 127.0.1.1",
        source: "getent(1); hosts(5)",
        run: own_name,
    },
];

fn firewall(subject: &Subject<'_>) -> Checked {
    subject.is_of_cluster()?;
    let firewall = subject.firewall()?;
    let mut findings = Findings::default();
    // A `firewall` task lets the cluster's networks in as a whole: those of its RDMA devices, where they have addresses.
    let addresses = network::addresses(subject).unwrap_or_default();
    let own: Vec<Ipv4Addr> = addresses.iter().map(|(_, address, _)| *address).collect();
    let devices = subject.devices().unwrap_or_default();
    let gids = devices.iter().flat_map(|device| &device.ports).flat_map(|port| &port.gids);
    let of_jobs: Vec<Ipv4Addr> = gids.filter_map(Gid::ipv4).collect();
    // Of nftables and iptables it is not known whether what an operator wrote stays over a boot.
    let stays = |network: &&String| {
        matches!(firewall.backend, Backend::Nftables | Backend::Iptables)
            || firewall.at_boot.contains(network.as_str())
    };
    let is_own = |network: &&String| own.iter().chain(&of_jobs).any(|address| is_inside(*address, network));
    let (stay, go): (Vec<&String>, Vec<&String>) = firewall.now.iter().filter(is_own).partition(stays);
    // Bridges of containers are trusted for the containers.
    let trusted: Vec<&(String, Ipv4Addr, u32)> = addresses
        .iter()
        .filter(|(link, ..)| network::leads_out(subject, link) && firewall.trusts(link))
        .collect();
    let let_in = |address: &Ipv4Addr| {
        stay.iter().any(|network| is_inside(*address, network))
            || trusted.iter().any(|(_, own, _)| own == address)
    };
    if stay.len() + trusted.len() > 0 && go.is_empty() && of_jobs.iter().all(let_in) {
        let links: BTreeSet<&str> = trusted.iter().map(|(link, ..)| link.as_str()).collect();
        let what: Vec<&str> = stay.into_iter().map(String::as_str).chain(links).collect();
        return Ok(Verdict::Pass(format!("{} lets in {}", firewall.backend, what.join(", "))));
    }
    for network in go {
        findings.wrong(network, "let in until the next boot only", "firewall", firewall.backend);
    }
    if firewall.backend == Backend::Ufw {
        findings.wrong("ufw", "on: it drops what no rule allows", "/etc/ufw/ufw.conf", "ENABLED=yes");
    }
    if firewall.backend == Backend::Firewalld {
        let zone = firewall.zones.get("").map_or("not known", String::as_str);
        let how = "on: it rejects what the zones of the links do not allow";
        findings.wrong("firewalld", how, "firewall-cmd --get-default-zone", zone);
    }
    for (tool, answer) in &firewall.tools {
        match answer {
            // The rules of firewalld.
            Ok(_) if firewall.backend == Backend::Firewalld => {}
            Ok(policy) if policy.drops => {
                let how = "drops what its rules do not allow";
                findings.wrong(tool, how, tool.clone(), &policy.line);
            }
            Ok(_) => {}
            // Only root may ask, and a kernel without it says so.
            Err(gap) => findings.unknown(tool, gap.reason.clone(), gap.command.clone()),
        }
    }
    if firewall.tools.is_empty() && !matches!(firewall.backend, Backend::Ufw | Backend::Firewalld) {
        return Err(Verdict::Skip("neither nft nor iptables is installed".to_owned()));
    }
    let verdict = findings.verdict("nothing is dropped");
    if subject.is_container() && matches!(verdict, Verdict::Unknown { .. }) {
        return Err(Verdict::Skip("in a container the firewall rules cannot be read".to_owned()));
    }
    Ok(verdict)
}

/// Whether an address is in a network that a firewall names.
fn is_inside(address: Ipv4Addr, network: &str) -> bool {
    let Some((start, prefix)) = network.split_once('/') else { return false };
    match (start.parse::<Ipv4Addr>(), prefix.parse::<u32>()) {
        (Ok(start), Ok(prefix @ 1..=32)) => {
            start.to_bits() >> (32 - prefix) == address.to_bits() >> (32 - prefix)
        }
        _ => false,
    }
}

fn own_name(subject: &Subject<'_>) -> Checked {
    let name = subject.fact("facts.hostname", |name: &Hostname| &name.0)?.to_owned();
    let addresses = subject.seen(Ok(&subject.system()?.own_name), None)?;
    let from = format!("getent hosts {name}");
    if addresses.is_empty() {
        return Ok(Verdict::finding(format!("{name} has no address"), &from, "no answer").counted_as(Warn));
    }
    let loopback = addresses
        .iter()
        .find(|address| address.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback()));
    match loopback {
        Some(address) => {
            let found = Verdict::finding(format!("{name} resolves to {address}"), &from, address);
            // On others only programs that call back meet it, as srun on a login host.
            Ok(if subject.is_of_cluster().is_ok() { found } else { found.counted_as(Warn) })
        }
        None => Ok(Verdict::Pass(addresses.join(", "))),
    }
}
