//! Things of many hosts, each value once with the hosts that have it.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{Read, Write};

use serde::{Deserialize, Serialize};

use super::kind::Kind;
use super::part;

/// Most bytes of a kept fleet that are read, unpacked.
const UNPACKED: u64 = 512 << 20;

/// A thing, and its values with the numbers of the hosts that have each.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Thing {
    pub kind: Kind,
    pub key: String,
    pub values: Vec<(String, Vec<u32>)>,
}

/// Looks at many hosts: at most a few hundred bytes for each of their things, however many hosts have it.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Fleet {
    /// Digests of files that not everybody may read were taken with it.
    pub salt: String,
    pub(super) hosts: Vec<String>,
    pub(super) things: Vec<Thing>,
    /// Kinds of a host of which something may be missing, with the reason.
    pub(super) unread: BTreeMap<u32, BTreeMap<Kind, String>>,
    /// Kinds of a host that were not asked, as a program is not there.
    pub(super) unasked: BTreeMap<u32, BTreeSet<Kind>>,
    #[serde(skip)]
    places: BTreeMap<(Kind, String), usize>,
}

/// A kept fleet that cannot be read or written.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct FleetError(String);

impl Fleet {
    /// An empty one, whose hosts are looked at with this salt.
    pub fn new(salt: String) -> Self {
        Self { salt, ..Self::default() }
    }

    /// Adds what a host printed.
    ///
    /// # Errors
    /// When its end is missing.
    pub fn add(&mut self, host: &str, text: &str) -> Result<(), String> {
        let look = part::read(text)?;
        let number = self.number(host);
        let unasked: BTreeSet<Kind> =
            Kind::ALL.iter().filter(|kind| !look.asked.contains(kind)).copied().collect();
        if !unasked.is_empty() {
            self.unasked.insert(number, unasked);
        }
        if !look.unread.is_empty() {
            self.unread.insert(number, look.unread);
        }
        for entry in look.entries {
            self.put(entry.kind, entry.key, entry.value, number);
        }
        Ok(())
    }

    /// Adds a host as another fleet has it, under another name.
    ///
    /// # Errors
    /// When it is not there.
    pub fn adopt(&mut self, other: &Self, host: &str, name: &str) -> Result<(), FleetError> {
        let from = other.hosts.iter().position(|known| known == host);
        let from = from.and_then(|at| u32::try_from(at).ok()).ok_or_else(|| {
            FleetError(format!("there is no look at {host}, but at {}", crate::hostlist::fold(other.names())))
        })?;
        let number = self.number(name);
        if let Some(unasked) = other.unasked.get(&from) {
            self.unasked.insert(number, unasked.clone());
        }
        if let Some(unread) = other.unread.get(&from) {
            self.unread.insert(number, unread.clone());
        }
        for thing in &other.things {
            for (value, hosts) in &thing.values {
                if hosts.contains(&from) {
                    self.put(thing.kind, thing.key.clone(), value.clone(), number);
                }
            }
        }
        Ok(())
    }

    pub(super) fn number(&mut self, host: &str) -> u32 {
        let number = u32::try_from(self.hosts.len()).unwrap_or(u32::MAX);
        self.hosts.push(host.to_owned());
        number
    }

    pub(super) fn put(&mut self, kind: Kind, key: String, value: String, host: u32) {
        let place = (kind, key);
        let at = if let Some(at) = self.places.get(&place) {
            *at
        } else {
            self.things.push(Thing { kind, key: place.1.clone(), values: Vec::new() });
            let at = self.things.len() - 1;
            self.places.insert(place, at);
            at
        };
        let Some(thing) = self.things.get_mut(at) else { return };
        // A host that says a thing twice is believed the first time.
        if thing.values.iter().any(|(_, have)| have.last() == Some(&host)) {
            return;
        }
        match thing.values.iter_mut().find(|(known, _)| *known == value) {
            Some((_, have)) => have.push(host),
            None => thing.values.push((value, vec![host])),
        }
    }

    /// The thing with this name.
    pub(super) fn find(&self, kind: Kind, key: &str) -> Option<&Thing> {
        self.things.get(*self.places.get(&(kind, key.to_owned()))?)
    }

    /// Names of its hosts, in the order in which they were added.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.hosts.iter().map(String::as_str)
    }

    /// Number of things that were found.
    pub fn len(&self) -> usize {
        self.things.len()
    }

    /// Whether nothing was found.
    pub fn is_empty(&self) -> bool {
        self.things.is_empty()
    }

    /// Writes it, packed.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn write(&self, to: impl Write) -> Result<(), FleetError> {
        let mut packed = flate2::write::GzEncoder::new(to, flate2::Compression::default());
        serde_json::to_writer(&mut packed, self).map_err(|error| FleetError(error.to_string()))?;
        packed.finish().map(|_| ()).map_err(|error| FleetError(error.to_string()))
    }

    /// Reads what `write` wrote.
    ///
    /// # Errors
    /// When it is something else, or longer than any look.
    pub fn read(from: impl Read) -> Result<Self, FleetError> {
        let text = std::io::BufReader::new(flate2::read::GzDecoder::new(from).take(UNPACKED));
        let fleet: Self = serde_json::from_reader(text).map_err(|error| FleetError(error.to_string()))?;
        let most = u32::try_from(fleet.hosts.len()).unwrap_or(u32::MAX);
        let is_whole = fleet
            .things
            .iter()
            .flat_map(|thing| &thing.values)
            .all(|(_, hosts)| hosts.iter().all(|host| *host < most));
        if is_whole { Ok(fleet) } else { Err(FleetError("it names a host that it does not have".to_owned())) }
    }
}
