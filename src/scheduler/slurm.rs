//! Slurm: sinfo, squeue and scontrol.

use std::collections::{BTreeMap, BTreeSet};

use super::{Load, Scheduler, few, part};
use crate::hostlist;
use crate::inventory::Host;
use crate::transport::{CONNECT, Frame, Part, Script, Transport, TransportError};

/// Columns that `sinfo` prints of a node in each of its partitions, the default one with a star. A reason may
/// hold anything, so it is last.
const NODE: &str = "%N|%T|%G|%P|%E";
/// Columns that `squeue` prints of a job.
const JOB: &str = "%i|%u|%T|%N";
/// A node as `sinfo` shows it.
#[derive(Debug, Clone, PartialEq, Eq, Default, serde::Serialize, serde::Deserialize)]
pub struct Node {
    /// Its state with marks: `idle`, `drained*`.
    pub state: String,
    /// Resources that jobs can ask of it: `gpu:8(S:0-1)`.
    pub gres: String,
}

/// A node with what is said of it.
#[derive(Debug, Clone, PartialEq, Eq, Default, serde::Serialize, serde::Deserialize)]
pub struct Known {
    /// State and resources.
    pub node: Node,
    /// Reason why it is down or drained.
    pub reason: String,
    /// Partitions that it is in.
    pub partitions: BTreeSet<String>,
    /// Whether the one that jobs get by default is among them.
    pub by_default: bool,
}

/// Slurm, as a scheduler that hosts are taken from.
#[derive(Debug)]
pub struct Slurm {
    /// The partition that `keep_up` counts; all nodes without.
    pub partition: Option<String>,
}

/// A job that has nodes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Job {
    /// Its number.
    pub id: String,
    /// User that started it.
    pub user: String,
    /// `RUNNING`, `COMPLETING`, `SUSPENDED` ...
    pub state: String,
    /// Its nodes.
    pub nodes: BTreeSet<String>,
}

impl Node {
    /// The state without marks, and those.
    fn word(&self) -> (&str, &str) {
        let end = self.state.find(|c: char| !c.is_ascii_alphabetic() && c != '_').unwrap_or(self.state.len());
        self.state.split_at(end)
    }

    /// Whether it is in this state, whatever marks it bears.
    pub fn is(&self, state: &str) -> bool {
        self.word().0 == state
    }

    /// Whether it starts no job there: down, drained, failing, not answering.
    pub fn is_away(&self) -> bool {
        let bad = ["down", "drain", "fail", "unknown", "not_responding", "inval"];
        bad.iter().any(|word| self.state.starts_with(word)) || self.state.ends_with('*')
    }

    /// Whether it carries jobs or could. A planned one is idle; a plus says that other jobs are ending on it.
    pub fn is_usable(&self) -> bool {
        let (word, marks) = self.word();
        matches!(word, "idle" | "mixed" | "allocated" | "completing" | "planned")
            && matches!(marks, "" | "+" | "-")
    }

    /// Whether it would be in service if it answered: as a node that was resumed is for some seconds.
    pub fn is_silent(&self) -> bool {
        let word = self.word().0;
        self.state.strip_prefix(word) == Some("*")
            && Self { state: word.to_owned(), ..self.clone() }.is_usable()
    }

    /// Whether it gets no new job and may still have old ones.
    pub fn is_draining(&self) -> bool {
        self.word().0 == "draining"
    }

    /// Whether it gets no new job and has no old one.
    pub fn is_drained(&self) -> bool {
        self.word().0 == "drained"
    }

    /// Counts the GPUs that Slurm gives out: the numbers of all `gpu` entries.
    pub fn gpus(&self) -> u64 {
        let count = |entry: &str| {
            let entry = entry.split('(').next().unwrap_or("");
            let mut parts = entry.split(':');
            if parts.next() != Some("gpu") {
                return 0;
            }
            parts.next_back().map_or(1, |number| number.parse().unwrap_or(1))
        };
        self.gres.split(',').map(count).fold(0, u64::saturating_add)
    }
}

impl Known {
    /// The partition that a job has to name to get this node; `None` where it need not.
    pub fn partition(&self) -> Option<&str> {
        self.partitions.first().filter(|_| !self.by_default).map(String::as_str)
    }

    /// Returns the reason why no job is tried there.
    pub fn refusal(&self) -> Option<String> {
        self.node.is_away().then(|| self.told())
    }

    /// The state with its reason, for people.
    pub fn told(&self) -> String {
        let reason = if self.reason.is_empty() { String::new() } else { format!(": {}", self.reason) };
        format!("Slurm has the node as {}{reason}", self.node.state)
    }
}

