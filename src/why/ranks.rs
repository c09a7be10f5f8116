//! Finds the speaker of a line, and across the ranks of a job who broke and who only waited.
//!
//! Formats: `NCCL_DEBUG` of NCCL 2.8 to 2.28 (`host:pid:tid [device] NCCL INFO ...`), torch.distributed 1.13 to 2.9
//! (`[rank3]:`, the watchdog of `ProcessGroupNCCL`), labels of `srun -l`, `mpirun --tag-output` and `torchrun --tee`.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use regex::Regex;

use crate::hostlist;

/// Most members that are told apart.
const MOST: usize = 16_384;

/// A process of a job, or the author of one text.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Member {
    /// Its number in the job.
    pub(super) rank: Option<u64>,
    /// Its host.
    pub(super) host: Option<String>,
    /// Network that its NCCL chose: `IB`, `Socket`.
    network: Option<String>,
    /// Number and kind of the collective that its watchdog gave up on.
    collective: Option<(u64, String)>,
    /// The last work that it had enqueued.
    enqueued: Option<u64>,
    /// Addresses of peers that it lost.
    lost: BTreeSet<String>,
    /// Addresses that it has itself.
    addresses: BTreeSet<String>,
    /// Whether it said that it waited in vain, or lost a peer.
    waited: bool,
    /// The first error of its own that nobody knows.
    error: Option<String>,
}

impl Member {
    /// Returns its name: `rank 3 on gpu0`.
    pub(super) fn name(&self, key: &str) -> String {
        match (self.rank, &self.host) {
            (Some(rank), Some(host)) => format!("rank {rank} on {host}"),
            (Some(rank), None) => format!("rank {rank}"),
            (None, _) => key.to_owned(),
        }
    }
}

/// Something that sets one member, or a few, apart from the others.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Verdict {
    /// Names of those that are set apart.
    pub(super) who: Vec<String>,
    /// In a sentence.
    pub(super) says: String,
    /// Remedy.
    pub(super) act: &'static str,
}

/// The members of a job, as their lines tell.
#[derive(Debug, Default)]
pub(super) struct Ranks {
    members: BTreeMap<String, Member>,
    /// Keys of processes whose rank was told later: `gpu0:4711` to `rank 3`.
    same: BTreeMap<String, String>,
    /// Number of ranks that the job has.
    size: Option<u64>,
}

struct Patterns {
    nccl: Regex,
    torch: Regex,
    label: Regex,
    communicator: Regex,
    network: Regex,
    bootstrap: Regex,
    lost: Regex,
    timeout: Regex,
    enqueued: Regex,
    file: Regex,
}

static PATTERNS: LazyLock<Option<Patterns>> = LazyLock::new(|| {
    let regex = |pattern: &str| Regex::new(pattern).ok();
    Some(Patterns {
        nccl: regex(r"(?<host>[A-Za-z0-9][A-Za-z0-9._-]*):(?<pid>\d+):\d+ \[\d+\] ")?,
        torch: regex(r"\[[Rr]ank ?(?<rank>\d+)\]|\bRank (?<other>\d+)\] ")?,
        label: regex(r"^ *(?:(?<srun>\d+): |\[\d+,(?<mpi>\d+)\]<std(?:out|err)>:? ?)")?,
        communicator: regex(r"comm 0x[0-9a-f]+ rank (?<rank>\d+) n[rR]anks (?<size>\d+)")?,
        network: regex(r"NCCL INFO (?:Using network|Initialized NET plugin) (?<name>[A-Za-z0-9_/ -]+)")?,
        bootstrap: regex(
            r"NCCL INFO (?:Bootstrap|NET/IB|NET/Socket) ?: Using .*?(?<address>\d+\.\d+\.\d+\.\d+)<",
        )?,
        lost: regex(
            r"(?:closed by (?:remote )?peer|recv from|send to|completion from peer|connection from|connect to) (?<peer>\[?[A-Za-z0-9_.:-]+?\]?)<\d+>",
        )?,
        timeout: regex(r"WorkNCCL\((?:SeqNum=(?<work>\d+), )?OpType=(?<kind>[A-Za-z_]+)")?,
        enqueued: regex(r"(?i:last enqueued)(?: NCCL work)?: (?<last>\d+)")?,
        file: regex(
            r"(?i)(?:rank|task|proc|global_)[_.-]?(?<named>\d+)|[_.-](?<number>\d+)\.(?:log|out|err|txt)$",
        )?,
    })
});

