//! Hosts that were not reached for one reason are one line, though ssh names each by its address.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use regex::Regex;

/// What ssh says with the host in it, and the same of several. The words are those of OpenSSH's
/// sshconnect.c, misc.c, packet.c and clientloop.c.
static NAMED: LazyLock<Vec<(Regex, &'static str)>> = LazyLock::new(|| {
    [
        (r"connect to host \S+ port", "connect to port"),
        (r"Could not resolve hostname \S+:", "Could not resolve the host name:"),
        (r"Connection (closed|reset) by \S+ port", "Connection $1 by port"),
        (r"Connection to \S+ port", "Connection to port"),
        (r"Connection to \S+ closed", "Connection closed"),
        (r"Host key for \S+ has changed", "The host key has changed"),
        (r"No (\S+) host key is known for \S+ and", "No $1 host key is known and"),
        (r"Timeout, server \S+ not", "Timeout, the server is not"),
        (r"\S+@\S+: Permission denied", "Permission denied"),
    ]
    .into_iter()
    .filter_map(|(pattern, of_all)| Some((Regex::new(pattern).ok()?, of_all)))
    .collect()
});

/// A reason without the address of its host.
pub(super) fn of_all(reason: &str) -> String {
    NAMED.iter().fold(reason.to_owned(), |text, (pattern, to)| pattern.replace_all(&text, *to).into_owned())
}

/// The reasons as they were given and their hints, by host, until they are shown.
#[derive(Debug, Default)]
pub(super) struct Away(BTreeMap<String, (String, Option<String>)>);

impl Away {
    /// A host is away.
    pub(super) fn add(&mut self, host: &str, reason: &str, hint: Option<&str>) {
        self.0.insert(host.to_owned(), (reason.to_owned(), hint.map(str::to_owned)));
    }

    /// Reason and hint for these hosts, whose reasons differ in their addresses only. For several, the hint
    /// is that of `first` and names all where it names that one.
    pub(super) fn told(&self, first: &str, folded: &str) -> Option<(String, Option<String>)> {
        let (reason, hint) = self.0.get(first)?;
        if first == folded {
            return Some((reason.clone(), hint.clone()));
        }
        let named = Regex::new(&format!(r"(^|\s|\{{ ){}(\s|:|;|,|$)", regex::escape(first))).ok()?;
        let hint = hint.as_ref().map(|hint| {
            named.replace_all(hint, |all: &regex::Captures<'_>| format!("{}{folded}{}", &all[1], &all[2]))
        });
        Some((of_all(reason), hint.map(std::borrow::Cow::into_owned)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
            let (one, other) =
                (of_all(&text.replace("HOST", "10.0.0.1")), of_all(&text.replace("HOST", "fe80::2%eth0")));
            assert_eq!(one, other);
            assert!(!one.contains("10.0.0.1") && one.contains(text.rsplit(' ').next().unwrap()), "{one}");
        }
        assert_eq!(of_all("no login within 15s"), "no login within 15s");
    }

    #[test]
    fn one_host_is_told_as_it_is_and_several_by_the_first() {
        let mut away = Away::default();
        let reason = |n: u8| format!("ssh: connect to host 10.0.0.{n} port 22: Connection refused");
        for number in 1..=2 {
            let hint = format!("start it, or trust --hosts n{number} or n{number}x: `ssh 10.0.0.{number}`");
            away.add(&format!("n{number}"), &reason(number), Some(&hint));
        }
        let hint = "start it, or trust --hosts n1 or n1x: `ssh 10.0.0.1`".to_owned();
        assert_eq!(away.told("n1", "n1"), Some((reason(1), Some(hint.clone()))));
        let all = Some((
            "ssh: connect to port 22: Connection refused".to_owned(),
            Some(hint.replace("n1 ", "n[1-2] ")),
        ));
        assert_eq!(away.told("n1", "n[1-2]"), all);
    }
}
