//! RDMA devices beyond their link: user space, GIDs, firmware, subnet, selection.

use std::collections::BTreeSet;

use super::ports::port_file;
use crate::checks::shared::values::majority;
use crate::checks::shared::verdict::{Checked, Findings, Verdict};
use crate::checks::{Check, Needs, Subject};
use crate::events::CheckStatus::{Fail, Warn};
use crate::facts::rdma::{Device, Gid, Port};
use crate::inventory::NicRole;
use crate::inventory::expect::LinkLayer;

const DEVINFO: &str = "ibv_devinfo -v";

pub(in crate::checks) const CHECKS: &[Check] = &[
    Check {
        id: "rdma.verbs",
        title: "user space sees every RDMA device",
        needs: Needs::Idle,
        severity: Fail,
        expects: "`ibv_devinfo` lists each device of /sys/class/infiniband",
        why: "The kernel sees the card and programs do not: a provider library is missing, or belongs to another RDMA stack than the kernel modules.",
        hint: "install ibverbs-providers, or the user-space packages of the loaded OFED; never mix two stacks",
        source: "ibv_devinfo(1); linux-rdma/rdma-core, README.md",
        run: verbs,
    },
    Check {
        id: "rdma.active_mtu",
        title: "the path MTU is as large as the network device allows",
        needs: Needs::Idle,
        severity: Warn,
        expects: "`expect.rdma.active_mtu`; else 4096 on InfiniBand, and on Ethernet the largest that the network device allows (4096 needs an MTU of at least 4192)",
        why: "With 1024 instead of 4096 bytes each message takes four times as many packets.",
        hint: "raise the MTU of the network device and of the switch ports; on InfiniBand raise it in the subnet manager",
        source: "ibv_devinfo(1); Linux kernel: iboe_get_mtu() in include/rdma/ib_addr.h",
        run: active_mtu,
    },
    Check {
        id: "rdma.link_layer",
        title: "every port has the declared link layer",
        needs: Needs::Idle,
        severity: Fail,
        expects: "`expect.rdma.link_layer`; skipped when it is not declared",
        why: "A VPI card in the other mode cannot talk to the switch that it is connected to.",
        hint: "`mlxconfig -d BDF set LINK_TYPE_P1=1` (InfiniBand) or 2 (Ethernet), then a reboot",
        source: "Linux kernel: Documentation/ABI/stable/sysfs-class-infiniband",
        run: link_layer,
    },
    Check {
        id: "rdma.gid",
        title: "every RoCE port has a RoCE v2 GID that other hosts reach",
        needs: Needs::Idle,
        severity: Fail,
        expects: "a GID with an IPv4 or a routable IPv6 address for each port that is up; iWARP devices have none and are left out. NCCL_IB_GID_INDEX in /etc/nccl.conf or /etc/environment names such a one",
        why: "Without an address the port has only link-local GIDs: NCCL fails, or picks one that no other host can reach.",
        hint: "give the network device its address; when it has one, `ip link set IF down; ip link set IF up`. NCCL_IB_GID_INDEX: leave it out with NCCL 2.21 and later, or take the index that `show_gids` has for a RoCE v2 address",
        source: "Linux kernel: Documentation/ABI/stable/sysfs-class-infiniband",
        run: gid,
    },
    Check {
        id: "rdma.gid_index",
        title: "the RoCE v2 GID is at the same index on all ports",
        needs: Needs::Idle,
        severity: Warn,
        expects: "one index for all mlx5 devices; eRDMA devices have different ones by design and are left out",
        why: "NCCL_IB_GID_INDEX is one number for all ports: where the index differs, jobs hang or fail in ibv_modify_qp.",
        hint: "remove the extra addresses, or leave NCCL_IB_GID_INDEX unset with NCCL 2.21 and later",
        source: "NCCL User Guide: Environment Variables (NCCL_IB_GID_INDEX)",
        run: gid_index,
    },
    Check {
        id: "rdma.firmware",
        title: "all devices of a type have one firmware version",
        needs: Needs::Idle,
        severity: Warn,
        expects: "`expect.rdma.firmware`, else the version of most devices of the same type on this host",
        why: "With different firmware, defaults and bugs differ: one rail behaves unlike the others.",
        hint: "bring the cards to one firmware with the vendor's tools; provision flashes nothing",
        source: "Linux kernel: Documentation/ABI/stable/sysfs-class-infiniband",
        run: firmware,
    },
    Check {
        id: "rdma.nccl_hca",
        title: "NCCL_IB_HCA selects the compute cards and no others",
        needs: Needs::Idle,
        severity: Fail,
        expects: "the value in /etc/environment or /etc/nccl.conf selects every compute card of `nics:` and no other card",
        why: "A prefix such as mlx5 also selects storage cards: traffic of jobs goes over the storage network, or jobs hang.",
        hint: "write an exact list: `NCCL_IB_HCA==mlx5_0,mlx5_1` in /etc/nccl.conf",
        source: "NCCL User Guide: Environment Variables (NCCL_IB_HCA)",
        run: nccl_hca,
    },
    Check {
        id: "rdma.subnet",
        title: "InfiniBand ports have a subnet manager",
        needs: Needs::Idle,
        severity: Fail,
        expects: "each InfiniBand port with a link has a local identifier (LID) and knows that of a subnet manager",
        why: "Without a subnet manager ports stay in state INIT and carry no traffic.",
        hint: "run `sminfo`; start the subnet manager of the switch or UFM, or opensm on one host",
        source: "Linux kernel: Documentation/ABI/stable/sysfs-class-infiniband; opensm(8)",
        run: subnet,
    },
    Check {
        id: "rdma.pkey",
        title: "InfiniBand ports are full members of a partition",
        needs: Needs::Idle,
        severity: Fail,
        expects: "the first partition key has the bit of full members set, as in 0xffff or 0x8001",
        why: "Limited members (0x7fff) cannot talk to each other.",
        hint: "make the port a full member in the subnet manager's partition file",
        source: "Linux kernel: Documentation/ABI/stable/sysfs-class-infiniband",
        run: pkey,
    },
    Check {
        id: "rdma.netns",
        title: "network namespaces share RDMA devices, unless exclusive use is configured",
        needs: Needs::Idle,
        severity: Warn,
        expects: "`netns shared`, or `netns exclusive` where modprobe.d sets `netns_mode=0` for ib_core",
        why: "In exclusive mode a device that was moved into a container is gone from the host.",
        hint: "`rdma system set netns shared`; if exclusive use is wanted, set the option in modprobe.d",
        source: "rdma-system(8)",
        run: netns,
    },
    Check {
        id: "rdma.erdma_mode",
        title: "the eRDMA driver runs in the mode that NCCL and MPI need",
        needs: Needs::Idle,
        severity: Fail,
        expects: "compat_mode Y on hosts with eRDMA devices; N where `expect.rdma.erdma_compat` is false",
        why: "In standard mode only programs that use rdma_cm connect; NCCL, MPI and perftest without -R do not.",
        hint: "`options erdma compat_mode=Y` in /etc/modprobe.d/erdma.conf, then reload the module",
        source: "Alibaba Cloud's elastic-rdma-drivers",
        run: erdma_mode,
    },
];

