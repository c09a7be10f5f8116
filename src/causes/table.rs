//! All rows, what a log says by them, and the pattern that a host sifts its log with.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use aho_corasick::AhoCorasick;
use regex::bytes::{Regex, RegexBuilder, RegexSet, RegexSetBuilder};

use super::cause::{Cause, Counts, Output, When};
use super::kernel::{disk, faults, gpu, memory, network, pcie, stalls, xid};
use super::message::{Message, message, messages};
use super::needles::needles;
use super::tools::{
    self, access, apptainer, builds, containers, cuda, dcgm, disks, firmware, general, kube, modules, mpi,
    munge, nccl, nvidia, packages, slurm, storage, system, torch, verbs,
};

/// Words that signs use: what they stand for.
const WORDS: &[(&str, &str)] = &[
    // At most 15 bytes; what is not printable is escaped.
    ("{comm}", r"(\\x[0-9a-f][0-9a-f]|.){1,15}"),
    // What a Xid has for it: 0000:8a:00, 0000:8a:00.0, and `...` where somebody took it out.
    ("{bus}", r"[0-9a-fA-F:.]+"),
    // 0000:8a:00.0, 0000:8a:00, and 8a:00.0 of long ago.
    ("{pci}", r"[0-9a-fA-F:]+[0-9a-fA-F](\.[0-7])?"),
    // A disk of the machine; what an account can have mounted (loop, fuse) is none.
    ("{disk}", r"(sd|hd|vd|xvd|nvme|dm-|md|mmcblk|pmem)[a-z0-9_/-]*"),
];

/// The rows of the kernel's log, those that are more special before those that are more general: the first that
/// fits is meant.
const KERNEL: &[&[Cause]] =
    &[xid::ROWS, gpu::ROWS, network::ROWS, pcie::ROWS, memory::ROWS, faults::ROWS, stalls::ROWS, disk::ROWS];

/// The rows of tools: programs of jobs before those of hosts, and words that any program prints last.
const TOOLS: &[&[Cause]] = &[
    tools::kernel::ROWS,
    tools::mlx5::ROWS,
    tools::fabric::ROWS,
    tools::gds::ROWS,
    nccl::ROWS,
    cuda::ROWS,
    torch::ROWS,
    verbs::ROWS,
    mpi::ROWS,
    tools::help_texts::ROWS,
    munge::ROWS,
    tools::steps::ROWS,
    slurm::ROWS,
    tools::oci::ROWS,
    tools::runtimes::ROWS,
    kube::ROWS,
    packages::ROWS,
    builds::ROWS,
    modules::ROWS,
    access::ROWS,
    apptainer::ROWS,
    containers::ROWS,
    firmware::ROWS,
    tools::bmc::ROWS,
    dcgm::ROWS,
    nvidia::ROWS,
    tools::shares::ROWS,
    disks::ROWS,
    storage::ROWS,
    system::ROWS,
    tools::network::ROWS,
    general::ROWS,
];

/// Every row.
pub static TABLE: LazyLock<Vec<&'static Cause>> =
    LazyLock::new(|| KERNEL.iter().chain(TOOLS).copied().flatten().collect());

/// The row with this id.
pub fn find(id: &str) -> Option<&'static Cause> {
    TABLE.iter().copied().find(|cause| cause.id == id)
}

/// A sign with its words filled in.
fn filled(sign: &str) -> String {
    WORDS.iter().fold(sign.to_owned(), |text, (word, pattern)| text.replace(word, pattern))
}

/// A pattern that is compiled when its row fits.
type Late = LazyLock<Option<Regex>, Box<dyn FnOnce() -> Option<Regex> + Send>>;

/// The signs of some rows as patterns. Most lines have no word of any of them; only those whose words a line has are
/// tried. One automaton of all would grow with each new line, as hundreds of them may begin at each place.
struct Signs {
    rows: Vec<&'static Cause>,
    /// The words that signs need.
    words: AhoCorasick,
    /// The rows that need each word.
    of_word: Vec<Vec<usize>>,
    /// The rows that need none.
    others: Vec<usize>,
    /// The patterns of these, as one.
    set_of_others: RegexSet,
    each: Vec<Late>,
}

