//! Values of all hosts beside each other, as plain data.

use std::collections::{BTreeMap, BTreeSet};

use crate::facts::clock::Offset;
use crate::hostlist;

/// Hosts by their value of one thing.
#[derive(Debug, Default)]
pub(super) struct Values {
    pub(super) hosts: BTreeMap<String, Vec<String>>,
    pub(super) total: usize,
}

/// All hosts of a run as they compare.
#[derive(Debug, Default)]
pub struct Comparison {
    /// By check, groups and what the value is of.
    pub(super) same: BTreeMap<(&'static str, String, String), Values>,
    /// By check and value.
    pub(super) unique: BTreeMap<(&'static str, String), Vec<String>>,
    /// Number of hosts that have such a value at all, by check.
    pub(super) holders: BTreeMap<&'static str, usize>,
    /// Offset of each host's clock: how far it is ahead of that of the machine that asks.
    pub(in crate::checks) clocks: BTreeMap<String, Offset>,
    /// Ports that are up, by groups of hosts: device and number.
    pub(super) ports: BTreeSet<(String, String, u32)>,
}

/// Sizes within 1 % of the middle one are the middle one.
pub(super) fn near(values: Values) -> Values {
    let mut sizes: Vec<u64> = Vec::new();
    for (value, hosts) in &values.hosts {
        sizes.extend(std::iter::repeat_n(value.parse::<u64>().unwrap_or(0), hosts.len()));
    }
    sizes.sort_unstable();
    let middle = sizes.get(sizes.len() / 2).copied().unwrap_or(0);
    let mut merged = Values { total: values.total, ..Values::default() };
    for (value, hosts) in values.hosts {
        let size = value.parse::<u64>().unwrap_or(0);
        let size = if size.abs_diff(middle).saturating_mul(100) <= middle { middle } else { size };
        merged.hosts.entry(format!("{} GiB", size >> 10)).or_default().extend(hosts);
    }
    merged
}

fn fold(hosts: &[String]) -> String {
    hostlist::fold(hosts.iter().map(String::as_str))
}

/// The hosts of a value, the first of them where they are many.
pub(in crate::checks) fn who(hosts: &[String]) -> String {
    let text = fold(hosts);
    if text.chars().count() <= 60 {
        text
    } else {
        format!("{} ...", text.chars().take(60).collect::<String>())
    }
}
