//! The bundle that a vendor asks for before it takes a part back: which commands to run on the host, and a cover page.

use jiff::Timestamp;

use super::changes::{day, had, had_in};
use super::gathered::MACHINE;
use super::ledger::{History, Ledger, Told};
use super::read::HostParts;
use super::text::{word, words};
use crate::accept::record::{Finding, Part, PartKind};

/// Page of NVIDIA that says what a request for a return has to have.
const PROCESS: &str = "https://docs.nvidia.com/deploy/rma-process/index.html (vR525, 2023-03-15)";
/// Page of NVIDIA that says how long its report takes and what to do when it hangs.
const REPORT: &str = "https://docs.nvidia.com/deploy/xid-errors/working-with-xid-errors.html";
/// Seconds that a command has.
const LIMIT: u32 = 60;

/// The reason for a bundle.
#[derive(Debug, Clone, Copy)]
pub struct Request<'r> {
    /// Name of the cluster.
    pub cluster: &'r str,
    /// The moment at which it is made.
    pub at: Timestamp,
    /// The host, as it was read now.
    pub host: &'r HostParts,
    /// The ledger of the cluster.
    pub ledger: &'r Ledger,
    /// Findings of the last acceptance run about it.
    pub findings: &'r [Finding],
    /// Key of the part that is to go back; `None` where all that something speaks against are meant.
    pub part: Option<&'r str>,
}

/// One file of the bundle.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Item {
    /// Its name in the archive.
    pub name: String,
    /// Its content.
    pub content: Content,
}

/// The content of a file of a bundle.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Content {
    /// Text that is known here.
    Text(String),
    /// The output of a command on the host, as root. It changes nothing; one that is not installed leaves the file out.
    Output {
        /// Program and arguments.
        command: Vec<String>,
        /// Seconds that it has.
        limit: u32,
        /// Words of which a line must have one to be kept; empty where all lines are.
        keep: Vec<String>,
    },
}

/// Names of files, and the commands for them, with the words to keep.
const COMMANDS: &[(&str, &[&str], &[&str])] = &[
    ("nvidia-smi-q.txt", &["nvidia-smi", "-q"], &[]),
    ("nvidia-smi-nvlink-errors.txt", &["nvidia-smi", "nvlink", "-e"], &[]),
    ("nvidia-smi-nvlink-status.txt", &["nvidia-smi", "nvlink", "-s"], &[]),
    ("nvidia-smi-topology.txt", &["nvidia-smi", "topo", "-m"], &[]),
    (
        "kernel-log.txt",
        &["journalctl", "-k", "-b", "--no-pager", "-q", "-o", "short-iso"],
        &["NVRM", "Xid", "nvidia-nvswitch", "mlx5_core", "AER:", "EDAC", "mce:", "nvme"],
    ),
    (
        "kernel-log-before.txt",
        &["journalctl", "-k", "-b", "-1", "--no-pager", "-q", "-o", "short-iso"],
        &["NVRM", "Xid", "nvidia-nvswitch", "mlx5_core", "AER:", "EDAC", "mce:", "nvme"],
    ),
    // Where there is no journal.
    (
        "dmesg.txt",
        &["dmesg"],
        &["NVRM", "Xid", "nvidia-nvswitch", "mlx5_core", "AER:", "EDAC", "mce:", "nvme"],
    ),
    ("lspci.txt", &["lspci", "-D", "-nn", "-vvv"], &[]),
    ("dmidecode.txt", &["dmidecode"], &[]),
];

/// Returns the files of a bundle: the cover page first.
pub fn plan(request: &Request<'_>) -> Vec<Item> {
    let parts = chosen(request);
    let mut items = vec![
        Item { name: "README.txt".to_owned(), content: Content::Text(cover(request, &parts)) },
        Item { name: "history.txt".to_owned(), content: Content::Text(histories(request, &parts)) },
    ];
    let owned = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect();
    items.extend(COMMANDS.iter().map(|(name, command, keep)| Item {
        name: (*name).to_owned(),
        content: Content::Output { command: owned(command), limit: LIMIT, keep: owned(keep) },
    }));
    items
}

/// Returns the lines of a command's output that are kept.
pub fn kept(text: &str, keep: &[String]) -> String {
    let is_kept = |line: &&str| keep.is_empty() || keep.iter().any(|word| line.contains(word.as_str()));
    text.lines().filter(is_kept).map(|line| format!("{line}\n")).collect::<Vec<_>>().concat()
}

/// Parts that are meant.
fn chosen<'r>(request: &Request<'r>) -> Vec<&'r Part> {
    let is_meant = |part: &&Part| match request.part {
        Some(key) => part.key == key,
        None => {
            request.findings.iter().any(|finding| finding.part == part.key)
                || had(&part.key, request.host).is_some()
        }
    };
    request.host.parts.iter().filter(is_meant).collect()
}

