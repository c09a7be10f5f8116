//! Findings that are known by now, and those of them that were told.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::message::{Change, ChangeKind};
use super::outbox::Outbox;
use super::round::{Heard, Round};
use crate::events::CheckStatus;
use crate::inventory::Watch;

/// Seconds for which a finding that recovered is remembered: one that comes back sooner flaps.
const DAY: i64 = 86_400;
/// Maximum number of times that the rounds of `recover` double for a finding that flaps.
const MOST_DOUBLED: u32 = 4;
/// Version of the format that is written here; another version is not read.
const FORMAT: u32 = 1;

/// One finding of one host, over all rounds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Entry {
    status: CheckStatus,
    message: String,
    hint: Option<String>,
    /// Since when it is there.
    since: Timestamp,
    /// Rounds in a row that found it.
    seen: u32,
    /// Rounds in a row that did not find it any more.
    gone: u32,
    /// One round that finds it is enough.
    #[serde(default)]
    once: bool,
    /// As what it was told; `None`: not told, or told as recovered.
    told: Option<CheckStatus>,
    /// Number of times that it came back within a day after it was told as recovered.
    returns: u32,
    /// When it was told as recovered.
    recovered: Option<Timestamp>,
}

/// Everything that one round leaves for the next.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Memory {
    format: u32,
    /// By host, then by check.
    findings: BTreeMap<String, BTreeMap<String, Entry>>,
    /// When something was told last.
    told: Option<Timestamp>,
    /// Messages that are to be delivered, by webhook.
    pub outbox: Outbox,
}

impl Memory {
    /// This, if it is of a version that is understood; else nothing.
    #[must_use]
    pub fn understood(self) -> Self {
        if self.format == FORMAT { self } else { Self { format: FORMAT, ..Self::default() } }
    }

    /// Returns the number of findings that there are now.
    pub fn findings(&self) -> usize {
        self.findings.values().flat_map(BTreeMap::values).filter(|entry| entry.seen > 0).count()
    }

    /// Takes what a round found. Hosts that are no longer in the inventory are forgotten.
    pub fn learn(&mut self, round: &Round, now: Timestamp) {
        // The round itself stands under no name.
        self.learn_of("", &round.own, now);
        let Some(hosts) = &round.hosts else { return };
        self.findings.retain(|host, _| host.is_empty() || hosts.contains_key(host));
        for (host, heard) in hosts {
            self.learn_of(host, heard, now);
        }
        self.findings.retain(|_, entries| !entries.is_empty());
    }

    fn learn_of(&mut self, host: &str, heard: &Heard, now: Timestamp) {
        let entries = self.findings.entry(host.to_owned()).or_default();
        entries.retain(|what, _| !heard.acknowledged.contains(what));
        for (what, entry) in entries.iter_mut() {
            // What is seen once is kept until it is told.
            let untold = entry.once && entry.told.is_none() && entry.seen > 0;
            if heard.knows(what) && !heard.found.contains_key(what) && !untold {
                entry.seen = 0;
                entry.gone = entry.gone.saturating_add(1);
            }
        }
        for (what, found) in &heard.found {
            let entry = entries.entry(what.clone()).or_insert_with(|| Entry {
                status: found.status,
                message: String::new(),
                hint: None,
                since: now,
                seen: 0,
                gone: 0,
                once: found.once,
                told: None,
                returns: 0,
                recovered: None,
            });
            if entry.seen == 0 && entry.told.is_none() {
                entry.since = now;
            }
            (entry.seen, entry.gone) = (entry.seen.saturating_add(1), 0);
            entry.once = found.once;
            entry.status = found.status;
            entry.message.clone_from(&found.message);
            entry.hint.clone_from(&found.hint);
        }
        entries.retain(|_, entry| {
            let lately = entry.recovered.is_some_and(|at| within_a_day(at, now));
            entry.told.is_some() || entry.seen > 0 || lately
        });
    }

    /// Returns the changes that are to be told by now.
    pub fn changes(&self, watch: &Watch) -> Vec<Change> {
        let mut changes = Vec::new();
        for (host, entries) in &self.findings {
            for (what, entry) in entries {
                if let Some(kind) = entry.change(watch) {
                    changes.push(Change {
                        kind,
                        host: host.clone(),
                        what: what.clone(),
                        status: entry.status,
                        message: entry.message.clone(),
                        hint: entry.hint.clone(),
                        returns: entry.returns + u32::from(entry.recovered.is_some() && entry.told.is_none()),
                    });
                }
            }
        }
        changes.sort_by(|a, b| (a.kind, a.status, &a.what).cmp(&(b.kind, b.status, &b.what)));
        changes
    }

    /// When something was told last.
    pub fn told(&self) -> Option<Timestamp> {
        self.told
    }

    /// When the next message may be told.
    pub fn free_at(&self, watch: &Watch) -> Option<Timestamp> {
        let gap = jiff::SignedDuration::try_from(watch.gap).ok()?;
        self.told.and_then(|told| told.checked_add(gap).ok())
    }

    /// Takes note that these changes were told.
    pub fn tell(&mut self, changes: &[Change], now: Timestamp) {
        self.told = Some(now);
        for change in changes {
            let entry = self.findings.get_mut(&change.host).and_then(|host| host.get_mut(&change.what));
            let Some(entry) = entry else { continue };
            match change.kind {
                ChangeKind::New | ChangeKind::Worse => {
                    entry.told = Some(change.status);
                    entry.returns = change.returns;
                }
                ChangeKind::Recovered => {
                    entry.told = None;
                    entry.recovered = Some(now);
                    if !within_a_day(entry.since, now) {
                        entry.returns = 0;
                    }
                }
            }
        }
    }
}

impl Entry {
    fn change(&self, watch: &Watch) -> Option<ChangeKind> {
        let recover = watch.recover.saturating_mul(1 << self.returns.min(MOST_DOUBLED));
        match self.told {
            None => {
                let enough = if self.once { 1 } else { watch.confirm };
                (self.seen >= enough).then_some(ChangeKind::New)
            }
            Some(_) if self.gone >= recover => Some(ChangeKind::Recovered),
            Some(told) => (self.seen > 0 && is_worse(self.status, told)).then_some(ChangeKind::Worse),
        }
    }
}

/// Nothing that gets better is told before it is well.
fn is_worse(now: CheckStatus, told: CheckStatus) -> bool {
    // The worst one stands first.
    now < told
}

fn within_a_day(then: Timestamp, now: Timestamp) -> bool {
    now.as_second().saturating_sub(then.as_second()) < DAY
}
