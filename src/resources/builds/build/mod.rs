//! `build`: software from source, in a prefix of its own.

use std::sync::Arc;
use std::time::Duration;

use crate::config::read::Entries;
use crate::config::{Diagnostic, Diagnostics, FromNode as _, Node, Sp, Span};
use crate::facts::build::{Build as Found, BuildQuery, Prefix};
use crate::facts::{Facts, Object, Query, Touches, software};
use crate::inventory::Promise;
use crate::inventory::expect::ExpectSoftware;
use crate::resources::files::directory::KEPT;
use crate::resources::shared::known;
use crate::resources::shared::value::HostPath;
use crate::resources::{Built, Change, Context, Detail, Planned, Resource, Unplannable};
use crate::transport::{Arg, Script};

crate::choice! {
    /// Build system of the software.
    System {
        /// `./configure`, `make`, `make install DESTDIR=...`. If there is no `configure`,
        /// `./autogen.sh` runs first.
        Autotools = "autotools",
        /// `make` with variables.
        Make = "make",
        /// `cmake`.
        Cmake = "cmake",
    }
}

crate::record! {
    /// Software that is built from source on the host, in a prefix of its own.
    ///
    /// A stamp file in the prefix records what it was built from: the digest of the source, options,
    /// variables, environment, compiler, CUDA and prefix. It is built again only when one of these
    /// changes or an installed file is missing. If the compiler or the source was removed after the
    /// build, nothing is built again.
    ///
    /// The build runs in a systemd unit of its own, in a fresh copy of the source, with as many jobs as
    /// processors and memory allow. The result is assembled beside the prefix and replaces it in one
    /// step. So a lost connection does not stop the build; a build that was killed starts again from
    /// the beginning and never leaves a half-written prefix. The log is kept in the build directory.
    ///
    /// To remove it: `directory: { path: PREFIX, state: absent }`.
    BuildFields("a build") {
        /// Directory or tar archive on the host, made by `archive`, `git` or `download`.
        req source: Sp<HostPath>,
        /// Directory of the result. It must hold nothing else.
        req prefix: Sp<HostPath>,
        /// Name of the build directory, also used in messages. Left out: the last part of the prefix.
        /// With the name `nccl`, `openmpi` or `nccl-tests`, `verify` expects that software in the prefix.
        opt name: Sp<String>,
        /// Version of the software, as `verify` expects it. It does not decide whether it is built again.
        opt version: Sp<String>,
        /// Build system of the software.
        def system: System = System::Autotools,
        /// Arguments of `configure` or `cmake`, without the prefix.
        def options: Vec<Sp<String>> = Vec::new(),
        /// Variables of `make`.
        def variables: Entries<Sp<String>> = Entries::default(),
        /// Environment variables, such as CC and CFLAGS.
        def env: Entries<Sp<String>> = Entries::default(),
        /// Targets of `make`. Left out: the default target of the makefile.
        def targets: Vec<Sp<String>> = Vec::new(),
        /// Targets that install. Left out: `[install]`, or none if there are `results`.
        opt install: Vec<Sp<String>>,
        /// Variable of `make` that redirects the installation. With DESTDIR the staging directory comes
        /// before the prefix; with any other name it replaces the prefix.
        opt staging: Sp<String>,
        /// Files and directories of the built tree that are copied into the prefix under their last
        /// name, for software without an install target.
        def results: Vec<Sp<String>> = Vec::new(),
        /// The compiler. Another version of it causes a new build.
        opt compiler: Sp<String>,
        /// Directory of the CUDA toolkit, if the source needs it. Another version of it causes a new
        /// build.
        opt cuda: HostPath,
        /// Most jobs at once. Left out: as many as processors and memory allow.
        opt jobs: Sp<u32>,
        /// Memory in MiB that one job may need. Left out: 512.
        opt memory_per_job: Sp<u32>,
        /// Free space in MiB that the build needs. Beside the prefix a quarter of it must be free. With
        /// `build_once`, no more than this is taken from another host.
        def space: u32 = 1024,
        /// Directory in which the software is built. Left out: /var/cache/provision/build/NAME.
        opt directory: HostPath,
    }
}

kind! { "build", BuildFields, timeout: Duration::from_hours(2), detached: true, promises: PROMISES }

