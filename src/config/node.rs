//! A YAML document as a tree of values that know where they stand.

use serde_json::Value as Json;

use super::source::{Sp, Span};

/// A YAML value and where it stands.
#[derive(Debug, Clone, PartialEq)]
pub struct Node {
    /// The value.
    pub value: Yaml,
    /// Its place in the file.
    pub span: Span,
}

/// A YAML value.
#[derive(Debug, Clone, PartialEq)]
pub enum Yaml {
    /// `null`, `~` or nothing.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A whole number.
    Int(i64),
    /// A number with a fraction or an exponent.
    Float(f64),
    /// Text.
    Str(String),
    /// A sequence.
    List(Vec<Node>),
    /// A mapping, in the order written; keys are unique.
    Map(Vec<(Sp<String>, Node)>),
}

impl Yaml {
    /// Returns the name of this kind of value, for people.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Null => "nothing",
            Self::Bool(_) => "a boolean",
            Self::Int(_) => "an integer",
            Self::Float(_) => "a number",
            Self::Str(_) => "a string",
            Self::List(_) => "a list",
            Self::Map(_) => "a map",
        }
    }
}

impl Node {
    /// A node that no file holds.
    pub fn detached(value: Yaml) -> Self {
        Self { value, span: Span::NONE }
    }

    /// The entry of a mapping with this key.
    pub fn get(&self, key: &str) -> Option<&Self> {
        let Yaml::Map(entries) = &self.value else { return None };
        entries.iter().find(|(k, _)| k.value == key).map(|(_, v)| v)
    }

    /// The text, when it is text.
    pub fn as_str(&self) -> Option<&str> {
        if let Yaml::Str(text) = &self.value { Some(text) } else { None }
    }

    /// The value as JSON, which is what variables are.
    pub fn to_json(&self) -> Json {
        match &self.value {
            Yaml::Null => Json::Null,
            Yaml::Bool(value) => Json::Bool(*value),
            Yaml::Int(value) => Json::from(*value),
            Yaml::Float(value) => Json::from(*value),
            Yaml::Str(text) => Json::String(text.clone()),
            Yaml::List(items) => Json::Array(items.iter().map(Self::to_json).collect()),
            Yaml::Map(entries) => Json::Object(
                entries.iter().map(|(key, value)| (key.value.clone(), value.to_json())).collect(),
            ),
        }
    }

    /// A node for a value that was filled in at a place.
    pub fn from_json(value: &Json, span: Span) -> Self {
        let value = match value {
            Json::Null => Yaml::Null,
            Json::Bool(value) => Yaml::Bool(*value),
            Json::Number(number) => match (number.as_i64(), number.as_f64()) {
                (Some(value), _) => Yaml::Int(value),
                (None, Some(value)) => Yaml::Float(value),
                (None, None) => Yaml::Str(number.to_string()),
            },
            Json::String(text) => Yaml::Str(text.clone()),
            Json::Array(items) => Yaml::List(items.iter().map(|item| Self::from_json(item, span)).collect()),
            Json::Object(map) => Yaml::Map(
                map.iter()
                    .map(|(key, value)| (Sp::new(key.clone(), span), Self::from_json(value, span)))
                    .collect(),
            ),
        };
        Self { value, span }
    }

    /// Whether nothing is written here.
    pub fn is_null(&self) -> bool {
        self.value == Yaml::Null
    }

    /// Whether it is not even a `null` that a file has here: a key has nothing behind its colon.
    pub fn is_empty(&self) -> bool {
        self.is_null() && self.span != Span::NONE && self.span.start == self.span.end
    }
}
