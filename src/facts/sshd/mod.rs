//! Effective configuration of sshd: `sshd -T`, after all files are read.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{Answers, Family, Query, Question, Touches, answers, lines};
use crate::transport::Script;

/// sshd's configuration.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Sshd {
    /// Values by the names of options in small letters; an option that may stand more than once has a
    /// line for each.
    pub options: BTreeMap<String, String>,
    /// Reason why there are none.
    pub problem: String,
    /// Whether the main file reads `/etc/ssh/sshd_config.d/*.conf`.
    pub drop_ins: bool,
    /// Whether some of its files has a `Match`, so that other logins may have other options.
    pub matches: bool,
}

impl Sshd {
    /// The option by which no key of a user opens a login; nothing where that depends on more than the user.
    pub fn refuses(&self, user: &str) -> Option<String> {
        if self.matches {
            return None;
        }
        let value = |key: &str| self.options.get(key).map(String::as_str);
        let words = |key: &str| value(key).unwrap_or_default().split_whitespace().collect::<Vec<_>>();
        if value("pubkeyauthentication") == Some("no") {
            return Some("PubkeyAuthentication no".to_owned());
        }
        let root = value("permitrootlogin").filter(|value| matches!(*value, "no" | "forced-commands-only"));
        if let Some(value) = root.filter(|_| user == "root") {
            return Some(format!("PermitRootLogin {value}"));
        }
        if words("denyusers").contains(&user) {
            return Some(format!("DenyUsers {user}"));
        }
        let allowed = words("allowusers");
        // A pattern, or a name with an address, may be this one.
        let plain = allowed.iter().all(|word| !word.contains(['*', '?', '@', '!']));
        (!allowed.is_empty() && plain && !allowed.contains(&user))
            .then(|| format!("AllowUsers {}", allowed.join(" ")))
    }
}

/// Effective configuration of sshd.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct SshdQuery;

impl Question for SshdQuery {
    type Answer = Sshd;
    const FAMILY: &'static Family = FAMILY;

    fn label(&self) -> String {
        "sshd".to_owned()
    }

    fn touched_by(&self, touches: &Touches) -> bool {
        touches.paths(&["/etc/ssh"])
    }
}

pub(crate) const FAMILY: &Family = &Family::new(
    "sshd",
    |_| Script::new(crate::shell!("facts/sshd/sshd.sh")),
    parse,
    |label| (label == "sshd").then(|| SshdQuery.into()),
);

fn parse(queries: &[Query], output: &str, _: i32) -> Answers {
    let mut sshd = Sshd::default();
    let (mut missing, mut ended) = (false, false);
    for line in lines(output) {
        match line.split_once(' ').unwrap_or((line, "")) {
            ("missing", "") => missing = true,
            ("drop-ins", "") => sshd.drop_ins = true,
            ("match", "") => sshd.matches = true,
            ("end", "") => ended = true,
            ("problem", text) => text.clone_into(&mut sshd.problem),
            ("option", rest) => {
                let (key, value) = rest.split_once(' ').unwrap_or((rest, ""));
                let values = sshd.options.entry(key.to_owned()).or_default();
                if !values.is_empty() {
                    values.push('\n');
                }
                values.push_str(value);
            }
            _ => {}
        }
    }
    if !ended {
        return Vec::new();
    }
    answers(queries, |SshdQuery| {
        Some(if missing { Err("sshd is not installed".to_owned()) } else { Ok(sshd.clone()) })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_is_refused_by_which_option() {
        let of = |text: &str, user: &str| {
            let options = text.lines().filter_map(|line| line.split_once(' '));
            let options = options.map(|(key, value)| (key.to_owned(), value.to_owned())).collect();
            Sshd { options, ..Sshd::default() }.refuses(user)
        };
        let told = |option: &str| Some(option.to_owned());
        assert_eq!(of("permitrootlogin no", "root"), told("PermitRootLogin no"));
        assert_eq!(of("permitrootlogin no", "mpi"), None);
        assert_eq!(of("permitrootlogin without-password", "root"), None);
        assert_eq!(of("pubkeyauthentication no", "mpi"), told("PubkeyAuthentication no"));
        assert_eq!(of("allowusers ops\nallowgroups wheel", "mpi"), told("AllowUsers ops"));
        assert_eq!(of("allowusers ops m*", "mpi"), None);
        assert_eq!(of("allowusers mpi@10.0.0.0/8", "mpi"), None);
        assert_eq!(of("denyusers mpi", "mpi"), told("DenyUsers mpi"));
        let matches = Sshd {
            matches: true,
            options: [("permitrootlogin".to_owned(), "no".to_owned())].into(),
            ..Sshd::default()
        };
        assert_eq!(matches.refuses("root"), None);
    }
}
