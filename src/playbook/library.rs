//! Playbooks by name or path, each read once.

use std::collections::BTreeMap;
use std::sync::Arc;

use camino::Utf8Path;

use super::builtin;
use super::file::{Param, PlaybookRecord, Task};
use super::files::Origin;
use super::task::task;
use crate::config::{
    Diagnostic, Diagnostics, FromNode as _, Sources, Sp, Span, did_you_mean, did_you_mean_text, yaml,
};
use crate::resources::Kind;

/// A playbook.
#[derive(Debug)]
pub struct Playbook {
    /// As a user names it.
    pub name: String,
    /// Its title.
    pub title: String,
    /// Purpose of the playbook.
    pub doc: String,
    /// Location of its file.
    pub origin: Origin,
    /// Place of its first mention.
    pub named: Span,
    /// Parameters that may be set.
    pub params: BTreeMap<String, (Span, Param)>,
    /// Names of the parameters in the order they are written.
    pub order: Vec<String>,
    /// Its tasks.
    pub tasks: Vec<Task>,
    /// Its handlers.
    pub handlers: Vec<Task>,
    /// Whether all of it could be read; else what is wrong was told.
    pub whole: bool,
}

/// All playbooks that a run uses.
#[derive(Debug, Default)]
pub struct Library {
    playbooks: BTreeMap<Origin, Option<Arc<Playbook>>>,
}

/// The file that a name means, seen from another file.
pub fn origin(name: &str, from: Option<&Origin>, directory: &Utf8Path) -> Origin {
    let path = name.contains('/') || matches!(Utf8Path::new(name).extension(), Some("yaml" | "yml"));
    if !path {
        return Origin::BuiltIn(format!("{name}.yaml"));
    }
    match from {
        Some(Origin::BuiltIn(file)) => {
            let base = Utf8Path::new(file).parent().unwrap_or(Utf8Path::new(""));
            Origin::BuiltIn(super::files::normal(&base.join(name)))
        }
        Some(Origin::Disk(file)) => Origin::Disk(file.parent().unwrap_or(Utf8Path::new("")).join(name)),
        None => Origin::Disk(directory.join(name)),
    }
}

impl Library {
    /// Reads a playbook, once. What is wrong with it is reported the first time.
    pub fn get(
        &mut self,
        name: &Sp<String>,
        origin: Origin,
        kinds: &[Kind],
        sources: &mut Sources,
        diagnostics: &mut Diagnostics,
    ) -> Option<Arc<Playbook>> {
        if let Some(known) = self.playbooks.get(&origin) {
            return known.clone();
        }
        let read = read(name, &origin, kinds, sources, diagnostics).map(Arc::new);
        self.playbooks.insert(origin, read.clone());
        read
    }

    /// All playbooks read so far.
    pub fn iter(&self) -> impl Iterator<Item = &Arc<Playbook>> {
        self.playbooks.values().flatten()
    }
}

fn read(
    name: &Sp<String>,
    origin: &Origin,
    kinds: &[Kind],
    sources: &mut Sources,
    diagnostics: &mut Diagnostics,
) -> Option<Playbook> {
    let source = match origin {
        Origin::BuiltIn(path) => {
            let file = builtin::file(path).filter(|_| path != builtin::VERSIONS_FILE);
            let Some(text) = file.and_then(|bytes| std::str::from_utf8(bytes).ok()) else {
                diagnostics.push(not_built_in(name));
                return None;
            };
            sources.add(format!("playbooks/{path}"), text)
        }
        Origin::Disk(path) => match super::files::read_text(path) {
            Ok(text) => sources.add(path.clone(), text),
            Err(error) => {
                let help = "a path is relative to the file that names it".to_owned();
                diagnostics.push(
                    Diagnostic::error(name.span, format!("cannot read the playbook `{path}`: {error}"))
                        .maybe_help((!path.exists()).then_some(help)),
                );
                return None;
            }
        },
    };
    let node = yaml::read(sources, source, diagnostics)?;
    if matches!(node.value, crate::config::Yaml::List(_)) {
        diagnostics.push(
            Diagnostic::error(node.span, "expected a playbook (a map), found a list")
                .label("expected a playbook (a map)")
                .help(
                    "it begins with `name: TITLE` and `tasks:`, without a dash; where it runs is said by \
                     `playbooks:` of the inventory (`provision explain from-ansible`)",
                ),
        );
        return None;
    }
    let record = PlaybookRecord::from_node(&node, diagnostics)?;
    let before = diagnostics.errors();
    let tasks: Vec<Option<Task>> =
        record.tasks.iter().map(|node| task(node, kinds, false, diagnostics)).collect();
    let handlers: Vec<Option<Task>> =
        record.handlers.iter().map(|node| task(node, kinds, true, diagnostics)).collect();
    let mut params = BTreeMap::new();
    for (name, param) in &record.params.0 {
        check_param(name, param, diagnostics);
        params.insert(name.value.clone(), (name.span, param.clone()));
    }
    Some(Playbook {
        whole: diagnostics.errors() == before,
        name: name.value.clone(),
        title: record.name.value,
        doc: record.doc.unwrap_or_default(),
        origin: origin.clone(),
        named: name.span,
        params,
        order: record.params.0.iter().map(|(name, _)| name.value.clone()).collect(),
        tasks: tasks.into_iter().flatten().collect(),
        handlers: handlers.into_iter().flatten().collect(),
    })
}

/// Names that mean something of their own in every task.
pub const RESERVED: [&str; 8] = ["host", "hosts", "groups", "cluster", "facts", "item", "secrets", "loop"];

fn check_param(name: &Sp<String>, param: &Param, diagnostics: &mut Diagnostics) {
    let word = name.value.starts_with(|c: char| c.is_ascii_alphabetic())
        && name.value.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    if !word {
        diagnostics.push(
            Diagnostic::error(name.span, format!("`{}` is not the name of a parameter", name.value))
                .help("it begins with a letter and holds letters, digits and `_`"),
        );
    } else if RESERVED.contains(&name.value.as_str()) {
        diagnostics.error(name.span, format!("`{}` is a name that every task already has", name.value));
    }
    let Some(default) = &param.default else { return };
    let template = default.as_str().is_some_and(crate::template::paths::is_template);
    if !template && !param.kind.takes(&default.to_json()) {
        diagnostics.push(wrong_value(&name.value, param, default));
    }
}

/// A value that is not of its parameter's type.
pub fn wrong_value(name: &str, param: &Param, value: &crate::config::Node) -> Diagnostic {
    let found = value.value.kind();
    let diagnostic =
        Diagnostic::error(value.span, format!("`{name}` must be {}, this is {found}", param.kind.article()));
    let scalar = matches!(
        value.value,
        crate::config::Yaml::Int(_) | crate::config::Yaml::Float(_) | crate::config::Yaml::Bool(_)
    );
    if param.kind == super::file::ParamType::String && scalar { diagnostic.quoted() } else { diagnostic }
}

fn not_built_in(name: &Sp<String>) -> Diagnostic {
    let diagnostic = Diagnostic::error(name.span, format!("there is no built-in playbook `{}`", name.value));
    match did_you_mean(&name.value, builtin::names()) {
        Some(near) => diagnostic.help(format!("did you mean `{near}`?")),
        None => diagnostic
            .maybe_help(did_you_mean_text(&name.value, builtin::names()))
            .note(format!("a playbook of your own is named by its path, as in `./{}.yaml`", name.value)),
    }
}
