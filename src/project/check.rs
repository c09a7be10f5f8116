//! Checks of every text and condition before anything is filled in.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde_json::Value as Json;

use super::inputs::Reader;
use super::world::{Scope, World, inventory_scope};
use crate::config::{Diagnostic, Diagnostics, Node, Sources, Span, TextError, Yaml, did_you_mean, locate};
use crate::playbook::file::ParamType;
use crate::template::paths::is_template;
use crate::template::{Condition, Names, PathUse, Shape};

/// Checks texts against the names that they see.
pub(super) struct Checker<'a> {
    pub(super) world: &'a World,
    /// All values that the inventory gives a variable.
    pub(super) inventory: &'a BTreeMap<String, Vec<Json>>,
    /// Variables that every text sees: `host`, `hosts`, `groups`, `cluster`, `facts`, `secrets`.
    pub(super) common: &'a BTreeMap<String, Shape>,
    /// Whether there may be other names, since a playbook could not be read.
    pub(super) others: bool,
    /// Answers registered by earlier tasks.
    pub(super) registers: &'a BTreeMap<String, Shape>,
    pub(super) sources: &'a Sources,
}

impl Checker<'_> {
    /// The names of a scope.
    pub(super) fn names(&self, scope: &Scope) -> Names {
        let mut names = self.common.clone();
        match &scope.playbook {
            None => {
                for (name, values) in self.inventory {
                    let shape = values.iter().map(value_shape).reduce(Shape::merge).unwrap_or(Shape::Any);
                    names.insert(name.clone(), shape);
                }
                names.extend(
                    self.world.set.iter().map(|(name, (_, value))| (name.clone(), value_shape(value))),
                );
            }
            Some(playbook) => {
                names.extend(self.registers.clone());
                for (name, (_, param)) in &playbook.params {
                    let shape = match param.kind {
                        ParamType::String | ParamType::Group => Shape::Text,
                        ParamType::Int => Shape::Number,
                        ParamType::Bool => Shape::Bool,
                        ParamType::List => Shape::List(Arc::new(Shape::Any)),
                        ParamType::Map => Shape::Dict(Arc::new(Shape::Any)),
                    };
                    names.insert(name.clone(), shape);
                }
            }
        }
        names.extend(scope.vars.iter().map(|(name, value)| (name.clone(), value_shape(value))));
        if let Some(item) = &scope.item {
            names.insert("item".to_owned(), item.clone());
        }
        Names { known: names, others: self.others }
    }

    /// Checks every text in a node.
    pub(super) fn node(&self, node: &Node, scope: &Scope, names: &Names, diagnostics: &mut Diagnostics) {
        match &node.value {
            Yaml::Str(text) if is_template(text) => self.text(node, text, scope, names, diagnostics),
            Yaml::List(items) => items.iter().for_each(|item| self.node(item, scope, names, diagnostics)),
            Yaml::Map(entries) => {
                for (_, value) in entries {
                    self.node(value, scope, names, diagnostics);
                }
            }
            Yaml::Null | Yaml::Bool(_) | Yaml::Int(_) | Yaml::Float(_) | Yaml::Str(_) => {}
        }
    }

    /// Checks one text; `node` says where it stands.
    pub(super) fn text(
        &self,
        node: &Node,
        source: &str,
        scope: &Scope,
        names: &Names,
        diagnostics: &mut Diagnostics,
    ) {
        let text = match self.world.texts.get(source) {
            Ok(text) => text,
            Err(error) => return self.report(node, source, error, diagnostics),
        };
        for error in text.check(names) {
            self.report(node, source, error, diagnostics);
        }
        for path in text.paths().iter().filter(|path| !path.bare) {
            if path.root != "facts" && self.holds_secret(path, scope) {
                let error = TextError::new(path.start, path.end, "a secret cannot be changed by a template").help(
                    "write it alone between braces: a filter or an operator would only see its placeholder",
                );
                self.report(node, source, error, diagnostics);
            }
        }
        for path in text.paths() {
            self.whole_facts(node, source, path, diagnostics);
        }
    }

    fn whole_facts(&self, node: &Node, source: &str, path: &PathUse, diagnostics: &mut Diagnostics) {
        if path.root == "facts" && !matches!(path.segments.first(), Some(crate::template::Segment::Key(_))) {
            let error = TextError::new(path.start, path.end, "`facts` as a whole cannot be read")
                .help("name the fact, as in `facts.os`");
            self.report(node, source, error, diagnostics);
        }
    }

    fn holds_secret(&self, path: &PathUse, scope: &Scope) -> bool {
        let mut reader = Reader::new(self.world, self.inventory);
        reader.path(path, scope);
        !reader.reads.secrets.is_empty()
    }

    /// Reads and checks an expression; a condition must be true or false.
    pub(super) fn expression(
        &self,
        node: &Node,
        scope: &Scope,
        names: &Names,
        boolean: bool,
        diagnostics: &mut Diagnostics,
    ) -> Option<Condition> {
        let text = node.as_str()?;
        let condition = match Condition::parse(text) {
            Ok(condition) => condition,
            Err(error) => {
                self.report(node, text, error, diagnostics);
                return None;
            }
        };
        let checked = if boolean {
            condition.check_boolean(names).map(|()| Shape::Bool)
        } else {
            condition.check(names)
        };
        match checked {
            Ok(Shape::List(_) | Shape::Any) if !boolean => {}
            Ok(shape) if !boolean => {
                let message = format!("a loop needs a list, this is {}", shape.name());
                self.report(node, text, TextError::new(0, text.len(), message), diagnostics);
            }
            Ok(_) => {}
            Err(errors) => errors.into_iter().for_each(|error| self.report(node, text, error, diagnostics)),
        }
        for path in condition.paths() {
            if path.root == "secrets" || (path.root != "facts" && self.holds_secret(&path, scope)) {
                let error = TextError::new(path.start, path.end, "a condition cannot use a secret");
                self.report(node, text, error, diagnostics);
            }
            self.whole_facts(node, text, &path, diagnostics);
        }
        self.groups(node, text, &condition, diagnostics);
        Some(condition)
    }

    /// A playbook may ask for a group that only another inventory has; one that is almost a group of this one is
    /// most likely a slip, and its tasks would be left out without a word.
    fn groups(&self, node: &Node, text: &str, condition: &Condition, diagnostics: &mut Diagnostics) {
        let Some(Shape::Map(groups)) = self.common.get("groups") else { return };
        for (group, start, end) in condition.looked_for("host", "groups") {
            if !groups.contains_key(group)
                && let Some(near) = did_you_mean(group, groups.keys().map(String::as_str))
            {
                let span = self.place(node, text, start, end);
                let help = format!("did you mean `{near}`?");
                diagnostics
                    .push(Diagnostic::warning(span, format!("no group is called `{group}`")).help(help));
            }
        }
    }

    pub(super) fn report(&self, node: &Node, text: &str, error: TextError, diagnostics: &mut Diagnostics) {
        let span = self.place(node, text, error.start, error.end);
        diagnostics.push(Diagnostic::at(span, error));
    }

    fn place(&self, node: &Node, text: &str, start: usize, end: usize) -> Span {
        if node.as_str() == Some(text) {
            return locate(self.sources, node.span, text, start, end);
        }
        // The text is a file of its own: it stands there letter by letter.
        let place = |byte: usize| node.span.start.saturating_add(u32::try_from(byte).unwrap_or(u32::MAX));
        Span { source: node.span.source, start: place(start), end: place(end) }
    }
}

