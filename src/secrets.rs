//! Secrets: where they come from and where they may go.
//!
//! A secret is a [`SecretString`]: no `Display`, no `Serialize`. Text that will hold one carries
//! the placeholder [`placeholder`] through templates, plans, diffs and journals; only the writer
//! of a transport puts the value in ([`Secrets::reveal`]).

use std::collections::BTreeMap;
use std::sync::Arc;

use camino::Utf8PathBuf;
use secrecy::{ExposeSecret as _, SecretString};
use serde_json::{Value as Json, json};

use crate::config::{Diagnostic, Diagnostics, FromNode, Node};
use crate::inventory::Bases;

/// Where a secret comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SecretSource {
    /// What a command writes to its standard output.
    Command(Vec<String>),
    /// A variable of the environment.
    Env(String),
    /// A file of this machine.
    File(Utf8PathBuf),
}

crate::record! {
    /// Where a secret comes from: exactly one of these. A trailing newline is dropped.
    SourceRecord("a secret") {
        /// A command whose standard output is the secret.
        opt command: Vec<String>,
        /// A variable of the environment.
        opt env: String,
        /// A file; relative to the inventory's file.
        opt file: String,
    }
}

impl FromNode for SecretSource {
    fn from_node(node: &Node, diagnostics: &mut Diagnostics) -> Option<Self> {
        let record = SourceRecord::from_node(node, diagnostics)?;
        match (record.command, record.env, record.file) {
            (Some(command), None, None) if !command.is_empty() => Some(Self::Command(command)),
            (None, Some(env), None) => Some(Self::Env(env)),
            (None, None, Some(file)) => Some(Self::File(file.into())),
            _ => {
                diagnostics.push(
                    Diagnostic::error(
                        node.span,
                        "a secret comes from exactly one of `command`, `env` and `file`",
                    )
                    .help("write for example `{ command: [pass, show, cluster/sudo] }`"),
                );
                None
            }
        }
    }

    fn schema() -> Json {
        let mut schema = SourceRecord::schema();
        if let Some(object) = schema.as_object_mut() {
            object.insert("minProperties".to_owned(), json!(1));
            object.insert("maxProperties".to_owned(), json!(1));
        }
        schema
    }
}

impl SecretSource {
    /// The same with paths made absolute.
    #[must_use]
    pub fn resolve(&self, bases: Bases<'_>) -> Self {
        match self {
            Self::File(path) => Self::File(bases.resolve(path.as_str())),
            other => other.clone(),
        }
    }
}

/// The text that stands for a secret everywhere but on the wire.
pub fn placeholder(name: &str) -> String {
    format!("{{{{provision-secret:{name}}}}}")
}

/// Whether a text holds a secret's placeholder.
pub fn holds_secret(text: &str) -> bool {
    text.contains("{{provision-secret:")
}

/// The secrets of a run by name.
#[derive(Debug, Clone, Default)]
pub struct Secrets(Arc<BTreeMap<String, SecretString>>);

impl Secrets {
    /// Takes resolved secrets.
    pub fn new(values: BTreeMap<String, SecretString>) -> Self {
        Self(Arc::new(values))
    }

    /// One secret.
    pub fn get(&self, name: &str) -> Option<&SecretString> {
        self.0.get(name)
    }

    /// Replaces every placeholder by its value. The result goes to the wire and nowhere else.
    pub fn reveal(&self, text: &str) -> String {
        let mut out = text.to_owned();
        for (name, value) in self.0.iter() {
            out = out.replace(&placeholder(name), value.expose_secret());
        }
        out
    }

    /// Replaces every secret's value in captured output by `(secret NAME)`.
    pub fn redact(&self, text: &str) -> String {
        let mut out = text.to_owned();
        for (name, value) in self.0.iter() {
            let value = value.expose_secret();
            if value.len() >= 4 {
                out = out.replace(value, &format!("(secret {name})"));
            }
        }
        out
    }
}
