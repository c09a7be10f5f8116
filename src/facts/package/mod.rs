//! Packages of the distribution: one `dpkg-query` or `rpm -q` for all names of a host, and one
//! `apt-cache policy` or `dnf check-update` only where something has to be done. What provides a name is
//! asked where no package of that name is installed.
//!
//! Formats: `dpkg-query -f` (deb-substvars; `db:Status-Abbrev` is three letters: wanted, status,
//! error), `rpm --qf`, apt-cache(8) policy and showpkg (Reverse Provides).

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{Answers, Family, Object, Query, Question, Touches, after, answers, lines, of_type};
use crate::transport::Script;

/// The package manager of a host.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Packages {
    /// `apt`, `dnf`, `yum`, or `rpm` when only the database is there.
    pub manager: String,
    /// Whether a dpkg transaction was cut and waits for `dpkg --configure -a`.
    #[serde(default)]
    pub interrupted: bool,
    /// Process in the middle of a dpkg transaction: `process 4711 (apt-get)`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub busy: Option<String>,
    /// Packages that dpkg has half-done, with their state; of no transaction that is under way.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub unfinished: BTreeMap<String, String>,
    /// Whether versions can be locked (dnf needs a plugin for that).
    #[serde(default)]
    pub can_hold: bool,
}

impl Packages {
    /// Describes what has to be finished before apt does anything: a transaction that was cut, packages that
    /// are half-done. Nothing where somebody is in the middle of it.
    pub fn to_finish(&self, broken: bool) -> Option<String> {
        if self.manager != "apt" || self.busy.is_some() {
            return None;
        }
        let half: Vec<String> =
            self.unfinished.iter().map(|(name, state)| format!("{name} is {state}")).collect();
        let told = if half.is_empty() {
            "the interrupted transaction".to_owned()
        } else {
            format!("its work: {}", half.join(", "))
        };
        (self.interrupted || broken || !half.is_empty()).then(|| format!("~ dpkg (finish {told})"))
    }

    /// The package that must be installed before versions can be locked: the plugin of dnf-plugins-core, or of
    /// yum-utils.
    pub fn lacks_for_holding(&self) -> Option<&'static str> {
        match self.manager.as_str() {
            "dnf" if !self.can_hold => Some("python3-dnf-plugin-versionlock"),
            "yum" if !self.can_hold => Some("yum-plugin-versionlock"),
            _ => None,
        }
    }

    /// Whether a version is the wanted one. `*` at the end stands for anything; an epoch that is not written
    /// is not compared, nor is a release of rpm's `E:V-R`.
    pub fn is_version(&self, version: &str, wanted: &str) -> bool {
        let bare = without_epoch(version);
        if let Some(start) = wanted.strip_suffix('*') {
            return version.starts_with(start) || bare.starts_with(start);
        }
        let unreleased = |version: &str| {
            self.manager != "apt"
                && !wanted.contains('-')
                && version.rsplit_once('-').is_some_and(|(version, _)| version == wanted)
        };
        version == wanted || bare == wanted || unreleased(version) || unreleased(bare)
    }
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
    /// Answer of the repositories, when they were asked.
    #[serde(default)]
    pub repository: Option<Repository>,
    /// Packages of other names that provide this one, where none of this name is installed.
    #[serde(default)]
    pub providers: BTreeMap<String, Package>,
}

/// Versions that the repositories offer.
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
    /// Whether an installed version is the wanted one.
    pub fn has_version(&self, manager: &Packages, wanted: &str) -> bool {
        self.installed.iter().chain(&self.others).any(|installed| manager.is_version(installed, wanted))
    }
}

fn without_epoch(version: &str) -> &str {
    version.split_once(':').map_or(version, |(_, rest)| rest)
}

/// The package manager: which one, its lists, an interrupted transaction.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct PackagesQuery;

impl Question for PackagesQuery {
    type Answer = Packages;
    const FAMILY: &'static Family = FAMILY;

    fn label(&self) -> String {
        "packages".to_owned()
    }

    fn touched_by(&self, touches: &Touches) -> bool {
        touches.packages() || touches.package_files()
    }
}

/// A package of the distribution.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct PackageQuery {
    /// Its name.
    pub name: String,
    /// The version that it should have; the repository is asked when it is another.
    pub version: Option<String>,
    /// Whether the repository is asked even when it is installed.
    pub latest: bool,
}