/// The text of the cover page.
fn cover(request: &Request<'_>, parts: &[&Part]) -> String {
    let host = word(&request.host.host);
    let mut lines = vec![
        format!("Return of parts of host {host} of cluster {}", word(request.cluster)),
        format!("Made {} by provision", request.at.strftime("%Y-%m-%d %H:%M UTC")),
        String::new(),
    ];
    lines.push("Parts".to_owned());
    if parts.is_empty() {
        lines.push("  Nothing speaks against a part of this host: name the one that is meant.".to_owned());
    }
    for part in parts {
        lines.push(format!("  {}", line_of(part)));
        lines.extend(had(&part.key, request.host).map(|had| format!("    now: {had}")));
        for finding in request.findings.iter().filter(|finding| finding.part == part.key) {
            lines.push(format!("    found: {}", words(&finding.text, 300)));
        }
    }
    lines.extend([String::new(), "Machine".to_owned()]);
    let boards = request.host.parts.iter().filter(|part| part.kind == PartKind::Board);
    for part in boards {
        let what = if part.place == MACHINE { "machine" } else { part.place.as_str() };
        lines.push(format!("  {what}: {} ({})", word(&part.key), or_unknown(&part.model)));
    }
    for (name, version) in &request.host.versions {
        lines.push(format!("  {}: {}", word(name), words(version, 160)));
    }
    lines.extend([String::new(), "Files, and the commands that were run as root on the host".to_owned()]);
    lines.push("  history.txt: what the ledger of the cluster has of these parts".to_owned());
    for (name, command, keep) in COMMANDS {
        let only = if keep.is_empty() { String::new() } else { format!(", lines with {}", keep.join(", ")) };
        lines.push(format!("  {name}: {}{only}", command.join(" ")));
    }
    lines.push("  A file is missing where its program is not installed or did not answer.".to_owned());
    lines.extend([String::new(), "Not in it: run these by hand".to_owned()]);
    if parts.is_empty() || parts.iter().any(|part| part.kind == PartKind::Gpu) {
        lines.extend(nvidia(&host).into_iter().map(|line| format!("  {line}")));
    } else {
        lines.push("  What the maker of the part asks for beside this.".to_owned());
    }
    lines.extend([
        String::new(),
        "Before it is sent".to_owned(),
        "  It has serial numbers, names of hosts, addresses of the bus, and names of programs and".to_owned(),
        "  accounts that used GPUs. Who gets it learns them.".to_owned(),
        "  A host says these things of itself: compare serial numbers with the labels.".to_owned(),
    ]);
    lines.extend(request.host.notes.iter().map(|note| format!("  Not known: {}", words(note, 200))));
    lines.push(String::new());
    lines.join("\n")
}

/// Lines about all that NVIDIA asks for and only root's own tools make.
fn nvidia(host: &str) -> Vec<String> {
    vec![
        format!("On {host}, as root, in a directory that only root can enter:"),
        "  nvidia-bug-report.sh".to_owned(),
        "NVIDIA's process asks for it, made as soon as the fault was seen.".to_owned(),
        "It writes nvidia-bug-report.log.gz there, and takes up to an hour. Where it hangs:".to_owned(),
        "  nvidia-bug-report.sh --safe-mode --extra-system-data".to_owned(),
        "Keep what the first one left; after a power cycle run it once more, and send both.".to_owned(),
        "Its Field Diagnostic is a part of that process: ask the seller of the machine for it.".to_owned(),
        format!("Sources: {PROCESS};"),
        format!("  {REPORT}"),
    ]
}

fn or_unknown(text: &str) -> String {
    if text.is_empty() { "model not known".to_owned() } else { word(text) }
}

fn line_of(part: &Part) -> String {
    format!("{}, {}, at {}", words(&part.key, 240), or_unknown(&part.model), word(&part.place))
}

/// The histories of parts in the ledger.
fn histories(request: &Request<'_>, parts: &[&Part]) -> String {
    let mut lines = Vec::new();
    for part in parts {
        lines.push(line_of(part));
        match request.ledger.parts.get(&part.key) {
            Some(history) => lines.extend(history_lines(history).into_iter().map(|line| format!("  {line}"))),
            None => lines.push("  the ledger does not know it".to_owned()),
        }
        lines.push("  now".to_owned());
        for counter in request.host.counters.iter().filter(|counter| counter.part == part.key) {
            lines.push(format!("    {}: {}", counter.name, counter.value));
        }
        lines.push(String::new());
    }
    if parts.is_empty() {
        lines.push("no part\n".to_owned());
    }
    lines.join("\n")
}

/// The history of a part in lines: where it was, what it did, what was said of it.
pub fn history_lines(history: &History) -> Vec<String> {
    let mut lines = Vec::new();
    for stay in &history.stays {
        let until = if stay.is_there { "now".to_owned() } else { day(stay.until) };
        let had = had_in(history, stay).map_or_else(String::new, |had| format!(": {had}"));
        lines.push(format!("{} to {until} in {} ({}){had}", day(stay.since), stay.host, stay.place));
    }
    for (name, points) in &history.figures {
        for point in points {
            lines.push(format!("{} {name} {} {} in {}", day(point.at), point.value, point.unit, point.host));
        }
    }
    for past in &history.events {
        let Told { name, moment, text } = &past.told;
        lines.push(format!("{} {name} in {} ({moment}): {text}", day(past.at), past.host));
    }
    lines
}
