//! What is compared over hosts: outliers of a group, and what only one host may have (domain M8, L10,
//! L15, L16, F).

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value as Json;
use sha2::Digest as _;

use super::compare::{Same, Unique, alone, same};
use super::{Check, Kind, Subject};
use crate::events::CheckStatus::{Fail, Warn};
use crate::inventory::hostlist;

macro_rules! outlier {
    ($id:literal, $title:literal, $severity:ident, $why:literal, $hint:literal, $source:literal) => {
        Check {
            id: $id,
            title: $title,
            kind: Kind::Fleet,
            severity: $severity,
            expects: "what more than half of the hosts of the same groups have; where none is that common all of them are named",
            why: $why,
            hint: $hint,
            source: $source,
            run: |subject| same(subject, $id),
        }
    };
}

macro_rules! unique {
    ($id:literal, $title:literal, $why:literal, $hint:literal, $source:literal) => {
        Check {
            id: $id,
            title: $title,
            kind: Kind::Fleet,
            severity: Fail,
            expects: "another one on each host of this run",
            why: $why,
            hint: $hint,
            source: $source,
            run: |subject| alone(subject, $id),
        }
    };
}

pub(super) const CHECKS: &[Check] = &[
    outlier!(
        "fleet.driver",
        "all hosts of a group have one driver version",
        Warn,
        "A job spans hosts: with two drivers it has two sets of bugs, and containers that start on one host only.",
        "bring the outliers to the version of the others, then reboot them",
        "domain M8"
    ),
    outlier!(
        "fleet.kernel",
        "all hosts of a group run one kernel",
        Warn,
        "Drivers are built for a kernel; the host with another one is the next that loses them.",
        "upgrade and reboot the outliers",
        "domain M8"
    ),
    outlier!(
        "fleet.os",
        "all hosts of a group have one distribution and version",
        Warn,
        "What was built on one does not start on the other: another glibc, another OpenSSL.",
        "install the outliers anew, or give them a group of their own",
        "domain E1, M8"
    ),
    outlier!(
        "fleet.gpus",
        "all hosts of a group have the same GPUs",
        Warn,
        "A job gets the memory and the speed of its smallest host.",
        "count the GPUs of the outliers (gpu.count), or give them a group of their own",
        "domain M8"
    ),
    outlier!(
        "fleet.vbios",
        "all hosts of a group have the same VBIOS versions",
        Warn,
        "GPUs of one model with another VBIOS have other clocks and limits.",
        "ask the vendor for the VBIOS; a replaced board often has another one",
        "domain M8"
    ),
    outlier!(
        "fleet.ecc",
        "error correction is the same on all hosts of a group",
        Warn,
        "Without it a GPU has more memory and no protection: jobs that fit on one host fail on another.",
        "`nvidia-smi -e 1` on the outliers, then a reset of their GPUs",
        "domain L22, M8"
    ),
    outlier!(
        "fleet.power_limit",
        "GPUs have the same power limit on all hosts of a group",
        Warn,
        "A collective waits for the GPU that may draw the least.",
        "`nvidia-smi -pl WATTS` on the outliers, and whatever sets it at boot",
        "domain G11, M8"
    ),
    outlier!(
        "fleet.topology",
        "GPUs and cards are connected alike on all hosts of a group",
        Warn,
        "Rails are built on the order of devices: a host that numbers them otherwise crosses all of its traffic.",
        "`nvidia-smi topo -m` of both; another firmware setup, or a card in another slot",
        "domain L16, M8"
    ),
    outlier!(
        "fleet.hcas",
        "all hosts of a group have the same RDMA devices",
        Warn,
        "NCCL_IB_HCA names devices: where a name is missing or is another card, the rail is missing.",
        "`ls /sys/class/infiniband`; devices are named in the order in which they were found",
        "domain C5, M8"
    ),
    outlier!(
        "fleet.firmware",
        "cards of a type have one firmware on all hosts of a group",
        Warn,
        "Mixed firmware means mixed defaults: one host behaves unlike the others under congestion.",
        "bring the cards to one firmware with the vendor's tools; provision flashes nothing",
        "domain G1, M8"
    ),
    outlier!(
        "fleet.mtu",
        "network devices behind RDMA have one MTU on all hosts of a group",
        Fail,
        "Between two MTUs small messages pass and large ones fail with status 12.",
        "`ip link set dev IF mtu N` on the outliers, and where the network manager keeps it",
        "domain D1, L7"
    ),
    outlier!(
        "fleet.gid_index",
        "the RoCE v2 GID is at the same index on all hosts of a group",
        Warn,
        "NCCL_IB_GID_INDEX is one number for all hosts.",
        "remove the extra addresses, or leave NCCL_IB_GID_INDEX unset with NCCL 2.21 and later",
        "domain L6"
    ),
    outlier!(
        "fleet.memory",
        "all hosts of a group have the same memory",
        Warn,
        "A module that failed is left out at boot without a word.",
        "the management controller says which module; 1 % is allowed",
        "domain M8"
    ),
    outlier!(
        "fleet.cpus",
        "all hosts of a group have the same processors",
        Warn,
        "Fewer CPUs than the others mean a socket or threads that are off.",
        "compare the firmware setups; `lscpu`",
        "domain M8"
    ),
    outlier!(
        "fleet.mounts",
        "all hosts of a group have the same shared file systems",
        Warn,
        "A job that finds its data on all hosts but one dies after it started.",
        "`findmnt -t nfs,nfs4,lustre,beegfs` on both; mount what is missing, and put it in /etc/fstab",
        "domain M8, M15"
    ),
    outlier!(
        "fleet.users",
        "users have the same numbers on all hosts",
        Warn,
        "Files on shared file systems belong to numbers: with others they are somebody else's.",
        "`usermod -u` and `groupmod -g` on the outliers, then `chown` what the user had there",
        "domain F"
    ),
    unique!(
        "fleet.machine_id",
        "no two hosts have the same machine-id",
        "Cloned images: DHCP gives both one address, and logs of two hosts become one.",
        "`rm /etc/machine-id /var/lib/dbus/machine-id; systemd-machine-id-setup`, then reboot",
        "domain F, L15"
    ),
    unique!(
        "fleet.product_uuid",
        "no two hosts are the same machine",
        "Two names of the inventory lead to one machine, or its firmware was cloned: each would be set up twice.",
        "look at the addresses in the inventory",
        "domain L15"
    ),
    unique!(
        "fleet.hostname",
        "no two hosts have the same name",
        "Slurm, MPI and the hosts file know hosts by name.",
        "give one of them another name: the `hostname` resource",
        "domain L15"
    ),
    unique!(
        "fleet.address",
        "no two hosts have the same address",
        "MPI and NCCL reach the wrong host, or hang, when they pick this address.",
        "change it on one of them; for bridges of containers: exclude them with `oob_tcp_if_include` and NCCL_SOCKET_IFNAME",
        "domain L10"
    ),
    unique!(
        "fleet.host_keys",
        "no two hosts have the same SSH host key",
        "Cloned images: who has one host can pose as the other, and known_hosts proves nothing.",
        "`rm /etc/ssh/ssh_host_*; ssh-keygen -A`, reload sshd, then `provision inventory trust`",
        "domain F, L15"
    ),
];

