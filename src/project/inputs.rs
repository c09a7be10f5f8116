//! Everything that a step reads, through any number of variables: known before anything is evaluated.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value as Json;

use super::world::{Scope, World, inventory_scope};
use crate::config::Node;
use crate::template::paths::is_template;
use crate::template::{PathUse, Segment};

/// Everything that the texts of a step read.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Reads {
    /// Fields of `host`.
    pub(crate) host: BTreeSet<String>,
    /// Names of base facts.
    pub(crate) facts: BTreeSet<String>,
    /// Registered names.
    pub(crate) registers: BTreeSet<String>,
    /// Variables that come from the inventory.
    pub(crate) vars: BTreeSet<String>,
    /// Whether `hosts` is read.
    pub(crate) hosts: bool,
    /// Whether other hosts' facts are read.
    pub(crate) fleet: bool,
    /// Names of the base facts that are read of other hosts.
    pub(crate) fleet_facts: BTreeSet<String>,
    /// Names of the secrets that are read.
    pub(crate) secrets: BTreeSet<String>,
}

/// Collects what paths read.
pub(super) struct Reader<'a> {
    pub(super) world: &'a World,
    /// All values that the inventory gives a variable.
    pub(super) inventory: &'a BTreeMap<String, Vec<Json>>,
    /// The values that the hosts of the step give a variable.
    own: &'a BTreeMap<String, Vec<Json>>,
    pub(super) reads: Reads,
    seen: BTreeSet<(usize, String)>,
}

impl<'a> Reader<'a> {
    pub(super) fn new(world: &'a World, inventory: &'a BTreeMap<String, Vec<Json>>) -> Self {
        Self { world, inventory, own: inventory, reads: Reads::default(), seen: BTreeSet::new() }
    }

    /// The same where the variables have these values.
    pub(super) fn with(self, own: &'a BTreeMap<String, Vec<Json>>) -> Self {
        Self { own, ..self }
    }

    /// Takes a path that is read in a scope.
    pub(super) fn path(&mut self, path: &PathUse, scope: &Scope) {
        let first = match path.segments.first() {
            Some(Segment::Key(key)) => Some(key.clone()),
            _ => None,
        };
        match path.root.as_str() {
            "host" => {
                self.reads.host.insert(first.unwrap_or_default());
            }
            "facts" => self.reads.facts.extend(first),
            "hosts" => {
                self.reads.hosts = true;
                if path.segments.get(1) == Some(&Segment::Key("facts".to_owned())) {
                    self.reads.fleet = true;
                    if let Some(Segment::Key(name)) = path.segments.get(2) {
                        self.reads.fleet_facts.insert(name.clone());
                    }
                }
                self.variables_of_hosts(&path.segments);
            }
            "secrets" => match first {
                Some(name) => drop(self.reads.secrets.insert(name)),
                None => self.reads.secrets.extend(self.world.secrets.iter().cloned()),
            },
            "groups" | "cluster" | "item" => {}
            name => self.variable(name, scope),
        }
    }

    /// Takes what `hosts.NAME.vars` shows, or the whole of `hosts`: of a variable every value, as it is
    /// not known here of which host.
    fn variables_of_hosts(&mut self, segments: &[Segment]) {
        if matches!(segments.get(1), Some(Segment::Key(key)) if key != "vars") {
            return;
        }
        let scope = inventory_scope();
        for (name, values) in self.inventory {
            let this =
                segments.get(2).is_none_or(|segment| !matches!(segment, Segment::Key(key) if key != name));
            if this && self.seen.insert((std::ptr::from_ref(scope).addr(), format!("hosts.{name}"))) {
                for value in values {
                    self.value(value, scope);
                }
            }
        }
    }

    fn variable(&mut self, name: &str, scope: &Scope) {
        let place = std::ptr::from_ref(scope).addr();
        if !self.seen.insert((place, name.to_owned())) {
            return;
        }
        let declared = scope.declares(name);
        if declared && self.world.set.contains_key(name) {
            return;
        }
        if let Some(value) = scope.vars.get(name) {
            self.value(value, scope);
        } else if let (Some(value), Some(outer)) = (scope.with.get(name), &scope.outer) {
            self.value(value, outer);
        } else {
            if declared && let Some(values) = self.own.get(name) {
                self.reads.vars.insert(name.to_owned());
                for value in values {
                    self.value(value, inventory_scope());
                }
            }
            if let Some(default) = scope.default_of(name) {
                self.value(&default, scope);
            } else if !declared && self.world.registers.contains(name) {
                self.reads.registers.insert(name.to_owned());
            }
        }
    }

    /// Takes every text in a value.
    pub(super) fn value(&mut self, value: &Json, scope: &Scope) {
        match value {
            Json::String(text) => self.text(text, scope),
            Json::Array(items) => items.iter().for_each(|item| self.value(item, scope)),
            Json::Object(map) => map.values().for_each(|item| self.value(item, scope)),
            Json::Null | Json::Bool(_) | Json::Number(_) => {}
        }
    }

    /// Takes a text.
    pub(super) fn text(&mut self, text: &str, scope: &Scope) {
        if is_template(text)
            && let Ok(text) = self.world.texts.get(text)
        {
            for path in text.paths() {
                self.path(path, scope);
            }
        }
    }

    /// Takes every text in a node.
    pub(super) fn node(&mut self, node: &Node, scope: &Scope) {
        self.value(&node.to_json(), scope);
    }
}