impl Signs {
    fn new(rows: &[&'static [Cause]], pattern: fn(&Cause) -> String) -> Option<Self> {
        let rows: Vec<&'static Cause> = rows.iter().copied().flatten().collect();
        // Without Unicode: one letter beyond ASCII in a line would make its `\b` a hundred times slower. Patterns with
        // such letters keep it for themselves.
        let bytes = |one: String| {
            if one.is_ascii() { one } else { format!("(?u:{})", one.replace(r"\b", r"(?-u:\b)")) }
        };
        let patterns: Vec<String> = rows.iter().map(|cause| bytes(pattern(cause))).collect();
        let mut words: BTreeMap<Vec<u8>, Vec<usize>> = BTreeMap::new();
        let mut others = Vec::new();
        for (index, pattern) in patterns.iter().enumerate() {
            match needles(pattern) {
                Some(needed) => {
                    for word in needed {
                        words.entry(word).or_default().push(index);
                    }
                }
                None => others.push(index),
            }
        }
        let mut set = RegexSetBuilder::new(others.iter().filter_map(|index| patterns.get(*index)));
        let set_of_others = set.unicode(false).size_limit(256 << 20).dfa_size_limit(64 << 20).build().ok()?;
        let each = patterns.into_iter().map(|pattern| {
            let compile: Box<dyn FnOnce() -> Option<Regex> + Send> = Box::new(move || {
                RegexBuilder::new(&pattern).unicode(false).dfa_size_limit(256 << 10).build().ok()
            });
            LazyLock::new(compile)
        });
        Some(Self {
            words: AhoCorasick::new(words.keys()).ok()?,
            of_word: words.into_values().collect(),
            others,
            set_of_others,
            each: each.collect(),
            rows,
        })
    }

    /// The row of a text, with its parts: among those that fit, the first one whose role comes first.
    fn judge<'a>(&'static self, text: &'a str) -> Option<(&'static Cause, Parts<'a>)> {
        let by_word = self.words.find_overlapping_iter(text);
        let by_word = by_word.filter_map(|word| self.of_word.get(word.pattern().as_usize())).flatten();
        let by_sign = self.set_of_others.matches(text.as_bytes());
        let by_sign = by_sign.iter().filter_map(|index| self.others.get(index));
        let role = |index: usize| self.rows.get(index).map(|cause| cause.role);
        let tried: BTreeSet<_> = by_word.chain(by_sign).map(|index| (role(*index), *index)).collect();
        tried.into_iter().find_map(|(_, index)| {
            let (cause, sign) = (self.rows.get(index)?, self.each.get(index)?.as_ref()?);
            Some((*cause, parts(sign, text)?))
        })
    }
}

/// Named parts of a sign.
type Parts<'a> = BTreeMap<&'static str, &'a str>;

fn parts<'a>(sign: &'static Regex, text: &'a str) -> Option<Parts<'a>> {
    let found = sign.captures(text.as_bytes())?;
    let named = sign.capture_names().flatten();
    Some(named.filter_map(|name| Some((name, text.get(found.name(name)?.range())?))).collect())
}

static SIGNS: LazyLock<Option<Signs>> =
    LazyLock::new(|| Signs::new(KERNEL, |cause| format!("^(?:{})", filled(cause.sign))));

static TOOL_SIGNS: LazyLock<Option<Signs>> =
    LazyLock::new(|| Signs::new(TOOLS, |cause| cause.sign.to_owned()));

/// The extended expression that finds the lines of a log in which a sign of this output stands.
pub fn sift(output: Output, which: impl Fn(&Cause) -> bool) -> String {
    // What dmesg and journalctl print before a message. A later line of one stands behind the first, which has to be a
    // sign itself: nobody fills the log with lines that only look like it.
    const BEFORE: &str = r"^(\[[^]]*\] ?(\[ *[TC][0-9]+\] ?)?|[^ ]+ [^ ]+ kernel: )?";
    let of_this = TABLE.iter().filter(|cause| cause.output == output && is_needed(cause) && which(cause));
    let signs: Vec<String> = of_this.map(|cause| without_names(&filled(cause.sign))).collect();
    format!("{BEFORE}({})", signs.join("|"))
}