/// Ports that are up and of this link layer, with their devices.
fn active<'a>(devices: &[&'a Device], layer: &str) -> Vec<(&'a Device, &'a Port)> {
    let ports = devices.iter().flat_map(|device| device.ports.iter().map(|port| (*device, port)));
    ports.filter(|(_, port)| port.state == "ACTIVE" && port.link_layer == layer).collect()
}

fn verbs(subject: &Subject<'_>) -> Checked {
    let devices = subject.devices()?;
    let seen = subject.seen(subject.fabric().map(|fabric| &fabric.verbs), None)?;
    let mut findings = Findings::default();
    for device in &devices {
        if !seen.iter().any(|verbs| verbs.name == device.name) {
            let names: Vec<&str> = seen.iter().map(|verbs| verbs.name.as_str()).collect();
            let line = if names.is_empty() { "No IB devices found".to_owned() } else { names.join(" ") };
            findings.wrong(&device.name, "not visible to programs", DEVINFO, line);
        }
    }
    Ok(findings.verdict(format!("{} devices", devices.len())))
}

/// Returns the MTU that a RoCE port can have over a network device: 96 bytes are headers (`iboe_get_mtu()` of
/// the kernel).
fn derived(netdev_mtu: u32) -> Option<u32> {
    [4096, 2048, 1024, 512, 256].into_iter().find(|mtu| mtu + 96 <= netdev_mtu)
}

