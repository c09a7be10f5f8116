//! `package`: packages of the distribution, with apt or dnf.

pub mod question;

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::config::{Diagnostic, Diagnostics, FromNode as _, Node, Sp};
use crate::facts::package::{Package, PackageQuery, Packages, PackagesQuery};
use crate::facts::{Facts, Object, Query, Touches};
use crate::inventory::Promise;
use crate::inventory::expect::ExpectSoftware;
use crate::inventory::file::Words;
use crate::resources::packages::package::question::{InstalledQuery, matches_pattern};
use crate::resources::shared::known;
use crate::resources::shared::value::claims;
use crate::resources::{Attribute, Built, Change, Context, Detail, Planned, Resource, Unplannable};
use crate::transport::Script;

crate::choice! {
    /// The wanted state of a package.
    PackageState {
        /// Installed.
        Present = "present",
        /// Not installed. Configuration files may be kept.
        Absent = "absent",
        /// Installed in the newest version of the repositories.
        Latest = "latest",
    }
}

crate::record! {
    /// Packages of the distribution. All packages of one task are one transaction.
    ///
    /// Recommended packages are not installed: name those that you want. The lists of apt are updated
    /// if they are missing or old and something must be installed.
    ///
    /// A name that is not a package's own stands for the package that provides it: on Ubuntu 24.04
    /// `librdmacm1` is provided by `librdmacm1t64`. Where several packages provide it and none of them is
    /// installed, the task fails and names them. `absent` is about packages that are called so.
    PackageTask("a package" as Package) {
        /// Names, as the package manager writes them.
        req names: Words,
        /// Whether the packages must be installed (`present`), not installed (`absent`), or installed
        /// in the newest version (`latest`).
        def state: PackageState = PackageState::Present,
        /// The version, as the package manager writes it. `*` at the end matches anything.
        opt version: Sp<String>,
        /// Whether the packages are held back from upgrades. Left out: unchanged.
        opt hold: bool,
        /// Packages of another family, as names with `*`. They are never installed as a dependency, and
        /// the task fails on a host that has one.
        def exclude: Vec<Sp<String>> = Vec::new(),
    }
}

kind! { "package", PackageTask, retries: true, promises: PROMISES }

const PROMISES: &[&str] =
    &["software.nccl", "software.nccl_prefix", "software.openmpi_prefix", "software.perftest_cuda"];

/// Package names of Debian (policy 5.6.1, with an architecture) and rpm.
pub(in crate::resources) fn is_name(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_alphanumeric())
        && text.chars().all(|c| c.is_ascii_alphanumeric() || "+-._:~".contains(c))
}

/// Returns what `verify` can expect where a package is installed, of those that its checks know.
fn software(name: &str, version: Option<&str>) -> Option<ExpectSoftware> {
    let none = ExpectSoftware::default();
    Some(match name {
        // That it is there; the package of a distribution has no CUDA.
        "perftest" => ExpectSoftware { perftest_cuda: Some(false), ..none },
        "openmpi-bin" => ExpectSoftware { openmpi_prefix: Some("/usr".to_owned()), ..none },
        "openmpi" => ExpectSoftware { openmpi_prefix: Some("/usr/lib64/openmpi".to_owned()), ..none },
        "libnccl-dev" | "libnccl-devel" => {
            // 2.27.7-1+cuda12.4
            let whole = version.and_then(|version| version.split_once('-')).map(|(nccl, _)| nccl.to_owned());
            ExpectSoftware { nccl: whole, nccl_prefix: Some("/usr".to_owned()), ..none }
        }
        _ => return None,
    })
}

/// A name with `*` for anything.
fn is_pattern(text: &str) -> bool {
    text.contains(|c: char| c.is_ascii_alphanumeric()) && is_name(&text.replace('*', "a"))
}

fn is_version(text: &str) -> bool {
    let body = text.strip_suffix('*').unwrap_or(text);
    text.starts_with(|c: char| c.is_ascii_alphanumeric())
        && body.chars().all(|c| c.is_ascii_alphanumeric() || "+-._:~^".contains(c))
}

