//! Comparisons over hosts: outliers of a group, and values that only one host may have.

use std::collections::{BTreeMap, BTreeSet};

use sha2::Digest as _;

use super::rdma::setup::roce_v2;
use super::shared::clock;
use super::shared::compare::{Compared, How, Property, alone, same};
use super::{Check, Needs, Subject};
use crate::events::CheckStatus::{Fail, Warn};
use crate::facts::base::cpu::Cpu;
use crate::facts::base::hostname::Hostname;
use crate::facts::base::ids::Ids;
use crate::facts::base::memory::Memory;
use crate::facts::base::mounts::Mounts;
use crate::facts::base::network::Network;
use crate::facts::base::os::Os;
use crate::facts::base::users::Users;
use crate::hostlist;

macro_rules! compared {
    ($id:literal, $title:literal, $severity:ident, $expects:expr, $run:expr, $why:literal, $hint:literal, $source:literal, $how:expr, $read:expr) => {{
        const PROPERTY: Property = Property { id: $id, how: $how, read: $read };
        Compared {
            check: Check {
                id: $id,
                title: $title,
                needs: Needs::Fleet,
                severity: $severity,
                expects: $expects,
                why: $why,
                hint: $hint,
                source: $source,
                run: |subject| $run(subject, &PROPERTY),
            },
            property: PROPERTY,
        }
    }};
}

/// A value that hosts share; in braces: with whom, and the check of the host by itself.
macro_rules! outlier {
    ($id:literal, $title:literal, $severity:ident, $why:literal, $hint:literal, $source:literal, { everywhere: $everywhere:literal, after: $after:expr }, $read:expr) => {
        compared!(
            $id,
            $title,
            $severity,
            "what more than half of the hosts in the same groups have; where there is no such majority, every host is named",
            same,
            $why,
            $hint,
            $source,
            How::Alike { everywhere: $everywhere, after: $after },
            $read
        )
    };
}

/// A value that no two hosts have.
macro_rules! unique {
    ($id:literal, $title:literal, $why:literal, $hint:literal, $source:literal, $read:expr) => {
        compared!(
            $id,
            $title,
            Fail,
            "a different value on each host of this run",
            alone,
            $why,
            $hint,
            $source,
            How::Unique,
            $read
        )
    };
}

