//! Everything that a step needs to be filled in.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde_json::Value as Json;

use super::inputs::Reads;
use super::world::Scope;
use crate::config::{Node, Yaml};
use crate::playbook::Origin;
use crate::resources::Kind;
use crate::template::Condition;

/// A condition and where its names come from.
#[derive(Debug, Clone)]
pub(crate) struct Guard {
    pub(crate) condition: Arc<Condition>,
    pub(super) scope: Arc<Scope>,
    /// Text and place of the condition, for messages.
    pub(crate) node: Node,
}

/// The list of a loop.
#[derive(Debug, Clone)]
pub(crate) enum Items {
    /// Written out; its texts may hold templates.
    List(Node),
    /// An expression.
    Expression(Arc<Condition>, Node),
    /// Several lists by name: each combination of their elements.
    Product(Vec<(String, Items)>),
}

/// A task with its scope.
#[derive(Debug, Clone, Default)]
pub(crate) struct Program {
    pub(super) scope: Arc<Scope>,
    /// `when` of the includes around it and its own.
    pub(crate) guards: Vec<Guard>,
    pub(crate) items: Option<Items>,
    pub(crate) body: Option<Body>,
    /// No templates.
    pub(crate) raw: bool,
    /// Everything that its texts read.
    pub(crate) reads: Reads,
    /// By host, where they are not the same for all: names of the secrets that its texts read there.
    pub(super) secrets: BTreeMap<usize, BTreeSet<String>>,
}

/// The fields of a resource, before templates are filled in.
#[derive(Debug, Clone)]
pub(crate) struct Body {
    pub(crate) kind: Kind,
    pub(crate) node: Node,
    /// Schemas of its fields by name, to know which type a template should become.
    pub(crate) fields: Arc<BTreeMap<&'static str, Json>>,
    /// Location that `src` is relative to.
    pub(crate) origin: Origin,
}

impl Items {
    /// Returns the node that it is written in; `None` for a product, which is written as its lists.
    pub(super) fn node(&self) -> Option<&Node> {
        match self {
            Self::List(node) | Self::Expression(_, node) => Some(node),
            Self::Product(_) => None,
        }
    }

    /// The lists that it is made of, none of them a product.
    pub(super) fn lists(&self) -> Vec<&Self> {
        match self {
            Self::List(_) | Self::Expression(..) => vec![self],
            Self::Product(lists) => lists.iter().flat_map(|(_, list)| list.lists()).collect(),
        }
    }
}

/// The fields of a resource that are conditions, and those that may hold templates.
pub(super) fn apart<'a>(kind: &Kind, body: &'a Node) -> (Vec<&'a Node>, Vec<&'a Node>) {
    let Yaml::Map(entries) = &body.value else { return (Vec::new(), vec![body]) };
    let (mut conditions, mut others) = (Vec::new(), Vec::new());
    for (key, value) in entries {
        if !kind.conditions.contains(&key.value.as_str()) {
            others.push(value);
        } else if let Yaml::List(items) = &value.value {
            conditions.extend(items);
        } else {
            conditions.push(value);
        }
    }
    (conditions, others)
}