/// Lines that say that somebody waited in vain or lost a peer.
const WAITING: &[&str] = &[
    "Watchdog caught collective operation timeout",
    "closed by remote peer",
    "Connection reset by peer",
    "Broken pipe",
    "ncclRemoteError",
    "wait timeout after",
    "Timed out after",
    "Timed out waiting",
];

impl Ranks {
    /// Returns the key of whom a line is by, and takes what it tells of the job. `text` is the name of its text where
    /// several are read.
    pub(super) fn line(&mut self, line: &str, text: Option<&str>) -> Option<String> {
        let patterns = PATTERNS.as_ref()?;
        let key = self.speaker(patterns, line, text)?;
        if self.members.len() >= MOST && !self.members.contains_key(&key) {
            return None;
        }
        let is_nccl = line.contains("NCCL");
        let waits = WAITING.iter().any(|words| line.contains(words));
        // A text whose author is known by its name alone need not be of a job.
        if Some(key.as_str()) == text && !is_nccl && !waits {
            return Some(key);
        }
        let key = self.named(patterns, line, key);
        let member = self.members.entry(key.clone()).or_default();
        if let Some(rank) = key.strip_prefix("rank ") {
            member.rank = rank.parse().ok();
        }
        if !is_nccl && !waits {
            return Some(key);
        }
        member.waited |= waits;
        if let Some(found) = patterns.nccl.captures(line).and_then(|found| found.name("host")) {
            member.host.get_or_insert_with(|| found.as_str().to_owned());
        }
        let part = |pattern: &Regex, name: &str| {
            pattern.captures(line).and_then(|found| Some(found.name(name)?.as_str().trim().to_owned()))
        };
        if let Some(network) = part(&patterns.network, "name") {
            member.network = Some(network);
        }
        member.addresses.extend(part(&patterns.bootstrap, "address"));
        if waits || line.contains("WARN") {
            member.lost.extend(part(&patterns.lost, "peer"));
        }
        if let Some(found) = patterns.timeout.captures(line) {
            let work = found.name("work").and_then(|work| work.as_str().parse().ok()).unwrap_or(0);
            let kind = found.name("kind").map_or("", |kind| kind.as_str());
            member.collective.get_or_insert((work, kind.to_owned()));
        }
        if let Some(last) = part(&patterns.enqueued, "last").and_then(|last| last.parse().ok()) {
            member.enqueued = Some(member.enqueued.map_or(last, |before| before.max(last)));
        }
        Some(key)
    }

    /// Returns the key of a process behind a line that tells its rank in the job. A later communicator may be of a part of
    /// the ranks, with numbers of its own.
    fn named(&mut self, patterns: &Patterns, line: &str, key: String) -> String {
        let told = line.contains("comm").then(|| patterns.communicator.captures(line)).flatten();
        let number = |name| told.as_ref()?.name(name)?.as_str().parse::<u64>().ok();
        let Some((rank, size)) =
            number("rank").zip(number("size")).filter(|(_, size)| Some(*size) >= self.size)
        else {
            return key;
        };
        self.size = Some(size);
        let name = format!("rank {rank}");
        if key.starts_with("rank ") || !key.contains(':') {
            return key;
        }
        let before = self.members.remove(&key);
        self.same.insert(key, name.clone());
        if let Some(before) = before {
            let member = self.members.entry(name.clone()).or_default();
            member.host = member.host.take().or(before.host);
            member.network = member.network.take().or(before.network);
            member.addresses.extend(before.addresses);
            member.lost.extend(before.lost);
            member.waited |= before.waited;
        }
        name
    }

    /// Takes an error of a member that the catalogue does not have.
    pub(super) fn error(&mut self, key: &str, line: &str) {
        if let Some(member) = self.members.get_mut(key).filter(|member| member.error.is_none()) {
            member.error = Some(line.trim().chars().take(200).collect());
        }
    }

