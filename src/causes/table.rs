//! All rows, what a log says by them, and the pattern that a host sifts its log with.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use regex::{Regex, RegexSet, RegexSetBuilder};

use super::cause::{Cause, Counts, Output, When};
use super::kernel::{disk, faults, gpu, memory, network, pcie, stalls, xid};
use super::message::{Message, messages};

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

/// Every row, those that are more special before those that are more general: the first that fits is meant.
pub static TABLE: LazyLock<Vec<&'static Cause>> = LazyLock::new(|| {
    let files = [
        xid::ROWS,
        gpu::ROWS,
        network::ROWS,
        pcie::ROWS,
        memory::ROWS,
        faults::ROWS,
        stalls::ROWS,
        disk::ROWS,
    ];
    files.into_iter().flatten().collect()
});

/// The row with this id.
pub fn find(id: &str) -> Option<&'static Cause> {
    TABLE.iter().copied().find(|cause| cause.id == id)
}

/// A sign with its words filled in.
fn filled(sign: &str) -> String {
    WORDS.iter().fold(sign.to_owned(), |text, (word, pattern)| text.replace(word, pattern))
}

struct Signs {
    set: RegexSet,
    each: Vec<Option<Regex>>,
}

static SIGNS: LazyLock<Option<Signs>> = LazyLock::new(|| {
    let patterns: Vec<String> = TABLE.iter().map(|cause| format!("^(?:{})", filled(cause.sign))).collect();
    let set = RegexSetBuilder::new(&patterns).size_limit(64 << 20).build().ok()?;
    Some(Signs { set, each: patterns.iter().map(|pattern| Regex::new(pattern).ok()).collect() })
});

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

/// A cause that a log tells of.
#[derive(Debug, Clone)]
pub struct Said<'a> {
    /// Its row.
    pub cause: &'static Cause,
    /// The line.
    pub line: &'a str,
    /// The message in it.
    pub text: &'a str,
    parts: BTreeMap<&'static str, &'a str>,
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

    /// Returns the words of a finding.
    pub fn says(&self) -> String {
        let fill = |text: String, (name, part): (&&str, &&str)| text.replace(&format!("{{{name}}}"), part);
        let is_told = |piece: &str| self.parts.keys().any(|name| piece.contains(&format!("{{{name}}}")));
        let pieces = self.cause.says.split(['[', ']']).enumerate();
        let told = pieces.filter(|(at, piece)| at.is_multiple_of(2) || is_told(piece));
        self.parts.iter().fold(told.map(|(_, piece)| piece).collect(), fill)
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
    let signs = SIGNS.as_ref()?;
    let index = signs.set.matches(message.text).iter().next()?;
    let (cause, sign) = (TABLE.get(index)?, signs.each.get(index)?.as_ref()?);
    let found = sign.captures(message.text)?;
    let named = sign.capture_names().flatten();
    let parts = named.filter_map(|name| Some((name, found.name(name)?.as_str()))).collect();
    Some(Said { cause, line: message.line, text: message.text, parts })
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