/// Reads rows of `sinfo`; a node of several partitions has several.
pub fn nodes(text: &str) -> BTreeMap<String, Known> {
    let mut nodes = BTreeMap::new();
    for line in text.lines() {
        let mut fields = line.trim().splitn(5, '|');
        let (Some(name), Some(state), Some(gres), Some(partition)) =
            (fields.next(), fields.next(), fields.next(), fields.next())
        else {
            continue;
        };
        let reason = fields.next().filter(|reason| *reason != "none").unwrap_or_default().to_owned();
        let known = nodes.entry(name.to_owned()).or_insert_with(|| Known {
            node: Node { state: state.to_owned(), gres: gres.to_owned() },
            reason,
            partitions: BTreeSet::new(),
            by_default: false,
        });
        let name = partition.strip_suffix('*');
        known.by_default |= name.is_some();
        known.partitions.insert(name.unwrap_or(partition).to_owned());
    }
    nodes
}

/// Reads rows of `squeue`.
pub fn jobs(text: &str) -> Vec<Job> {
    let job = |line: &str| {
        let mut fields = line.trim().splitn(4, '|').map(str::to_owned);
        let (id, user, state) = (fields.next()?, fields.next()?, fields.next()?);
        let nodes = hostlist::expand(&fields.next()?).ok()?.into_iter().collect();
        Some(Job { id, user, state, nodes })
    };
    text.lines().filter_map(job).collect()
}

/// Lists the jobs that run on a node, for people; `None` without any.
fn jobs_on(jobs: &[Job], node: &str) -> Option<String> {
    let on = jobs.iter().filter(|job| job.nodes.contains(node));
    few(&on.map(|job| format!("job {} of {}", job.id, job.user)).collect::<Vec<_>>())
}

/// Asks for all nodes.
pub fn ask_nodes() -> Part {
    part("sinfo", Script::new("sinfo -h -N -o \"$1\" 2>&1").arg(NODE))
}

/// Asks Slurm for its nodes from the place that starts jobs.
///
/// # Errors
/// Why there is no answer.
pub async fn ask_slurm(transport: &dyn Transport, place: &Host) -> Result<BTreeMap<String, Known>, String> {
    let frame = Frame { parts: vec![ask_nodes()], last: true, ..Frame::default() };
    let mut ended = None;
    let mut on_part = |end| ended = Some(end);
    let asked: Result<(), TransportError> = async {
        let deadline = CONNECT;
        let (mut remote, result) = transport.open_and_run(place, deadline, &frame, &mut on_part).await?;
        remote.close().await;
        result
    }
    .await;
    asked.map_err(|error| format!("{} cannot be asked for the nodes of Slurm: {error}", place.name))?;
    let end = ended.ok_or("sinfo gave no answer")?;
    if end.status == 0 {
        return Ok(nodes(&String::from_utf8_lossy(&end.output)));
    }
    let said = end.last_line().unwrap_or_else(|| "sinfo failed".to_owned());
    Err(format!("{} knows no nodes of Slurm: {said}", place.name))
}

fn listed(hosts: &[&Host]) -> String {
    hosts.iter().map(|host| host.name.as_str()).collect::<Vec<_>>().join(",")
}