    fn speaker(&mut self, patterns: &Patterns, line: &str, text: Option<&str>) -> Option<String> {
        let rank = |found: regex::Captures<'_>, names: [&str; 2]| {
            names.into_iter().find_map(|name| Some(format!("rank {}", found.name(name)?.as_str())))
        };
        let told = if line.contains("ank") {
            patterns.torch.captures(line).and_then(|found| rank(found, ["rank", "other"]))
        } else {
            None
        };
        let label = || patterns.label.captures(line).and_then(|found| rank(found, ["srun", "mpi"]));
        let process = line.contains(" [").then(|| patterns.nccl.captures(line)).flatten();
        let process = process.map(|found| format!("{}:{}", &found["host"], &found["pid"]));
        let by_file = || {
            let found = patterns.file.captures(text?)?;
            rank(found, ["named", "number"])
        };
        match (told.or_else(label).or_else(by_file), process) {
            (Some(rank), Some(process)) => {
                self.same.entry(process).or_insert_with(|| rank.clone());
                Some(rank)
            }
            (Some(rank), None) => Some(rank),
            (None, Some(process)) => Some(self.same.get(&process).cloned().unwrap_or(process)),
            (None, None) => text.map(str::to_owned),
        }
    }

    /// Returns the number of members that spoke.
    pub(super) fn count(&self) -> usize {
        self.members.len()
    }

    /// Returns the number of ranks of the job: as it says itself, or as they spoke.
    pub(super) fn size(&self) -> u64 {
        self.size.unwrap_or(0).max(self.members.len() as u64)
    }

    /// Returns the name of a member.
    pub(super) fn name(&self, key: &str) -> String {
        let key = self.same.get(key).map_or(key, String::as_str);
        self.members.get(key).map_or_else(|| key.to_owned(), |member| member.name(key))
    }

    /// Returns the names of several members, folded: `rank[0-6,8]`.
    pub(super) fn folded<'k>(&self, keys: impl IntoIterator<Item = &'k str>) -> String {
        let (mut ranks, mut others) = (Vec::new(), Vec::new());
        for key in keys {
            let key = self.same.get(key).map_or(key, String::as_str);
            match self.members.get(key).and_then(|member| member.rank) {
                Some(rank) => ranks.push(format!("rank{rank}")),
                None => others.push(key),
            }
        }
        hostlist::fold(ranks.iter().map(String::as_str).chain(others))
    }

    /// Returns what sets a few members apart where no line of theirs names a cause.
    pub(super) fn odd(&self) -> Option<Verdict> {
        if self.members.len() < 2 {
            return None;
        }
        self.other_collective()
            .or_else(|| self.own_error())
            .or_else(|| self.behind())
            .or_else(|| self.silent())
            .or_else(|| self.most_lost())
            .or_else(|| self.absent())
    }

    /// Returns who took another network than most.
    pub(super) fn other_network(&self) -> Option<Verdict> {
        let networks: Vec<(&str, &str)> = self
            .members
            .iter()
            .filter_map(|(key, one)| Some((key.as_str(), one.network.as_deref()?)))
            .collect();
        let (usual, odd) = minority(&networks)?;
        let others: BTreeSet<&str> = odd.iter().map(|(_, network)| *network).collect();
        let others = others.into_iter().collect::<Vec<_>>().join(", ");
        Some(Verdict {
            says: format!("{} took the network {others} where the others have {usual}", self.some(&odd)),
            who: self.names(&odd),
            act: "look on that host for what NCCL found of cards before that line: its devices (`ibv_devinfo`), NCCL_IB_HCA, /dev/infiniband in its container",
        })
    }

    fn other_collective(&self) -> Option<Verdict> {
        let kinds: Vec<(&str, &str)> = self
            .members
            .iter()
            .filter_map(|(key, one)| Some((key.as_str(), one.collective.as_ref()?.1.as_str())))
            .collect();
        let (usual, odd) = minority(&kinds)?;
        let kind = odd.first()?.1;
        Some(Verdict {
            says: format!("{} waited in {kind} where the others waited in {usual}", self.some(&odd)),
            who: self.names(&odd),
            act: "look at the program: its ranks do not call the same collectives in the same order (a branch that only some ranks take, an uneven number of batches); no host is at fault",
        })
    }

    /// Returns who alone has errors, where the others only waited.
    fn own_error(&self) -> Option<Verdict> {
        let errors: Vec<(&str, bool)> = self
            .members
            .iter()
            .map(|(key, one)| (key.as_str(), one.error.is_some() && !one.waited))
            .collect();
        let (false, odd) = minority(&errors)? else { return None };
        let line = self.members.get(odd.first()?.0)?.error.clone()?;
        Some(Verdict {
            says: format!("{} alone has an error of its own: {line}", self.some(&odd)),
            who: self.names(&odd),
            act: "look at the lines around it, in its own log",
        })
    }

    fn behind(&self) -> Option<Verdict> {
        let works: Vec<(&str, u64)> =
            self.members.iter().filter_map(|(key, one)| Some((key.as_str(), one.enqueued?))).collect();
        let (usual, odd) = minority(&works)?;
        let behind: Vec<_> = odd.iter().copied().filter(|(_, last)| *last < usual).collect();
        let (odd, says) = if behind.is_empty() {
            let last = odd.first()?.1;
            let says = format!(
                "{} had called collective {last}, which the others never called: they had {usual}",
                self.some(&odd)
            );
            (odd, says)
        } else {
            let last = behind.first()?.1;
            let says = format!(
                "{} had come to collective {last} where the others had {usual}: they waited for it",
                self.some(&behind)
            );
            (behind, says)
        };
        Some(Verdict {
            says,
            who: self.names(&odd),
            act: "look at that process: what it did at that time (`py-spy dump --pid PID`, its CPU, its data loader, dmesg of its host), and whether all ranks call the same collectives",
        })
    }

    /// Returns who alone told of no timeout while all others did.
    fn silent(&self) -> Option<Verdict> {
        let waits: Vec<(&str, bool)> =
            self.members.iter().map(|(key, one)| (key.as_str(), one.waited)).collect();
        let (true, odd) = minority(&waits)? else { return None };
        Some(Verdict {
            says: format!(
                "{} alone told of no timeout and of no lost peer: the others waited for it",
                self.some(&odd)
            ),
            who: self.names(&odd),
            act: "look at that process and its host: it is stopped, hangs or was killed (its last lines, dmesg there, `ps`), the others are well",
        })
    }

    /// Returns the peer that most of the others lost.
    fn most_lost(&self) -> Option<Verdict> {
        let mut lost: BTreeMap<&str, usize> = BTreeMap::new();
        for peer in self.members.values().flat_map(|one| &one.lost) {
            *lost.entry(peer).or_default() += 1;
        }
        let (peer, times) = lost.iter().max_by_key(|(_, times)| **times)?;
        let next =
            lost.iter().filter(|(other, _)| other != &peer).map(|(_, times)| *times).max().unwrap_or(0);
        if *times < 2 || next * 2 > *times {
            return None;
        }
        let owner = self
            .members
            .iter()
            .find(|(_, one)| one.addresses.contains(*peer) || one.host.as_deref() == Some(peer));
        let who = owner.map_or_else(|| (*peer).to_owned(), |(key, _)| self.name(key));
        Some(Verdict {
            says: format!("{times} members lost the peer {peer}, and none so often another one"),
            who: vec![who],
            act: "look for the first error on that host: its own lines, dmesg, whether its process was killed",
        })
    }

    /// Returns the ranks that said nothing at all.
    fn absent(&self) -> Option<Verdict> {
        let size = self.size?;
        let there: BTreeSet<u64> = self.members.values().filter_map(|one| one.rank).collect();
        let absent: Vec<u64> = (0..size).filter(|rank| !there.contains(rank)).collect();
        if absent.is_empty() || absent.len() * 2 > there.len() || !self.members.values().any(|one| one.waited)
        {
            return None;
        }
        let names: Vec<String> = absent.iter().map(|rank| format!("rank {rank}")).collect();
        let folded: Vec<String> = absent.iter().map(|rank| format!("rank{rank}")).collect();
        Some(Verdict {
            says: format!(
                "the job has {size} ranks, and {} said nothing",
                hostlist::fold(folded.iter().map(String::as_str))
            ),
            who: names,
            act: "look whether that process started, and at its own log",
        })
    }

    fn some<T>(&self, odd: &[(&str, T)]) -> String {
        match odd {
            [(key, _)] => self.name(key),
            several => self.folded(several.iter().map(|(key, _)| *key)),
        }
    }

    fn names<T>(&self, odd: &[(&str, T)]) -> Vec<String> {
        odd.iter().map(|(key, _)| self.name(key)).collect()
    }
}

/// Returns the value that most have, and those that have another one; `None` where all have one, or no value is of most.
fn minority<'k, T: Copy + Ord>(values: &[(&'k str, T)]) -> Option<(T, Vec<(&'k str, T)>)> {
    let mut times: BTreeMap<T, usize> = BTreeMap::new();
    for (_, value) in values {
        *times.entry(*value).or_default() += 1;
    }
    let (usual, most) = times.iter().max_by_key(|(_, times)| **times)?;
    let odd: Vec<_> = values.iter().filter(|(_, value)| value != usual).copied().collect();
    (!odd.is_empty() && odd.len() * 2 < *most + odd.len()).then_some((*usual, odd))
}
