//! Packages of the distribution: one `dpkg-query` or `rpm -q` for all names of a host, and one
//! `apt-cache policy` or `dnf check-update` only where something has to be done.
//!
//! Formats: `dpkg-query -f` (deb-substvars; `db:Status-Abbrev` is three letters: wanted, status,
//! error), `rpm --qf`, apt-cache(8) policy.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{Answer, Answers, Query, lines};
use crate::transport::Script;

/// The package manager of a host.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Packages {
    /// `apt`, `dnf`, `yum`, or `rpm` when only the database is there.
    pub manager: String,
    /// Whether a dpkg transaction was cut and waits for `dpkg --configure -a`.
    #[serde(default)]
    pub interrupted: bool,
    /// Whether versions can be locked (dnf needs a plugin for that).
    #[serde(default)]
    pub can_hold: bool,
}

/// A package.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Package {
    /// Its version when it is installed.
    #[serde(default)]
    pub installed: Option<String>,
    /// Other versions that are installed beside it, as kernels are.
    #[serde(default)]
    pub others: Vec<String>,
    /// Whether it is unpacked and its configuration failed or was cut.
    #[serde(default)]
    pub broken: bool,
    /// Whether its version is held.
    #[serde(default)]
    pub held: bool,
    /// What the repositories were asked, when they were.
    #[serde(default)]
    pub repository: Option<Repository>,
}

/// What the repositories offer.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Repository {
    /// The version that would be installed; `None` when there is none.
    #[serde(default)]
    pub candidate: Option<String>,
    /// All versions on offer.
    #[serde(default)]
    pub versions: Vec<String>,
    /// Whether the lists are absent or older than a day.
    #[serde(default)]
    pub stale: bool,
}

impl Package {
    /// Whether the installed version is the wanted one. `*` at the end stands for anything; an
    /// epoch or a release that is not written is not compared for rpm's `E:V-R`.
    pub fn has_version(&self, wanted: &str) -> bool {
        self.installed.iter().chain(&self.others).any(|installed| version_matches(installed, wanted))
    }
}

/// See [`Package::has_version`].
pub fn version_matches(version: &str, wanted: &str) -> bool {
    if let Some(start) = wanted.strip_suffix('*') {
        return version.starts_with(start) || without_epoch(version).starts_with(start);
    }
    version == wanted || without_epoch(version) == wanted
}

fn without_epoch(version: &str) -> &str {
    version.split_once(':').map_or(version, |(_, rest)| rest)
}

pub(super) fn script(queries: &[Query]) -> Script {
    let mut script = Script::new(crate::shell!("facts/package.sh"));
    for query in queries {
        if let Query::Package { name, version, latest } = query {
            script = script.arg(name.as_str()).arg(version.as_deref().unwrap_or("")).arg(if *latest {
                "latest"
            } else {
                ""
            });
        }
    }
    script
}

#[derive(Default)]
struct Seen<'a> {
    manager: &'a str,
    ended: bool,
    interrupted: bool,
    locks: Option<Vec<&'a str>>,
    installed: BTreeMap<String, Package>,
    asked: bool,
    stale: bool,
    policy: BTreeMap<&'a str, Repository>,
    updates: Option<BTreeMap<&'a str, &'a str>>,
}

fn read(output: &str) -> Seen<'_> {
    #[derive(PartialEq)]
    enum At {
        Top,
        Policy,
        Updates,
    }
    let mut seen = Seen::default();
    let mut locks = Vec::new();
    let mut at = At::Top;
    let mut current = "";
    for line in lines(output) {
        if line == "end" {
            seen.ended = true;
            continue;
        }
        match at {
            At::Top => {
                if let Some(record) = line.strip_prefix(' ') {
                    read_installed(record, &mut seen.installed);
                    continue;
                }
                match line.split_once(' ').unwrap_or((line, "")) {
                    ("manager", name) => seen.manager = name,
                    ("interrupted", _) => seen.interrupted = true,
                    ("lock", entry) => locks.push(entry),
                    ("locks", _) => seen.locks = Some(std::mem::take(&mut locks)),
                    ("lists", state) => seen.stale = state != "there",
                    ("policy", _) => {
                        seen.asked = true;
                        at = At::Policy;
                    }
                    ("updates", _) => {
                        seen.updates = Some(BTreeMap::new());
                        at = At::Updates;
                    }
                    _ => {}
                }
            }
            At::Policy => {
                if !line.starts_with(' ') {
                    current = line.trim_end_matches(':');
                    seen.policy.entry(current).or_default();
                } else if let Some(entry) = seen.policy.get_mut(current) {
                    read_policy(line, entry);
                }
            }
            At::Updates => {
                // `name.arch  version  repository`
                let mut words = line.split_whitespace();
                if let (Some(name), Some(version), Some(_), None) =
                    (words.next(), words.next(), words.next(), words.next())
                {
                    let name = name.rsplit_once('.').map_or(name, |(name, _)| name);
                    if let Some(updates) = &mut seen.updates {
                        updates.insert(name, version);
                    }
                }
            }
        }
    }
    seen
}

