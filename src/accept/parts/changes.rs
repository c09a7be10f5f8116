//! Parts that were swapped, replaced, moved and taken between two moments, by serial numbers.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;

use super::gathered::{MACHINE, can_be_followed, name_of, noun};
use super::ledger::{History, Ledger, Stay};
use super::read::HostParts;
use super::text::word;
use crate::accept::record::PartKind;

/// One thing that is not as it was.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// Hosts that it is about.
    pub hosts: Vec<String>,
    /// Kind of part.
    pub kind: PartKind,
    /// Keys of the parts: the one that is there now, or that is gone; then the one that was there.
    pub parts: Vec<String>,
    /// Kind of change.
    pub what: ChangeKind,
    /// A sentence.
    pub text: String,
}

/// Ways in which parts change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ChangeKind {
    /// A machine has the name of another one now.
    Renamed,
    /// A host was not there before.
    NewHost,
    /// Two hosts say that they have the same part.
    Twice,
    /// Two parts of two hosts stand in each other's host.
    Swapped,
    /// Another part stands in a place.
    Replaced,
    /// A part stands where none was.
    New,
    /// A part stands in another place of its host.
    Moved,
    /// Nothing stands where a part was.
    Gone,
}

/// A counter that is higher than before.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Grown {
    /// Key of the part.
    pub part: String,
    /// Name of the counter.
    pub name: String,
    /// Its value before.
    pub before: u64,
    /// Its value now.
    pub now: u64,
}

/// A part in a place.
type Spot<'p> = (PartKind, &'p str, &'p str);

/// A host before.
struct Before<'p> {
    /// The name that its machine has now.
    label: String,
    /// The name that it had.
    name: &'p str,
    parts: &'p HostParts,
}

/// Hosts and places of each part, by kind and key. Of hosts before it is their number.
type Spots<'p, H> = BTreeMap<(PartKind, &'p str), Vec<(H, &'p str)>>;

/// All that the sentences are made from.
struct All<'p> {
    before: Vec<Before<'p>>,
    labels: BTreeMap<String, usize>,
    after: BTreeMap<&'p str, &'p HostParts>,
    old: Spots<'p, usize>,
    new: Spots<'p, &'p str>,
    ledger: &'p Ledger,
}

/// A part that was in one host and is in another.
struct Move<'p> {
    kind: PartKind,
    key: &'p str,
    from: (&'p str, &'p str),
    to: (&'p str, &'p str),
}

/// Returns what changed from hosts before to hosts after. Hosts that were not asked again, and kinds that were not seen
/// whole, are left out. The ledger says where a part was earlier; it may be empty.
pub fn changes(before: &[HostParts], after: &[HostParts], ledger: &Ledger) -> Vec<Change> {
    let (all, mut found) = All::of(before, after, ledger);
    found.extend(all.twice());
    let (swaps, swapped) = all.swaps();
    found.extend(swaps);
    for (name, host) in &all.after {
        found.extend(all.of_host(name, host, &swapped));
    }
    found
}

/// Returns counters of parts that are higher after than before, on the same host.
pub fn grown(before: &HostParts, after: &HostParts) -> Vec<Grown> {
    let old: BTreeMap<(&str, &str), u64> = before
        .counters
        .iter()
        .map(|counter| ((counter.part.as_str(), counter.name.as_str()), counter.value))
        .collect();
    let grown = after.counters.iter().filter_map(|counter| {
        let before = *old.get(&(counter.part.as_str(), counter.name.as_str()))?;
        let (part, name) = (counter.part.clone(), counter.name.clone());
        (counter.value > before).then_some(Grown { part, name, before, now: counter.value })
    });
    grown.collect()
}

/// Returns one sentence for each host and kind: `3 GPUs of gpu17 were swapped since acceptance`.
pub fn summary(changes: &[Change], since: &str) -> Vec<String> {
    let mut counts: BTreeMap<(&str, PartKind, (&str, &str)), usize> = BTreeMap::new();
    for change in changes {
        // For one, and for several.
        let what = match change.what {
            ChangeKind::Swapped | ChangeKind::Replaced => ("was swapped", "were swapped"),
            ChangeKind::New => ("was added", "were added"),
            ChangeKind::Gone => ("was taken", "were taken"),
            ChangeKind::Moved => ("changed its place", "changed their places"),
            ChangeKind::Renamed | ChangeKind::NewHost | ChangeKind::Twice => continue,
        };
        for host in &change.hosts {
            *counts.entry((host, change.kind, what)).or_default() += 1;
        }
    }
    counts
        .into_iter()
        .map(|((host, kind, (one, several)), count)| match count {
            1 => format!("1 {} of {host} {one} since {since}", name_of(kind)),
            _ => format!("{count} {}s of {host} {several} since {since}", name_of(kind)),
        })
        .collect()
}