/// Whether a check makes something of a row. Of what is a note alone an account can cause as many lines as it likes, by
/// a job that reaches its own limit of memory.
fn is_needed(cause: &Cause) -> bool {
    let beside = |when: When| match when {
        When::Beside(ids) => ids.contains(&cause.id),
        When::Times(_) => false,
    };
    let names = |other: &&Cause| {
        other.ended_by.contains(&cause.id)
            || other.apart.iter().any(|apart| apart.beside.contains(&cause.id))
            || other.worse.iter().any(|worse| beside(worse.when))
    };
    cause.counts > Counts::Note || !cause.worse.is_empty() || cause.begins || TABLE.iter().any(names)
}

/// The same pattern without the names of its parts, which only the crate `regex` knows.
fn without_names(sign: &str) -> String {
    let mut parts = sign.split("(?<");
    let first = parts.next().unwrap_or("").to_owned();
    parts.fold(first, |text, part| text + "(" + part.split_once('>').map_or(part, |(_, rest)| rest))
}

/// Fills the parts of a sign into a text: `{name}`. A text in brackets is left out where one of its parts is not told.
pub(super) fn fill<'p>(text: &str, part: impl Fn(&str) -> Option<&'p str>) -> String {
    let mut filled = String::new();
    for (at, piece) in text.split(['[', ']']).enumerate() {
        let mut words = String::new();
        let mut pieces = piece.split('{');
        words.push_str(pieces.next().unwrap_or(""));
        let mut told = true;
        for piece in pieces {
            let (name, rest) = piece.split_once('}').unwrap_or((piece, ""));
            let part = part(name);
            told &= part.is_some();
            words.push_str(part.unwrap_or("it"));
            words.push_str(rest);
        }
        if at.is_multiple_of(2) || told {
            filled.push_str(&words);
        }
    }
    filled
}

/// A cause that a log tells of.
#[derive(Debug, Clone)]
pub struct Said<'a> {
    /// Its row.
    pub cause: &'static Cause,
    /// The line.
    pub line: &'a str,
    /// The message in it.
    pub text: &'a str,
    parts: Parts<'a>,
}

impl<'a> Said<'a> {
    /// A part of the sign.
    pub fn part(&self, name: &str) -> Option<&'a str> {
        self.parts.get(name).copied()
    }

    /// The device that it is about; empty where it is not told.
    pub fn device(&self) -> &'a str {
        self.part("device").unwrap_or("")
    }

    /// The parts of the sign with their names.
    pub fn parts(&self) -> impl Iterator<Item = (&'static str, &'a str)> {
        self.parts.iter().map(|(name, part)| (*name, *part))
    }

    /// Returns the words of a finding.
    pub fn says(&self) -> String {
        fill(self.cause.says, |name| self.part(name))
    }

    /// Returns its severity among all that is said.
    pub fn counts(&self, all: &[Said<'_>]) -> Counts {
        let same = |other: &&Said<'_>| other.cause.id == self.cause.id && other.device() == self.device();
        let holds = |when: When| match when {
            When::Beside(ids) => all.iter().any(|other| ids.contains(&other.cause.id)),
            When::Times(times) => all.iter().filter(same).count() >= times,
        };
        let worse = self.cause.worse.iter().filter(|worse| holds(worse.when)).map(|worse| worse.counts);
        worse.max().unwrap_or(self.cause.counts).max(self.cause.counts)
    }

    /// Returns the remedy, by what else is said.
    pub fn act(&self, all: &[Said<'_>]) -> &'static str {
        let is_said = |ids: &[&str]| all.iter().any(|other| ids.contains(&other.cause.id));
        let apart = self.cause.apart.iter().find(|apart| is_said(apart.beside));
        apart.map_or(self.cause.act, |apart| apart.act)
    }
}

/// The row of a message, with its parts.
fn judge<'a>(message: &Message<'a>) -> Option<Said<'a>> {
    let (cause, parts) = SIGNS.as_ref()?.judge(message.text)?;
    Some(Said { cause, line: message.line, text: message.text, parts })
}