/// Every comparison.
pub(in crate::checks) const COMPARED: &[Compared] = &[
    outlier!(
        "fleet.driver",
        "all hosts of a group have the same driver version",
        Warn,
        "A job runs on several hosts: with two driver versions it meets the bugs of both, and some containers start on one host only.",
        "bring the outliers to the version of the others, then reboot them",
        "Linux kernel: Documentation/ABI/stable/sysfs-module",
        { everywhere: false, after: Some("driver.coherence") },
        |s| one(s.loaded().ok().flatten().map(|loaded| loaded.version.clone()))
    ),
    outlier!(
        "fleet.kernel",
        "all hosts of a group run the same kernel",
        Warn,
        "Drivers are built for one kernel; a host with another kernel may come up without them.",
        "upgrade and reboot the outliers",
        "uname(2)",
        { everywhere: false, after: None },
        |s| one(s.kernel().ok().map(str::to_owned))
    ),
    outlier!(
        "fleet.os",
        "all hosts of a group run the same version of the same distribution",
        Warn,
        "Programs built on one may not start on the other, which has another glibc or OpenSSL.",
        "reinstall the outliers, or give them a group of their own",
        "os-release(5)",
        { everywhere: false, after: None },
        |s| one(os(s))
    ),
    outlier!(
        "fleet.gpus",
        "all hosts of a group have the same GPUs",
        Warn,
        "A job has only the memory and the speed of its weakest host.",
        "count the GPUs of the outliers (gpu.count), or give them a group of their own",
        "Linux kernel: Documentation/PCI/sysfs-pci.rst",
        { everywhere: false, after: Some("gpu.count") },
        |s| one(gpus(s))
    ),
    outlier!(
        "fleet.vbios",
        "all hosts of a group have the same VBIOS versions",
        Warn,
        "GPUs of the same model with another VBIOS may have other clocks and limits.",
        "ask the vendor for the VBIOS; a replaced board often has another one",
        "nvidia-smi(1)",
        { everywhere: false, after: Some("gpu.vbios") },
        |s| one(of_gpus(s, |gpu| gpu.vbios.clone()))
    ),
    outlier!(
        "fleet.ecc",
        "error correction is the same on all hosts of a group",
        Warn,
        "Without error correction some GPUs have more memory: jobs that fit on one host fail on another.",
        "`nvidia-smi -e 1` on the outliers, then a reset of their GPUs",
        "nvidia-smi(1)",
        { everywhere: false, after: Some("gpu.ecc") },
        |s| one(of_gpus(s, |gpu| Some(if gpu.ecc? { "on" } else { "off" }.to_owned())))
    ),
    outlier!(
        "fleet.power_limit",
        "GPUs have the same power limit on all hosts of a group",
        Warn,
        "A collective is as slow as the GPU with the lowest limit.",
        "`nvidia-smi -pl WATTS` on the outliers, and look for what sets the limit at boot",
        "nvidia-smi(1)",
        { everywhere: false, after: Some("gpu.power_limit") },
        |s| one(of_gpus(s, |gpu| Some(format!("{} W", gpu.power_limit?.0))))
    ),
    outlier!(
        "fleet.topology",
        "GPUs and network cards are connected in the same way on all hosts of a group",
        Warn,
        "Rails follow the order of devices: on a host with another order traffic crosses from rail to rail.",
        "compare `nvidia-smi topo -m`: the firmware setup may differ, or a card is in another slot",
        "nvidia-smi(1), topo",
        { everywhere: false, after: None },
        |s| one(topology(s))
    ),
    outlier!(
        "fleet.hcas",
        "all hosts of a group have the same RDMA devices",
        Warn,
        "NCCL_IB_HCA selects devices by name: where a name is missing or means another card, its rail is missing.",
        "compare `ls /sys/class/infiniband`; the kernel names devices in the order in which it finds them",
        "Linux kernel: Documentation/ABI/stable/sysfs-class-infiniband; NCCL User Guide: Environment Variables (NCCL_IB_HCA)",
        { everywhere: false, after: Some("rdma.devices") },
        |s| one(hcas(s))
    ),
    outlier!(
        "fleet.firmware",
        "cards of the same type have the same firmware on all hosts of a group",
        Warn,
        "With different firmware defaults differ: under congestion one host behaves unlike the others.",
        "bring the cards to one firmware with the vendor's tools; provision flashes nothing",
        "Linux kernel: Documentation/ABI/stable/sysfs-class-infiniband",
        { everywhere: false, after: Some("rdma.firmware") },
        firmware
    ),
    outlier!(
        "fleet.mtu",
        "network devices behind RDMA have the same MTU on all hosts of a group",
        Fail,
        "Between hosts with different MTUs small messages pass and large ones fail with status 12.",
        "`ip link set dev IF mtu N` on the outliers, and set it where the network manager keeps it",
        "Linux kernel: Documentation/ABI/testing/sysfs-class-net",
        { everywhere: false, after: Some("network.mtu") },
        |s| one(mtu(s))
    ),
    outlier!(
        "fleet.gid_index",
        "the RoCE v2 GID is at the same index on all hosts of a group",
        Warn,
        "NCCL_IB_GID_INDEX is one number for all hosts.",
        "remove the extra addresses, or leave NCCL_IB_GID_INDEX unset with NCCL 2.21 and later",
        "NCCL User Guide: Environment Variables (NCCL_IB_GID_INDEX)",
        { everywhere: false, after: Some("rdma.gid_index") },
        |s| one(gid_index(s))
    ),
    outlier!(
        "fleet.memory",
        "all hosts of a group have the same memory",
        Warn,
        "When a memory module fails, the host boots without it and reports nothing.",
        "the management controller says which module is missing; differences up to 1 % are ignored",
        "proc(5)",
        { everywhere: false, after: None },
        |s| one(s.base().map(|memory: &Memory| memory.total_mib.to_string()))
    ),
    outlier!(
        "fleet.cpus",
        "all hosts of a group have the same processors",
        Warn,
        "A host with fewer CPUs has a socket or hyper-threads switched off.",
        "compare `lscpu` and the firmware setups",
        "lscpu(1)",
        { everywhere: false, after: None },
        |s| one(s.base().map(|cpu: &Cpu| format!("{} x {}", cpu.count, cpu.model)))
    ),
    outlier!(
        "fleet.mounts",
        "all hosts of a group have the same shared file systems",
        Warn,
        "A job that does not find its data on one of its hosts dies after it has started.",
        "`findmnt -t nfs,nfs4,lustre,beegfs` on both; mount what is missing, and put it in /etc/fstab",
        "findmnt(8)",
        { everywhere: false, after: None },
        |s| one(mounts(s))
    ),
    outlier!(
        "fleet.users",
        "users have the same numeric ids on all hosts",
        Warn,
        "Files on shared file systems belong to numeric ids: with another id they belong to somebody else.",
        "`usermod -u` and `groupmod -g` on the outliers, then `chown` the user's files there",
        "passwd(5)",
        { everywhere: true, after: None },
        users
    ),
    unique!(
        "fleet.machine_id",
        "no two hosts have the same machine-id",
        "It happens with cloned images: DHCP gives both hosts the same address, and their logs are mixed up.",
        "give all but one of them a new id, and reboot these: provision exec INVENTORY --hosts HOSTS -- sh -c 'rm -f /etc/machine-id /var/lib/dbus/machine-id && systemd-machine-id-setup'",
        "machine-id(5)",
        |s| one(s.base().and_then(|ids: &Ids| said(&ids.machine_id)))
    ),
    unique!(
        "fleet.product_uuid",
        "no two hosts are the same machine",
        "Two names in the inventory lead to one machine, which would be set up twice, or firmware data was cloned.",
        "compare the addresses of the two hosts in the inventory",
        "dmidecode(8)",
        // Containers have that of the machine around them.
        |s| if s.is_container() {
            Vec::new()
        } else {
            one(s.base().and_then(|ids: &Ids| said(&ids.product_uuid)))
        }
    ),
    unique!(
        "fleet.hostname",
        "no two hosts have the same name",
        "Slurm, MPI and the hosts file know hosts by name.",
        "give one of them another name: the `hostname` resource",
        "hostname(7)",
        |s| one(s.base().and_then(|Hostname(name)| said(name)))
    ),
    unique!(
        "fleet.address",
        "no two hosts have the same address",
        "MPI and NCCL reach the wrong host, or hang, when they pick this address.",
        "change it on one of them; for bridges of containers: exclude them with `oob_tcp_if_include` and NCCL_SOCKET_IFNAME",
        "ip-address(8); NCCL User Guide: Environment Variables (NCCL_SOCKET_IFNAME)",
        addresses
    ),
    unique!(
        "fleet.host_keys",
        "no two hosts have the same SSH host key",
        "It happens with cloned images: each of the hosts can pretend to be the other, so known_hosts proves nothing.",
        "`rm /etc/ssh/ssh_host_*; ssh-keygen -A`, reload sshd, then `provision inventory trust`",
        "ssh-keygen(1)",
        host_keys
    ),
    compared!(
        "fleet.clock",
        "the clocks of the hosts agree",
        Warn,
        "no clock is 2 s from those of most hosts, or of any where most do not agree; 60 s and more fail. A clock is known as well as asking the host took short",
        |subject, _| clock::compared(subject),
        "munge refuses credentials of another time, which Slurm tells as an authentication error; Kerberos, TLS and logs of two hosts need one time as well. A program that says that it keeps the clock may keep another time.",
        "`date` on both; `chronyc sources -v` on the host that is off, then `chronyc makestep`; where a wrong clock comes back with each boot, set the hardware clock: `hwclock --systohc`",
        "munge(7); chronyc(1); hwclock(8)",
        How::Whole,
        |_| Vec::new()
    ),
];