impl<'p> All<'p> {
    fn of(before: &'p [HostParts], after: &'p [HostParts], ledger: &'p Ledger) -> (Self, Vec<Change>) {
        let after: BTreeMap<&str, &HostParts> = after.iter().map(|host| (host.host.as_str(), host)).collect();
        // Makers that give all machines one number tell none from another.
        let (now, then) = (machines(after.values().copied()), machines(before));
        let machines: BTreeMap<&str, &str> = now
            .into_iter()
            .filter(|(machine, _)| then.get(machine).is_some_and(Option::is_some))
            .filter_map(|(machine, host)| Some((machine, host?)))
            .collect();
        let mut new: Spots<'_, &str> = BTreeMap::new();
        for (name, host) in &after {
            for part in host.parts.iter().filter(|part| can_be_followed(&part.key)) {
                new.entry((part.kind, &part.key)).or_default().push((name, &part.place));
            }
        }
        let (labels, old) = (BTreeMap::new(), BTreeMap::new());
        let mut all = Self { before: Vec::new(), labels, after, old, new, ledger };
        let mut found = Vec::new();
        for host in before {
            // A machine that was given another name keeps its parts.
            let now = machine(host).and_then(|machine| machines.get(machine)).copied();
            let label = match now {
                Some(now) => now.to_owned(),
                // Its name went to another machine.
                None if machines.values().any(|name| *name == host.host) => format!("{} before", host.host),
                None => host.host.clone(),
            };
            if label != host.host && now.is_some() {
                let machine = machine(host).unwrap_or_default();
                let text = format!(
                    "{label}: this machine ({}) was {} until {}",
                    number_of(PartKind::Board, machine),
                    host.host,
                    day(host.at)
                );
                let hosts = vec![label.clone()];
                let parts = vec![machine.to_owned()];
                found.push(Change { hosts, kind: PartKind::Board, parts, what: ChangeKind::Renamed, text });
            }
            for part in &host.parts {
                all.old.entry((part.kind, &part.key)).or_default().push((all.before.len(), &part.place));
            }
            all.labels.insert(label.clone(), all.before.len());
            all.before.push(Before { label, name: &host.host, parts: host });
        }
        for name in all.after.keys() {
            if !all.labels.contains_key(*name) && !all.before.is_empty() {
                let text = format!("{name}: this host was not there before");
                let hosts = vec![(*name).to_owned()];
                let kind = PartKind::Board;
                found.push(Change { hosts, kind, parts: Vec::new(), what: ChangeKind::NewHost, text });
            }
        }
        (all, found)
    }

