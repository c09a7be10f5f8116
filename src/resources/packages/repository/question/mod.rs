//! What the files of apt say of a repository: whoever wrote them, they must not differ in the key.
//!
//! Format: sources.list(5), both styles.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::facts::{Answers, Family, Query, Question, Told, Touches, after, answers, lines, of_type};
use crate::transport::Script;

/// An entry of apt for a repository.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Entry {
    /// The file that has it.
    pub file: String,
    /// Its suites.
    pub suites: Vec<String>,
    /// `Signed-By`, as it stands there; empty where each key that apt knows counts.
    pub signed: String,
    /// Fingerprints of the keys that it takes; none where the key could not be looked at.
    pub keys: Vec<String>,
}

/// The entries of apt for the repository at a URL, which has no `/` at its end.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct EntriesQuery(pub String);

impl Question for EntriesQuery {
    type Answer = Vec<Entry>;
    const FAMILY: &'static Family = FAMILY;

    fn label(&self) -> String {
        format!("entries {}", self.0)
    }

    fn touched_by(&self, touches: &Touches) -> bool {
        touches.packages() || touches.package_files()
    }
}

pub(crate) const FAMILY: &Family = &Family {
    tools: "`awk` and `gpg`",
    chunk: 64,
    ..Family::new("entries", script, parse, |label| {
        Some(EntriesQuery(after("entries", label)?.to_owned()).into())
    })
};

fn script(queries: &[Query]) -> Script {
    let urls = of_type(queries).map(|EntriesQuery(url)| url.as_str());
    Script::new(crate::shell!("resources/packages/repository/question/sources.sh")).args(urls)
}

fn parse(queries: &[Query], output: &str, _: i32) -> Answers {
    let mut found: BTreeMap<&str, Vec<Entry>> = BTreeMap::new();
    let mut url = "";
    for line in lines(output) {
        let (key, rest) = line.split_once(' ').unwrap_or((line, ""));
        if key == "url" {
            url = rest;
        }
        let entries = found.entry(url).or_default();
        if key == "entry" {
            entries.push(Entry { file: rest.to_owned(), ..Entry::default() });
        }
        let Some(entry) = entries.last_mut() else { continue };
        match key {
            "suites" => entry.suites = rest.split_whitespace().map(str::to_owned).collect(),
            "signed" => rest.trim().clone_into(&mut entry.signed),
            "key" => entry.keys.push(rest.trim_end_matches('!').to_ascii_uppercase()),
            _ => {}
        }
    }
    let end = lines(output).last();
    answers(queries, |EntriesQuery(url)| -> Option<Told<Vec<Entry>>> {
        match end {
            // No file of it counts there.
            Some("no apt") => Some(Ok(Vec::new())),
            Some("end") => found.get(url.as_str()).cloned().map(Ok),
            _ => None,
        }
    })
}
