//! The ledger of a cluster: everything that each part did, wherever it was. A file of JSON lines, to which each look at a host adds
//! one.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::gathered::{COUNTER, Counter, Event};
use super::read::HostParts;
use super::text::{word, words};
use crate::accept::record::{Figure, Part, PartKind};

/// The form of a line; another number is another form.
const FORMAT: u32 = 1;
/// Longest line that is read, in bytes.
const LONGEST: usize = 4 << 20;
/// Most figures of a name, events and stays that are kept of a part: the newest.
const KEPT: usize = 400;

/// One line: one host at one moment.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Entry {
    /// The form of the line.
    pub format: u32,
    /// The moment of the look.
    pub at: Timestamp,
    /// ID of the run; empty where it was none.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub run: String,
    /// Name of the host.
    pub host: String,
    /// Parts of which something is new.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub parts: Vec<Seen>,
    /// Keys of parts that are where they were, and counted nothing more.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub same: Vec<String>,
    /// Kinds of which something may be missing.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub unread: BTreeSet<PartKind>,
}

/// One part in a line.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Seen {
    /// The part and its place.
    #[serde(flatten)]
    pub part: Part,
    /// Figures that were measured, by name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub figures: BTreeMap<String, Measured>,
    /// Counters by name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub counters: BTreeMap<String, u64>,
    /// Events that no line before has.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub events: Vec<Told>,
}

/// A figure in a line.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Measured {
    /// The number.
    pub value: f64,
    /// Its unit.
    pub unit: String,
}

/// An event in a line.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Told {
    /// Its name: `xid 79`.
    pub name: String,
    /// The start of the host that it was, and the seconds since then.
    pub moment: String,
    /// Its text.
    pub text: String,
}

/// Everything that is known of the parts of a cluster.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Ledger {
    /// Parts by key.
    pub parts: BTreeMap<String, History>,
    /// The last look at each host.
    pub hosts: BTreeMap<String, Timestamp>,
    /// Kinds that the last look at a host did not see whole.
    pub unread: BTreeMap<String, BTreeSet<PartKind>>,
    /// Lines that were not understood.
    pub skipped: Vec<Skipped>,
    /// Keys of the parts that the last look at each host saw there.
    here: BTreeMap<String, BTreeSet<String>>,
}

/// Everything that is known of a part.
#[derive(Debug, Clone, PartialEq)]
pub struct History {
    /// Kind of part.
    pub kind: PartKind,
    /// Its model, as told last.
    pub model: String,
    /// Hosts that it was in, in the order of time.
    pub stays: Vec<Stay>,
    /// Figures by name, the oldest first.
    pub figures: BTreeMap<String, Vec<Point>>,
    /// Lines of its drivers, the oldest first.
    pub events: Vec<Past>,
}

/// A part in a place.
#[derive(Debug, Clone, PartialEq)]
pub struct Stay {
    /// The host.
    pub host: String,
    /// Place in the host.
    pub place: String,
    /// The first look that saw it there.
    pub since: Timestamp,
    /// The last look that saw it there.
    pub until: Timestamp,
    /// Whether the last look at the host saw it there.
    pub is_there: bool,
    /// Its counters at that look.
    pub counters: BTreeMap<String, u64>,
}

/// A figure of a part.
#[derive(Debug, Clone, PartialEq)]
pub struct Point {
    /// The moment of the look that has it.
    pub at: Timestamp,
    /// ID of the run.
    pub run: String,
    /// The host that the part was in.
    pub host: String,
    /// The number.
    pub value: f64,
    /// Its unit.
    pub unit: String,
}

/// An event of a part.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Past {
    /// The moment of the look that read it.
    pub at: Timestamp,
    /// The host that the part was in.
    pub host: String,
    /// The event.
    pub told: Told,
}

/// A line of the file that is none of a ledger.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Skipped {
    /// Its number, from 1.
    pub line: usize,
    /// The reason for it.
    pub why: String,
}

impl Ledger {
    /// Reads the lines of a file, up to a moment if there is one. A line that is none of a ledger is skipped, and told.
    pub fn read(bytes: &[u8], until: Option<Timestamp>) -> Self {
        let mut ledger = Self::default();
        let mut entries = Vec::new();
        for (index, line) in bytes.split(|byte| *byte == b'\n').enumerate() {
            if line.iter().all(u8::is_ascii_whitespace) {
                continue;
            }
            match parse(line) {
                Ok(entry) if until.is_none_or(|until| entry.at <= until) => entries.push(entry),
                Ok(_) => {}
                Err(why) => ledger.skipped.push(Skipped { line: index + 1, why }),
            }
        }
        // Two machines may have added to it, with clocks of their own.
        entries.sort_by_key(|entry| entry.at);
        for entry in &entries {
            ledger.add(entry);
        }
        ledger
    }