#[expect(clippy::indexing_slicing, reason = "evaluated when it is compiled")]
pub(in crate::checks) const CHECKS: &[Check] = &{
    let mut checks = [COMPARED[0].check; COMPARED.len()];
    let mut at = 0;
    while at < COMPARED.len() {
        checks[at] = COMPARED[at].check;
        at += 1;
    }
    checks
};

/// Without a name: there is one value.
fn one(value: Option<String>) -> Vec<(String, String)> {
    value.map(|value| vec![(String::new(), value)]).unwrap_or_default()
}

fn said(text: &str) -> Option<String> {
    (!text.is_empty()).then(|| text.to_owned())
}

fn os(subject: &Subject<'_>) -> Option<String> {
    let os: &Os = subject.base()?;
    Some(format!("{} {}", said(&os.id)?, os.release()?))
}

/// Different values of the GPUs of a host in one text.
fn of_gpus(subject: &Subject<'_>, value: fn(&crate::facts::nvidia::Gpu) -> Option<String>) -> Option<String> {
    let gpus = subject.gpus().ok()?;
    let values: BTreeSet<String> = gpus.iter().filter_map(|(_, gpu)| value(gpu)).collect();
    (!values.is_empty()).then(|| values.into_iter().collect::<Vec<_>>().join(", "))
}

fn gpus(subject: &Subject<'_>) -> Option<String> {
    let gpus = subject.pci_gpus()?;
    let mut models: BTreeMap<&str, usize> = BTreeMap::new();
    for (_, model) in &gpus {
        *models.entry(model).or_default() += 1;
    }
    let list: Vec<String> = models.iter().map(|(model, count)| format!("{count} x {model}")).collect();
    // Whether a host should have GPUs at all is not for others to say.
    (!list.is_empty()).then(|| list.join(", "))
}

