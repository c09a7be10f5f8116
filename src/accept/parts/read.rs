//! The text that a host printed, read to parts.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;

use super::gathered::{Counter, Event, Gathered};
use super::text::{Sections, address, word, words};
use super::{board, card, gpu};
use crate::accept::record::{Part, PartKind, Record};

/// Parts of one host at one moment.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct HostParts {
    /// Name of the host.
    pub host: String,
    /// The moment at which it was asked.
    pub at: Timestamp,
    /// Parts in a stable order. A cable with two ends in the host is there twice.
    pub parts: Vec<Part>,
    /// Numbers that parts keep.
    pub counters: Vec<Counter>,
    /// Lines of the kernel about parts since the start.
    pub events: Vec<Event>,
    /// Versions by name: kernel, driver, firmware.
    pub versions: BTreeMap<String, String>,
    /// Kinds of which something may be missing.
    pub unread: BTreeSet<PartKind>,
    /// Sentences about what cannot be followed and what could not be read.
    pub notes: Vec<String>,
}

/// Reads what `parts.sh` printed on a host.
///
/// # Errors
/// When its end is missing.
pub fn read(host: &str, at: Timestamp, text: &str) -> Result<HostParts, String> {
    let sections = Sections::read(text)?;
    let mut gathered = Gathered {
        host,
        parts: Vec::new(),
        counters: BTreeMap::new(),
        versions: BTreeMap::new(),
        notes: Vec::new(),
    };
    let machine = board::board(&mut gathered, &sections);
    board::memory(&mut gathered, &sections, &machine);
    // Keys by address and by name, for what is said of them elsewhere.
    let mut known = gpu::gpus(&mut gathered, &sections);
    let gpus = known.clone();
    known.append(&mut card::cards(&mut gathered, &sections));
    known.append(&mut board::disks(&mut gathered, &sections));
    gathered.bus_errors(&known, &sections);
    let events = events(&sections, &machine, &gpus, &known);
    let mut unread = unread(&sections);
    let is_root = sections.lines("system").contains(&"user:0");
    if !is_root {
        gathered.notes.push("it was not root that asked: serial numbers are missing".to_owned());
        unread.extend([PartKind::Board, PartKind::Nic, PartKind::Cable, PartKind::Memory]);
    }
    for (name, why) in sections.failed() {
        gathered.notes.push(format!("{}: {why}", word(name)));
    }
    gathered.parts.sort();
    Ok(HostParts {
        host: host.to_owned(),
        at,
        parts: gathered.parts,
        counters: gathered
            .counters
            .into_iter()
            .map(|((part, name), value)| Counter { part, name, value })
            .collect(),
        events,
        versions: gathered
            .versions
            .into_iter()
            .map(|(name, versions)| (name, versions.into_iter().collect::<Vec<_>>().join(", ")))
            .collect(),
        unread,
        notes: gathered.notes,
    })
}

/// All kinds of parts.
const KINDS: [PartKind; 6] =
    [PartKind::Board, PartKind::Gpu, PartKind::Nic, PartKind::Cable, PartKind::Memory, PartKind::Disk];

/// Returns the hosts of a record with the parts that they had. Kinds of which a host has none were not read then.
pub fn of_record(record: &Record) -> Vec<HostParts> {
    let seen = record.hosts.iter().filter(|(_, host)| !host.parts.is_empty());
    seen.map(|(name, host)| {
        let has = |kind: &PartKind| host.parts.iter().any(|part| part.kind == *kind);
        HostParts {
            host: name.clone(),
            at: record.began,
            parts: host.parts.clone(),
            versions: host.software.clone(),
            unread: KINDS.into_iter().filter(|kind| !has(kind)).collect(),
            ..HostParts::default()
        }
    })
    .collect()
}

/// Kinds of which a section is missing or not whole.
fn unread(sections: &Sections<'_>) -> BTreeSet<PartKind> {
    [
        ("system", PartKind::Board),
        ("gpus", PartKind::Gpu),
        ("cards", PartKind::Nic),
        ("vpd", PartKind::Nic),
        ("cables", PartKind::Cable),
        ("memory", PartKind::Memory),
        ("disks", PartKind::Disk),
    ]
    .into_iter()
    .filter(|(name, _)| !sections.is_whole(name))
    .map(|(_, kind)| kind)
    .collect()
}

/// Lines of the kernel about parts.
fn events(
    sections: &Sections<'_>,
    machine: &str,
    gpus: &BTreeMap<String, String>,
    known: &BTreeMap<String, String>,
) -> Vec<Event> {
    let boot = sections
        .lines("system")
        .iter()
        .find_map(|line| line.strip_prefix("/proc/sys/kernel/random/boot_id:"))
        .map_or_else(String::new, |boot| words(boot, 36));
    let mut events = Vec::new();
    for line in sections.lines("events") {
        // `[   12.345678] NVRM: ...`, or with `host kernel: ` between.
        let Some((stamp, text)) = line.trim_start().strip_prefix('[').and_then(|rest| rest.split_once(']'))
        else {
            continue;
        };
        let Some((part, name, text)) = xid(text, gpus)
            .or_else(|| Some((machine.to_owned(), "sxid".to_owned(), text.split_once("SXid")?.1)))
            .or_else(|| card_event(text, known))
        else {
            continue;
        };
        let moment = format!("{boot} {}", words(stamp, 20)).trim().to_owned();
        events.push(Event { part, name, moment, text: words(text, 160) });
    }
    events.sort();
    events.dedup();
    events
}

/// The part, name and text of `NVRM: Xid (PCI:0000:8a:00): 79, pid=...`; older drivers leave `PCI:` out.
fn xid<'t>(text: &'t str, gpus: &BTreeMap<String, String>) -> Option<(String, String, &'t str)> {
    let (at, rest) = text.split_once("NVRM: Xid (")?.1.split_once("): ")?;
    let (number, text) = rest.split_once(", ").unwrap_or((rest, ""));
    let number: u32 = number.trim().parse().ok()?;
    let address = address(&format!("{}.0", at.trim_start_matches("PCI:")))?;
    let part = gpus.get(&address)?;
    Some((part.clone(), format!("xid {number}"), text))
}

/// The same of `mlx5_core 0000:18:00.0: Port module event: module 0, Cable unplugged`.
fn card_event<'t>(text: &'t str, known: &BTreeMap<String, String>) -> Option<(String, String, &'t str)> {
    let (_, rest) = text.split_once("mlx5_core ")?;
    let (at, text) = rest.split_once(' ')?;
    let part = known.get(&address(at.trim_end_matches(':'))?)?;
    let name = if text.contains("health compromised") { "card fault" } else { "module event" };
    Some((part.clone(), name.to_owned(), text.trim_start_matches(':').trim_start()))
}
