//! Values that expressions read: where they come from, and why there is none.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fmt;

use serde_json::Value as Json;

use super::shape::{PathError, Segment};
use crate::config::TextError;

/// An answer that an expression waits for.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Awaited {
    /// A fact of the host, by its name, or another value that is known later.
    Fact(String),
    /// The facts of all hosts.
    Hosts,
    /// The facts of this host, which was not reached yet.
    FactsOf(String),
    /// The answer that a task registers under this name.
    Register(String),
}

impl fmt::Display for Awaited {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Fact(name) | Self::Register(name) => f.write_str(name),
            Self::Hosts => f.write_str("hosts"),
            Self::FactsOf(host) => write!(f, "facts of {host}"),
        }
    }
}

/// Reason why a path has no value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Missing {
    /// There is no such path.
    Undefined(PathError),
    /// It waits for answers.
    Waiting(BTreeSet<Awaited>),
    /// A value on the way to it is wrong.
    Failed(String),
}

/// Source of the values of an expression.
pub trait Lookup {
    /// The value at a path without unknown steps; not copied where it stands somewhere, which
    /// for a list of all hosts counts.
    ///
    /// # Errors
    /// When there is none.
    fn resolve(&self, root: &str, path: &[Segment]) -> Result<Cow<'_, Json>, Missing>;
}

/// Reason why an expression has no value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Unresolved {
    /// It waits for answers.
    Waiting(BTreeSet<Awaited>),
    /// It is wrong.
    Wrong(TextError),
}

pub(super) type Value<'a> = Result<Cow<'a, Json>, Unresolved>;

/// The value below a value.
///
/// # Errors
/// When a step is not there.
pub fn descend<'a>(root: &str, value: &'a Json, path: &[Segment]) -> Result<Cow<'a, Json>, Missing> {
    let mut here = value;
    for segment in path {
        let next = match (segment, here) {
            (Segment::Key(key), Json::Object(map)) => map.get(key),
            (Segment::Index(index), Json::Array(items)) => items.get(*index),
            _ => None,
        };
        let Some(next) = next else {
            let known: Vec<&str> =
                here.as_object().map(|map| map.keys().map(String::as_str).collect()).unwrap_or_default();
            let name = match segment {
                Segment::Key(key) => key.as_str(),
                Segment::Index(_) | Segment::Any => "",
            };
            let help = crate::config::did_you_mean_text(name, known);
            return Err(Missing::Undefined(PathError::undefined(root, path, help)));
        };
        here = next;
    }
    Ok(Cow::Borrowed(here))
}
