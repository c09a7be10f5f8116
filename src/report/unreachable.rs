//! Hosts that were not reached for one reason are one line, though ssh names each by its address.

use indexmap::IndexMap;
use regex::Regex;

use super::fold::fold;
use crate::events::{HostStatus, Record};
use crate::hostlist;
use crate::transport::{quote, without_host};

/// Returns the reason why a host was not reached, or not taken to its end.
pub fn reason(status: &HostStatus) -> Option<&str> {
    match status {
        HostStatus::Ok | HostStatus::Failed => None,
        HostStatus::Unreachable { reason, .. }
        | HostStatus::Quarantined { reason }
        | HostStatus::NotStarted(reason)
        | HostStatus::Offline(reason) => Some(reason),
    }
}

/// A host that was not reached, or not taken to its end.
#[derive(Debug)]
struct Lost {
    /// [`HostStatus::word`].
    word: &'static str,
    reason: String,
    hint: Option<String>,
}

/// Hosts that were lost in the same way for the same reason.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Group {
    /// The hosts, folded.
    pub(super) hosts: String,
    /// Number of hosts.
    pub(super) count: usize,
    /// [`HostStatus::word`].
    pub(super) word: &'static str,
    /// Reason for the loss.
    pub(super) reason: String,
    /// Advice for the user.
    pub(super) hint: Option<String>,
}

/// Hosts that were not reached or not taken to their end, with the reasons as they were given.
#[derive(Debug, Default)]
pub(super) struct Away(IndexMap<String, Lost>);

impl Away {
    /// Collects the lost hosts of a whole run.
    pub(super) fn of(record: &Record) -> Self {
        let mut away = Self::default();
        for (name, host) in &record.hosts {
            if let Some(status) = &host.status {
                away.add(name, status);
            }
        }
        away
    }

    /// Takes a host, where its status says that it is away.
    pub(super) fn add(&mut self, host: &str, status: &HostStatus) {
        let Some(reason) = reason(status).map(str::to_owned) else { return };
        let hint = if let HostStatus::Unreachable { hint, .. } = status { hint.clone() } else { None };
        self.0.insert(host.to_owned(), Lost { word: status.word(), reason, hint });
    }

    /// Reason and hint for these hosts, whose reasons differ in their addresses only. For several, the hint
    /// is that of the first and names all where it names that one.
    pub(super) fn told(&self, folded: &str) -> Option<(String, Option<String>)> {
        let first = hostlist::expand(folded).ok()?.into_iter().next()?;
        let Lost { reason, hint, .. } = self.0.get(&first)?;
        if first == folded {
            return Some((reason.clone(), hint.clone()));
        }
        let named = Regex::new(&format!(r"(^|--hosts |\s){}(\s|:|;|,|$)", regex::escape(&first))).ok()?;
        let hint = hint.as_ref().map(|hint| {
            named.replace_all(hint, |all: &regex::Captures<'_>| {
                // In a command; some shells take brackets for names of files.
                let hosts = if &all[1] == "--hosts " { quote(folded) } else { folded.into() };
                format!("{}{hosts}{}", &all[1], &all[2])
            })
        });
        Some((without_host(reason), hint.map(std::borrow::Cow::into_owned)))
    }

    /// Counts the hosts that were reached at first and then lost.
    pub(super) fn quarantined(&self) -> u64 {
        self.0.values().filter(|lost| lost.word == "quarantined").count() as u64
    }

    /// All of them: those that are away for one reason are one.
    pub(super) fn groups(&self) -> Vec<Group> {
        let mut groups: IndexMap<(&'static str, String), Vec<&str>> = IndexMap::new();
        for (host, lost) in &self.0 {
            groups.entry((lost.word, without_host(&lost.reason))).or_default().push(host);
        }
        let group = |((word, reason), names): ((&'static str, String), Vec<&str>)| {
            let hosts = fold(&names);
            let (reason, hint) = self.told(&hosts).unwrap_or((reason, None));
            Group { hosts, count: names.len(), word, reason, hint }
        };
        groups.into_iter().map(group).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transport::ConnectKind;

    #[test]
    fn what_ssh_says_of_two_hosts_is_the_same() {
        for text in [
            "ssh: connect to host HOST port 22: Connection refused",
            "ssh: Could not resolve hostname HOST: Name or service not known",
            "Connection closed by HOST port 22",
            "Connection to HOST closed by remote host.",
            "Connection to HOST port 22 timed out",
            "Host key for HOST has changed and you have requested strict checking.",
            "No ED25519 host key is known for HOST and you have requested strict checking.",
            "Timeout, server HOST not responding.",
            "root@HOST: Permission denied (publickey).",
        ] {
            let (one, other) = (
                without_host(&text.replace("HOST", "10.0.0.1")),
                without_host(&text.replace("HOST", "fe80::2%eth0")),
            );
            assert_eq!(one, other);
            assert!(!one.contains("10.0.0.1") && one.contains(text.rsplit(' ').next().unwrap()), "{one}");
        }
        assert_eq!(without_host("no login within 15s"), "no login within 15s");
    }

    #[test]
    fn one_host_is_told_as_it_is_and_several_by_the_first() {
        let mut away = Away::default();
        let reason = |n: u8| format!("ssh: connect to host 10.0.0.{n} port 22: Connection refused");
        for number in [1, 3, 2] {
            let hint = format!("start it, or trust --hosts n{number} or n{number}x: `ssh 10.0.0.{number}`");
            let (kind, reason, hint) = (ConnectKind::Refused, reason(number), Some(hint));
            away.add(&format!("n{number}"), &HostStatus::Unreachable { kind, reason, hint });
        }
        away.add("n4", &HostStatus::Failed);
        away.add("n5", &HostStatus::NotStarted("the run was stopped".to_owned()));
        let hint = "start it, or trust --hosts n1 or n1x: `ssh 10.0.0.1`".to_owned();
        assert_eq!(away.told("n1"), Some((reason(1), Some(hint.clone()))));
        let all = (
            "ssh: connect to port 22: Connection refused".to_owned(),
            Some(hint.replace("n1 ", "'n[1-2]' ")),
        );
        assert_eq!(away.told("n[1-2]"), Some(all));
        let groups: Vec<_> = away
            .groups()
            .into_iter()
            .map(|group| (group.hosts, group.count, group.word, group.reason))
            .collect();
        let (refused, stopped) = ("ssh: connect to port 22: Connection refused", "the run was stopped");
        let wanted = [("n[1-3]", 3, "unreachable", refused), ("n5", 1, "not_started", stopped)];
        assert_eq!(
            groups,
            wanted.map(|(hosts, count, word, why)| (hosts.to_owned(), count, word, why.to_owned()))
        );
    }
}