/// Templates may become anything.
fn value_shape(value: &Json) -> Shape {
    match value {
        Json::String(text) if is_template(text) => Shape::Any,
        Json::Array(items) => {
            Shape::List(Arc::new(items.iter().map(value_shape).reduce(Shape::merge).unwrap_or(Shape::Any)))
        }
        Json::Object(_) => Shape::Dict(Arc::new(Shape::Any)),
        Json::Null | Json::Bool(_) | Json::Number(_) | Json::String(_) => Shape::of(value),
    }
}

/// Returns the shapes of the variables that every text sees.
pub(super) fn common(
    world: &World,
    specimens: &[(&'static str, Json)],
    groups: impl Iterator<Item = String>,
) -> BTreeMap<String, Shape> {
    let facts =
        specimens.iter().map(|(_, facts)| Shape::of(facts)).reduce(Shape::merge).unwrap_or(Shape::Any);
    let mut facts = facts;
    for (path, words) in crate::facts::base::WORDS {
        facts.set(path, Shape::Word(words));
    }
    for (path, words) in crate::facts::base::SPELLED {
        facts.set(path, Shape::Spelled(words));
    }
    let text = || Shape::Text;
    let list = || Shape::List(Arc::new(Shape::Text));
    let host: BTreeMap<String, Shape> = BTreeMap::from([
        ("name".to_owned(), text()),
        ("index".to_owned(), Shape::Number),
        ("number".to_owned(), Shape::Number),
        ("address".to_owned(), text()),
        ("groups".to_owned(), list()),
        ("labels".to_owned(), Shape::Dict(Arc::new(text()))),
        ("nics".to_owned(), Shape::List(Arc::new(Shape::Dict(Arc::new(Shape::Any))))),
    ]);
    let mut other = host.clone();
    other.insert("vars".to_owned(), Shape::Dict(Arc::new(Shape::Any)));
    other.insert("facts".to_owned(), facts.clone());
    let secrets: BTreeMap<String, Shape> = world.secrets.iter().map(|name| (name.clone(), text())).collect();
    BTreeMap::from([
        ("host".to_owned(), Shape::Map(Arc::new(host))),
        ("hosts".to_owned(), Shape::Dict(Arc::new(Shape::Map(Arc::new(other))))),
        ("groups".to_owned(), Shape::Map(Arc::new(groups.map(|name| (name, list())).collect()))),
        ("cluster".to_owned(), Shape::Map(Arc::new(BTreeMap::from([("name".to_owned(), text())])))),
        ("facts".to_owned(), facts),
        ("secrets".to_owned(), Shape::Map(Arc::new(secrets))),
    ])
}

/// Names of inventory variables that texts of the inventory itself refer to.
pub(super) fn referred(world: &World, nodes: &[&Node]) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for node in nodes {
        collect(world, node, &mut names);
    }
    names
}

fn collect(world: &World, node: &Node, names: &mut BTreeSet<String>) {
    match &node.value {
        Yaml::Str(text) if is_template(text) => {
            if let Ok(text) = world.texts.get(text) {
                names.extend(text.paths().iter().map(|path| path.root.clone()));
            }
        }
        Yaml::List(items) => items.iter().for_each(|item| collect(world, item, names)),
        Yaml::Map(entries) => entries.iter().for_each(|(_, value)| collect(world, value, names)),
        Yaml::Null | Yaml::Bool(_) | Yaml::Int(_) | Yaml::Float(_) | Yaml::Str(_) => {}
    }
}

/// Checks the values that the inventory gives its variables.
pub(super) fn inventory_values<'n>(
    checker: &Checker<'_>,
    values: impl Iterator<Item = &'n Node>,
    diagnostics: &mut Diagnostics,
) {
    let names = checker.names(inventory_scope());
    for node in values {
        checker.node(node, inventory_scope(), &names, diagnostics);
    }
}