    /// Returns a host before by the name that its machine has now.
    fn before(&self, label: &str) -> Option<&Before<'p>> {
        self.labels.get(label).and_then(|index| self.before.get(*index))
    }

    /// Whether a part was in a host of now before.
    fn was_in(&self, kind: PartKind, key: &str, host: &str) -> bool {
        let index = self.labels.get(host);
        self.old.get(&(kind, key)).is_some_and(|spots| spots.iter().any(|(before, _)| Some(before) == index))
    }

    /// Parts that two hosts have now: one of them lies, or a serial number was written twice.
    fn twice(&self) -> Vec<Change> {
        let mut found = Vec::new();
        for ((kind, key), spots) in &self.new {
            let hosts: BTreeSet<&str> = spots.iter().map(|(host, _)| *host).collect();
            // Cards of several hosts, both ends of a cable and a chassis of several machines are rightly there twice.
            if matches!(kind, PartKind::Gpu | PartKind::Memory) && hosts.len() > 1 {
                let hosts: Vec<String> = hosts.into_iter().map(str::to_owned).collect();
                let (names, part) = (hosts.join(", "), part_of(*kind, key));
                let text = format!("{names}: {part} is told by each of them, and can be in one");
                let parts = vec![(*key).to_owned()];
                found.push(Change { hosts, kind: *kind, parts, what: ChangeKind::Twice, text });
            }
        }
        found
    }

    /// Parts that were in one host and are in another one now, each in one place.
    fn moves(&self) -> Vec<Move<'p>> {
        let mut moves = Vec::new();
        for ((kind, key), to) in &self.new {
            let from = self.old.get(&(*kind, *key)).map_or(&[][..], Vec::as_slice);
            let ([(index, place)], [to]) = (from, to.as_slice()) else { continue };
            let Some(before) = self.before.get(*index) else { continue };
            let name = self.after.get_key_value(before.label.as_str()).map_or(before.name, |(name, _)| name);
            if name != to.0 {
                moves.push(Move { kind: *kind, key, from: (name, place), to: *to });
            }
        }
        moves
    }

    /// Pairs of parts that stand in each other's host, and their keys.
    fn swaps(&self) -> (Vec<Change>, BTreeSet<&'p str>) {
        let moves = self.moves();
        let mut swapped: BTreeSet<&str> = BTreeSet::new();
        let mut found = Vec::new();
        // First those that stand in each other's very place.
        for is_exact in [true, false] {
            for (index, one) in moves.iter().enumerate() {
                if swapped.contains(one.key) {
                    continue;
                }
                let is_other = |other: &&Move<'_>| {
                    other.kind == one.kind
                        && !swapped.contains(other.key)
                        && if is_exact {
                            other.from == one.to && other.to == one.from
                        } else {
                            other.from.0 == one.to.0 && other.to.0 == one.from.0
                        }
                };
                let Some(other) = moves.iter().skip(index + 1).find(is_other) else { continue };
                swapped.extend([one.key, other.key]);
                found.push(self.swap(one, other));
            }
        }
        found.sort_by(|one, other| one.hosts.cmp(&other.hosts));
        (found, swapped)
    }

    fn swap(&self, one: &Move<'p>, other: &Move<'p>) -> Change {
        let (one, other) = if one.from.0 <= other.from.0 { (one, other) } else { (other, one) };
        let kind = one.kind;
        let mut text = vec![format!(
            "{} and {}: {} and {} were swapped: {} is now{} of {}, {} is now{} of {}",
            one.from.0,
            other.from.0,
            part_of(kind, one.key),
            part_of(kind, other.key),
            number_of(kind, one.key),
            standing(kind, one.to.1),
            one.to.0,
            number_of(kind, other.key),
            standing(kind, other.to.1),
            other.to.0,
        )];
        for part in [one, other] {
            let before = self.before(part.from.0);
            if let Some(had) = before.and_then(|before| had(part.key, before.parts)) {
                text.push(format!("{} had {had} in {}", number_of(kind, part.key), part.from.0));
            }
        }
        Change {
            hosts: vec![one.from.0.to_owned(), other.from.0.to_owned()],
            kind,
            parts: vec![one.key.to_owned(), other.key.to_owned()],
            what: ChangeKind::Swapped,
            text: text.join("; "),
        }
    }

    fn of_host(&self, name: &str, host: &'p HostParts, swapped: &BTreeSet<&str>) -> Vec<Change> {
        let before = self.before(name);
        let old: BTreeSet<Spot<'_>> = before.map(|before| spots(before.parts)).unwrap_or_default();
        let new = spots(host);
        let is_unread_before = |kind| before.is_some_and(|before| before.parts.unread.contains(&kind));
        let mut leavers: Vec<Spot<'_>> =
            old.difference(&new).filter(|(_, key, _)| !swapped.contains(key)).copied().collect();
        let mut found = Vec::new();
        let mut newcomers: Vec<Spot<'_>> =
            new.difference(&old).filter(|(_, key, _)| !swapped.contains(key)).copied().collect();
        newcomers.sort_by_key(|(kind, key, place)| (*kind, *place, *key));
        leavers.sort_by_key(|(kind, key, place)| (*kind, *place, *key));
        let mut rest = Vec::new();
        for spot in newcomers {
            let (kind, key, place) = spot;
            // The same part in another place of the host.
            if let Some(index) = leavers.iter().position(|other| (other.0, other.1) == (kind, key)) {
                let (_, _, from) = leavers.remove(index);
                if can_be_followed(key) {
                    let text = format!("{name}: {} moved from {from} to {place}", part_of(kind, key));
                    found.push(change(name, kind, &[key], ChangeKind::Moved, text));
                }
            } else {
                rest.push(spot);
            }
        }
        for (kind, key, place) in rest {
            let index = leavers.iter().position(|other| (other.0, other.2) == (kind, place));
            let gone = index.map(|index| leavers.remove(index).1);
            if gone.is_some_and(|gone| form(gone) != form(key)) || !can_be_followed(key) {
                // A serial number that could be read one time only is no other part.
                continue;
            }
            let origin = self.origin(name, kind, key);
            if let Some(gone) = gone {
                let (new, old) = (number_of(kind, key), number_of(kind, gone));
                let mut text =
                    vec![format!("{name}: {}{} was replaced by {new}", part_of(kind, gone), at(kind, place))];
                text.extend(origin.map(|origin| format!("{new} {origin}")));
                text.extend(self.now(name, kind, gone).map(|now| format!("{old} is now{now}")));
                found.push(change(name, kind, &[key, gone], ChangeKind::Replaced, text.join("; ")));
                continue;
            }
            // Of a kind or a host that was not seen before nothing is new, unless it was somewhere else.
            let is_first = before.is_none() || is_unread_before(kind);
            if is_first && origin.is_none() {
                continue;
            }
            let origin = origin.map_or("it was not seen before".to_owned(), |origin| format!("it {origin}"));
            let text = format!("{name}: {}{} is new here; {origin}", part_of(kind, key), at(kind, place));
            found.push(change(name, kind, &[key], ChangeKind::New, text));
        }
        // What was not seen whole may still be there.
        leavers.retain(|(kind, key, _)| can_be_followed(key) && !host.unread.contains(kind));
        for (kind, key, place) in leavers {
            let now = self.now(name, kind, key).map_or_else(String::new, |now| format!("; it is now{now}"));
            // An empty cage and one that cannot be read look the same.
            let gone = if kind == PartKind::Cable { "gone, or does not answer" } else { "gone" };
            let text = format!("{name}: {}{} is {gone}{now}", part_of(kind, key), at(kind, place));
            found.push(change(name, kind, &[key], ChangeKind::Gone, text));
        }
        found
    }

    /// The host that a part was in before it came to another: `was in gpu04 until 2026-11-02 and had 2 remapped rows there`.
    fn origin(&self, here: &str, kind: PartKind, key: &str) -> Option<String> {
        let spots = self.old.get(&(kind, key)).map_or(&[][..], Vec::as_slice);
        let mut others = spots.iter().filter_map(|(index, _)| self.before.get(*index));
        let before = others.find(|before| before.label != here && !self.stays(kind, key, &before.label));
        let (host, until, had) = if let Some(before) = before {
            (before.name, before.parts.at, had(key, before.parts))
        } else {
            let history = self.ledger.parts.get(key)?;
            let others = history.stays.iter().filter(|stay| stay.host != here);
            let stay =
                others.filter(|stay| !self.stays(kind, key, &stay.host)).max_by_key(|stay| stay.until)?;
            (stay.host.as_str(), stay.until, had_in(history, stay))
        };
        let had = had.map_or_else(String::new, |had| format!(" and had {had} there"));
        Some(format!("was in {host} until {}{had}", day(until)))
    }

    /// Whether a part that may be in two hosts, as a cable with its two ends, is in a host now.
    fn stays(&self, kind: PartKind, key: &str, host: &str) -> bool {
        let spots = self.new.get(&(kind, key)).map_or(&[][..], Vec::as_slice);
        matches!(kind, PartKind::Cable | PartKind::Nic | PartKind::Board)
            && spots.iter().any(|(other, _)| *other == host)
    }

    /// The place of a part that left a host: ` at 0000:18:00.0 of gpu04`.
    fn now(&self, left: &str, kind: PartKind, key: &str) -> Option<String> {
        let mut spots = self.new.get(&(kind, key))?.iter();
        let (host, place) = spots.find(|(host, _)| *host != left && !self.was_in(kind, key, host))?;
        Some(format!("{} of {host}", standing(kind, place)))
    }
}

