//! The order of a rollout: which hosts go first, and which go together.

use std::num::NonZeroU32;

use serde_json::{Value as Json, json};

use crate::config::{Diagnostic, Diagnostics, FromNode, Node, Sp, Yaml, did_you_mean_text, read::wrong_type};

/// `rollout.canary`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Canary {
    /// So many hosts.
    Hosts(u32),
    /// The first host of each group.
    PerGroup,
}

crate::choice! {
    /// Checks that hosts must pass after they were changed, before the next ones are.
    Gate {
        /// The checks of `provision verify` that only look.
        Verify = "verify",
        /// These, and then the tests between hosts of `verify --active`: among those that were changed together, and
        /// for one that is alone with a neighbour that is idle.
        Active = "active",
    }
}

/// `rollout.batch`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Batch {
    /// So many hosts.
    Hosts(u32),
    /// Hosts that have one value of a label, and at most so many of them.
    By(ByLabel),
}

crate::record! {
    /// Batches of hosts that have something in common.
    #[derive(PartialEq, Eq)]
    ByLabel("`batch`") {
        /// The label whose value they share, such as `rack`. Hosts without it are a batch, too.
        req by: Sp<String>,
        /// The most hosts of a batch.
        opt at_most: NonZeroU32,
    }
}

impl FromNode for Canary {
    fn from_node(node: &Node, diagnostics: &mut Diagnostics) -> Option<Self> {
        match (node.as_str(), &node.value) {
            (Some("per_group"), _) => Some(Self::PerGroup),
            (Some(text), _) => {
                diagnostics.push(
                    Diagnostic::error(node.span, format!("`{text}` is not a number of hosts"))
                        .maybe_help(did_you_mean_text(text, ["per_group"]))
                        .help("write a number, or `per_group` for the first host of each group"),
                );
                None
            }
            (None, Yaml::Int(_)) => u32::from_node(node, diagnostics).map(Self::Hosts),
            (None, _) => {
                wrong_type(node, "a number or `per_group`", diagnostics);
                None
            }
        }
    }

    fn schema() -> Json {
        json!({ "anyOf": [{ "type": "integer", "minimum": 0 }, { "enum": ["per_group"] }] })
    }
}

impl FromNode for Batch {
    fn from_node(node: &Node, diagnostics: &mut Diagnostics) -> Option<Self> {
        match &node.value {
            Yaml::Map(_) => ByLabel::from_node(node, diagnostics).map(Self::By),
            Yaml::Int(_) => u32::from_node(node, diagnostics).map(Self::Hosts),
            Yaml::Null | Yaml::Bool(_) | Yaml::Float(_) | Yaml::Str(_) | Yaml::List(_) => {
                wrong_type(node, "a number or `{ by: LABEL, at_most: NUMBER }`", diagnostics);
                None
            }
        }
    }

    fn schema() -> Json {
        json!({ "anyOf": [{ "type": "integer", "minimum": 0 }, ByLabel::schema()] })
    }
}
