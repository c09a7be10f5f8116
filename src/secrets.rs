//! Secrets: where they come from and where they may go.
//!
//! A secret is a [`SecretString`]: no `Display`, no `Serialize`. Text that will hold one carries
//! the placeholder [`placeholder`] through templates, plans, diffs and journals; only the writer
//! of a transport puts the value in ([`Secrets::reveal`]).

use std::collections::BTreeMap;
use std::sync::Arc;

use secrecy::{ExposeSecret as _, SecretString};

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