/// Keys that a build and `build_once` may promise.
pub(in crate::resources) const PROMISES: &[&str] = &[
    "software.nccl",
    "software.nccl_prefix",
    "software.openmpi",
    "software.openmpi_prefix",
    "software.nccl_tests",
];

/// A build with all its fields known.
#[derive(Debug)]
pub(in crate::resources) struct Build {
    name: String,
    version: Option<String>,
    source: String,
    prefix: String,
    directory: String,
    system: System,
    options: Vec<String>,
    env: Vec<String>,
    /// Arguments of `make`: variables and targets.
    words: Vec<String>,
    /// The same for the install; empty when nothing is installed.
    install: Vec<String>,
    staging: String,
    results: Vec<String>,
    compiler: String,
    cuda: String,
    jobs: u32,
    memory_per_job: u32,
    space: u32,
    user: Option<String>,
}

/// Whether a text can stand in a line of the stamp.
fn check_word(word: &Sp<String>, diagnostics: &mut Diagnostics) -> bool {
    let message = if word.contains(['\n', '\0']) {
        "this contains a line break"
    } else if word.is_empty() {
        "this is empty"
    } else {
        return true;
    };
    diagnostics.error(word.span, message);
    false
}

fn is_name(name: &str) -> bool {
    !name.starts_with(['.', '-'])
        && !name.is_empty()
        && name.chars().all(|c| c.is_ascii_alphanumeric() || "._+-".contains(c))
}

fn inside(outer: &str, path: &str) -> bool {
    Object::Path(outer.to_owned()).meets(&Object::Path(path.to_owned())) && path.len() >= outer.len()
}

/// `NAME=VALUE` words.
fn pairs(entries: Entries<Sp<String>>, what: &str, diagnostics: &mut Diagnostics) -> Option<Vec<String>> {
    let mut words = Vec::new();
    let mut good = true;
    for (name, value) in entries.0 {
        if !crate::resources::commands::command::is_variable(&name) {
            good = false;
            diagnostics.error(name.span, format!("`{}` is not the name of {what}", *name));
        }
        good &= value.is_empty() || check_word(&value, diagnostics);
        words.push(format!("{}={}", *name, *value));
    }
    good.then_some(words)
}

pub(in crate::resources) fn read(node: &Node, context: &dyn Context, diagnostics: &mut Diagnostics) -> Built {
    let fields = BuildFields::from_node(node, diagnostics)?;
    Some(Arc::new(build(fields, node.span, context, diagnostics)?))
}

