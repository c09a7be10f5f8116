//! Addresses and other words that are handed to ssh.

use std::borrow::Cow;

use serde_json::Value as Json;

use crate::template::condition::{Lookup, Missing, descend};
use crate::template::shape::PathError;
use crate::template::text::Values;
use crate::template::{PathUse, Segment};

/// What an address may read: the host's own name and numbers.
pub(super) struct AddressValues(pub(super) Json);

impl Lookup for AddressValues {
    fn resolve(&self, root: &str, path: &[Segment]) -> Result<Cow<'_, Json>, Missing> {
        if root == "host" {
            return descend("host", &self.0, path);
        }
        Err(Missing::Undefined(PathError {
            message: format!("`{root}` is not known in an address"),
            help: Some("an address may read `host.name`, `host.number` and `host.index`".to_owned()),
        }))
    }
}

impl Values for AddressValues {
    fn variable(&self, root: &str, uses: &[&PathUse]) -> Result<tera::Value, Missing> {
        for path in uses {
            self.resolve(root, &path.segments).map_err(|missing| match missing {
                Missing::Undefined(ref error) => Missing::Failed(error.message.clone()),
                Missing::Waiting(_) | Missing::Failed(_) => missing,
            })?;
        }
        self.resolve(root, &[]).map(|value| tera::Value::from_serializable(&value))
    }
}

/// Whether a word can be taken for nothing but itself: no option, no second word.
pub(super) fn plain(what: &str, word: &str) -> Result<(), String> {
    if word.is_empty() {
        return Err(format!("{what} cannot be empty"));
    }
    if word.starts_with('-') {
        return Err(format!("`{word}` cannot be {what}: it begins with `-`"));
    }
    if word.contains(|c: char| c.is_whitespace() || c.is_control()) {
        return Err(format!("`{}` cannot be {what}: it holds white space", word.escape_default()));
    }
    Ok(())
}
