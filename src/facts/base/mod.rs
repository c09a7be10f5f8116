//! Basic facts: what templates see as `facts.NAME`. Each is a part of its own.

mod accounts;
mod boot;
pub mod busy;
mod network;
mod pci;
mod storage;
mod system;

use serde_json::Value as Json;
pub(super) use storage::{PSEUDO, unescape};

use super::{Answer, Answers, Query};
use crate::transport::Script;

/// A basic fact.
#[derive(Debug, Clone, Copy)]
pub struct BaseFact {
    /// Its name in templates.
    pub name: &'static str,
    /// What it is, for references.
    pub doc: &'static str,
    script: &'static str,
    parse: fn(&str) -> Result<Json, String>,
}

/// All basic facts.
pub const TABLE: &[BaseFact] = &[
    BaseFact {
        name: "arch",
        doc: "architecture: x86_64, aarch64",
        script: crate::shell!("facts/arch.sh"),
        parse: system::arch,
    },
    BaseFact {
        name: "boot",
        doc: "this boot and the next: kernels, what asks for a reboot, what would go wrong",
        script: crate::shell!("facts/boot.sh"),
        parse: boot::boot,
    },
    BaseFact {
        name: "busy",
        doc: "who uses the GPUs and RDMA devices, and which Slurm jobs run",
        script: crate::shell!("facts/busy.sh"),
        parse: busy::busy,
    },
    BaseFact {
        name: "cpu",
        doc: "online CPUs, model name, sockets",
        script: crate::shell!("facts/cpu.sh"),
        parse: system::cpu,
    },
    BaseFact {
        name: "hostname",
        doc: "name of the host",
        script: crate::shell!("facts/hostname.sh"),
        parse: system::hostname,
    },
    BaseFact {
        name: "ids",
        doc: "machine id, product UUID and boot id",
        script: crate::shell!("facts/ids.sh"),
        parse: system::ids,
    },
    BaseFact {
        name: "init",
        doc: "name of process 1 and the state that systemd reports",
        script: crate::shell!("facts/init.sh"),
        parse: system::init,
    },
    BaseFact {
        name: "kernel",
        doc: "release, version, command line, lockdown, whether its headers are installed",
        script: crate::shell!("facts/kernel.sh"),
        parse: system::kernel,
    },
    BaseFact {
        name: "memory",
        doc: "memory, swap and huge pages",
        script: crate::shell!("facts/memory.sh"),
        parse: system::memory,
    },
    BaseFact {
        name: "modules",
        doc: "loaded kernel modules",
        script: crate::shell!("facts/modules.sh"),
        parse: storage::modules,
    },
    BaseFact {
        name: "mounts",
        doc: "mounted file systems that hold data; sizes of the local ones",
        script: crate::shell!("facts/mounts.sh"),
        parse: storage::mounts,
    },
    BaseFact {
        name: "network",
        doc: "links, addresses and the device of the default route",
        script: crate::shell!("facts/network.sh"),
        parse: network::network,
    },
    BaseFact {
        name: "os",
        doc: "distribution, version, family and package manager",
        script: crate::shell!("facts/os.sh"),
        parse: system::os,
    },
    BaseFact {
        name: "pci",
        doc: "GPUs, NVSwitches and NICs from sysfs, without any driver",
        script: crate::shell!("facts/pci.sh"),
        parse: pci::pci,
    },
    BaseFact {
        name: "ssh",
        doc: "public host keys of sshd",
        script: crate::shell!("facts/ssh.sh"),
        parse: network::ssh,
    },
    BaseFact {
        name: "users",
        doc: "the user that we are on the host, and all local users",
        script: crate::shell!("facts/users.sh"),
        parse: accounts::users,
    },
    BaseFact {
        name: "virtualization",
        doc: "what the system runs in, in the words of systemd-detect-virt",
        script: crate::shell!("facts/virtualization.sh"),
        parse: system::virtualization,
    },
];

fn find(query: &Query) -> Option<&'static BaseFact> {
    let Query::Base(name) = query else { return None };
    TABLE.iter().find(|fact| fact.name == *name)
}

pub(super) fn script(queries: &[Query]) -> Script {
    Script::new(queries.first().and_then(find).map_or(":", |fact| fact.script))
}

pub(super) fn parse(queries: &[Query], output: &[u8], _: i32) -> Answers {
    let output = String::from_utf8_lossy(output);
    queries
        .iter()
        .filter_map(|query| {
            let answer = match (find(query)?.parse)(&output) {
                Ok(value) => Answer::Base(value),
                Err(reason) => Answer::Unknown(reason),
            };
            Some((query.clone(), answer))
        })
        .collect()
}

/// `key=value` lines; the last one of a key counts.
fn field<'a>(output: &'a str, key: &str) -> Option<&'a str> {
    output
        .lines()
        .rev()
        .find_map(|line| line.strip_prefix(key)?.strip_prefix('='))
        .filter(|value| !value.is_empty())
}

/// A field that must be there.
fn need<'a>(output: &'a str, key: &str) -> Result<&'a str, String> {
    field(output, key).ok_or_else(|| format!("the host does not tell its {key}"))
}