fn change(host: &str, kind: PartKind, parts: &[&str], what: ChangeKind, text: String) -> Change {
    let parts = parts.iter().map(|part| (*part).to_owned()).collect();
    Change { hosts: vec![host.to_owned()], kind, parts, what, text }
}

fn spots(host: &HostParts) -> BTreeSet<Spot<'_>> {
    host.parts.iter().map(|part| (part.kind, part.key.as_str(), part.place.as_str())).collect()
}

/// Key of the machine, where it has one of its own.
fn machine(host: &HostParts) -> Option<&str> {
    let part = host.parts.iter().find(|part| part.kind == PartKind::Board && part.place == MACHINE)?;
    can_be_followed(&part.key).then_some(part.key.as_str())
}

/// Hosts by the key of their machine; none where two have the same one.
fn machines<'p>(hosts: impl IntoIterator<Item = &'p HostParts>) -> BTreeMap<&'p str, Option<&'p str>> {
    let mut machines = BTreeMap::new();
    for host in hosts {
        if let Some(machine) = machine(host) {
            machines
                .entry(machine)
                .and_modify(|host| *host = None)
                .or_insert_with(|| Some(host.host.as_str()));
        }
    }
    machines
}

/// The way in which a key tells a part from others: a serial number, a UUID, an address of a link, or a place.
fn form(key: &str) -> (bool, bool, bool) {
    (can_be_followed(key), key.contains(" GPU-"), key.contains(':'))
}

