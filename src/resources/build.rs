//! `build`: software from source, in a prefix of its own.

use std::sync::Arc;

use super::directory::KEPT;
use super::value::HostPath;
use super::{Change, Context, Detail, Disruption, Planned, Resource, Unplannable, known};
use crate::config::read::Entries;
use crate::config::{Diagnostic, Diagnostics, FromNode as _, Node, Sp, Span};
use crate::facts::build::{Build as Found, BuildQuery, Prefix};
use crate::facts::{Answer, Facts, Object, Query, Touches};
use crate::placeholder;
use crate::transport::{Arg, Script};

crate::choice! {
    /// How software is built.
    System {
        /// `./configure`, `make`, `make install DESTDIR=...`; `./autogen.sh` before where there is
        /// no `configure`.
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
    /// A stamp in the prefix says what it was built from: the digest of the source, options, variables,
    /// environment, compiler, CUDA and prefix. It is built again when one of them changes or a file of it is
    /// gone, and never otherwise. A compiler or a source that is not there any more has not changed.
    ///
    /// The build runs in a unit of its own, in a fresh copy of the source, with as many jobs as processors
    /// and memory allow; the result is put together beside the prefix, which is then switched
    /// whole. So a lost connection does not end it, and one that was killed is repeated from its
    /// beginning and leaves no half prefix. The log stays in the build directory.
    ///
    /// To take it away: `directory: { path: PREFIX, state: absent }`.
    BuildFields("a build") {
        /// Directory or tar archive on the host, from `archive`, `git` or `download`.
        req source: Sp<HostPath>,
        /// Where the result goes; nothing else may be in there.
        req prefix: Sp<HostPath>,
        /// Name of the build directory and of messages; the last part of the prefix.
        opt name: Sp<String>,
        /// How it is built.
        def system: System = System::Autotools,
        /// Arguments of `configure` or `cmake`, without the prefix.
        def options: Vec<Sp<String>> = Vec::new(),
        /// Variables of `make`.
        def variables: Entries<Sp<String>> = Entries::default(),
        /// Environment variables, such as CC and CFLAGS.
        def env: Entries<Sp<String>> = Entries::default(),
        /// Targets of `make`; none is the makefile's first.
        def targets: Vec<Sp<String>> = Vec::new(),
        /// Targets that install; `[install]`, and none where there are `results`.
        opt install: Vec<Sp<String>>,
        /// Variable of `make` that leads the install elsewhere: DESTDIR is put before the
        /// prefix, any other name takes its place.
        opt staging: Sp<String>,
        /// Files and directories of the built tree that go into the prefix by their last name, where
        /// nothing installs them.
        def results: Vec<Sp<String>> = Vec::new(),
        /// The compiler whose version counts.
        opt compiler: Sp<String>,
        /// Directory of the CUDA toolkit whose version counts, where the source needs it.
        opt cuda: HostPath,
        /// Most jobs at once; as many as processors and memory allow.
        opt jobs: Sp<u32>,
        /// Memory in MiB that one job may need; 512.
        opt memory_per_job: Sp<u32>,
        /// Free space in MiB that the build needs; beside the prefix a quarter of it.
        def space: u32 = 1024,
        /// Where it is built; /var/cache/provision/build and its name.
        opt directory: HostPath,
    }
}

/// A build with all its fields known.
#[derive(Debug)]
pub(super) struct Build {
    name: String,
    source: String,
    prefix: String,
    directory: String,
    system: System,
    options: Vec<String>,
    env: Vec<String>,
    /// What `make` gets: variables and targets.
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
    let message = if placeholder::is_in(word) {
        "a build cannot hold a secret: its stamp and its log are for everybody"
    } else if word.contains(['\n', '\0']) {
        "this has a line break in it"
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
        if !super::command::is_variable(&name) {
            good = false;
            diagnostics.error(name.span, format!("`{}` is not the name of {what}", *name));
        }
        good &= value.is_empty() || check_word(&value, diagnostics);
        words.push(format!("{}={}", *name, *value));
    }
    good.then_some(words)
}

pub(super) fn read(
    node: &Node,
    context: &dyn Context,
    diagnostics: &mut Diagnostics,
) -> Option<Arc<dyn Resource>> {
    let fields = BuildFields::from_node(node, diagnostics)?;
    Some(Arc::new(build(fields, node.span, context, diagnostics)?))
}

/// The build of these fields.
pub(super) fn build(
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
        refuse(Diagnostic::error(fields.prefix.span, format!("{prefix} has other things in it")).help(
            format!(
                "a prefix is switched whole: give the build one of its own, such as {}/name",
                prefix.trim_end_matches('/')
            ),
        ));
    }
    if inside(&prefix, &source) || inside(&source, &prefix) {
        refuse(
            Diagnostic::error(fields.source.span, "source and prefix are inside each other")
                .help("the prefix is switched whole: keep the source elsewhere, such as /usr/local/src"),
        );
    }
    let last = prefix.rsplit('/').next().unwrap_or_default();
    let name = fields.name.unwrap_or_else(|| Sp::new(last.to_owned(), fields.prefix.span));
    if !is_name(&name) {
        refuse(
            Diagnostic::error(name.span, format!("`{}` cannot be the name of a build", *name))
                .help("`name` has letters, digits, `.`, `_`, `+` and `-`"),
        );
    }
    if let Some(word) = fields.staging.as_ref().filter(|word| !super::command::is_variable(word)) {
        refuse(Diagnostic::error(word.span, format!("`{}` is not the name of a variable", **word)));
    }
    let is_program =
        |word: &str| !word.is_empty() && !word.starts_with('-') && !word.contains(char::is_whitespace);
    if let Some(word) = fields.compiler.as_ref().filter(|word| !is_program(word)) {
        refuse(Diagnostic::error(word.span, format!("`{}` is not the name of a compiler", **word)));
    }
    for option in &fields.options {
        if option.starts_with("--prefix") || option.starts_with("-DCMAKE_INSTALL_PREFIX") {
            refuse(
                Diagnostic::error(option.span, "where it goes is said by `prefix`").help("leave this out"),
            );
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
            refuse(Diagnostic::error(result.span, "a result is a path below the built tree"));
        }
    }
    for (number, what) in [(&fields.jobs, "jobs"), (&fields.memory_per_job, "memory_per_job")] {
        if let Some(number) = number.as_ref().filter(|number| number.value == 0) {
            refuse(Diagnostic::error(number.span, format!("`{what}` is at least 1")));
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
pub(super) fn inputs(stamp: &str) -> &str {
    stamp.find("\nresult ").and_then(|end| stamp.get(..=end)).unwrap_or(stamp)
}

/// The answer about a prefix, when something may be done there.
pub(super) fn found<'a>(facts: &'a Facts, query: &BuildQuery) -> Result<&'a Found, Unplannable> {
    let object = Object::Path(query.prefix.clone());
    let Answer::Build(found) = known::answer(facts, &Query::Build(Box::new(query.clone())), &object)? else {
        return Err(known::strange(&object));
    };
    match found.prefix {
        Prefix::Absent | Prefix::Empty | Prefix::Ours => Ok(found),
        Prefix::Link => Err(Unplannable::Failed(format!(
            "{} is a symbolic link: name the directory itself",
            query.prefix
        ))),
        Prefix::Foreign => Err(Unplannable::Failed(format!(
            "{} is there and provision did not build it: move it away, or choose another prefix",
            query.prefix
        ))),
    }
}

impl Build {
    pub(super) fn name(&self) -> &str {
        &self.name
    }

    pub(super) fn prefix(&self) -> &str {
        &self.prefix
    }

    pub(super) fn query(&self) -> BuildQuery {
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

    /// What it is built from, as the first part of its stamp.
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

    /// What it would be built from now. What is not on the host (any more) and was not named
    /// otherwise when it was built has not changed.
    pub(super) fn wanted(&self, found: &Found) -> Result<String, Unplannable> {
        let old = found.stamp.as_deref().unwrap_or_default();
        let kept = |key: &str, same: &dyn Fn(&str) -> bool| line(old, key).filter(|value| same(value));
        let source = match &found.source {
            Some(digest) => digest.as_str(),
            None if line(old, "from") == Some(self.source.as_str()) => line(old, "source").unwrap_or(""),
            None => {
                return Err(Unplannable::Missing(
                    Object::Path(self.source.clone()),
                    format!("the source {} is not there", self.source),
                ));
            }
        };
        let named = |value: &str| value.split(' ').next() == Some(self.compiler.as_str());
        let compiler = found.compiler.as_deref().or_else(|| kept("compiler", &named)).ok_or_else(|| {
            Unplannable::Missing(
                Object::Package(self.compiler.clone()),
                format!("there is no `{}` on the host: add its package in an earlier task", self.compiler),
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
                    format!("there is no CUDA toolkit in {}: {0}/bin/nvcc is missing", self.cuda),
                )
            })?)
        };
        Ok(self.stamp(source, compiler, cuda))
    }

    /// Refuses when the host cannot build now.
    fn check(&self, found: &Found) -> Result<(), Unplannable> {
        if found.source.is_none() {
            let text =
                format!("{} is to be built again, and its source {} is not there", self.prefix, self.source);
            return Err(Unplannable::Missing(Object::Path(self.source.clone()), text));
        }
        if found.compiler.is_none() {
            let text = format!("{} is to be built again, and there is no `{}`", self.prefix, self.compiler);
            return Err(Unplannable::Missing(Object::Package(self.compiler.clone()), text));
        }
        let needs = [
            (found.free_kib, self.space, "the build directory"),
            (found.prefix_free_kib, self.space / 4, self.prefix.as_str()),
        ];
        for (free, wanted, place) in needs {
            if let Some(free) = free.map(|kib| kib / 1024).filter(|free| *free < u64::from(wanted)) {
                return Err(Unplannable::Failed(format!(
                    "no space for the build: {free} MiB are free for {place}, {wanted} MiB are wanted (`space`)"
                )));
            }
        }
        Ok(())
    }

    fn script(&self, stamp: &str) -> Script {
        let text = crate::shell!(
            "resources/reach.sh",
            "resources/build_directory.sh",
            "resources/prefix.sh",
            "resources/build.sh"
        );
        let mut script = Script::new(text)
            .arg(self.name.as_str())
            .arg(self.source.as_str())
            .arg(self.prefix.as_str())
            .arg(self.directory.as_str())
            .arg(self.system.as_str())
            .arg(self.jobs.to_string())
            .arg(self.memory_per_job.to_string())
            .arg(self.staging.as_str())
            .arg(Arg::Packed(stamp.to_owned()));
        for list in [&self.env, &self.options, &self.words, &self.install, &self.results] {
            script = script.arg(list.len().to_string()).args(list.iter().map(String::as_str));
        }
        script
    }
}