    /// Adds what a line says.
    pub fn add(&mut self, entry: &Entry) {
        let host = word(&entry.host);
        let same: BTreeSet<&str> = entry.same.iter().map(String::as_str).collect();
        let told: BTreeSet<(String, String)> =
            entry.parts.iter().map(|seen| (key_of(&seen.part), word(&seen.part.place))).collect();
        let mut here = self.here.remove(&host).unwrap_or_default();
        for key in &here {
            let Some(history) = self.parts.get_mut(key) else { continue };
            let is_same = same.contains(key.as_str());
            let is_unread = entry.unread.contains(&history.kind);
            for stay in history.stays.iter_mut().filter(|stay| stay.is_there && stay.host == host) {
                if is_same {
                    stay.until = stay.until.max(entry.at);
                } else {
                    stay.is_there = is_unread || told.contains(&(key.clone(), stay.place.clone()));
                }
            }
        }
        for seen in &entry.parts {
            self.add_part(entry, &host, seen);
            here.insert(key_of(&seen.part));
        }
        let is_here = |history: &History| history.stays.iter().any(|stay| stay.is_there && stay.host == host);
        here.retain(|key| self.parts.get(key).is_some_and(is_here));
        self.here.insert(host.clone(), here);
        self.hosts.insert(host.clone(), entry.at);
        self.unread.insert(host, entry.unread.clone());
    }

    fn add_part(&mut self, entry: &Entry, host: &str, seen: &Seen) {
        let history = self.parts.entry(key_of(&seen.part)).or_insert_with(|| History {
            kind: seen.part.kind,
            model: String::new(),
            stays: Vec::new(),
            figures: BTreeMap::new(),
            events: Vec::new(),
        });
        history.model = word(&seen.part.model);
        let place = word(&seen.part.place);
        if is_in_one_host(seen.part.kind) {
            for stay in history.stays.iter_mut().filter(|stay| stay.host != host) {
                stay.is_there = false;
            }
        }
        let is_here = |stay: &&mut Stay| stay.is_there && stay.host == host && stay.place == place;
        let counters = seen.counters.iter().map(|(name, value)| (words(name, COUNTER), *value)).collect();
        if let Some(stay) = history.stays.iter_mut().find(is_here) {
            stay.until = stay.until.max(entry.at);
            stay.counters = counters;
        } else {
            let stay = Stay {
                host: host.to_owned(),
                place,
                since: entry.at,
                until: entry.at,
                is_there: true,
                counters,
            };
            history.stays.push(stay);
            history.stays.drain(..history.stays.len().saturating_sub(KEPT));
        }
        for (name, measured) in &seen.figures {
            let points = history.figures.entry(word(name)).or_default();
            points.push(Point {
                at: entry.at,
                run: word(&entry.run),
                host: host.to_owned(),
                value: measured.value,
                unit: word(&measured.unit),
            });
            points.drain(..points.len().saturating_sub(KEPT));
        }
        for told in &seen.events {
            let told =
                Told { name: word(&told.name), moment: word(&told.moment), text: words(&told.text, 160) };
            history.events.push(Past { at: entry.at, host: host.to_owned(), told });
        }
        history.events.drain(..history.events.len().saturating_sub(KEPT));
    }

    /// Hosts with the parts that are in them, as they were seen last.
    pub fn hosts(&self) -> Vec<HostParts> {
        let mut hosts: BTreeMap<&str, HostParts> = BTreeMap::new();
        for (host, at) in &self.hosts {
            let unread = self.unread.get(host).cloned().unwrap_or_default();
            hosts.insert(host, HostParts { host: host.clone(), at: *at, unread, ..HostParts::default() });
        }
        for (key, history) in &self.parts {
            let mut counted = BTreeSet::new();
            for stay in history.stays.iter().filter(|stay| stay.is_there) {
                let Some(host) = hosts.get_mut(stay.host.as_str()) else { continue };
                host.parts.push(Part {
                    kind: history.kind,
                    key: key.clone(),
                    model: history.model.clone(),
                    place: stay.place.clone(),
                });
                if counted.insert(&stay.host) {
                    let counter = |(name, value): (&String, &u64)| Counter {
                        part: key.clone(),
                        name: name.clone(),
                        value: *value,
                    };
                    host.counters.extend(stay.counters.iter().map(counter));
                    let event = |past: &Past| Event {
                        part: key.clone(),
                        name: past.told.name.clone(),
                        moment: past.told.moment.clone(),
                        text: past.told.text.clone(),
                    };
                    host.events
                        .extend(history.events.iter().filter(|past| past.host == stay.host).map(event));
                }
            }
        }
        hosts
            .into_values()
            .map(|mut host| {
                host.parts.sort();
                host
            })
            .collect()
    }
}

