//! View of a process on a host: limits, devices, CPUs, network, libraries, settings of NCCL. It is asked
//! twice, in a new login and behind a launcher, and what differs is why something works over SSH and not in a
//! job.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::bounds::{self, MOST_CPUS};
use super::probe::Probe;
use super::section::{Sections, pair};
use super::{Seen, Touches};

/// A limit of resources: bytes or a number, or `unlimited`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Limit {
    /// Limit in force.
    pub soft: String,
    /// Highest value that it may be raised to.
    pub hard: String,
}

/// Location of a GPU.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct GpuPlace {
    /// Its PCI address.
    pub address: String,
    /// The CPUs beside it, as the kernel writes them.
    pub cpus: String,
    /// N of `/dev/nvidiaN`, where the driver tells.
    pub minor: Option<u32>,
}

/// A library as the loader finds it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Library {
    /// Path where it was found.
    pub found: String,
    /// The same path with all links followed.
    pub file: String,
}

/// View of a process on a host.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct View {
    /// Id of the boot: another one is another machine.
    pub boot: String,
    /// Name that the machine has for itself.
    pub hostname: String,
    /// User of the process.
    pub user: String,
    /// Its groups.
    pub groups: String,
    /// Device and inode of the root directory: another one is another file system.
    pub root: String,
    /// The distribution.
    pub os: String,
    /// Limits by name.
    pub limits: BTreeMap<String, Limit>,
    /// Lines of `/proc/self/cgroup`.
    pub cgroup: Vec<String>,
    /// CPUs that it may run on.
    pub cpus: String,
    /// Memory nodes that it may use.
    pub mems: String,
    /// The tightest limit of memory of its cgroups in bytes.
    pub memory: Option<u64>,
    /// Its network namespace.
    pub netns: String,
    /// Network devices.
    pub nets: BTreeSet<String>,
    /// GPUs on the PCI bus.
    pub gpus: Vec<GpuPlace>,
    /// Device files of GPUs and RDMA: `open`, or what the kernel says.
    pub devices: BTreeMap<String, String>,
    /// Variables that decide what a job uses.
    pub env: BTreeMap<String, String>,
    /// Settings in the files of NCCL; those of the user win.
    pub conf: BTreeMap<String, String>,
    /// Libraries by name.
    pub libraries: BTreeMap<String, Library>,
    /// Programs that the path leads to.
    pub programs: BTreeMap<String, String>,
    /// When the machine was booted, by its clock: another value is another clock.
    pub booted: Option<i64>,
}

impl View {
    /// Returns the settings that NCCL goes by: variables win over files.
    pub fn nccl(&self) -> BTreeMap<&str, &str> {
        let variables = self.env.iter().filter(|(name, _)| name.starts_with("NCCL_"));
        self.conf.iter().chain(variables).map(|(name, value)| (name.as_str(), value.as_str())).collect()
    }
}

/// View of a process on a host.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct ViewQuery;

pub(crate) const FAMILY: &super::Family = <ViewQuery as super::Question>::FAMILY;

impl Probe for ViewQuery {
    type Shown = Seen<View>;
    const NAME: &'static str = "view";
    const SCRIPT: &'static str = crate::shell!("facts/probe/ask.sh", "facts/view/view.sh");
    const DEADLINE: Option<std::time::Duration> = Some(std::time::Duration::from_secs(50));
    const OUTPUT: usize = 256 << 10;

    fn read(sections: &Sections<'_>) -> Seen<View> {
        sections.read("view", "it was not asked", |text| {
            let view = parse(text);
            if view.limits.contains_key("memlock") { Ok(view) } else { Err("it shows no memlock".to_owned()) }
        })
    }

    fn touched_by(touches: &Touches) -> bool {
        super::hardware_touched(touches)
    }
}