/// The number in a key: `1650223014512` of `gpu 1650223014512`.
fn number_of(kind: PartKind, key: &str) -> String {
    let number = key.strip_prefix(noun(kind)).unwrap_or(key).trim_start();
    // The maker and the model stand before that of memory.
    word(number)
}

fn part_of(kind: PartKind, key: &str) -> String {
    format!("{} {}", name_of(kind), number_of(kind, key))
}

/// The place that a part stands in now, in a sentence.
fn standing(kind: PartKind, place: &str) -> String {
    if kind == PartKind::Cable { format!(" at {place}") } else { at(kind, place) }
}

/// The place of a part behind its name.
fn at(kind: PartKind, place: &str) -> String {
    match kind {
        PartKind::Board => format!(" ({place})"),
        PartKind::Gpu | PartKind::Nic | PartKind::Disk => format!(" at {place}"),
        PartKind::Cable => format!(" of {place}"),
        PartKind::Memory => format!(" in {place}"),
    }
}

/// The day of a moment, in UTC.
pub(super) fn day(at: Timestamp) -> String {
    at.strftime("%Y-%m-%d").to_string()
}

/// Counters and events that speak against a part of a host.
pub(super) fn had(key: &str, host: &HostParts) -> Option<String> {
    let counters = host.counters.iter().filter(|counter| counter.part == key);
    let events = host.events.iter().filter(|event| event.part == key);
    bad(
        counters.map(|counter| (counter.name.as_str(), counter.value)),
        events.map(|event| event.name.as_str()),
    )
}

/// The same of a part while it was in a host.
pub(super) fn had_in(history: &History, stay: &Stay) -> Option<String> {
    let events = history.events.iter().filter(|past| past.host == stay.host);
    bad(
        stay.counters.iter().map(|(name, value)| (name.as_str(), *value)),
        events.map(|past| past.told.name.as_str()),
    )
}

/// The same of counters and names of events.
fn bad<'c>(
    counters: impl Iterator<Item = (&'c str, u64)>,
    events: impl Iterator<Item = &'c str>,
) -> Option<String> {
    let mut sums: BTreeMap<&str, u64> = BTreeMap::new();
    for (name, value) in counters {
        // Behind a space stands which module it was.
        let name = name.split(' ').next().unwrap_or(name);
        let name = if name.starts_with("nvlink.") { "nvlink" } else { name };
        let sum = sums.entry(name).or_default();
        *sum = sum.saturating_add(value);
    }
    let value = |name: &str| sums.get(name).copied().unwrap_or_default();
    let count = |number: u64, one: &str, many: &str| match number {
        0 => None,
        1 => Some(format!("1 {one}")),
        _ => Some(format!("{number} {many}")),
    };
    let is_set = |name: &str, text: &str| (value(name) > 0).then(|| text.to_owned());
    let remapped = value("remap.correctable").saturating_add(value("remap.uncorrectable"));
    let mut said: Vec<String> = [
        count(remapped, "remapped row", "remapped rows"),
        is_set("remap.pending", "a remap that waits for a reset"),
        is_set("remap.failure", "a remap that failed"),
        count(value("retired.double"), "retired page", "retired pages"),
        is_set("repair.impossible", "memory that cannot be repaired"),
        count(value("ecc.uncorrected"), "uncorrectable memory error", "uncorrectable memory errors"),
        is_set("ecc.threshold", "more errors of SRAM than its maker allows"),
        count(value("memory.uncorrected"), "uncorrectable error of memory", "uncorrectable errors of memory"),
        count(value("memory.corrected"), "corrected error of memory", "corrected errors of memory"),
        count(value("nvlink"), "error of NVLink", "errors of NVLink"),
        count(value("link.link_downed"), "lost link", "lost links"),
        count(value("link.symbol_error"), "symbol error", "symbol errors"),
        count(value("pcie.fatal"), "fatal error of PCIe", "fatal errors of PCIe"),
    ]
    .into_iter()
    .flatten()
    .collect();
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for event in events {
        *counts.entry(event).or_default() += 1;
    }
    for (name, times) in counts {
        let name = match name.strip_prefix("xid ") {
            Some(number) => format!("Xid {number}"),
            None => name.replace("sxid", "SXid"),
        };
        said.push(if times == 1 { name } else { format!("{name} {times} times") });
    }
    let last = said.pop()?;
    Some(if said.is_empty() { last } else { format!("{} and {last}", said.join(", ")) })
}
