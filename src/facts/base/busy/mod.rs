//! Work on a host: compute processes, users of RDMA beyond the kernel, Slurm jobs.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Value as Json, json};

use super::{BaseFact, Fact};

pub(super) const FACT: BaseFact = BaseFact {
    name: "busy",
    doc: "who uses the GPUs and RDMA devices, and which Slurm jobs run",
    script: crate::shell!("facts/owner_of.sh", "facts/base/busy/busy.sh"),
    parse,
    touched_by: |_| true,
    specimen: |_| {
        json!({
            "gpu": ["python3 (4711)"],
            "rdma": ["ib_write_bw (4712)"],
            "slurm": ["4711 (ann)"],
            "containers": ["python3 in docker-0123456789abcdef (4711)"],
            "partial": false
        })
    },
};

/// Users of a host.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Busy {
    /// Processes on the GPUs.
    pub gpu: Vec<String>,
    /// Processes that use RDMA.
    pub rdma: Vec<String>,
    /// Jobs of Slurm.
    pub slurm: Vec<String>,
    /// Containers with GPUs.
    pub containers: Vec<String>,
}

impl Fact for Busy {
    const NAME: &'static str = "busy";
}

fn parse(output: &str) -> Result<Json, String> {
    if !output.lines().any(|line| line == "end") {
        return Err("the list of running jobs was cut short".to_owned());
    }
    if let Some(tool) = output.lines().find_map(|line| line.strip_prefix("lacks\t")) {
        return Err(format!("who uses the host is not known: {tool} is missing or failed"));
    }
    // A process is often found in two ways: what it uses is told once.
    let mut users: BTreeMap<(&str, u64), &str> = BTreeMap::new();
    // Some steps have a process of root beside those of the job.
    let mut owners: BTreeMap<&str, &str> = BTreeMap::new();
    for line in output.lines() {
        let mut fields = line.split('\t');
        let (Some(kind), Some(pid), Some(name)) = (fields.next(), fields.next(), fields.next()) else {
            continue;
        };
        let Ok(pid) = pid.parse() else { continue };
        if let Some(user) = fields.next().map(str::trim).filter(|user| !user.is_empty()) {
            let owner = owners.entry(name.split('.').next().unwrap_or(name)).or_insert(user);
            if *owner == "root" {
                *owner = user;
            }
        }
        users.entry((kind, pid)).or_insert_with(|| name.trim());
    }
    let list = |wanted: &str| -> Vec<String> {
        let mut list: Vec<String> = users
            .iter()
            .filter(|((kind, _), _)| *kind == wanted)
            .map(|((_, pid), name)| match wanted {
                // `4711.batch`, `4711.0`: all steps are of one job.
                "slurm" => {
                    let job = name.split('.').next().unwrap_or(name);
                    owners.get(job).map_or_else(|| job.to_owned(), |user| format!("{job} ({user})"))
                }
                _ => format!("{name} ({pid})"),
            })
            .collect();
        list.dedup();
        list
    };
    Ok(json!({
        "gpu": list("gpu"),
        "rdma": list("rdma"),
        "slurm": list("slurm"),
        "containers": list("container"),
        "partial": output.lines().any(|line| line == "partial"),
    }))
}

impl Busy {
    /// Containers that lose their GPUs when systemd reads its units again, for people; `None` when there are none.
    pub fn endangered(&self) -> Option<String> {
        (!self.containers.is_empty()).then(|| shown(&self.containers))
    }

    /// Describes what runs on a host, for people; `None` when it is idle.
    pub fn told(&self) -> Option<String> {
        let users =
            [(&self.slurm, "Slurm job"), (&self.gpu, "on the GPUs"), (&self.rdma, "over RDMA")].into_iter();
        let parts: Vec<String> = users
            .filter(|(names, _)| !names.is_empty())
            .map(|(names, word)| format!("{word}: {}", shown(names)))
            .collect();
        (!parts.is_empty()).then(|| parts.join("; "))
    }
}

fn shown(names: &[String]) -> String {
    match names {
        [first, second, third, _, ..] => format!("{first}, {second}, {third} and {} more", names.len() - 3),
        few => few.join(", "),
    }
}