fn active_mtu(subject: &Subject<'_>) -> Checked {
    let devices = subject.devices()?;
    let seen = subject.seen(subject.fabric().map(|fabric| &fabric.verbs), Some("rdma.verbs"))?;
    let declared = subject.expect_rdma().active_mtu;
    let mut findings = Findings::default();
    let mut pass = Vec::new();
    let mut looked = false;
    for layer in ["Ethernet", "InfiniBand"] {
        for (device, port) in active(&devices, layer) {
            let netdev = || subject.mtu(device.netdev()?);
            let wanted = match (declared, layer) {
                (Some(mtu), _) => Some(mtu),
                // Its driver decides.
                (None, _) if device.name.starts_with("erdma") => None,
                (None, "Ethernet") => netdev().and_then(derived),
                (None, _) => Some(4096),
            };
            let Some(wanted) = wanted else { continue };
            looked = true;
            let found = seen.iter().find(|verbs| verbs.name == device.name);
            match found.and_then(|verbs| verbs.active_mtu.get(&port.number)) {
                Some(mtu) if *mtu < wanted || declared.is_some_and(|declared| declared != *mtu) => {
                    let line = format!("active_mtu: {mtu}");
                    findings.wrong(&device.name, format!("{mtu}, expected {wanted}"), DEVINFO, line);
                }
                Some(mtu) => pass.push(*mtu),
                // That it is not seen at all is another check's finding.
                None if found.is_none() => {}
                None => findings.unknown(&device.name, "ibv_devinfo does not show its active_mtu", DEVINFO),
            }
        }
    }
    if !looked {
        return Err(Verdict::Skip("no port with a known path MTU".to_owned()));
    }
    if findings.is_well() && pass.is_empty() && seen.is_empty() {
        return Err(Verdict::Skip("programs see no device: see rdma.verbs".to_owned()));
    }
    pass.sort_unstable();
    pass.dedup();
    let pass: Vec<String> = pass.iter().map(u32::to_string).collect();
    Ok(findings.verdict(pass.join(", ")))
}

fn link_layer(subject: &Subject<'_>) -> Checked {
    let devices = subject.devices()?;
    let Some(wanted) = subject.expect_rdma().link_layer.map(LinkLayer::as_str) else {
        return Err(Verdict::Skip("expect.rdma.link_layer is not declared".to_owned()));
    };
    let mut findings = Findings::default();
    for device in &devices {
        for port in &device.ports {
            let from = port_file(device, port, "link_layer");
            if port.link_layer.is_empty() {
                findings.unknown(&device.name, "its link layer cannot be read", from);
            } else if port.link_layer != wanted {
                let how = format!("{}, expected {wanted}", port.link_layer);
                findings.wrong(&device.name, how, from, &port.link_layer);
            }
        }
    }
    Ok(findings.verdict(wanted))
}

/// The first RoCE v2 GID with an IPv4 address, else with an IPv6 one that other hosts may reach.
pub(in crate::checks) fn roce_v2(port: &Port) -> Option<&Gid> {
    let usable = port.gids.iter().filter(|gid| gid.kind == "RoCE v2" && gid.leads_out());
    usable.min_by_key(|gid| (gid.ipv4().is_none(), gid.index))
}

/// Whether user space says that the device speaks iWARP.
fn is_iwarp(subject: &Subject<'_>, device: &Device) -> bool {
    let verbs = subject.fabric().ok().and_then(|fabric| fabric.verbs.as_ref().ok());
    let told = verbs.into_iter().flatten().find(|verbs| verbs.name == device.name);
    device.is_iwarp() || told.is_some_and(|verbs| verbs.transport == "iWARP")
}