/// Without a name: there is one value.
fn one(value: Option<String>) -> Vec<(String, String)> {
    value.map(|value| vec![(String::new(), value)]).unwrap_or_default()
}

pub(super) const SAME: &[Same] = &[
    Same {
        id: "fleet.driver",
        read: |s| one(s.loaded().ok().and_then(|loaded| loaded.version.clone())),
        everywhere: false,
        after: Some("driver.coherence"),
    },
    Same { id: "fleet.kernel", read: |s| one(text(s, "/kernel/release")), everywhere: false, after: None },
    Same { id: "fleet.os", read: |s| one(os(s)), everywhere: false, after: None },
    Same { id: "fleet.gpus", read: |s| one(gpus(s)), everywhere: false, after: Some("gpu.count") },
    Same {
        id: "fleet.vbios",
        read: |s| one(of_gpus(s, |gpu| gpu.vbios.clone())),
        everywhere: false,
        after: Some("gpu.vbios"),
    },
    Same {
        id: "fleet.ecc",
        read: |s| one(of_gpus(s, |gpu| Some(if gpu.ecc? { "on" } else { "off" }.to_owned()))),
        everywhere: false,
        after: Some("gpu.ecc"),
    },
    Same {
        id: "fleet.power_limit",
        read: |s| one(of_gpus(s, |gpu| Some(format!("{} W", gpu.power_limit?.0)))),
        everywhere: false,
        after: Some("gpu.power_limit"),
    },
    Same { id: "fleet.topology", read: |s| one(topology(s)), everywhere: false, after: None },
    Same { id: "fleet.hcas", read: |s| one(hcas(s)), everywhere: false, after: Some("rdma.devices") },
    Same { id: "fleet.firmware", read: firmware, everywhere: false, after: Some("rdma.firmware") },
    Same { id: "fleet.mtu", read: |s| one(mtu(s)), everywhere: false, after: Some("network.mtu") },
    Same {
        id: "fleet.gid_index",
        read: |s| one(gid_index(s)),
        everywhere: false,
        after: Some("rdma.gid_index"),
    },
    Same {
        id: "fleet.memory",
        read: |s| one(s.facts.pointer("/memory/total_mib").and_then(Json::as_u64).map(|mib| mib.to_string())),
        everywhere: false,
        after: None,
    },
    Same {
        id: "fleet.cpus",
        read: |s| {
            let count = s.facts.pointer("/cpu/count").and_then(Json::as_u64);
            one(count.zip(text(s, "/cpu/model")).map(|(count, model)| format!("{count} x {model}")))
        },
        everywhere: false,
        after: None,
    },
    Same { id: "fleet.mounts", read: |s| one(mounts(s)), everywhere: false, after: None },
    Same { id: "fleet.users", read: users, everywhere: true, after: None },
];