impl Question for PackageQuery {
    type Answer = Package;
    const FAMILY: &'static Family = FAMILY;

    fn label(&self) -> String {
        format!("package {}", self.name)
    }

    fn touched_by(&self, touches: &Touches) -> bool {
        touches.meets(&Object::Package(self.name.clone())) || touches.package_files()
    }
}

pub(crate) const FAMILY: &Family = &Family {
    output: 32 << 10,
    tools: "`dpkg-query`, `apt-cache`, `rpm` and `dnf`",
    ..Family::new("package", script, parse, read_label)
};

/// `packages`, `package perftest`, `package perftest 4.5`, `package perftest latest`.
fn read_label(label: &str) -> Option<Query> {
    if label == "packages" {
        return Some(PackagesQuery.into());
    }
    let rest = after("package", label)?;
    let (name, version) = rest.split_once(' ').map_or((rest, None), |(name, version)| (name, Some(version)));
    let latest = version == Some("latest");
    let version = version.filter(|_| !latest).map(str::to_owned);
    Some(PackageQuery { name: name.to_owned(), version, latest }.into())
}

fn script(queries: &[Query]) -> Script {
    Script::new(crate::shell!(
        "facts/package/dnf_providers.sh",
        "shell/package_holder.sh",
        "facts/package/package.sh"
    ))
    .args(of_type(queries).flat_map(|PackageQuery { name, version, latest }| {
        [name.as_str(), version.as_deref().unwrap_or(""), if *latest { "latest" } else { "" }]
    }))
}

#[derive(Default)]
struct PackageLines<'a> {
    manager: &'a str,
    ended: bool,
    interrupted: bool,
    busy: Option<String>,
    unfinished: BTreeMap<String, String>,
    locks: Option<Vec<&'a str>>,
    installed: BTreeMap<String, Package>,
    asked: bool,
    stale: bool,
    policy: BTreeMap<&'a str, Repository>,
    updates: Option<BTreeMap<&'a str, &'a str>>,
    /// Packages that provide a name, and for apt in which versions.
    provides: BTreeMap<&'a str, BTreeMap<&'a str, Vec<&'a str>>>,
}

fn read(output: &str) -> PackageLines<'_> {
    #[derive(PartialEq)]
    enum At {
        Top,
        Policy,
        Updates,
    }
    let mut seen = PackageLines::default();
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
                    ("busy", who) => seen.busy = Some(who.to_owned()),
                    ("unfinished", record) => {
                        if let [state, _, name] = record.split(' ').collect::<Vec<_>>().as_slice() {
                            seen.unfinished.insert((*name).to_owned(), (*state).to_owned());
                        }
                    }
                    ("lock", entry) => locks.push(entry),
                    ("provides", record) => {
                        let mut words = record.split(' ');
                        if let (Some(name), Some(by)) = (words.next(), words.next()) {
                            seen.provides.entry(name).or_default().entry(by).or_default().extend(words);
                        }
                    }
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

impl PackageLines<'_> {
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

    fn with_providers(&self, name: &str, latest: bool) -> Package {
        let mut package = self.package(name, latest);
        if package.installed.is_some() || package.broken {
            return package;
        }
        for (by, versions) in self.provides.get(name).into_iter().flatten() {
            let provider = self.package(by, latest);
            // Another version of it may not provide the name.
            let candidate = provider.repository.as_ref().and_then(|offer| offer.candidate.as_deref());
            let there = provider.installed.as_deref().or(candidate);
            if versions.is_empty() || provider.broken || there.is_some_and(|there| versions.contains(&there))
            {
                package.providers.insert((*by).to_owned(), provider);
            }
        }
        package
    }
}

fn parse(queries: &[Query], output: &str, _: i32) -> Answers {
    let seen = read(output);
    if !seen.ended {
        return Vec::new();
    }
    let managed = || match seen.manager {
        "none" | "" => Err("neither dpkg-query nor rpm is installed".to_owned()),
        manager => Ok(manager.to_owned()),
    };
    let mut all = answers(queries, |PackagesQuery| {
        Some(managed().map(|manager| Packages {
            interrupted: seen.interrupted,
            busy: seen.busy.clone(),
            unfinished: seen.unfinished.clone(),
            can_hold: manager == "apt" || seen.locks.is_some(),
            manager,
        }))
    });
    all.extend(answers(queries, |PackageQuery { name, latest, .. }| {
        Some(managed().map(|_| seen.with_providers(name, *latest)))
    }));
    all
}