fn gid(subject: &Subject<'_>) -> Checked {
    let devices = subject.devices()?;
    let mut ports = active(&devices, "Ethernet");
    if ports.is_empty() {
        return Err(Verdict::Skip("no Ethernet port is up".to_owned()));
    }
    ports.retain(|(device, _)| !is_iwarp(subject, device));
    if ports.is_empty() {
        return Err(Verdict::Skip("iWARP devices have no RoCE GIDs".to_owned()));
    }
    let mut findings = Findings::default();
    for (device, port) in &ports {
        // One number for all ports that NCCL uses; those of other cards may have other tables.
        let chosen = subject
            .nccl_setting("NCCL_IB_GID_INDEX")
            .and_then(|(file, value)| Some((file, value.parse::<u32>().ok()?)));
        let used = subject.nccl_setting("NCCL_IB_HCA").is_none_or(|(_, value)| selects(value, &device.name));
        if let Some((file, index)) = chosen.filter(|_| used)
            && roce_v2(port).is_some()
        {
            let from = file.to_owned();
            let line = format!("NCCL_IB_GID_INDEX={index}");
            match port.gids.iter().find(|gid| gid.index == index) {
                None => findings.wrong(
                    &device.name,
                    format!("NCCL_IB_GID_INDEX names GID {index}, which is empty"),
                    from,
                    line,
                ),
                Some(gid) if gid.is_link_local() => {
                    let how = format!(
                        "NCCL_IB_GID_INDEX names GID {index}, a link-local one that no other network reaches"
                    );
                    findings.wrong(&device.name, how, from, format!("{line}: {}", gid.gid));
                }
                Some(_) => {}
            }
        }
        if roce_v2(port).is_none() {
            let line = match port.gids.first() {
                None => "no GID".to_owned(),
                Some(gid) => format!("{} {} {}", gid.index, gid.gid, gid.kind),
            };
            findings.wrong(
                &device.name,
                "no RoCE v2 GID that other hosts reach",
                port_file(device, port, "gids"),
                line,
            );
        }
    }
    Ok(findings.verdict(format!("{} ports", ports.len())))
}

fn gid_index(subject: &Subject<'_>) -> Checked {
    let devices = subject.devices()?;
    let found: Vec<(&Device, &Port, u32)> = active(&devices, "Ethernet")
        .into_iter()
        .filter(|(device, _)| device.is_mlx5())
        .filter_map(|(device, port)| Some((device, port, roce_v2(port)?.index)))
        .collect();
    if found.len() < 2 {
        return Err(Verdict::Skip("fewer than two mlx5 ports with RoCE v2 GIDs".to_owned()));
    }
    let usual = majority(found.iter().map(|(_, _, index)| *index));
    let mut findings = Findings::default();
    for (device, port, index) in &found {
        let how = match usual {
            Some(usual) if usual == *index => continue,
            Some(usual) => format!("index {index}, the others {usual}"),
            None => format!("index {index}; no value has a majority"),
        };
        findings.wrong(&device.name, how, port_file(device, port, "gids"), format!("{index}"));
    }
    Ok(findings.verdict(format!("index {}", usual.unwrap_or_default())))
}

fn firmware(subject: &Subject<'_>) -> Checked {
    let devices = subject.devices()?;
    let hardware: Vec<&Device> = devices.iter().copied().filter(|device| !device.pci.is_empty()).collect();
    if hardware.is_empty() {
        return Err(Verdict::Skip("these devices have no firmware".to_owned()));
    }
    let declared = subject.expect_rdma().firmware;
    let mut findings = Findings::default();
    let mut seen: BTreeSet<&str> = BTreeSet::new();
    for device in &hardware {
        let from = format!("/sys/class/infiniband/{}/fw_ver", device.name);
        if device.firmware.is_empty() {
            findings.unknown(&device.name, "its firmware version cannot be read", from);
            continue;
        }
        let kin =
            hardware.iter().filter(|other| other.hca_type == device.hca_type && other.board == device.board);
        let usual = declared.clone().or_else(|| majority(kin.map(|other| other.firmware.clone())));
        match usual {
            Some(usual) if usual != device.firmware => {
                let how = if declared.is_some() {
                    format!("{}, expected {usual}", device.firmware)
                } else {
                    format!("{}, the others of its kind have {usual}", device.firmware)
                };
                findings.wrong(&device.name, how, from, &device.firmware);
            }
            Some(_) => drop(seen.insert(device.firmware.as_str())),
            None => {
                findings.wrong(
                    &device.name,
                    format!("{}; no value has a majority", device.firmware),
                    from,
                    &device.firmware,
                );
            }
        }
    }
    let versions: Vec<&str> = seen.into_iter().collect();
    Ok(findings.verdict(versions.join(", ")))
}

