//! `pip`: Python packages in a virtual environment.

use std::sync::Arc;

use crate::config::{Diagnostic, Diagnostics, FromNode as _, Node, Sp};
use crate::facts::ask::{Asked, Command, CommandQuery};
use crate::facts::{Facts, Object, Query, Touches};
use crate::resources::files::directory::Directory;
use crate::resources::shared::known;
use crate::resources::shared::value::{HostPath, Presence, claims};
use crate::resources::{Attribute, Built, Change, Context, Detail, Planned, Resource, Unplannable};
use crate::sources::Url;
use crate::transport::Script;

crate::record! {
    /// Python packages in a virtual environment of their own.
    ///
    /// If the environment does not exist, it is made with `python`; the system's own packages are never
    /// changed. A package is given as a name, or as `NAME==VERSION` for exactly that version (`2.4.1`
    /// also matches `2.4.1+cu121`). Packages come from the index that pip is configured for, from
    /// `index`, or, without any network, from a directory of wheels. `sources.mirrors` replaces
    /// indexes, also that of `PyPI`.
    PipFields("a set of Python packages") {
        /// Directory of the virtual environment.
        req venv: HostPath,
        /// `NAME` or `NAME==VERSION`; `[EXTRA]` may follow the name.
        def packages: Vec<Sp<String>> = Vec::new(),
        /// Index that packages come from. Left out: the one that pip is configured for.
        opt index: Url,
        /// A further index, such as `https://download.pytorch.org/whl/cu121`.
        opt extra_index: Url,
        /// Hosts whose index is used without TLS, like pip's `--trusted-host`.
        def trusted_hosts: Vec<String> = Vec::new(),
        /// A directory of wheels on the host. Nothing is fetched from an index then.
        opt wheels: HostPath,
        /// The Python that makes the environment.
        def python: String = "python3".to_owned(),
        /// Whether the packages must be installed (`present`) or not (`absent`). `absent` without
        /// packages removes the environment.
        def state: Presence = Presence::Present,
    }
}

kind! { "pip", PipFields }

/// Index from which pip fetches when nobody says anything else.
const PYPI: &str = "https://pypi.org/simple";

#[derive(Debug, Clone, PartialEq, Eq)]
struct Requirement {
    /// As it is given to pip.
    text: String,
    /// As packages are compared.
    name: String,
    version: Option<String>,
}

#[derive(Debug)]
struct Pip {
    venv: HostPath,
    packages: Vec<Requirement>,
    options: Vec<String>,
    wheels: Option<String>,
    python: String,
    state: Presence,
    user: Option<String>,
}

/// `Foo_Bar.baz` is `foo-bar-baz`.
fn normal(name: &str) -> String {
    name.to_ascii_lowercase()
        .split(['-', '_', '.'])
        .filter(|part| !part.is_empty())
        .collect::<Vec<_>>()
        .join("-")
}

impl Requirement {
    fn new(text: &str) -> Option<Self> {
        let (project, version) = match text.split_once("==") {
            Some((project, version)) => (project, Some(version)),
            None => (text, None),
        };
        let (name, extras) = match project.split_once('[') {
            Some((name, extras)) => (name, extras.strip_suffix(']')?),
            None => (project, ""),
        };
        let word = |text: &str, more: &[char]| {
            text.starts_with(|c: char| c.is_ascii_alphanumeric())
                && text
                    .chars()
                    .all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.') || more.contains(&c))
        };
        let good = word(name, &[])
            && (extras.is_empty() || word(extras, &[',']))
            && version.is_none_or(|version| word(version, &['+', '!']));
        good.then(|| Self { text: text.to_owned(), name: normal(name), version: version.map(str::to_owned) })
    }

    fn is(&self, version: &str) -> bool {
        self.version.as_ref().is_none_or(|wanted| {
            version == wanted
                || version.strip_prefix(wanted.as_str()).is_some_and(|rest| rest.starts_with('+'))
        })
    }
}