pub(in crate::resources) fn read(node: &Node, _: &dyn Context, diagnostics: &mut Diagnostics) -> Built {
    let fields = PackageTask::from_node(node, diagnostics)?;
    let mut good = true;
    let mut refuse = |diagnostic| {
        good = false;
        diagnostics.push(diagnostic);
    };
    let mut seen = BTreeSet::new();
    for name in &fields.names.0 {
        if !is_name(name) {
            let words: Vec<&str> = name.split([' ', ',']).filter(|word| !word.is_empty()).collect();
            let help = if name.contains('=') {
                Some("put the version into `version`".to_owned())
            } else if words.len() > 1 && words.iter().all(|word| is_name(word)) {
                Some(format!("several are a list: `[{}]`", words.join(", ")))
            } else {
                None
            };
            let text = format!("`{}` is not the name of a package", **name);
            refuse(Diagnostic::error(name.span, text).maybe_help(help));
        }
        if !seen.insert(name.value.as_str()) {
            refuse(Diagnostic::error(name.span, format!("`{}` is named twice", **name)));
        }
    }
    if fields.names.0.is_empty() {
        refuse(Diagnostic::error(node.span, "a package task needs at least one name"));
    }
    if let Some(version) = &fields.version {
        if !is_version(version) {
            refuse(Diagnostic::error(version.span, format!("`{}` is not a version", **version)));
        }
        if fields.state != PackageState::Present {
            refuse(Diagnostic::error(
                version.span,
                format!("`version` cannot be combined with `state: {}`", fields.state),
            ));
        }
    }
    if fields.hold == Some(true) && fields.state == PackageState::Absent {
        refuse(Diagnostic::error(node.span, "`hold` cannot be combined with `state: absent`"));
    }
    for pattern in &fields.exclude {
        if !is_pattern(pattern) {
            refuse(Diagnostic::error(pattern.span, format!("`{}` is not the name of a package", **pattern)));
        } else if fields.state == PackageState::Absent {
            refuse(Diagnostic::error(pattern.span, "`exclude` cannot be combined with `state: absent`"));
        } else if let Some(name) = fields.names.0.iter().find(|name| matches_pattern(name, pattern)) {
            let diagnostic =
                Diagnostic::error(pattern.span, format!("`{}` excludes `{}`", **pattern, **name));
            refuse(diagnostic.help("use a narrower pattern in `exclude`"));
        }
    }
    good.then(|| -> Arc<dyn Resource> { Arc::new(fields) })
}

/// One stanza of `apt_preferences(5)` that holds for one transaction.
pub(in crate::resources) struct Pin<'a> {
    /// Names with `*`, separated by blanks.
    pub names: &'a str,
    /// `release *`, `version 535.*`.
    pub to: String,
    /// -1: never; 1001: even as a downgrade.
    pub priority: i32,
}

impl<'a> Pin<'a> {
    pub(in crate::resources) fn never(names: &'a str) -> Self {
        Self { names, to: "release *".to_owned(), priority: -1 }
    }
}

/// Text for apt.sh; empty without pins.
pub(in crate::resources) fn preferences(pins: &[Pin<'_>]) -> String {
    let stanza =
        |pin: &Pin<'_>| format!("Package: {}\nPin: {}\nPin-Priority: {}\n", pin.names, pin.to, pin.priority);
    pins.iter().map(stanza).collect::<Vec<_>>().join("\n")
}

/// A package with what is to be done about it.
#[derive(Clone, Copy)]
struct Due<'a> {
    name: &'a str,
    package: &'a Package,
    /// Name that the package provides, where the task names that.
    provides: Option<&'a str>,
}

