//! The answer of a comparison.

use std::collections::BTreeMap;

use serde::Serialize;

use super::kind::Kind;

/// A value with the hosts that have it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Value {
    /// The value; none where the thing is not there.
    pub value: Option<String>,
    /// Names of its hosts.
    pub hosts: Vec<String>,
}

/// A thing that separates two groups of hosts.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Finding {
    /// Its kind.
    pub kind: Kind,
    /// Its name.
    pub key: String,
    /// Values on the bad hosts, or on those of a cluster; the most usual first.
    pub bad: Vec<Value>,
    /// Values on the good ones, or on the others.
    pub good: Vec<Value>,
    /// Separation of the groups by it: 1 where every bad host has another value than every good one.
    pub separation: f64,
    /// Likelihood that such a difference hurts, of 100.
    pub weight: u32,
    /// Playbook that sets it; empty where none does.
    pub playbook: &'static str,
    /// Things that differ together with it.
    pub more: Vec<String>,
}

impl Finding {
    /// Its rank: how well it separates, times how likely it hurts. What separates in part counts for less than its part:
    /// among many things some do so by chance.
    pub(super) fn score(&self) -> f64 {
        self.separation * self.separation * f64::from(self.weight)
    }
}

/// Hosts that differ from most others in the same things.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Cluster {
    /// Their names.
    pub hosts: Vec<String>,
    /// Things in which they differ, the heaviest first.
    pub findings: Vec<Finding>,
}

impl Cluster {
    /// Its rank: the heaviest thing, and a little for each other one.
    pub(super) fn weight(&self) -> u32 {
        let first = self.findings.first().map_or(0, |finding| finding.weight * 100);
        first + u32::try_from(self.findings.len().min(99)).unwrap_or(0)
    }
}

/// Hosts on which something could not be read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Unread {
    /// Its kind.
    pub kind: Kind,
    /// The hosts, folded.
    pub hosts: String,
    /// Why.
    pub reason: String,
}

/// Differences of some hosts from others.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Answer {
    /// Hosts that fail.
    pub bad: Vec<String>,
    /// Hosts that do not; all of them, where it is not said which ones fail.
    pub good: Vec<String>,
    /// Number of things that were compared.
    pub compared: usize,
    /// Number of those that are not the same everywhere.
    pub differ: usize,
    /// Things that separate the groups, the best first.
    pub findings: Vec<Finding>,
    /// Without groups: hosts that differ from most others.
    pub clusters: Vec<Cluster>,
    /// Things that could not be read.
    pub unread: Vec<Unread>,
    /// Hosts that could not be looked at, with the reason.
    pub left_out: BTreeMap<String, String>,
}