/// Whether a value of `NCCL_IB_HCA` selects a device: prefixes, `=` exact names, `^` what is left out.
fn selects(value: &str, device: &str) -> bool {
    let (out, list) = value.strip_prefix('^').map_or((false, value), |rest| (true, rest));
    let (exact, list) = list.strip_prefix('=').map_or((false, list), |rest| (true, rest));
    let names = list.split(',').map(|entry| entry.split(':').next().unwrap_or("").trim());
    let mut names = names.filter(|name| !name.is_empty()).peekable();
    // An empty list is none at all.
    let hit = names.peek().is_none()
        || names.any(|name| if exact { name == device } else { device.starts_with(name) });
    hit != out
}

fn nccl_hca(subject: &Subject<'_>) -> Checked {
    let devices = subject.devices()?;
    let settings = subject.seen(subject.fabric().map(|fabric| &fabric.settings), None)?;
    // The environment is stronger than the file.
    let set = settings.nccl.iter().rfind(|(_, name, _)| name == "NCCL_IB_HCA");
    let Some((file, _, value)) = set else {
        return Err(Verdict::Skip("NCCL_IB_HCA is not set in /etc/nccl.conf or /etc/environment".to_owned()));
    };
    let line = format!("NCCL_IB_HCA={value}");
    // Where `nics:` names cards of jobs, the others are not theirs.
    let listed = subject.compute_nics().next().is_some();
    let mut findings = Findings::default();
    let mut selected = 0;
    for device in &devices {
        let role = subject.nic_of(device).map(|nic| nic.role);
        let chosen = selects(value, &device.name);
        selected += usize::from(chosen);
        match role {
            Some(Some(role @ (NicRole::Storage | NicRole::Management))) if chosen => {
                findings.wrong(
                    &device.name,
                    format!("selected, although it is for {role}"),
                    file.clone(),
                    &line,
                );
            }
            Some(None | Some(NicRole::Compute)) if !chosen => {
                findings.wrong(&device.name, "a compute card that is not selected", file.clone(), &line);
            }
            None if chosen && listed => {
                let how = "selected, although `nics:` does not name it";
                findings.wrong(&device.name, how, file.clone(), &line);
            }
            _ => {}
        }
    }
    if selected == 0 {
        findings.wrong("NCCL", "it selects no device of this host", file.clone(), &line);
    }
    Ok(findings.verdict(format!("{selected} of {} devices", devices.len())))
}

fn subnet(subject: &Subject<'_>) -> Checked {
    let devices = subject.devices()?;
    let mut findings = Findings::default();
    let mut count = 0;
    for device in &devices {
        let linked = |port: &&Port| port.link_layer == "InfiniBand" && port.physical == "LinkUp";
        for port in device.ports.iter().filter(linked) {
            count += 1;
            match port.sm_lid {
                Some(0) => {
                    findings.wrong(
                        &device.name,
                        "no subnet manager",
                        port_file(device, port, "sm_lid"),
                        "0x0",
                    );
                }
                Some(_) => {}
                None => findings.unknown(
                    &device.name,
                    "its subnet manager cannot be read",
                    port_file(device, port, "sm_lid"),
                ),
            }
            match port.lid {
                Some(lid @ (0 | 0xffff)) => {
                    let how = format!("local identifier {lid}");
                    findings.wrong(&device.name, how, port_file(device, port, "lid"), lid);
                }
                Some(_) => {}
                None => findings.unknown(
                    &device.name,
                    "its local identifier cannot be read",
                    port_file(device, port, "lid"),
                ),
            }
        }
    }
    if count == 0 {
        return Err(Verdict::Skip("no InfiniBand port has a link".to_owned()));
    }
    Ok(findings.verdict(format!("{count} ports")))
}

