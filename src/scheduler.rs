//! Slurm: what it is asked and told, and what it answers. Words and parsers; nothing is decided here.

use std::collections::{BTreeMap, BTreeSet};

use crate::hostlist;
use crate::transport::{Part, Script};

/// What `sinfo` prints of a node in each of its partitions. A reason may hold anything, so it is last.
const NODE: &str = "%N|%T|%G|%R|%E";
/// What `squeue` prints of a job.
const JOB: &str = "%i|%u|%T|%N";
/// How a drain of ours begins. Only such a node is ever resumed.
const OURS: &str = "provision: ";
/// Bytes of a reason that are kept: it is one line of `sinfo -R`.
const LONGEST: usize = 200;
/// How long an answer of slurmctld may take.
const DEADLINE: std::time::Duration = std::time::Duration::from_secs(30);

/// A node as `sinfo` shows it.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Node {
    /// Its state with marks: `idle`, `drained*`.
    pub state: String,
    /// What jobs can ask of it: `gpu:8(S:0-1)`.
    pub gres: String,
}

/// A node with what is said of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Known {
    /// State and resources.
    pub node: Node,
    /// Why it is down or drained.
    pub reason: String,
    /// Partitions that it is in.
    pub partitions: BTreeSet<String>,
}

/// Who drained a node.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Drain<'a> {
    /// Nobody.
    No,
    /// A run of this program: which, and why.
    Ours(&'a str, &'a str),
    /// Somebody else, with the reason.
    Others(&'a str),
}

/// A job that has nodes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Job {
    /// Its number.
    pub id: String,
    /// Who started it.
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

    /// How many GPUs Slurm gives out: the numbers of all `gpu` entries.
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
    /// Why no job is tried there.
    pub fn refusal(&self) -> Option<String> {
        self.node.is_away().then(|| self.told())
    }

    /// The state with its reason, for people.
    pub fn told(&self) -> String {
        let reason = if self.reason.is_empty() { String::new() } else { format!(": {}", self.reason) };
        format!("Slurm has the node as {}{reason}", self.node.state)
    }

    /// Who drained it. A reason outlives its drain on a node that is down, so both must be there.
    pub fn drain(&self) -> Drain<'_> {
        if !self.node.is_draining() && !self.node.is_drained() {
            return Drain::No;
        }
        match self.reason.strip_prefix(OURS).map(|rest| rest.split_once(": ").unwrap_or((rest, ""))) {
            Some((run, why)) => Drain::Ours(run, why),
            None => Drain::Others(&self.reason),
        }
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
        });
        known.partitions.insert(partition.to_owned());
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

/// What jobs run on a node, for people; `None` without any.
pub fn jobs_on(jobs: &[Job], node: &str) -> Option<String> {
    let mut on = jobs.iter().filter(|job| job.nodes.contains(node)).peekable();
    on.peek()?;
    let told: Vec<String> = on.map(|job| format!("job {} of {}", job.id, job.user)).collect();
    Some(match told.as_slice() {
        [first, second, third, _, ..] => format!("{first}, {second}, {third} and {} more", told.len() - 3),
        few => few.join(", "),
    })
}

/// The reason of a drain: one line, as long as is useful.
pub fn reason(run: &str, why: &str) -> String {
    let mut text: String = why
        .split(|c: char| c.is_control() || c.is_whitespace())
        .filter(|word| !word.is_empty())
        .fold(format!("{OURS}{run}:"), |mut text, word| {
            text.push(' ');
            text.push_str(word);
            text
        });
    if text.len() > LONGEST {
        let end = text.char_indices().map(|(at, _)| at).take_while(|at| *at <= LONGEST - 3).last();
        text.truncate(end.unwrap_or(0));
        text.push_str("...");
    }
    text
}

/// The command that gives a node back, for people.
pub fn resume_by_hand(node: &str) -> String {
    format!("scontrol update NodeName={node} State=RESUME")
}

fn part(name: &str, script: Script) -> Part {
    Part { name: name.to_owned(), script, deadline: DEADLINE, limit: 16 << 20 }
}

/// Asks for all nodes.
pub fn ask_nodes() -> Part {
    part("sinfo", Script::new("sinfo -h -N -o \"$1\" 2>&1").arg(NODE))
}

/// Asks for the jobs on some nodes.
pub fn ask_jobs<'a>(nodes: impl IntoIterator<Item = &'a str>) -> Part {
    part("squeue", Script::new("squeue -h -w \"$1\" -o \"$2\" 2>&1").arg(listed(nodes)).arg(JOB))
}

