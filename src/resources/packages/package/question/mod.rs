//! Installed packages of a family: one `dpkg-query` or `rpm -qa` for all patterns.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::facts::{Answers, Family, Query, Question, Touches, after, answers, lines, of_type};
use crate::transport::Script;

/// An installed package.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Installed {
    /// Its name.
    pub name: String,
    /// Its version, as the package manager writes it.
    pub version: String,
    /// Whether its version is held (dpkg only).
    #[serde(default)]
    pub held: bool,
}

/// Whether a name is one of a pattern's; `*` stands for anything.
pub fn matches_pattern(name: &str, pattern: &str) -> bool {
    let Some((first, rest)) = pattern.split_once('*') else { return name == pattern };
    let Some(mut left) = name.strip_prefix(first) else { return false };
    let mut parts: Vec<&str> = rest.split('*').collect();
    let last = parts.pop().unwrap_or_default();
    for part in parts {
        let Some((_, after)) = left.split_once(part) else { return false };
        left = after;
    }
    left.ends_with(last)
}

/// The installed packages of a family: a name with `*`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct InstalledQuery(pub String);

impl Question for InstalledQuery {
    type Answer = Vec<Installed>;
    const FAMILY: &'static Family = FAMILY;

    fn label(&self) -> String {
        format!("installed {}", self.0)
    }

    fn touched_by(&self, touches: &Touches) -> bool {
        touches.packages() || touches.package_files()
    }
}

pub(crate) const FAMILY: &Family = &Family {
    tools: "`dpkg-query` and `rpm`",
    chunk: 256,
    ..Family::new("installed", script, parse, |label| {
        Some(InstalledQuery(after("installed", label)?.to_owned()).into())
    })
};

fn script(queries: &[Query]) -> Script {
    let patterns = of_type(queries).map(|InstalledQuery(pattern)| pattern.as_str());
    Script::new(crate::shell!("resources/packages/package/question/installed.sh")).args(patterns)
}

/// `status name version` of dpkg (three letters: wanted, status, error) or of rpm (`ii `).
fn read(line: &str) -> Option<Installed> {
    let (status, rest) = line.split_at_checked(3)?;
    let (name, version) = rest.trim().split_once(' ')?;
    let mut letters = status.chars();
    let held = letters.next() == Some('h');
    matches!(letters.next(), Some('i' | 't' | 'W' | 'U' | 'F' | 'H')).then(|| Installed {
        name: name.to_owned(),
        version: version.to_owned(),
        held,
    })
}

fn parse(queries: &[Query], output: &str, _: i32) -> Answers {
    let reason = match lines(output).last() {
        Some("end") => None,
        Some("no package manager") => Some("neither dpkg-query nor rpm is installed"),
        _ => return Vec::new(),
    };
    // One name may be installed for two architectures, or in several versions.
    let all: BTreeMap<(String, String), Installed> = lines(output)
        .filter_map(read)
        .map(|package| ((package.name.clone(), package.version.clone()), package))
        .collect();
    answers(queries, |InstalledQuery(pattern)| {
        let fits = |package: &&Installed| matches_pattern(&package.name, pattern);
        Some(match reason {
            Some(reason) => Err(reason.to_owned()),
            None => Ok(all.values().filter(fits).cloned().collect()),
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_stands_for_a_family() {
        for (name, pattern, is) in [
            ("nvidia-open", "nvidia-open", true),
            ("nvidia-open-580", "nvidia-open", false),
            ("nvidia-open-580", "nvidia-open*", true),
            ("libnvidia-ml1", "nvidia*", false),
            ("nvidia-dkms-535-server", "nvidia-*-535-*", true),
            ("nvidia-535", "nvidia-*-535", false),
            ("aba", "*ab*ba", false),
            ("kmod-nvidia-latest-dkms", "*nvidia*dkms", true),
        ] {
            assert_eq!(matches_pattern(name, pattern), is, "{name} {pattern}");
        }
    }
}
