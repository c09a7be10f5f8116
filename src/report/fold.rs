//! The same line of many hosts becomes one line with a host list.

use std::collections::{BTreeMap, BTreeSet};

use indexmap::IndexMap;

use crate::hostlist;

/// Lines that wait for other hosts to say the same.
#[derive(Debug)]
pub struct Folder<K> {
    groups: IndexMap<K, Waiting>,
    added: u64,
}

#[derive(Debug)]
struct Waiting {
    /// Hosts in the order they came, each with the number of its line.
    hosts: Vec<(String, u64)>,
    since: f64,
}

impl<K> Default for Folder<K> {
    fn default() -> Self {
        Self { groups: IndexMap::new(), added: 0 }
    }
}

impl<K: std::hash::Hash + Eq + Clone> Folder<K> {
    /// Adds a host's line; `now` is in seconds.
    pub fn add(&mut self, key: K, host: &str, now: f64) {
        self.added += 1;
        let group = self.groups.entry(key).or_insert_with(|| Waiting { hosts: Vec::new(), since: now });
        group.hosts.push((host.to_owned(), self.added));
    }

    /// The lines with the number of their hosts and the time of the first.
    pub fn lines(&self) -> impl Iterator<Item = (&K, usize, f64)> {
        self.groups.iter().map(|(key, group)| (key, group.hosts.len(), group.since))
    }

    /// Takes out the lines that are ready, with their hosts folded and the one that came first, in the order they
    /// came. What one of their hosts said before stands before them, ready or not: a host that is late joins lines
    /// that began without it.
    pub fn take(&mut self, mut ready: impl FnMut(&K, usize, f64) -> bool) -> Vec<(K, String, String)> {
        let ready: Vec<usize> = (0..self.groups.len())
            .filter(|index| {
                let group = self.groups.get_index(*index);
                group.is_some_and(|(key, group)| ready(key, group.hosts.len(), group.since))
            })
            .collect();
        if ready.is_empty() {
            return Vec::new();
        }
        let order = self.in_order(&ready);
        let keys: Vec<K> = order
            .iter()
            .filter_map(|index| self.groups.get_index(*index))
            .map(|(key, _)| key.clone())
            .collect();
        keys.into_iter()
            .filter_map(|key| {
                let (key, group) = self.groups.shift_remove_entry(&key)?;
                let hosts: Vec<String> = group.hosts.into_iter().map(|(host, _)| host).collect();
                let first = hosts.first().cloned().unwrap_or_default();
                Some((key, fold(&hosts), first))
            })
            .collect()
    }

    /// These groups, each behind those in which one of its hosts stands with an earlier line.
    fn in_order(&self, wanted: &[usize]) -> Vec<usize> {
        let mut said: BTreeMap<&str, Vec<(u64, usize)>> = BTreeMap::new();
        for (index, group) in self.groups.values().enumerate() {
            for (host, number) in &group.hosts {
                said.entry(host).or_default().push((*number, index));
            }
        }
        let before = |index: usize| {
            let hosts =
                self.groups.get_index(index).map(|(_, group)| group.hosts.as_slice()).unwrap_or_default();
            let earlier = hosts.iter().flat_map(|(host, number)| {
                let lines = said.get(host.as_str()).map(Vec::as_slice).unwrap_or_default();
                lines.iter().filter(move |(other, _)| other < number).map(|(_, index)| *index)
            });
            earlier.collect::<BTreeSet<usize>>()
        };
        let (mut order, mut seen) = (Vec::new(), BTreeSet::new());
        // Depth first: the second visit of a group is when all before it are in the order.
        let mut stack: Vec<(usize, bool)> = wanted.iter().rev().map(|index| (*index, false)).collect();
        while let Some((index, are_before)) = stack.pop() {
            if are_before {
                order.push(index);
            } else if seen.insert(index) {
                stack.push((index, true));
                stack.extend(before(index).into_iter().rev().map(|earlier| (earlier, false)));
            }
        }
        order
    }
}

/// A folded host list: `gpu[0-2],login0`.
pub fn fold<S: AsRef<str>>(hosts: &[S]) -> String {
    hostlist::fold(hosts.iter().map(AsRef::as_ref))
}

/// Groups hosts by an equal value, in the order of the first host of each.
pub fn by_value<V: std::hash::Hash + Eq>(values: impl IntoIterator<Item = (String, V)>) -> Vec<(String, V)> {
    let mut groups: IndexMap<V, Vec<String>> = IndexMap::new();
    for (host, value) in values {
        groups.entry(value).or_default().push(host);
    }
    groups.into_iter().map(|(value, hosts)| (fold(&hosts), value)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_late_host_does_not_say_the_second_thing_first() {
        let mut folder = Folder::default();
        for host in ["w1", "w2"] {
            folder.add("changed", host, 1.0);
        }
        assert_eq!(folder.take(|key, _, _| *key == "changed").len(), 1);
        for host in ["w1", "w2"] {
            folder.add("restarted", host, 2.0);
        }
        folder.add("changed", "ctl", 4.0);
        folder.add("restarted", "ctl", 4.2);
        let taken = folder.take(|key, _, _| *key == "restarted");
        let told: Vec<_> = taken.iter().map(|(key, hosts, _)| (*key, hosts.as_str())).collect();
        assert_eq!(told, [("changed", "ctl"), ("restarted", "ctl,w[1-2]")]);
        assert_eq!(folder.lines().count(), 0);
    }

    #[test]
    fn hosts_that_say_it_the_other_way_round_are_told_all_the_same() {
        let mut folder = Folder::default();
        for (host, first, second) in [("a", "x", "y"), ("b", "y", "x"), ("c", "z", "z")] {
            folder.add(first, host, 1.0);
            folder.add(second, host, 1.0);
        }
        let taken = folder.take(|key, _, _| *key == "y");
        assert_eq!(taken.iter().map(|(key, ..)| *key).collect::<Vec<_>>(), ["x", "y"]);
        assert_eq!(folder.lines().map(|(key, ..)| *key).collect::<Vec<_>>(), ["z"]);
    }
}