/// Lets no new job start on some nodes.
pub fn drain<'a>(nodes: impl IntoIterator<Item = &'a str>, reason: &str) -> Part {
    let script = Script::new("scontrol update \"NodeName=$1\" State=DRAIN \"Reason=$2\" 2>&1");
    part("drain", script.arg(listed(nodes)).arg(reason))
}

/// Lets jobs start on some nodes again.
pub fn resume<'a>(nodes: impl IntoIterator<Item = &'a str>) -> Part {
    let script = Script::new("scontrol update \"NodeName=$1\" State=RESUME 2>&1");
    part("resume", script.arg(listed(nodes)))
}

fn listed<'a>(nodes: impl IntoIterator<Item = &'a str>) -> String {
    nodes.into_iter().collect::<Vec<_>>().join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_of_a_node_are_one_node_and_its_reason_may_hold_anything() {
        let nodes = nodes(
            "gpu0|idle|gpu:h100:8(S:0-1)|comp|none\ngpu0|idle|gpu:h100:8(S:0-1)|all|none\n\
             gpu1|drained|(null)|comp|bad cable | rack 3: port 4\nnonsense\n",
        );
        assert_eq!(nodes.len(), 2);
        assert_eq!(nodes["gpu0"].partitions, BTreeSet::from(["all".to_owned(), "comp".to_owned()]));
        assert_eq!(nodes["gpu0"].refusal(), None);
        let told = "Slurm has the node as drained: bad cable | rack 3: port 4";
        assert_eq!(nodes["gpu1"].refusal().unwrap(), told);
    }

    #[test]
    fn only_a_drain_with_our_reason_is_ours() {
        let known = |state: &str, reason: &str| Known {
            node: Node { state: state.to_owned(), gres: String::new() },
            reason: reason.to_owned(),
            partitions: BTreeSet::new(),
        };
        let ours = reason("20261125-070824-123ab", "`driver` failed:\n E: no\tspace");
        assert_eq!(ours, "provision: 20261125-070824-123ab: `driver` failed: E: no space");
        let why = Drain::Ours("20261125-070824-123ab", "`driver` failed: E: no space");
        assert_eq!(known("drained", &ours).drain(), why);
        assert_eq!(known("draining*", &ours).drain(), why);
        // Somebody resumed it, or it went down for another reason: the text is what is left.
        assert_eq!(known("idle", &ours).drain(), Drain::No);
        assert_eq!(known("down", &ours).drain(), Drain::No);
        assert_eq!(known("drained", "provision it later").drain(), Drain::Others("provision it later"));
        assert_eq!(known("drained", "").drain(), Drain::Others(""));
        let long = reason("r", &"ü ".repeat(200));
        assert!(long.len() <= LONGEST && long.ends_with("..."), "{long}");
    }

    /// Slurm 22.05.8 of Debian 12: each state was made with slurmctld, slurmd and scontrol, one after another.
    #[test]
    fn states_as_slurm_says_them() {
        let seen = |row: &str| nodes(row).into_values().next().unwrap();
        // A job runs, and the node was drained by us; then with quotes in the reason.
        let known = seen("gpu0|draining|(null)|comp|provision: 20261125-070824-123ab: is to be changed");
        assert_eq!(known.drain(), Drain::Ours("20261125-070824-123ab", "is to be changed"));
        assert!(known.node.is_draining() && !known.node.is_drained());
        let known = seen("gpu0|draining|(null)|comp|provision: r1: `boot`: it's \"bad\" | x");
        assert_eq!(known.drain(), Drain::Ours("r1", "`boot`: it's \"bad\" | x"));
        // Drained by us and rebooted: `scontrol show node` says DOWN+DRAIN. It stays ours.
        let known = seen("gpu2|drained|(null)|comp|provision: r: t");
        assert!(known.node.is_drained() && known.drain() == Drain::Ours("r", "t"));
        // Just resumed: it is in service as soon as its slurmd has answered.
        let known = seen("gpu2|idle*|(null)|comp|none");
        assert!(known.node.is_silent() && known.drain() == Drain::No && !known.node.is_usable());
        // Rebooted without a drain, with ReturnToService=1.
        let known = seen("gpu3|down|(null)|comp|Node unexpectedly rebooted");
        assert_eq!(known.refusal().unwrap(), "Slurm has the node as down: Node unexpectedly rebooted");
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