/// Whether a part that is seen in a host is in no other one. Cables have two ends, some cards and chassis serve several
/// machines, and some makers give all machines one number.
fn is_in_one_host(kind: PartKind) -> bool {
    match kind {
        PartKind::Gpu | PartKind::Memory | PartKind::Disk => true,
        PartKind::Board | PartKind::Nic | PartKind::Cable => false,
    }
}

/// Returns the key of a part of a line.
fn key_of(part: &Part) -> String {
    words(&part.key, 240)
}

/// Reads one line.
fn parse(line: &[u8]) -> Result<Entry, String> {
    /// The form of a line, whatever else it has.
    #[derive(Deserialize)]
    struct Form {
        format: u32,
    }
    if line.len() > LONGEST {
        return Err("it is too long".to_owned());
    }
    let form: Form = serde_json::from_slice(line).map_err(|_| "it is no line of a ledger".to_owned())?;
    if form.format != FORMAT {
        return Err(format!("it has form {}, and {FORMAT} is known", form.format));
    }
    serde_json::from_slice(line).map_err(|error| format!("it is damaged: {}", word(&error.to_string())))
}

/// Returns the line to add for a host: what is new beside what the ledger knows.
pub fn entry(ledger: &Ledger, run: &str, host: &HostParts, figures: &[Figure]) -> Entry {
    let mut entry = Entry {
        format: FORMAT,
        at: host.at,
        run: run.to_owned(),
        host: host.host.clone(),
        parts: Vec::new(),
        same: Vec::new(),
        unread: host.unread.clone(),
    };
    let mut events: BTreeMap<&str, Vec<Told>> = BTreeMap::new();
    for event in &host.events {
        let told = Told { name: event.name.clone(), moment: event.moment.clone(), text: event.text.clone() };
        let is_known = |history: &History| history.events.iter().any(|past| past.told == told);
        if !ledger.parts.get(&event.part).is_some_and(is_known) {
            events.entry(&event.part).or_default().push(told);
        }
    }
    let mut counters: BTreeMap<&str, BTreeMap<String, u64>> = BTreeMap::new();
    for counter in &host.counters {
        counters.entry(&counter.part).or_default().insert(counter.name.clone(), counter.value);
    }
    let mut measured: BTreeMap<&str, BTreeMap<String, Measured>> = BTreeMap::new();
    for figure in figures.iter().filter(|figure| figure.value.is_finite()) {
        let of = Measured { value: figure.value, unit: figure.unit.clone() };
        measured.entry(&figure.part).or_default().insert(figure.name.clone(), of);
    }
    // A part with two places here is the same when both are.
    let mut seen: BTreeMap<&str, Vec<Seen>> = BTreeMap::new();
    for part in &host.parts {
        let places = seen.entry(&part.key).or_default();
        places.push(Seen {
            part: part.clone(),
            // They are told once, with the first place.
            figures: measured.remove(part.key.as_str()).unwrap_or_default(),
            events: events.remove(part.key.as_str()).unwrap_or_default(),
            counters: counters.get(part.key.as_str()).cloned().unwrap_or_default(),
        });
    }
    for (key, places) in seen {
        let here: Vec<&Stay> = ledger
            .parts
            .get(key)
            .map(|history| {
                history.stays.iter().filter(|stay| stay.is_there && stay.host == host.host).collect()
            })
            .unwrap_or_default();
        let is_known = |seen: &Seen| {
            seen.figures.is_empty()
                && seen.events.is_empty()
                && here.iter().any(|stay| stay.place == seen.part.place && stay.counters == seen.counters)
        };
        let model = ledger.parts.get(key).map(|history| history.model.as_str());
        let is_same = here.len() == places.len()
            && places.iter().all(is_known)
            && places.iter().all(|seen| Some(seen.part.model.as_str()) == model);
        if is_same {
            entry.same.push(key.to_owned());
        } else {
            entry.parts.extend(places);
        }
    }
    entry
}