/// Reads the lines.
fn parse(text: &str) -> View {
    let mut view = View::default();
    for (key, value) in text.lines().filter_map(pair) {
        let mut words = value.split_whitespace();
        let mut word = || words.next().unwrap_or_default().to_owned();
        match key {
            "boot" => value.clone_into(&mut view.boot),
            "hostname" => value.clone_into(&mut view.hostname),
            "user" => value.clone_into(&mut view.user),
            "groups" => value.clone_into(&mut view.groups),
            "root" => value.clone_into(&mut view.root),
            "os" => value.trim_matches('"').clone_into(&mut view.os),
            "netns" => value.clone_into(&mut view.netns),
            "cpus" => value.clone_into(&mut view.cpus),
            "mems" => value.clone_into(&mut view.mems),
            "cgroup" => view.cgroup.push(value.to_owned()),
            "net" => drop(view.nets.insert(value.to_owned())),
            "limit" => drop(view.limits.insert(word(), Limit { soft: word(), hard: word() })),
            // Without a limit it says `max`.
            "memory" => {
                let bytes = bounds::number(value, &bounds::BYTES);
                view.memory = [view.memory, bytes].into_iter().flatten().min();
            }
            "gpu" => {
                let (address, _node) = (word(), word());
                view.gpus.push(GpuPlace { address, cpus: word(), minor: word().parse().ok() });
            }
            "device" => insert(&mut view.devices, value.split_once(' ')),
            "program" => insert(&mut view.programs, value.split_once(' ')),
            "env" => insert(&mut view.env, value.split_once('=')),
            "conf" => insert(&mut view.conf, value.split_once('=')),
            "library" => drop(view.libraries.insert(word(), Library { found: word(), file: word() })),
            "booted" => view.booted = bounds::number(value, &bounds::TIME),
            _ => {}
        }
    }
    view
}

fn insert(map: &mut BTreeMap<String, String>, entry: Option<(&str, &str)>) {
    map.extend(entry.map(|(key, value)| (key.to_owned(), value.trim().to_owned())));
}

/// The numbers of a list such as `0-47,96-143`; what is no number is left out.
pub fn cpus(list: &str) -> BTreeSet<u32> {
    let range = |part: &str| -> Option<std::ops::Range<u32>> {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let (first, last) = (first.trim().parse::<u32>().ok()?, last.trim().parse::<u32>().ok()?);
        Some(first..last.min(MOST_CPUS).saturating_add(1))
    };
    // No host names one twice: a list that does would take long.
    list.split(',').filter_map(range).flatten().take(MOST_CPUS as usize + 1).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_of_cpus() {
        assert_eq!(cpus("0-2,8, 10-10"), BTreeSet::from([0, 1, 2, 8, 10]));
        assert_eq!(cpus("-,x,5-3,"), BTreeSet::new());
        assert_eq!(cpus("0-4294967295").len(), 1 + MOST_CPUS as usize);
        let started = std::time::Instant::now();
        assert_eq!(cpus(&"0-8191,".repeat(32_000)).len(), 8192);
        assert!(started.elapsed().as_secs() < 5, "a host chooses how long its list takes");
    }

    #[test]
    fn what_no_host_has_is_not_taken() {
        let view = parse("memory=18446744073709551615\nbooted=9223372036854775807\n");
        assert_eq!((view.memory, view.booted), (None, None));
    }

    #[test]
    fn the_tightest_limit_of_memory_holds_and_variables_win_over_files() {
        let text = "memory=max\nmemory=4096\nmemory=8192\nconf=NCCL_IB_HCA==mlx5_0\nconf=NCCL_DEBUG=INFO\nenv=NCCL_DEBUG=WARN\nenv=LD_PRELOAD=\n";
        let view = parse(text);
        assert_eq!(view.memory, Some(4096));
        assert_eq!(view.nccl(), BTreeMap::from([("NCCL_DEBUG", "WARN"), ("NCCL_IB_HCA", "=mlx5_0")]));
        assert_eq!(view.env["LD_PRELOAD"], "");
    }
}