pub(in crate::resources) fn read(node: &Node, context: &dyn Context, diagnostics: &mut Diagnostics) -> Built {
    let fields = PipFields::from_node(node, diagnostics)?;
    let mut packages = Vec::new();
    for text in &fields.packages {
        let Some(package) = Requirement::new(text) else {
            diagnostics.push(
                Diagnostic::error(text.span, format!("`{}` is not a package for pip", **text)).help(
                    "write `NAME` or `NAME==VERSION`: a range of versions cannot be checked afterwards",
                ),
            );
            return None;
        };
        packages.push(package);
    }
    if fields.python.is_empty()
        || fields.python.starts_with('-')
        || fields.python.contains(char::is_whitespace)
    {
        diagnostics.error(node.span, format!("`{}` is not the name or path of a program", fields.python));
        return None;
    }
    if fields.wheels.is_some() && (fields.index.is_some() || fields.extra_index.is_some()) {
        diagnostics.push(
            Diagnostic::error(node.span, "`wheels` cannot be combined with an index")
                .help("with `wheels`, pip uses no index"),
        );
        return None;
    }
    let mut options = Vec::new();
    let mut refused = Vec::new();
    let mut index = |option: &str, url: &str| {
        // Whoever is on the way to an index without TLS decides what is installed.
        if let Some(rest) = url.strip_prefix("http://") {
            let host = rest.split(['/', ':']).next().unwrap_or(rest);
            if !fields.trusted_hosts.iter().any(|trusted| trusted == host) {
                refused.push((url.to_owned(), host.to_owned()));
            }
            options.extend(["--trusted-host".to_owned(), host.to_owned()]);
        }
        options.extend([option.to_owned(), url.to_owned()]);
    };
    let sources = context.sources();
    let from = fields.index.as_ref().map_or(PYPI, Url::as_str);
    let place = sources.rewrite(from);
    if fields.wheels.is_none() && (fields.index.is_some() || place != PYPI) {
        index("--index-url", &place);
    }
    if let Some(extra) = &fields.extra_index {
        index("--extra-index-url", &sources.rewrite(extra.as_str()));
    }
    for (url, host) in &refused {
        diagnostics.push(
            Diagnostic::error(
                node.span,
                format!(
                    "the index {url} does not use TLS: anybody on the network path can change its packages"
                ),
            )
            .help(format!(
                "use https, or set `trusted_hosts: [{host}]` if the network path to it is your own"
            )),
        );
    }
    if !refused.is_empty() {
        return None;
    }
    if let Some(wheels) = &fields.wheels {
        options.extend(["--no-index".to_owned(), "--find-links".to_owned(), wheels.0.clone()]);
    }
    Some(Arc::new(Pip {
        venv: fields.venv,
        packages,
        options,
        wheels: fields.wheels.map(|path| path.0),
        python: fields.python,
        state: fields.state,
        user: context.user().map(str::to_owned),
    }))
}

/// Virtual environment and packages that are there.
struct Found {
    venv: bool,
    broken: bool,
    python: bool,
    /// Name as compared, and version.
    packages: Vec<(String, String)>,
}

impl Pip {
    fn question(&self) -> CommandQuery {
        let variable = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        CommandQuery {
            command: Command::Script(crate::shell!("resources/packages/pip/pip_list.sh").to_owned()),
            env: vec![variable("VENV", self.venv.as_str()), variable("PYTHON", &self.python)],
            chdir: None,
            user: self.user.clone(),
            limit: None,
        }
    }

    fn object(&self) -> Object {
        Object::Path(self.venv.0.clone())
    }

    fn found(&self, facts: &Facts) -> Result<Found, Unplannable> {
        let object = self.object();
        let query = self.question();
        let Asked { stdout, .. } = known::answer(facts, &query, &object)?;
        let says = |word: &str| stdout.lines().any(|line| line == word);
        if !says("end") {
            return Err(Unplannable::Unknown(object, "the list of Python packages was cut short".to_owned()));
        }
        let package = |line: &str| {
            let (name, version) = line.strip_prefix("dist=")?.strip_suffix(".dist-info")?.rsplit_once('-')?;
            Some((normal(name), version.to_owned()))
        };
        Ok(Found {
            venv: says("venv"),
            broken: says("broken"),
            python: !says("nopython"),
            packages: stdout.lines().filter_map(package).collect(),
        })
    }

    fn change(&self, summary: String, attributes: Vec<Attribute>, words: Vec<String>) -> Change {
        Change::new(
            self.object(),
            summary,
            Detail::Attributes(attributes),
            Script::new(crate::shell!(
                "shell/rooted.sh",
                "shell/rooted_below.sh",
                "shell/reach.sh",
                "resources/packages/pip/pip.sh"
            ))
            .named("venv", self.venv.as_str())
            .named("python", self.python.as_str())
            .named("wheels", self.wheels.as_deref().unwrap_or_default())
            .list("word", words),
        )
    }

