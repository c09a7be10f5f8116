//! The same line of many hosts becomes one line with a host list.

use indexmap::IndexMap;

use crate::hostlist;

/// Lines that wait for other hosts to say the same.
#[derive(Debug)]
pub struct Folder<K> {
    groups: IndexMap<K, Waiting>,
}

#[derive(Debug)]
struct Waiting {
    hosts: Vec<String>,
    since: f64,
}

impl<K> Default for Folder<K> {
    fn default() -> Self {
        Self { groups: IndexMap::new() }
    }
}

impl<K: std::hash::Hash + Eq + Clone> Folder<K> {
    /// Adds a host's line; `now` is in seconds.
    pub fn add(&mut self, key: K, host: &str, now: f64) {
        let group = self.groups.entry(key).or_insert_with(|| Waiting { hosts: Vec::new(), since: now });
        group.hosts.push(host.to_owned());
    }

    /// The lines with the number of their hosts and the time of the first.
    pub fn lines(&self) -> impl Iterator<Item = (&K, usize, f64)> {
        self.groups.iter().map(|(key, group)| (key, group.hosts.len(), group.since))
    }

    /// Takes out the lines that are ready, with their hosts folded and the one that came first, in the order they
    /// came.
    pub fn take(&mut self, mut ready: impl FnMut(&K, usize, f64) -> bool) -> Vec<(K, String, String)> {
        let keys: Vec<K> = self
            .groups
            .iter()
            .filter(|(key, group)| ready(key, group.hosts.len(), group.since))
            .map(|(key, _)| key.clone())
            .collect();
        keys.into_iter()
            .filter_map(|key| {
                let (key, group) = self.groups.shift_remove_entry(&key)?;
                let first = group.hosts.first().cloned().unwrap_or_default();
                Some((key, fold(&group.hosts), first))
            })
            .collect()
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