impl Due<'_> {
    /// `+ perftest 4.5`, `~ perftest 4.4 -> 4.5`.
    fn line(&self, after: Option<&str>) -> String {
        let line = self.change(after);
        self.provides.map_or(line.clone(), |provides| format!("{line} (provides {provides})"))
    }

    fn change(&self, after: Option<&str>) -> String {
        let name = self.name;
        match (self.package.installed.as_deref(), after) {
            (None, None) => format!("+ {name}"),
            (None, Some(after)) => format!("+ {name} {after}"),
            (Some(before), None) => format!("~ {name} {before}"),
            (Some(before), Some(after)) => format!("~ {name} {before} -> {after}"),
        }
    }
}

impl PackageTask {
    fn version(&self) -> Option<&str> {
        self.version.as_ref().map(|version| version.as_str())
    }

    /// Its first name, for what is of the whole task.
    fn object(&self) -> Object {
        Object::Package(self.names.0.first().map(|name| name.value.clone()).unwrap_or_default())
    }

    fn query(&self, name: &str) -> PackageQuery {
        PackageQuery {
            name: name.to_owned(),
            version: self.version().map(str::to_owned),
            latest: self.state == PackageState::Latest,
        }
    }

    /// The package that a name stands for: the one that is called so, else the one that provides it.
    fn find<'a>(&self, facts: &'a Facts, name: &'a str) -> Result<Due<'a>, Unplannable> {
        let object = Object::Package(name.to_owned());
        let package = known::answer(facts, &self.query(name), &object)?;
        let own = Due { name, package, provides: None };
        let offered = package.repository.as_ref().is_some_and(|offer| offer.candidate.is_some());
        if self.state == PackageState::Absent || package.installed.is_some() || package.broken || offered {
            return Ok(own);
        }
        let mut providers =
            package.providers.iter().map(|(by, package)| Due { name: by, package, provides: Some(name) });
        let there = |due: &Due<'_>| due.package.installed.is_some() || due.package.broken;
        if let Some(installed) = providers.clone().find(there) {
            return Ok(installed);
        }
        match (providers.next(), providers.next()) {
            (None, _) => Ok(own),
            (Some(provider), None) => Ok(provider),
            (Some(_), Some(_)) => {
                let names: Vec<&str> = package.providers.keys().map(String::as_str).collect();
                Err(Unplannable::Failed(format!(
                    "no package is called {name}, and several provide it: put one of these into `names` instead: {}",
                    names.join(", ")
                )))
            }
        }
    }

    fn is_due(&self, manager: &Packages, package: &Package) -> bool {
        let candidate = || package.repository.as_ref().and_then(|repository| repository.candidate.as_deref());
        match (&package.installed, self.version()) {
            (None, _) => true,
            _ if package.broken => true,
            (Some(_), Some(version)) => !package.has_version(manager, version),
            (Some(installed), None) => {
                self.state == PackageState::Latest
                    && candidate().is_some_and(|candidate| candidate != installed)
            }
        }
    }

    /// The version that will be there, as far as the repositories were asked.
    fn after(&self, manager: &Packages, package: &Package) -> Option<String> {
        let repository = package.repository.as_ref();
        match self.version() {
            Some(version) => repository
                .and_then(|offer| {
                    offer.versions.iter().find(|offered| manager.is_version(offered, version)).cloned()
                })
                .or_else(|| Some(version.to_owned())),
            None => repository.and_then(|offer| offer.candidate.clone()),
        }
    }

    /// Whether the lists must be updated before this package can be installed from them.
    fn lists_lack(&self, manager: &Packages, package: &Package) -> bool {
        let Some(offer) = &package.repository else { return false };
        let offered = match self.version() {
            Some(version) => offer.versions.iter().any(|offered| manager.is_version(offered, version)),
            None => offer.candidate.is_some(),
        };
        offer.stale || !offered
    }