    fn install(&self, found: &Found) -> Planned {
        let path = self.venv.as_str();
        let now = |package: &Requirement| {
            found.packages.iter().find(|(name, _)| *name == package.name).map(|(_, version)| version.as_str())
        };
        let due: Vec<&Requirement> = self
            .packages
            .iter()
            .filter(|package| !found.venv || now(package).is_none_or(|version| !package.is(version)))
            .collect();
        if found.venv && due.is_empty() {
            return Ok(Vec::new());
        }
        if !found.venv && !found.python {
            return Err(Unplannable::Missing(
                Object::Path(self.python.clone()),
                format!("`{}` is not installed: install it together with its module venv", self.python),
            ));
        }
        let told: Vec<String> = due
            .iter()
            .map(|package| match now(package).filter(|_| found.venv) {
                Some(version) => {
                    format!("{} {version} -> {}", package.name, package.version.as_deref().unwrap_or("any"))
                }
                None => format!("+ {}", package.text),
            })
            .collect();
        let attributes = due
            .iter()
            .map(|package| {
                let before = now(package).filter(|_| found.venv);
                Attribute::new(&package.name, before, Some(package.version.as_deref().unwrap_or("any")))
            })
            .collect();
        let sign = if found.venv || found.broken { '~' } else { '+' };
        let summary = if told.is_empty() {
            format!("{sign} {path}")
        } else {
            format!("{sign} {path} ({})", told.join(", "))
        };
        let mut words = Vec::new();
        if !due.is_empty() {
            words.push("install".to_owned());
            words.extend(self.options.iter().cloned());
            words.push("--".to_owned());
            // All of them: pip settles what they need of each other.
            words.extend(self.packages.iter().map(|package| package.text.clone()));
        }
        Ok(vec![self.change(summary, attributes, words)])
    }

    fn uninstall(&self, found: &Found) -> Vec<Change> {
        let due: Vec<(&str, &str)> = self
            .packages
            .iter()
            .filter_map(|package| found.packages.iter().find(|(name, _)| *name == package.name))
            .map(|(name, version)| (name.as_str(), version.as_str()))
            .collect();
        if !found.venv || due.is_empty() {
            return Vec::new();
        }
        let names: Vec<String> = due.iter().map(|(name, _)| (*name).to_owned()).collect();
        let attributes =
            due.iter().map(|(name, version)| Attribute::new(name, Some(version), None)).collect();
        let summary = format!("~ {} (- {})", self.venv.as_str(), names.join(", - "));
        let words = ["uninstall", "--yes", "--"].into_iter().map(str::to_owned).chain(names).collect();
        vec![self.change(summary, attributes, words)]
    }

    fn whole(&self) -> Option<Directory> {
        (self.state == Presence::Absent && self.packages.is_empty()).then(|| Directory {
            path: self.venv.clone(),
            mode: None,
            owner: None,
            group: None,
            state: Presence::Absent,
        })
    }
}

impl Resource for Pip {
    fn queries(&self) -> Vec<Query> {
        match self.whole() {
            Some(directory) => directory.queries(),
            None => vec![self.question().into()],
        }
    }

    fn plan(&self, facts: &Facts) -> Planned {
        if let Some(directory) = self.whole() {
            return directory.plan(facts);
        }
        let found = self.found(facts)?;
        match self.state {
            Presence::Present => self.install(&found),
            Presence::Absent => Ok(self.uninstall(&found)),
        }
    }

    fn touches(&self) -> Touches {
        Touches::one(self.object())
    }

    fn manages(&self) -> Vec<(Object, String)> {
        if self.whole().is_some() {
            return vec![(self.object(), "absent".to_owned())];
        }
        let want = |package: &Requirement| match self.state {
            Presence::Present => package.version.clone().unwrap_or_else(|| "present".to_owned()),
            Presence::Absent => "absent".to_owned(),
        };
        let packages: Vec<(&str, Option<String>)> =
            self.packages.iter().map(|package| (package.name.as_str(), Some(want(package)))).collect();
        claims(Object::Path, self.venv.as_str(), "a virtual environment", packages)
    }
}