impl Scheduler for Slurm {
    fn name(&self) -> &'static str {
        "Slurm"
    }

    fn none_counted(&self) -> Option<String> {
        self.partition.as_ref().map(|partition| format!("Slurm has no partition `{partition}`"))
    }

    fn ask_nodes(&self) -> Part {
        ask_nodes()
    }

    fn nodes(&self, text: &str) -> BTreeMap<String, super::Node> {
        let node = |known: Known| super::Node {
            held: known.node.is_draining() || known.node.is_drained(),
            usable: known.node.is_usable(),
            silent: known.node.is_silent(),
            away: known.node.is_away(),
            emptied: known.node.is_drained(),
            counted: self.partition.as_ref().is_none_or(|partition| known.partitions.contains(partition)),
            told: known.told(),
            reason: known.reason,
        };
        nodes(text).into_iter().map(|(name, known)| (name, node(known))).collect()
    }

    fn ask_load(&self, hosts: &[&Host]) -> Vec<Part> {
        // It refuses all for one that Slurm does not know.
        vec![part("squeue", Script::new("squeue -h -w \"$1\" -o \"$2\" 2>&1").arg(listed(hosts)).arg(JOB))]
    }

    fn load(&self, hosts: &[&Host], texts: &[String]) -> BTreeMap<String, Load> {
        let jobs: Vec<Job> = texts.iter().flat_map(|text| jobs(text)).collect();
        let load = |host: &&Host| Load { jobs: jobs_on(&jobs, &host.name), movable: None };
        hosts.iter().map(|host| (host.name.clone(), load(host))).collect()
    }

    fn drain(&self, hosts: &[&Host], reason: &str) -> Vec<Part> {
        let script = Script::new("scontrol update \"NodeName=$1\" State=DRAIN \"Reason=$2\" 2>&1");
        vec![part("drain", script.arg(listed(hosts)).arg(reason))]
    }

    fn say(&self, host: &Host, reason: &str) -> Part {
        let script = Script::new("scontrol update \"NodeName=$1\" State=DRAIN \"Reason=$2\" 2>&1");
        part("drain", script.arg(host.name.as_str()).arg(reason))
    }

    fn resume(&self, host: &Host) -> Part {
        let script = Script::new("scontrol update \"NodeName=$1\" State=RESUME 2>&1");
        part("resume", script.arg(host.name.as_str()))
    }

    fn by_hand(&self, host: &Host) -> String {
        format!("scontrol update NodeName={} State=RESUME", host.name)
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Drain, Node as Stands, Scheduler as _};
    use super::*;

    #[test]
    fn rows_of_a_node_are_one_node_and_its_reason_may_hold_anything() {
        let nodes = nodes(
            "gpu0|idle|gpu:h100:8(S:0-1)|comp|none\ngpu0|idle|gpu:h100:8(S:0-1)|all*|none\n\
             gpu1|drained|(null)|comp|bad cable | rack 3: port 4\nnonsense\n",
        );
        assert_eq!(nodes.len(), 2);
        assert_eq!(nodes["gpu0"].partitions, BTreeSet::from(["all".to_owned(), "comp".to_owned()]));
        assert_eq!((nodes["gpu0"].partition(), nodes["gpu1"].partition()), (None, Some("comp")));
        assert_eq!(nodes["gpu0"].refusal(), None);
        let told = "Slurm has the node as drained: bad cable | rack 3: port 4";
        assert_eq!(nodes["gpu1"].refusal().unwrap(), told);
    }

    /// Slurm 22.05.8 of Debian 12: each state was made with slurmctld, slurmd and scontrol, one after another.
    #[test]
    fn states_as_slurm_says_them() {
        let comp = Slurm { partition: Some("comp".to_owned()) };
        let seen = |row: &str| -> Stands { comp.nodes(row).into_values().next().unwrap() };
        // A job runs, and the node was drained by us; then with quotes in the reason.
        let node = seen("gpu0|draining|(null)|comp|provision: 20261125-070824-123ab: is to be changed");
        assert_eq!(node.drain(), Drain::Ours("20261125-070824-123ab", "is to be changed"));
        assert!(node.counted && !node.emptied);
        let node = seen("gpu0|draining|(null)|other|provision: r1: `boot`: it's \"bad\" | x");
        assert_eq!(node.drain(), Drain::Ours("r1", "`boot`: it's \"bad\" | x"));
        assert!(!node.counted);
        // Drained by us and rebooted: `scontrol show node` says DOWN+DRAIN. It stays ours.
        let node = seen("gpu2|drained|(null)|comp|provision: r: t");
        assert!(node.emptied && node.drain() == Drain::Ours("r", "t"));
        let node = seen("gpu2|draining*|(null)|comp|provision: r: t");
        assert!(!node.emptied && node.drain() == Drain::Ours("r", "t"));
        // Somebody resumed it, or it went down for another reason: the text is what is left.
        for state in ["idle", "down"] {
            assert_eq!(seen(&format!("gpu2|{state}|(null)|comp|provision: r: t")).drain(), Drain::No);
        }
        // Just resumed: it is in service as soon as its slurmd has answered.
        let node = seen("gpu2|idle*|(null)|comp|none");
        assert!(node.silent && node.drain() == Drain::No && !node.usable);
        // Rebooted without a drain, with ReturnToService=1.
        let node = seen("gpu3|down|(null)|comp|Node unexpectedly rebooted");
        assert!(node.away);
        assert_eq!(node.told, "Slurm has the node as down: Node unexpectedly rebooted");
    }

    #[test]
    fn usable_is_what_slurm_gives_to_jobs() {
        let node = |state: &str| Node { state: state.to_owned(), gres: String::new() };
        for state in ["idle", "mixed", "allocated", "allocated+", "completing", "planned", "mixed-"] {
            assert!(node(state).is_usable(), "{state}");
        }
        for state in [
            "idle*",
            "idle~",
            "idle#",
            "idle$",
            "down",
            "down*",
            "drained",
            "draining",
            "draining@",
            "fail",
            "reserved",
            "maint",
            "unknown",
            "",
        ] {
            assert!(!node(state).is_usable(), "{state}");
        }
        assert!(node("draining@").is_draining() && node("drained*").is_drained());
        assert!(node("idle*").is_silent() && node("allocated*").is_silent());
        assert!(!node("down*").is_silent() && !node("drained*").is_silent() && !node("idle").is_silent());
    }

    #[test]
    fn jobs_are_told_by_node() {
        let jobs = jobs("4711|ann|RUNNING|gpu[0-1]\n4712_3|bob|COMPLETING|gpu1\nslurm_load_jobs error: x\n");
        assert_eq!(jobs.len(), 2);
        assert_eq!(jobs_on(&jobs, "gpu0").unwrap(), "job 4711 of ann");
        assert_eq!(jobs_on(&jobs, "gpu1").unwrap(), "job 4711 of ann, job 4712_3 of bob");
        assert_eq!(jobs_on(&jobs, "gpu2"), None);
    }

    #[test]
    fn generic_resources() {
        for (gres, count) in [("gpu:8", 8), ("gpu", 1), ("(null)", 0), ("gpu:h100:4,gpu:a100:4,nvme:1", 8)] {
            assert_eq!(Node { state: String::new(), gres: gres.to_owned() }.gpus(), count, "{gres}");
        }
    }
}