/// What differs between two stamps, for people: the keys of their lines.
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
        vec![Query::Build(Box::new(self.query()))]
    }

    fn plan(&self, facts: &Facts) -> Planned {
        let found = found(facts, &self.query())?;
        let wanted = self.wanted(found)?;
        let old = found.stamp.as_deref().map(inputs);
        let source = self.source.rsplit('/').next().unwrap_or_default();
        let summary = match (old, &found.damaged) {
            (Some(old), None) if old == wanted => return Ok(Vec::new()),
            (Some(old), Some(file)) if old == wanted => {
                format!("~ {} (build again: {file} is gone or changed)", self.prefix)
            }
            (Some(old), _) => format!("~ {} (build again: {})", self.prefix, differences(old, &wanted)),
            (None, _) => format!("+ {} (build of {source})", self.prefix),
        };
        self.check(found)?;
        Ok(vec![Change {
            object: Object::Path(self.prefix.clone()),
            summary,
            script: self.script(&wanted),
            detail: Detail::Text { before: old.map(str::to_owned), after: Some(wanted) },
            upload: None,
            disruption: Disruption::None,
        }])
    }

    /// A makefile may do anything.
    fn touches(&self) -> Touches {
        Touches::Everything
    }

    fn manages(&self) -> Vec<(Object, String)> {
        vec![(Object::Path(self.prefix.clone()), format!("a build of {}", self.source))]
    }
}
