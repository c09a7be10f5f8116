//! Everything that is gathered of a host: parts by their keys, and what they counted.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::text::{Sections, address, word, words};
use crate::accept::record::{Part, PartKind};

/// Most parts that are kept of a host.
const PARTS: usize = 2_000;
/// Most characters of the name of a counter.
pub(super) const COUNTER: usize = 120;
/// Beginning of the key of a part that nothing tells from others but where it is.
const PLACE: &str = "place ";
/// Place of the machine itself, beside its board and its chassis.
pub(super) const MACHINE: &str = "machine";

/// A number that a part keeps itself.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Counter {
    /// Key of the part.
    pub part: String,
    /// Its name: `ecc.uncorrected`, `remap.pending`, `link.symbol_error`.
    pub name: String,
    /// The number; 1 for yes.
    pub value: u64,
}

/// Something that a driver said of a part.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Event {
    /// Key of the part.
    pub part: String,
    /// Its name: `xid 79`.
    pub name: String,
    /// The start of the host that it was, and the seconds since then: the same event is read again and again.
    pub moment: String,
    /// Its text.
    pub text: String,
}

/// Everything that is gathered of a host.
#[derive(Debug)]
pub(super) struct Gathered<'h> {
    pub(super) host: &'h str,
    pub(super) parts: Vec<Part>,
    pub(super) counters: BTreeMap<(String, String), u64>,
    pub(super) versions: BTreeMap<String, BTreeSet<String>>,
    pub(super) notes: Vec<String>,
}

impl Gathered<'_> {
    /// Puts a part, and returns its key: of what tells it from others, or of its place.
    pub(super) fn put(&mut self, kind: PartKind, key: Option<String>, model: &str, place: &str) -> String {
        let key = key.map_or_else(|| self.placed(kind, place), |key| format!("{} {key}", noun(kind)));
        let part = Part { kind, key: key.clone(), model: word(model), place: word(place) };
        if self.parts.len() < PARTS && !self.parts.contains(&part) {
            self.parts.push(part);
        }
        key
    }

    /// Returns the key of a part that has nothing of its own.
    fn placed(&mut self, kind: PartKind, place: &str) -> String {
        self.notes.push(format!(
            "the {} at {} has no number of its own: it cannot be followed to another host",
            name_of(kind),
            word(place)
        ));
        // A cable is at the place of its card.
        let of = if kind == PartKind::Cable { "cable " } else { "" };
        format!("{PLACE}{} {of}{}", word(self.host), word(place))
    }

    /// Adds to a counter.
    pub(super) fn count(&mut self, part: &str, name: &str, value: u64) {
        let counter = self.counters.entry((part.to_owned(), words(name, COUNTER))).or_default();
        *counter = counter.saturating_add(value);
    }

    /// Notes a version.
    pub(super) fn version(&mut self, of: &str, version: &str) {
        let version = word(version);
        if !version.is_empty() {
            self.versions.entry(word(of)).or_default().insert(version);
        }
    }

    /// Counts what the bus saw of devices, by their addresses: `.../0000:18:00.0/aer_dev_fatal:TOTAL_ERR_FATAL 0`.
    pub(super) fn bus_errors(&mut self, known: &BTreeMap<String, String>, sections: &Sections<'_>) {
        for line in sections.lines("bus_errors") {
            let Some((path, value)) = line.split_once("/aer_dev_") else { continue };
            let Some((level, value)) = value.split_once(':') else { continue };
            let key = path.rsplit('/').next().and_then(address).and_then(|address| known.get(&address));
            if let (Some(key), Some(value)) = (key, value.rsplit(' ').next().and_then(number)) {
                self.count(key, &format!("pcie.{level}"), value);
            }
        }
    }
}

/// Whether a part can be found again in another place.
pub fn can_be_followed(key: &str) -> bool {
    !key.starts_with(PLACE)
}

/// Returns the word that begins the key of a part of a kind.
pub fn noun(kind: PartKind) -> &'static str {
    match kind {
        PartKind::Board => "board",
        PartKind::Gpu => "gpu",
        PartKind::Nic => "nic",
        PartKind::Cable => "cable",
        PartKind::Memory => "memory",
        PartKind::Disk => "disk",
    }
}

/// Returns the name of a kind of part in a sentence.
pub(super) fn name_of(kind: PartKind) -> &'static str {
    match kind {
        PartKind::Board => "board",
        PartKind::Gpu => "GPU",
        PartKind::Nic => "network card",
        PartKind::Cable => "cable",
        PartKind::Memory => "memory module",
        PartKind::Disk => "disk",
    }
}

/// Returns a whole number of a host.
pub(super) fn number(text: &str) -> Option<u64> {
    text.trim().parse().ok()
}