/// The matrix as text; a short name would not tell what differs, and the evidence has the hosts.
fn topology(subject: &Subject<'_>) -> Option<String> {
    let topology = subject.nvidia().ok()?.topology.as_ref().ok()?;
    let mut text = String::new();
    for (row, cells) in topology {
        for (column, relation) in cells {
            text.push_str(row);
            text.push(' ');
            text.push_str(column);
            text.push(' ');
            text.push_str(relation);
            text.push('\n');
        }
    }
    let digest = crate::words::hex(&sha2::Sha256::digest(text));
    Some(format!("topology {}", digest.get(..8).unwrap_or_default()))
}

fn hcas(subject: &Subject<'_>) -> Option<String> {
    let devices = subject.devices().ok()?;
    let mut kinds: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for device in &devices {
        kinds.entry(&device.hca_type).or_default().push(&device.name);
    }
    let list: Vec<String> = kinds
        .iter()
        .map(|(kind, names)| format!("{} {kind}", hostlist::fold(names.iter().copied())).trim().to_owned())
        .collect();
    Some(list.join(", "))
}

fn firmware(subject: &Subject<'_>) -> Vec<(String, String)> {
    let mut kinds: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for device in subject.devices().unwrap_or_default() {
        if !device.firmware.is_empty() && !device.pci.is_empty() {
            let kind = format!("{} {}", device.hca_type, device.board).trim().to_owned();
            kinds.entry(kind).or_default().insert(device.firmware.clone());
        }
    }
    let join = |versions: BTreeSet<String>| versions.into_iter().collect::<Vec<_>>().join(", ");
    kinds.into_iter().map(|(kind, versions)| (kind, join(versions))).collect()
}

fn mtu(subject: &Subject<'_>) -> Option<String> {
    let devices = subject.devices().ok()?;
    let ethernet = devices.iter().filter(|d| d.ports.iter().any(|port| port.link_layer == "Ethernet"));
    let mtus: BTreeSet<u32> = ethernet.filter_map(|device| subject.mtu(device.netdev()?)).collect();
    let list: Vec<String> = mtus.iter().map(u32::to_string).collect();
    (!list.is_empty()).then(|| list.join(", "))
}

fn gid_index(subject: &Subject<'_>) -> Option<String> {
    let devices = subject.devices().ok()?;
    let ports = devices.iter().filter(|device| device.is_mlx5()).flat_map(|device| &device.ports);
    let indices: BTreeSet<u32> = ports.filter_map(|port| Some(roce_v2(port)?.index)).collect();
    let list: Vec<String> = indices.iter().map(u32::to_string).collect();
    (!list.is_empty()).then(|| list.join(", "))
}

fn mounts(subject: &Subject<'_>) -> Option<String> {
    let Mounts(all) = subject.base()?;
    let shared: BTreeSet<String> = all
        .iter()
        .filter(|mount| !mount.local)
        .map(|mount| format!("{} on {}", mount.source, mount.path))
        .collect();
    Some(if shared.is_empty() {
        "none".to_owned()
    } else {
        shared.into_iter().collect::<Vec<_>>().join(", ")
    })
}

/// Users of people: their number and that of their group.
fn users(subject: &Subject<'_>) -> Vec<(String, String)> {
    let users = subject.base().into_iter().flat_map(|users: &Users| &users.list);
    users
        .filter(|user| (1000..60_000).contains(&user.uid))
        .map(|user| (user.name.clone(), format!("uid {}, gid {}", user.uid, user.gid)))
        .collect()
}

fn addresses(subject: &Subject<'_>) -> Vec<(String, String)> {
    // Bridges of containers have the same on every host by nature, and are not how hosts reach each other.
    const BRIDGES: [&str; 7] = ["lo", "docker", "virbr", "cni", "veth", "br-", "podman"];
    let mut found = Vec::new();
    for link in subject.base().into_iter().flat_map(|network: &Network| &network.links) {
        if BRIDGES.iter().any(|stem| link.name.starts_with(stem)) {
            continue;
        }
        for address in &link.addresses {
            let address = address.split('/').next().unwrap_or("");
            let own = address.parse::<std::net::IpAddr>().is_ok_and(|address| match address {
                std::net::IpAddr::V4(v4) => v4.is_loopback() || v4.is_link_local(),
                std::net::IpAddr::V6(v6) => v6.is_loopback() || v6.is_unicast_link_local(),
            });
            if !own && !address.is_empty() {
                found.push((String::new(), address.to_owned()));
            }
        }
    }
    found
}

fn host_keys(subject: &Subject<'_>) -> Vec<(String, String)> {
    let Ok(system) = subject.system() else { return Vec::new() };
    let keys = system.files.iter().flat_map(|files| &files.host_keys);
    keys.map(|key| (String::new(), key.clone())).collect()
}
