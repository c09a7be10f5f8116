//! NUMA nodes. Formats: Documentation/ABI/stable/sysfs-devices-node (`cpulist`) and
//! Documentation/admin-guide/cputopology.rst of the kernel.
//!
//! Cores are counted as hwloc counts them (`Core L#` of `lstopo`) and as Slurm's gres.conf(5) wants them: those of the
//! first socket first. The kernel counts processors otherwise, on many machines one of each socket in turn.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value as Json, json};

use super::BaseFact;
use crate::facts::Touches;
use crate::facts::view::cpus;
use crate::hostlist::ranges_text;

pub(super) const FACT: BaseFact = BaseFact {
    name: "numa",
    doc: "NUMA nodes that have CPUs: these as the kernel counts them, and their cores as hwloc and Slurm count them",
    script: crate::shell!("facts/base/numa/numa.sh"),
    parse,
    touched_by: |touches| *touches == Touches::Everything,
    specimen: |_| {
        json!([
            { "node": 0, "cpus": "0-31,64-95", "cores": "0-31" },
            { "node": 1, "cpus": "32-63,96-127", "cores": "32-63" }
        ])
    },
};

/// A list of CPUs or cores such as `0-31,64-95`; [`cpus`] reads it.
fn ranges(numbers: impl IntoIterator<Item = u32>) -> String {
    ranges_text(0, &numbers.into_iter().map(u64::from).collect::<Vec<_>>())
}

fn parse(output: &str) -> Result<Json, String> {
    if output.lines().last() != Some("end") {
        return Err("the host did not tell all of its processors".to_owned());
    }
    // `/sys/devices/system/node/node0/cpulist:0-31,64-95`, `/sys/devices/system/cpu/cpu0/topology/NAME:VALUE`.
    let (mut lists, mut sockets, mut threads) = (BTreeMap::new(), BTreeMap::new(), BTreeMap::new());
    for (path, value) in output.lines().filter_map(|line| line.rsplit_once(':')) {
        let mut parts = path.rsplit('/');
        let (name, above) = (parts.next().unwrap_or(""), parts.next().unwrap_or(""));
        let number = above.strip_prefix("node").and_then(|number| number.parse::<u32>().ok());
        match (name, number) {
            ("cpulist", Some(node)) => drop(lists.insert(node, cpus(value))),
            ("physical_package_id", _) => drop(sockets.insert(parts.next(), value)),
            ("thread_siblings_list", _) => drop(threads.insert(parts.next(), cpus(value))),
            _ => {}
        }
    }
    let mut cores: BTreeMap<&str, BTreeSet<BTreeSet<u32>>> = BTreeMap::new();
    for (cpu, threads) in threads {
        cores.entry(sockets.get(&cpu).copied().unwrap_or("")).or_default().insert(threads);
    }
    // Sets are ordered by their smallest members: sockets, and their cores, by their first processor.
    let mut cores: Vec<_> = cores.into_values().collect();
    cores.sort();
    let cores: Vec<BTreeSet<u32>> = cores.into_iter().flatten().collect();
    let nodes = lists.into_iter().filter(|(_, cpus)| !cpus.is_empty()).map(|(node, cpus)| {
        let own = (0..).zip(&cores).filter(|(_, threads)| !threads.is_disjoint(&cpus)).map(|(core, _)| core);
        json!({ "node": node, "cpus": ranges(cpus.iter().copied()), "cores": ranges(own) })
    });
    Ok(nodes.collect())
}