    fn change(&self, manager: &Packages, action: &'static str, names: &[String]) -> Change {
        let script = if manager.manager == "apt" {
            let pins: Vec<Pin<'_>> = self.exclude.iter().map(|pattern| Pin::never(pattern)).collect();
            Script::new(crate::shell!("shell/package_holder.sh", "resources/shared/apt.sh"))
                .named("action", action)
                .named("preferences", preferences(&pins))
        } else {
            let exclude = self.exclude.iter().map(|pattern| pattern.as_str()).collect::<Vec<_>>().join(" ");
            Script::new(crate::shell!("facts/package/dnf_providers.sh", "resources/shared/dnf.sh"))
                .named("tool", manager.manager.as_str())
                .named("action", action)
                .named("excluded", exclude)
        };
        Change::new(
            self.object(),
            String::new(),
            Detail::Attributes(Vec::new()),
            script.list("word", names.iter().map(String::as_str)),
        )
    }

    fn install(&self, manager: &Packages, due: &[Due<'_>]) -> Change {
        let apt = manager.manager == "apt";
        let separator = if apt { '=' } else { '-' };
        let names: Vec<String> = due
            .iter()
            .map(|due| match self.version() {
                Some(version) => format!("{}{separator}{version}", due.name),
                None => due.name.to_owned(),
            })
            .collect();
        let action = match (self.version(), self.state) {
            (Some(_), _) => "pin",
            (None, PackageState::Latest) if !apt => "latest",
            (None, _) => "install",
        };
        let lines: Vec<String> =
            due.iter().map(|due| due.line(self.after(manager, due.package).as_deref())).collect();
        let attributes = due
            .iter()
            .map(|due| {
                let after = self.after(manager, due.package).unwrap_or_else(|| "installed".to_owned());
                Attribute::new(due.name, due.package.installed.as_deref(), Some(&after))
            })
            .collect();
        Change {
            summary: lines.join(", "),
            detail: Detail::Attributes(attributes),
            ..self.change(manager, action, &names)
        }
    }

    fn remove(&self, manager: &Packages, due: &[Due<'_>]) -> Change {
        let names: Vec<String> = due.iter().map(|due| due.name.to_owned()).collect();
        let attributes =
            due.iter().map(|due| Attribute::new(due.name, due.package.installed.as_deref(), None)).collect();
        Change {
            summary: names.iter().map(|name| format!("- {name}")).collect::<Vec<_>>().join(", "),
            detail: Detail::Attributes(attributes),
            ..self.change(manager, "remove", &names)
        }
    }

    /// Two families of one thing on a host are a defect, and only a person can say which one goes.
    fn refuse_excluded(&self, facts: &Facts) -> Result<(), Unplannable> {
        for pattern in &self.exclude {
            let object = Object::Package(pattern.value.clone());
            let query = InstalledQuery(pattern.value.clone());
            let found = known::answer(facts, &query, &object)?;
            let names: Vec<&str> = found.iter().map(|package| package.name.as_str()).collect();
            if !names.is_empty() {
                return Err(Unplannable::Failed(format!(
                    "{} is installed, but this task excludes it: remove it first, with `package: {{ names: [{}], state: absent }}`",
                    names.join(", "),
                    names.join(", "),
                )));
            }
        }
        Ok(())
    }

    fn holding(&self, manager: &Packages, all: &[Due<'_>]) -> Result<Vec<Change>, Unplannable> {
        // dnf locks a version, and apt takes the hold of a package away when it changes it all the same.
        let again =
            |due: &Due<'_>| due.package.held && self.hold != Some(false) && self.is_due(manager, due.package);
        let hold = self.hold.unwrap_or(true);
        let names: Vec<String> = all
            .iter()
            .filter(|due| self.hold.is_some_and(|hold| due.package.held != hold) || again(due))
            .map(|due| due.name.to_owned())
            .collect();
        let Some(first) = names.first() else { return Ok(Vec::new()) };
        let plugin = manager.lacks_for_holding();
        if !manager.can_hold && plugin.is_none() {
            return Err(Unplannable::Unknown(
                Object::Package(first.clone()),
                format!(
                    "it cannot be held: {} locks no versions, and neither dnf nor yum is installed",
                    manager.manager
                ),
            ));
        }
        let plugin = plugin.map(|plugin| Change {
            object: Object::Package(plugin.to_owned()),
            ..self.install(manager, &[Due { name: plugin, package: &Package::default(), provides: None }])
        });
        let word = |held: bool| if held { "held" } else { "not held" };
        let attributes =
            names.iter().map(|name| Attribute::new(name, Some(word(!hold)), Some(word(hold)))).collect();
        let hold = Change {
            summary: format!("~ {} ({})", names.join(", "), word(hold)),
            detail: Detail::Attributes(attributes),
            ..self.change(manager, if hold { "hold" } else { "unhold" }, &names)
        };
        Ok(plugin.into_iter().chain([hold]).collect())
    }
}

impl Resource for PackageTask {
    fn queries(&self) -> Vec<Query> {
        let names = self.names.0.iter().map(|name| self.query(name).into());
        let excluded = self.exclude.iter().map(|pattern| InstalledQuery(pattern.value.clone()).into());
        std::iter::once(PackagesQuery.into()).chain(names).chain(excluded).collect()
    }

    fn plan(&self, facts: &Facts) -> Planned {
        let object = self.object();
        let manager = known::answer(facts, &PackagesQuery, &object)?;
        let mut all: Vec<Due<'_>> = Vec::new();
        for name in &self.names.0 {
            let found = self.find(facts, name)?;
            // Two names may stand for one package.
            if !all.iter().any(|due| due.name == found.name) {
                all.push(found);
            }
        }
        self.refuse_excluded(facts)?;
        let absent = self.state == PackageState::Absent;
        let due: Vec<Due<'_>> =
            all.iter()
                .filter(|due| {
                    if absent { due.package.installed.is_some() } else { self.is_due(manager, due.package) }
                })
                .copied()
                .collect();
        let mut changes = Vec::new();
        if !due.is_empty() && manager.manager == "rpm" {
            return Err(Unplannable::Unknown(object, "neither dnf nor yum is installed".to_owned()));
        }
        // Nothing can be done before a cut transaction is finished, and a half-done package is not left.
        let broken = due.iter().any(|due| due.package.broken);
        if let Some(summary) = manager.to_finish(broken)
            && (!due.is_empty() || !manager.unfinished.is_empty())
        {
            changes.push(Change {
                summary,
                detail: Detail::Command("dpkg --configure -a".to_owned()),
                ..self.change(manager, "configure", &[])
            });
        }
        if absent {
            if !due.is_empty() {
                changes.push(self.remove(manager, &due));
            }
            return Ok(changes);
        }
        if !due.is_empty() {
            if manager.manager == "apt" && due.iter().any(|due| self.lists_lack(manager, due.package)) {
                changes.push(Change {
                    summary: "~ package lists (update)".to_owned(),
                    detail: Detail::Command("apt-get update".to_owned()),
                    ..self.change(manager, "update", &[])
                });
            }
            changes.push(self.install(manager, &due));
        }
        changes.extend(self.holding(manager, &all)?);
        Ok(changes)
    }

    fn touches(&self) -> Touches {
        Touches::Everything
    }

    fn manages(&self) -> Vec<(Object, String)> {
        let presence = if self.state == PackageState::Absent { "absent" } else { "present" };
        let latest = (self.state == PackageState::Latest).then(|| "latest".to_owned());
        let hold = |hold: bool| if hold { "held" } else { "not held" }.to_owned();
        let attributes =
            [("version", self.version().map(str::to_owned).or(latest)), ("hold", self.hold.map(hold))];
        let names = self.names.0.iter();
        names.flat_map(|name| claims(Object::Package, name, presence, attributes.clone())).collect()
    }

    fn promises(&self, _: &Facts) -> Vec<Promise> {
        let names = self.names.0.iter().filter(|_| self.state != PackageState::Absent);
        let known = names.filter_map(|name| software(name, self.version()));
        known.map(Promise::new).collect()
    }

    fn leave(&self) -> bool {
        true
    }
}