/// The build of these fields.
pub(in crate::resources) fn build(
    fields: BuildFields,
    span: Span,
    context: &dyn Context,
    diagnostics: &mut Diagnostics,
) -> Option<Build> {
    let prefix = fields.prefix.0.clone();
    let source = fields.source.0.clone();
    let mut good = true;
    let mut refuse = |diagnostic: Diagnostic| {
        good = false;
        diagnostics.push(diagnostic);
    };
    if KEPT.contains(&prefix.as_str()) {
        refuse(Diagnostic::error(fields.prefix.span, format!("{prefix} also holds other things")).help(
            format!(
                "a build replaces its whole prefix: give it one of its own, such as {}/name",
                prefix.trim_end_matches('/')
            ),
        ));
    }
    if inside(&prefix, &source) || inside(&source, &prefix) {
        refuse(
            Diagnostic::error(fields.source.span, "one of source and prefix is inside the other")
                .help("a build replaces its whole prefix: keep the source elsewhere, such as /usr/local/src"),
        );
    }
    let last = prefix.rsplit('/').next().unwrap_or_default();
    let name = fields.name.unwrap_or_else(|| Sp::new(last.to_owned(), fields.prefix.span));
    if !is_name(&name) {
        refuse(
            Diagnostic::error(name.span, format!("`{}` cannot be the name of a build", *name))
                .help("use letters, digits, `.`, `_`, `+` and `-`"),
        );
    }
    if let Some(word) =
        fields.staging.as_ref().filter(|word| !crate::resources::commands::command::is_variable(word))
    {
        refuse(Diagnostic::error(word.span, format!("`{}` is not the name of a variable", **word)));
    }
    let is_program =
        |word: &str| !word.is_empty() && !word.starts_with('-') && !word.contains(char::is_whitespace);
    if let Some(word) = fields.compiler.as_ref().filter(|word| !is_program(word)) {
        refuse(Diagnostic::error(word.span, format!("`{}` is not the name of a compiler", **word)));
    }
    for option in &fields.options {
        if option.starts_with("--prefix") || option.starts_with("-DCMAKE_INSTALL_PREFIX") {
            refuse(Diagnostic::error(option.span, "`prefix` already sets this").help("remove this option"));
        }
    }
    if fields.system == System::Make && !fields.options.is_empty() {
        refuse(
            Diagnostic::error(span, "`make` has no `options`")
                .help("give `variables`, or `system: autotools`"),
        );
    }
    for result in &fields.results {
        let path = camino::Utf8Path::new(result.as_str());
        let plain = path.components().all(|part| matches!(part, camino::Utf8Component::Normal(_)));
        if !plain || result.starts_with('-') {
            refuse(Diagnostic::error(result.span, "a result must be a relative path inside the built tree"));
        }
    }
    for (number, what) in [(&fields.jobs, "jobs"), (&fields.memory_per_job, "memory_per_job")] {
        if let Some(number) = number.as_ref().filter(|number| number.value == 0) {
            refuse(Diagnostic::error(number.span, format!("`{what}` must be at least 1")));
        }
    }
    let installs = fields.install.unwrap_or_else(|| {
        if fields.results.is_empty() { vec![Sp::new("install".to_owned(), span)] } else { Vec::new() }
    });
    for word in fields.options.iter().chain(&fields.targets).chain(&installs).chain(&fields.results) {
        good &= check_word(word, diagnostics);
    }
    let variables = pairs(fields.variables, "a variable of make", diagnostics);
    let env = pairs(fields.env, "an environment variable", diagnostics);
    let texts = |words: Vec<Sp<String>>| words.into_iter().map(|word| word.value).collect::<Vec<_>>();
    let (variables, env) = (variables?, env?);
    let with = |targets: Vec<Sp<String>>| variables.iter().cloned().chain(texts(targets)).collect();
    good.then(|| Build {
        name: name.value,
        version: fields.version.map(|version| version.value).filter(|version| !version.is_empty()),
        source,
        prefix,
        directory: fields.directory.map(|path| path.0).unwrap_or_default(),
        system: fields.system,
        options: texts(fields.options),
        install: if installs.is_empty() { Vec::new() } else { with(installs) },
        words: with(fields.targets),
        env,
        staging: fields.staging.map_or_else(|| "DESTDIR".to_owned(), |word| word.value),
        results: texts(fields.results),
        compiler: fields.compiler.map_or_else(|| "gcc".to_owned(), |word| word.value),
        cuda: fields.cuda.map(|path| path.0).unwrap_or_default(),
        jobs: fields.jobs.map_or(0, |jobs| jobs.value),
        memory_per_job: fields.memory_per_job.map_or(512, |mib| mib.value),
        space: fields.space,
        user: context.user().map(str::to_owned),
    })
}

/// The value of a line of a stamp.
fn line<'a>(stamp: &'a str, key: &str) -> Option<&'a str> {
    stamp.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(' '))
}

/// Of a stamp, what it was built from; what follows says what came out.
pub(in crate::resources) fn inputs(stamp: &str) -> &str {
    stamp.find("\nresult ").and_then(|end| stamp.get(..=end)).unwrap_or(stamp)
}

/// The answer about a prefix, when something may be done there.
pub(in crate::resources) fn found<'a>(
    facts: &'a Facts,
    query: &BuildQuery,
) -> Result<&'a Found, Unplannable> {
    let object = Object::Path(query.prefix.clone());
    let found = known::answer(facts, query, &object)?;
    match found.prefix {
        Prefix::Absent | Prefix::Empty | Prefix::Ours => Ok(found),
        Prefix::Link => Err(Unplannable::Failed(format!(
            "{} is a symbolic link: name the directory itself",
            query.prefix
        ))),
        Prefix::Foreign => Err(Unplannable::Failed(format!(
            "{} exists and was not built by provision: move it away, or choose another prefix",
            query.prefix
        ))),
    }
}

impl Build {
    pub(in crate::resources) fn name(&self) -> &str {
        &self.name
    }