/// The row of one line of any text, of the kernel or of a tool.
pub(super) fn judge_line(line: &str) -> Option<Said<'_>> {
    let text = message(line).unwrap_or(line).trim_start();
    let kernel = judge(&Message { line, text, head: None }).or_else(|| behind_prefix(line));
    let tool = || {
        let (cause, parts) = TOOL_SIGNS.as_ref()?.judge(line)?;
        Some(Said { cause, line, text: line.trim(), parts })
    };
    // What is a note for a host may be what ended a job.
    match kernel {
        Some(said) if said.cause.counts > Counts::Note => Some(said),
        kernel => tool().or(kernel),
    }
}

/// Words that lines of the kernel's log begin with.
static SPEAKERS: LazyLock<Option<AhoCorasick>> = LazyLock::new(|| {
    const WORDS: &[&str] = &[
        "NVRM",
        "nvidia",
        "mlx5_",
        "SXid",
        "bnxt",
        "irdma",
        "ice ",
        "ena ",
        "efa",
        "ionic",
        "infiniband",
        "Out of memory",
        "oom-kill",
        "Memory cgroup",
        "EDAC",
        "mce:",
        "Hardware Error",
        "BUG:",
        "rcu",
        "watchdog",
        "INFO: task",
        "nvme",
        "I/O error",
        "EXT4-fs",
        "XFS",
        "BTRFS",
        "md/raid",
        "pcieport",
        "AER",
        "DMAR",
        "AMD-Vi",
        "thermal",
        "CPU",
        "LustreError",
        "nfs:",
        "nf_conntrack",
        "neighbour",
        "NETDEV WATCHDOG",
    ];
    AhoCorasick::new(WORDS).ok()
});

/// Most places of a line at which a message may begin.
const STARTS: usize = 16;

/// The row of a message of the kernel behind a prefix that nobody knows: of pdsh, of a container runtime, of a page.
fn behind_prefix(line: &str) -> Option<Said<'_>> {
    if !SPEAKERS.as_ref()?.is_match(line) {
        return None;
    }
    let starts = line.match_indices([' ', '`', '"', '>', ':']).map(|(at, _)| at + 1);
    let texts = starts
        .filter_map(|at| line.get(at..))
        .filter(|text| text.starts_with(|c: char| c.is_ascii_alphanumeric()));
    texts.take(STARTS).find_map(|text| judge(&Message { line, text, head: None }))
}

/// Reads the signs in these lines of the kernel's log: a row for each message that is a sign. Signs that were
/// taken back later are left out.
///
/// A later line of a message counts only where the first one is a sign that has such lines, of the same
/// speaker: any account can name a program so that it looks like one.
pub fn read<'a>(lines: impl IntoIterator<Item = &'a str>) -> Vec<Said<'a>> {
    let mut said: Vec<Said<'a>> = Vec::new();
    for message in messages(lines) {
        let mut device = None;
        if let Some(head) = message.head {
            let speaker = |text: &str| text.split(' ').next().map(str::to_owned);
            let first = judge(&Message { line: message.line, text: head, head: None });
            let is_of_it = |first: &Said<'_>| first.cause.begins && speaker(head) == speaker(message.text);
            let Some(first) = first.filter(is_of_it) else { continue };
            device = first.part("device");
        }
        let Some(mut found) = judge(&message) else { continue };
        if let (Some(device), None) = (device, found.part("device")) {
            found.parts.insert("device", device);
        }
        let ends = |earlier: &Said<'_>| {
            let of_all = found.part("device").is_none() || found.part("all").is_some();
            earlier.cause.ended_by.contains(&found.cause.id) && (of_all || earlier.device() == found.device())
        };
        said.retain(|earlier| !ends(earlier));
        said.push(found);
    }
    said
}
