//! The secrets of a run and where they may go.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

use secrecy::{ExposeSecret as _, SecretString};

use super::redact::Redactor;
use crate::placeholder;

/// The secrets of a run by name.
#[derive(Clone, Default)]
pub struct Secrets(Arc<Known>);

#[derive(Default)]
struct Known {
    values: BTreeMap<String, SecretString>,
    redactor: Redactor,
}

impl std::fmt::Debug for Secrets {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_set().entries(self.0.values.keys()).finish()
    }
}

impl Secrets {
    /// Takes resolved secrets.
    pub fn new(values: BTreeMap<String, SecretString>) -> Self {
        let texts = values.iter().map(|(name, value)| (name.as_str(), value.expose_secret()));
        let redactor = Redactor::new(texts);
        Self(Arc::new(Known { values, redactor }))
    }

    /// These and one more, such as a password that was asked for.
    #[must_use]
    pub fn with(self, name: &str, value: SecretString) -> Self {
        let mut values = self.0.values.clone();
        values.insert(name.to_owned(), value);
        Self::new(values)
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.values.is_empty()
    }

    /// One secret.
    pub fn get(&self, name: &str) -> Option<&SecretString> {
        self.0.values.get(name)
    }

    /// The name of a secret that a text wants and that is not among these.
    pub fn lacks(&self, text: &str) -> Option<String> {
        placeholder::names(text).into_iter().find(|name| !self.0.values.contains_key(name))
    }

    /// Replaces every placeholder by its value. The result goes to the wire and nowhere else.
    /// One without a value becomes `(secret NAME)`: no placeholder leaves this machine.
    pub fn reveal<'a>(&self, text: &'a str) -> Cow<'a, str> {
        placeholder::replace(text, |name| match self.get(name) {
            Some(value) => value.expose_secret().to_owned(),
            None => format!("(secret {name})"),
        })
    }

    /// Replaces every placeholder, and every secret's value in whatever form a program printed it, by
    /// `(secret NAME)`.
    pub fn redact(&self, text: &str) -> String {
        self.0.redactor.redact(&placeholder::shown(text))
    }

    /// The same for a text of which something was left out at each `mark`: a value may have been cut there.
    pub fn redact_cut(&self, text: &str, mark: &str) -> String {
        self.0.redactor.redact_cut(&placeholder::shown(text), mark)
    }
}