    /// MiB that it may take.
    pub(in crate::resources) fn space(&self) -> u32 {
        self.space
    }

    pub(in crate::resources) fn prefix(&self) -> &str {
        &self.prefix
    }

    pub(in crate::resources) fn query(&self) -> BuildQuery {
        BuildQuery {
            prefix: self.prefix.clone(),
            name: self.name.clone(),
            directory: self.directory.clone(),
            source: self.source.clone(),
            compiler: self.compiler.clone(),
            cuda: self.cuda.clone(),
            user: self.user.clone(),
        }
    }

    /// Formats what it is built from, as the first part of its stamp.
    fn stamp(&self, source: &str, compiler: &str, cuda: Option<&str>) -> String {
        let mut text = format!(
            "build {}\nsource {source}\nprefix {}\nsystem {}\ncompiler {compiler}\n",
            self.name, self.prefix, self.system
        );
        let mut add = |key: &str, words: &[String]| {
            for word in words {
                text.push_str(key);
                text.push(' ');
                text.push_str(word);
                text.push('\n');
            }
        };
        add("cuda", &cuda.map(str::to_owned).into_iter().collect::<Vec<_>>());
        add("option", &self.options);
        add("make", &self.words);
        add("install", &self.install);
        add("result-path", &self.results);
        add("environment", &self.env);
        text
    }

    /// Returns the stamp of a build that is made now. Parts that are not on the host (any more) and were not
    /// named otherwise when it was built count as unchanged.
    pub(in crate::resources) fn wanted(&self, found: &Found) -> Result<String, Unplannable> {
        let old = found.stamp.as_deref().unwrap_or_default();
        let kept = |key: &str, same: &dyn Fn(&str) -> bool| line(old, key).filter(|value| same(value));
        let source = match &found.source {
            Some(digest) => digest.as_str(),
            None if line(old, "from") == Some(self.source.as_str()) => line(old, "source").unwrap_or(""),
            None => {
                return Err(Unplannable::Missing(
                    Object::Path(self.source.clone()),
                    format!("the source {} does not exist", self.source),
                ));
            }
        };
        let named = |value: &str| value.split(' ').next() == Some(self.compiler.as_str());
        let compiler = found.compiler.as_deref().or_else(|| kept("compiler", &named)).ok_or_else(|| {
            Unplannable::Missing(
                Object::Package(self.compiler.clone()),
                format!("`{}` is not installed: add its package in an earlier task", self.compiler),
            )
        })?;
        let cuda = if self.cuda.is_empty() {
            None
        } else {
            let there = |value: &str| value.rsplit_once(' ').is_some_and(|(path, _)| path == self.cuda);
            let cuda = found.cuda.as_deref().or_else(|| kept("cuda", &there));
            Some(cuda.ok_or_else(|| {
                Unplannable::Missing(
                    Object::Path(self.cuda.clone()),
                    format!("{} has no CUDA toolkit: {0}/bin/nvcc is missing", self.cuda),
                )
            })?)
        };
        Ok(self.stamp(source, compiler, cuda))
    }

    /// Refuses when the host cannot build now.
    fn check(&self, found: &Found) -> Result<(), Unplannable> {
        if found.source.is_none() {
            let text =
                format!("{} must be built again, but its source {} does not exist", self.prefix, self.source);
            return Err(Unplannable::Missing(Object::Path(self.source.clone()), text));
        }
        if found.compiler.is_none() {
            let text =
                format!("{} must be built again, but `{}` is not installed", self.prefix, self.compiler);
            return Err(Unplannable::Missing(Object::Package(self.compiler.clone()), text));
        }
        let needs = [
            (found.free_kib, self.space, "the build directory"),
            (found.prefix_free_kib, self.space / 4, self.prefix.as_str()),
        ];
        for (free, wanted, place) in needs {
            if let Some(free) = free.map(|kib| kib / 1024).filter(|free| *free < u64::from(wanted)) {
                return Err(Unplannable::Failed(format!(
                    "too little space for the build: {place} has {free} MiB free and needs {wanted} MiB (`space`)"
                )));
            }
        }
        Ok(())
    }

