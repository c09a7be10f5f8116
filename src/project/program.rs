//! What a step needs to be filled in.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::Value as Json;

use super::reads::Reads;
use super::world::Scope;
use crate::config::Node;
use crate::playbook::Origin;
use crate::resources::Kind;
use crate::template::Condition;

/// A condition and where its names come from.
#[derive(Debug, Clone)]
pub(crate) struct Guard {
    pub(crate) condition: Arc<Condition>,
    pub(super) scope: Arc<Scope>,
    /// Where and how it is written, for messages.
    pub(crate) node: Node,
}

/// The list of a loop.
#[derive(Debug, Clone)]
pub(crate) enum Items {
    /// Written out; its texts may hold templates.
    List(Node),
    /// An expression.
    Expression(Arc<Condition>, Node),
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
    /// What all its texts read.
    pub(crate) reads: Reads,
}

/// The fields of a resource, before templates are filled in.
#[derive(Debug, Clone)]
pub(crate) struct Body {
    pub(crate) kind: Kind,
    pub(crate) node: Node,
    /// Schemas of its fields by name, to know which type a template should become.
    pub(crate) fields: Arc<BTreeMap<&'static str, Json>>,
    /// What `src` is relative to.
    pub(crate) origin: Origin,
}