pub(super) const UNIQUE: &[Unique] = &[
    Unique { id: "fleet.machine_id", read: |s| one(text(s, "/ids/machine_id")) },
    Unique {
        id: "fleet.product_uuid",
        // Containers have that of the machine around them.
        read: |s| if s.is_container() { Vec::new() } else { one(text(s, "/ids/product_uuid")) },
    },
    Unique { id: "fleet.hostname", read: |s| one(text(s, "/hostname")) },
    Unique { id: "fleet.address", read: addresses },
    Unique { id: "fleet.host_keys", read: host_keys },
];

fn text(subject: &Subject<'_>, path: &str) -> Option<String> {
    let text = subject.facts.pointer(path).and_then(Json::as_str)?;
    (!text.is_empty()).then(|| text.to_owned())
}

fn os(subject: &Subject<'_>) -> Option<String> {
    Some(format!("{} {}", text(subject, "/os/id")?, text(subject, "/os/version_id")?))
}

/// Different values of the GPUs of a host in one text.
fn of_gpus(
    subject: &Subject<'_>,
    value: fn(&crate::probes::nvidia::Gpu) -> Option<String>,
) -> Option<String> {
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
    let digest = crate::plan::hex(&sha2::Sha256::digest(text));
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
    let rdma = subject.rdma().ok()?;
    let devices = subject.devices().ok()?;
    let ethernet = devices.iter().filter(|d| d.ports.iter().any(|port| port.link_layer == "Ethernet"));
    let mtus: BTreeSet<u32> = ethernet.filter_map(|device| rdma.netdevs.get(device.netdev()?)?.mtu).collect();
    let list: Vec<String> = mtus.iter().map(u32::to_string).collect();
    (!list.is_empty()).then(|| list.join(", "))
}

fn gid_index(subject: &Subject<'_>) -> Option<String> {
    let devices = subject.devices().ok()?;
    let ports =
        devices.iter().filter(|device| device.name.starts_with("mlx5_")).flat_map(|device| &device.ports);
    let index = |port: &crate::probes::rdma::Port| {
        let gids = port.gids.iter().filter(|gid| gid.kind == "RoCE v2" && gid.ipv4().is_some());
        gids.map(|gid| gid.index).min()
    };
    let indices: BTreeSet<u32> = ports.filter_map(index).collect();
    let list: Vec<String> = indices.iter().map(u32::to_string).collect();
    (!list.is_empty()).then(|| list.join(", "))
}

fn mounts(subject: &Subject<'_>) -> Option<String> {
    let all = subject.facts.pointer("/mounts").and_then(Json::as_array)?;
    let field = |mount: &Json, key: &str| mount.get(key).and_then(Json::as_str).unwrap_or("").to_owned();
    let shared: BTreeSet<String> = all
        .iter()
        .filter(|mount| mount.get("local").and_then(Json::as_bool) == Some(false))
        .map(|mount| format!("{} on {}", field(mount, "source"), field(mount, "path")))
        .collect();
    Some(if shared.is_empty() {
        "none".to_owned()
    } else {
        shared.into_iter().collect::<Vec<_>>().join(", ")
    })
}

/// Users of people: their number and that of their group.
fn users(subject: &Subject<'_>) -> Vec<(String, String)> {
    let list = subject.facts.pointer("/users/list").and_then(Json::as_array);
    let number = |user: &Json, key: &str| user.get(key).and_then(Json::as_u64);
    list.into_iter()
        .flatten()
        .filter_map(|user| {
            let (uid, gid) = (number(user, "uid")?, number(user, "gid")?);
            let name = user.get("name").and_then(Json::as_str)?;
            (1000..60_000).contains(&uid).then(|| (name.to_owned(), format!("uid {uid}, gid {gid}")))
        })
        .collect()
}

fn addresses(subject: &Subject<'_>) -> Vec<(String, String)> {
    // Bridges of containers have the same on every host by nature, and are not how hosts reach each other.
    const BRIDGES: [&str; 7] = ["lo", "docker", "virbr", "cni", "veth", "br-", "podman"];
    let links = subject.facts.pointer("/network/links").and_then(Json::as_array);
    let mut found = Vec::new();
    for link in links.into_iter().flatten() {
        let name = link.get("name").and_then(Json::as_str).unwrap_or("");
        if BRIDGES.iter().any(|stem| name.starts_with(stem)) {
            continue;
        }
        let list = link.get("addresses").and_then(Json::as_array);
        for address in list.into_iter().flatten().filter_map(Json::as_str) {
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