    fn script(&self, stamp: &str) -> Script {
        let text = crate::shell!(
            "shell/base64.sh",
            "shell/reach.sh",
            "shell/build_directory.sh",
            "resources/builds/prefix.sh",
            "shell/rooted.sh",
            "shell/rooted_below.sh",
            "resources/builds/build/build.sh"
        );
        let mut script = Script::new(text)
            .named("name", self.name.as_str())
            .named("source", self.source.as_str())
            .named("prefix", self.prefix.as_str())
            .named("directory", self.directory.as_str())
            .named("system", self.system.as_str())
            .named("jobs", self.jobs.to_string())
            .named("memory", self.memory_per_job.to_string())
            .named("staging", self.staging.as_str())
            .named("stamp", Arg::Packed(stamp.to_owned()));
        for (length, name, list) in [
            ("variables", "variable", &self.env),
            ("options", "option", &self.options),
            ("words", "word", &self.words),
            ("install_words", "install_word", &self.install),
            ("results", "result", &self.results),
        ] {
            let list_of = list.iter().map(String::as_str);
            script = script.named(length, list.len().to_string()).list(name, list_of);
        }
        script
    }
}

/// Lists what differs between two stamps, for people: the keys of their lines.
fn differences(old: &str, new: &str) -> String {
    let mut keys: Vec<&str> = Vec::new();
    let only = |a: &'_ str, b: &'_ str| -> Vec<String> {
        a.lines().filter(|line| !b.lines().any(|other| other == *line)).map(str::to_owned).collect()
    };
    let lines: Vec<String> = only(old, new).into_iter().chain(only(new, old)).collect();
    for line in &lines {
        let key = line.split(' ').next().unwrap_or_default();
        if !keys.contains(&key) {
            keys.push(key);
        }
    }
    keys.join(", ")
}

impl Resource for Build {
    fn queries(&self) -> Vec<Query> {
        vec![self.query().into()]
    }

    fn plan(&self, facts: &Facts) -> Planned {
        let found = found(facts, &self.query())?;
        let wanted = self.wanted(found)?;
        let old = found.stamp.as_deref().map(inputs);
        let source = self.source.rsplit('/').next().unwrap_or_default();
        let summary = match (old, &found.damaged) {
            (Some(old), None) if old == wanted => return Ok(Vec::new()),
            (Some(old), Some(file)) if old == wanted => {
                format!("~ {} (build again: {file} is missing or changed)", self.prefix)
            }
            (Some(old), _) => format!("~ {} (build again: {})", self.prefix, differences(old, &wanted)),
            (None, _) => format!("+ {} (build of {source})", self.prefix),
        };
        self.check(found)?;
        let script = self.script(&wanted);
        let detail = Detail::Text { before: old.map(str::to_owned), after: Some(wanted) };
        Ok(vec![Change::new(Object::Path(self.prefix.clone()), summary, detail, script)])
    }

    /// A makefile may do anything.
    fn touches(&self) -> Touches {
        Touches::Everything
    }

    fn manages(&self) -> Vec<(Object, String)> {
        vec![(Object::Path(self.prefix.clone()), format!("a build of {}", self.source))]
    }

    /// Promises what the checks know, in the places where they look.
    fn promises(&self, _: &Facts) -> Vec<Promise> {
        let (prefix, version) = (Some(self.prefix.clone()), self.version.clone());
        let none = ExpectSoftware::default();
        let expect = match self.name.as_str() {
            "nccl" if software::finds_nccl(&self.prefix) => {
                // A tag of NCCL ends in the number of the package: 2.26.2-1.
                let nccl = version.and_then(|tag| tag.split('-').next().map(str::to_owned));
                ExpectSoftware { nccl, nccl_prefix: prefix, ..none }
            }
            "openmpi" if software::finds_openmpi(&self.prefix) => {
                ExpectSoftware { openmpi: version, openmpi_prefix: prefix, ..none }
            }
            "nccl-tests" => {
                // A directory among the results has all programs of the tests in it.
                let folder = format!("{}/build", self.prefix);
                let there = self.results.iter().any(|result| result == "build");
                ExpectSoftware {
                    nccl_tests: (there && software::finds_tests(&folder)).then_some(folder),
                    ..none
                }
            }
            _ => none,
        };
        if expect == ExpectSoftware::default() { Vec::new() } else { vec![Promise::new(expect)] }
    }
}
