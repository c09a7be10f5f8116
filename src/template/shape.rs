//! Types of values, known before there is a value, for checking conditions and templates.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::Value as Json;

use crate::config::{Code, TextError, did_you_mean_text, list_text, near_text};
use crate::foreign::{self, Place};

/// The type of a value. Cloned for every place that reads it, so what is inside is shared.
#[derive(Debug, Clone, PartialEq)]
pub enum Shape {
    /// Not known; everything goes.
    Any,
    /// Only `none`.
    Null,
    /// `true` or `false`.
    Bool,
    /// A number.
    Number,
    /// Text.
    Text,
    /// One of these words.
    Word(&'static [&'static str]),
    /// Text that may be one of these words, in no other letters.
    Spelled(&'static [&'static str]),
    /// A list of one type.
    List(Arc<Shape>),
    /// A map with exactly these keys.
    Map(Arc<BTreeMap<String, Shape>>),
    /// A map with keys that are not known before.
    Dict(Arc<Shape>),
}

impl Shape {
    /// The type of a value; keys and elements taken from what is there.
    pub fn of(value: &Json) -> Self {
        match value {
            Json::Null => Self::Null,
            Json::Bool(_) => Self::Bool,
            Json::Number(_) => Self::Number,
            Json::String(_) => Self::Text,
            Json::Array(items) => {
                Self::List(Arc::new(items.iter().map(Self::of).reduce(Self::merge).unwrap_or(Self::Any)))
            }
            Json::Object(map) => {
                let entries = map.iter().map(|(key, value)| (key.clone(), Self::of(value)));
                Self::Map(Arc::new(entries.collect()))
            }
        }
    }

    /// The type of a value that has one type or the other.
    #[must_use]
    pub fn merge(self, other: Self) -> Self {
        match (self, other) {
            (Self::Null, shape) | (shape, Self::Null) => shape,
            (Self::List(a), Self::List(b)) => {
                Self::List(Arc::new(match (Arc::unwrap_or_clone(a), Arc::unwrap_or_clone(b)) {
                    (Self::Any, shape) | (shape, Self::Any) => shape,
                    (a, b) => a.merge(b),
                }))
            }
            (Self::Dict(a), Self::Dict(b)) => {
                Self::Dict(Arc::new(Arc::unwrap_or_clone(a).merge(Arc::unwrap_or_clone(b))))
            }
            (Self::Map(a), Self::Map(b)) => {
                let mut a = Arc::unwrap_or_clone(a);
                for (key, shape) in Arc::unwrap_or_clone(b) {
                    let merged = match a.remove(&key) {
                        Some(known) => known.merge(shape),
                        None => shape,
                    };
                    a.insert(key, merged);
                }
                Self::Map(Arc::new(a))
            }
            (a, b) if a == b => a,
            (a, b) if a.is_text() && b.is_text() => Self::Text,
            _ => Self::Any,
        }
    }

    /// The type at a path of keys, another one from now on.
    pub fn set(&mut self, path: &[&str], shape: Self) {
        match (path, self) {
            ([], this) => *this = shape,
            ([key, rest @ ..], Self::Map(keys)) => {
                if let Some(below) = Arc::make_mut(keys).get_mut(*key) {
                    below.set(rest, shape);
                }
            }
            _ => {}
        }
    }

    /// Returns its name for people.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Any => "anything",
            Self::Null => "none",
            Self::Bool => "a boolean",
            Self::Number => "a number",
            Self::Text | Self::Word(_) | Self::Spelled(_) => "a string",
            Self::List(_) => "a list",
            Self::Map(_) | Self::Dict(_) => "a map",
        }
    }

    /// Whether values of the two may be compared.
    pub fn comparable(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Any | Self::Null, _)
            | (_, Self::Any | Self::Null)
            | (Self::List(_), Self::List(_))
            | (Self::Map(_) | Self::Dict(_), Self::Map(_) | Self::Dict(_)) => true,
            (a, b) => a == b || a.is_text() && b.is_text(),
        }
    }

    /// Whether it is some text.
    pub fn is_text(&self) -> bool {
        matches!(self, Self::Text | Self::Word(_) | Self::Spelled(_))
    }
}

/// One step of a path as it is checked.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Segment {
    /// A key.
    Key(String),
    /// A place in a list.
    Index(usize),
    /// A key or a place that is not known before.
    Any,
}