fn pkey(subject: &Subject<'_>) -> Checked {
    let devices = subject.devices()?;
    let ports = active(&devices, "InfiniBand");
    if ports.is_empty() {
        return Err(Verdict::Skip("no InfiniBand port is up".to_owned()));
    }
    let mut findings = Findings::default();
    for (device, port) in &ports {
        let from = port_file(device, port, "pkeys/0");
        match port.pkey {
            Some(key) if key & 0x8000 == 0 => {
                let how = if key == 0 {
                    "in no partition".to_owned()
                } else {
                    format!("limited member {key:#06x}")
                };
                findings.wrong(&device.name, how, from, format!("{key:#06x}"));
            }
            Some(_) => {}
            None => findings.unknown(&device.name, "its partition key cannot be read", from),
        }
    }
    Ok(findings.verdict(format!("{} ports", ports.len())))
}

fn netns(subject: &Subject<'_>) -> Checked {
    const FROM: &str = "rdma system show";
    subject.devices()?;
    let fabric = subject.fabric().map_err(|gap| Verdict::gap(&gap, None))?;
    let mode = subject.seen(Ok(&fabric.netns), None)?;
    let settings = subject.seen(Ok(&fabric.settings), None)?;
    let on_purpose = settings.ib_core.iter().any(|options| options.contains("netns_mode=0"));
    match (mode.as_str(), on_purpose) {
        ("exclusive", false) => {
            Ok(Verdict::finding("exclusive, but no option of ib_core sets it", FROM, format!("netns {mode}")))
        }
        (_, true) if mode == "shared" => Ok(Verdict::finding(
            "shared, although modprobe.d sets netns_mode=0, which takes effect at the next boot",
            FROM,
            format!("netns {mode}"),
        )),
        _ => Ok(Verdict::Pass(mode.clone())),
    }
}

fn erdma_mode(subject: &Subject<'_>) -> Checked {
    const FROM: &str = "/sys/module/erdma/parameters/compat_mode";
    let devices = subject.devices()?;
    if !devices.iter().any(|device| device.name.starts_with("erdma")) {
        return Err(Verdict::Skip("no eRDMA device".to_owned()));
    }
    let settings = subject.seen(subject.fabric().map(|fabric| &fabric.settings), None)?;
    let wanted = subject.expect_rdma().erdma_compat.unwrap_or(true);
    match settings.erdma_compat.as_deref().map(|value| (value, matches!(value, "Y" | "1"))) {
        Some((_, true)) if wanted => Ok(Verdict::Pass("compat mode".to_owned())),
        Some((_, false)) if !wanted => Ok(Verdict::Pass("standard mode".to_owned())),
        Some((value, true)) => Ok(Verdict::finding("compat mode, expected standard mode", FROM, value)),
        Some((value, false)) => Ok(Verdict::finding("standard mode", FROM, value)),
        None => Ok(Verdict::unknown("the driver does not show its mode", FROM, "no such file")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn selections() {
        for (value, device, chosen) in [
            ("mlx5", "mlx5_12", true),
            ("mlx5_1", "mlx5_12", true),
            ("=mlx5_1", "mlx5_12", false),
            ("=mlx5_1:1,mlx5_12:1", "mlx5_12", true),
            ("^mlx5_1", "mlx5_12", false),
            ("^=mlx5_1", "mlx5_12", true),
            ("", "mlx5_0", true),
            ("^", "mlx5_0", false),
        ] {
            assert_eq!(selects(value, device), chosen, "{value} {device}");
        }
        assert_eq!(
            [9000, 4192, 4191, 1500, 100].map(derived),
            [Some(4096), Some(4096), Some(2048), Some(1024), None]
        );
    }
}