/// `status name version architecture`; with more than one architecture also `name:arch`.
fn read_installed(record: &str, installed: &mut BTreeMap<String, Package>) {
    let words: Vec<&str> = record.split_whitespace().collect();
    let (status, name, version, architecture) = match words.as_slice() {
        [status, name, version, architecture] => (*status, *name, *version, *architecture),
        // A package that is known and was never there has no version.
        [status, name, architecture] => (*status, *name, "", *architecture),
        _ => return,
    };
    let mut letters = status.chars();
    let wanted = letters.next();
    let is = letters.next();
    let package = Package {
        installed: matches!(is, Some('i' | 't' | 'W')).then(|| version.to_owned()),
        // Half-installed, unpacked, half-configured.
        broken: matches!(is, Some('H' | 'U' | 'F')),
        held: wanted == Some('h'),
        ..Package::default()
    };
    for key in [format!("{name}:{architecture}"), name.to_owned()] {
        let slot = installed.entry(key).or_insert_with(|| package.clone());
        if slot.installed.is_none() {
            *slot = package.clone();
        } else if slot.installed != package.installed {
            // Kernels: several versions side by side, the last one installed last.
            let older = std::mem::replace(&mut slot.installed, package.installed.clone());
            slot.others.extend(older);
        }
    }
}

fn read_policy(line: &str, entry: &mut Repository) {
    let text = line.trim_start();
    if let Some(candidate) = text.strip_prefix("Candidate: ") {
        entry.candidate = Some(candidate.to_owned()).filter(|c| c != "(none)");
    } else if line.starts_with("     ") && !line.starts_with("      ") || line.starts_with(" *** ") {
        // `     VERSION PRIORITY` or ` *** VERSION PRIORITY`; sources are indented further.
        let mut words = text.trim_start_matches("*** ").split_whitespace();
        if let (Some(version), Some(_)) = (words.next(), words.next()) {
            entry.versions.push(version.to_owned());
        }
    }
}

impl Seen<'_> {
    fn package(&self, name: &str, latest: bool) -> Package {
        let mut package = self.installed.get(name).cloned().unwrap_or_default();
        if let Some(locks) = &self.locks {
            // `[!]name-epoch:version-release.arch` or `name-version...`
            package.held = locks.iter().any(|lock| {
                lock.strip_prefix(name)
                    .and_then(|rest| rest.strip_prefix('-'))
                    .is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit() || c == '*'))
            });
        }
        if let Some(entry) = self.policy.get(name) {
            package.repository = Some(Repository { stale: self.stale, ..entry.clone() });
        } else if self.asked && package.installed.is_none() {
            // apt-cache prints nothing at all for a name it never heard of.
            package.repository = Some(Repository { stale: self.stale, ..Repository::default() });
        }
        if let (Some(updates), true) = (&self.updates, latest) {
            let candidate =
                updates.get(name).map(|version| (*version).to_owned()).or_else(|| package.installed.clone());
            package.repository = Some(Repository { candidate, ..Repository::default() });
        }
        package
    }
}

pub(super) fn parse(queries: &[Query], output: &[u8], _: i32) -> Answers {
    let output = String::from_utf8_lossy(output);
    let seen = read(&output);
    if !seen.ended {
        return Vec::new();
    }
    let none = seen.manager == "none" || seen.manager.is_empty();
    queries
        .iter()
        .filter_map(|query| {
            if none {
                return Some((
                    query.clone(),
                    Answer::Unknown("no dpkg-query and no rpm on the host".to_owned()),
                ));
            }
            let answer = if let Query::Package { name, latest, .. } = query {
                Answer::Package(seen.package(name, *latest))
            } else if *query == Query::Packages {
                Answer::Packages(Packages {
                    manager: seen.manager.to_owned(),
                    interrupted: seen.interrupted,
                    can_hold: seen.manager == "apt" || seen.locks.is_some(),
                })
            } else {
                return None;
            };
            Some((query.clone(), answer))
        })
        .collect()
}