/// A path as a person writes it.
pub fn path_text(root: &str, segments: &[Segment]) -> String {
    let mut text = root.to_owned();
    for segment in segments {
        match segment {
            Segment::Key(key)
                if key.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
                    && key.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') =>
            {
                text.push('.');
                text.push_str(key);
            }
            Segment::Key(key) => {
                text.push_str("[\"");
                text.push_str(key);
                text.push_str("\"]");
            }
            Segment::Index(index) => {
                text.push('[');
                text.push_str(&index.to_string());
                text.push(']');
            }
            Segment::Any => text.push_str("[...]"),
        }
    }
    text
}

const ITEM: &str = "a task with `loop` has it; `loop` stands in one column with the name of the resource";

/// A mistake in a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PathError {
    /// Description of the mistake.
    pub message: String,
    /// A near name.
    pub help: Option<String>,
    /// Its code.
    pub code: Code,
}

impl PathError {
    /// A mistake that nothing depends on.
    pub fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), help: None, code: Code::Plain }
    }

    /// A path of which there is no value, with a near name.
    pub fn undefined(root: &str, path: &[Segment], help: Option<String>) -> Self {
        let code = Code::Undefined { name: root.to_owned(), advised: help.is_some() };
        Self { message: format!("`{}` is not defined", path_text(root, path)), help, code }
    }

    /// The same mistake in bytes `start..end` of a text.
    pub fn within(self, start: usize, end: usize) -> TextError {
        TextError { help: self.help, code: self.code, ..TextError::new(start, end, self.message) }
    }
}

/// The names that a text may read, with their types.
#[derive(Debug, Clone, Default)]
pub struct Names {
    /// Names that are known.
    pub known: BTreeMap<String, Shape>,
    /// Whether there may be others, since a playbook that gives some could not be read.
    pub others: bool,
}

impl Names {
    /// The type at a path.
    ///
    /// # Errors
    /// When there is no such path.
    pub fn check(&self, root: &str, segments: &[Segment]) -> Result<Shape, PathError> {
        let Some(mut shape) = self.known.get(root) else {
            if self.others {
                return Ok(Shape::Any);
            }
            let known = self.known.keys().map(String::as_str).collect();
            let advice = foreign::help(root, &[Place::Name])
                .or_else(|| self.group(root))
                .or_else(|| (root == "item").then(|| ITEM.to_owned()))
                .or_else(|| near_text(root, &known));
            let error = PathError::undefined(root, segments, advice);
            return Err(PathError { help: error.help.or_else(|| list_text(&known)), ..error });
        };
        for (i, segment) in segments.iter().enumerate() {
            let here = || path_text(root, segments.get(..i).unwrap_or(&[]));
            shape = match (shape, segment) {
                (Shape::Any, _) => return Ok(Shape::Any),
                (Shape::Map(keys), Segment::Key(key)) => {
                    let Some(shape) = keys.get(key) else {
                        let help = foreign::help(&path_text(root, segments), &[Place::Name])
                            .or_else(|| did_you_mean_text(key, keys.keys().map(String::as_str)));
                        return Err(PathError::undefined(root, segments, help));
                    };
                    shape
                }
                (Shape::Map(keys), Segment::Any | Segment::Index(_)) => {
                    let merged = keys.values().cloned().reduce(Shape::merge).unwrap_or(Shape::Any);
                    let names = Self { known: BTreeMap::from([("it".to_owned(), merged)]), others: false };
                    return names
                        .check("it", segments.get(i + 1..).unwrap_or(&[]))
                        .map_err(|error| PathError::undefined(root, segments, error.help));
                }
                (Shape::Dict(value), _) | (Shape::List(value), Segment::Index(_) | Segment::Any) => value,
                (Shape::List(_), Segment::Key(key)) => {
                    return Err(PathError {
                        message: format!("`{}` is a list and has no `{key}`", here()),
                        help: Some(match key.as_str() {
                            "length" | "size" | "count" => format!("write `{} | length`", here()),
                            _ => "take an element first, as in `[0]`".to_owned(),
                        }),
                        code: Code::Plain,
                    });
                }
                (shape, segment) => {
                    return Err(PathError {
                        message: format!(
                            "`{}` is {} and has no `{}`",
                            here(),
                            shape.name(),
                            path_text("", std::slice::from_ref(segment)).trim_start_matches('.')
                        ),
                        help: match segment {
                            Segment::Key(key) => foreign::help(key, &[Place::Answer]),
                            Segment::Index(_) | Segment::Any => None,
                        },
                        code: Code::Plain,
                    });
                }
            };
        }
        Ok(shape.clone())
    }

    /// `when: web`
    fn group(&self, name: &str) -> Option<String> {
        let Some(Shape::Map(groups)) = self.known.get("groups") else { return None };
        groups.contains_key(name).then(|| format!("of a group: `\"{name}\" in host.groups`"))
    }
}
