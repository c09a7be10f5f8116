//! Checkouts of git repositories.
//!
//! Formats: git-rev-parse(1), git-for-each-ref(1) `--points-at`, git-status(1) `--porcelain`.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{Answer, Answers, Query, lines};
use crate::transport::Script;

/// What is at the path of a checkout.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Checkout {
    /// Nothing, or an empty directory.
    #[default]
    Absent,
    /// Something else.
    Other,
    /// A work tree with its repository.
    Tree(Tree),
}

/// A work tree.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Tree {
    /// The commit that is checked out; `None` in a clone that was cut.
    #[serde(default)]
    pub head: Option<String>,
    /// Where it came from.
    #[serde(default)]
    pub url: Option<String>,
    /// Full names of the tags and branches that are this commit.
    #[serde(default)]
    pub refs: Vec<String>,
    /// How many files that git knows differ from it.
    #[serde(default)]
    pub changed: u32,
}

pub(super) fn script(queries: &[Query]) -> Script {
    queries.iter().fold(Script::new(crate::shell!("facts/git.sh")), |script, query| {
        if let Query::Checkout { path, .. } = query { script.arg(path.as_str()) } else { script }
    })
}

pub(super) fn parse(queries: &[Query], output: &[u8], _: i32) -> Answers {
    let output = String::from_utf8_lossy(output);
    let mut found: BTreeMap<&str, Answer> = BTreeMap::new();
    let (mut path, mut tree) = ("", Tree::default());
    for line in lines(&output) {
        let (key, rest) = line.split_once(' ').unwrap_or((line, ""));
        match key {
            "absent" => drop(found.insert(rest, Answer::Checkout(Checkout::Absent))),
            "other" => drop(found.insert(rest, Answer::Checkout(Checkout::Other))),
            "tool" => drop(found.insert(rest, Answer::Unknown("no `git` on the host".to_owned()))),
            "tree" => (path, tree) = (rest, Tree::default()),
            "refused" => drop(found.insert(path, Answer::Unknown(rest.to_owned()))),
            "head" => tree.head = Some(rest.to_owned()).filter(|head| !head.is_empty()),
            "url" => tree.url = Some(rest.to_owned()).filter(|url| !url.is_empty()),
            "ref" => tree.refs.push(rest.to_owned()),
            "changed" => tree.changed += 1,
            "end" => {
                let tree = std::mem::take(&mut tree);
                found.entry(path).or_insert(Answer::Checkout(Checkout::Tree(tree)));
            }
            _ => {}
        }
    }
    let answer = |query: &Query| {
        let Query::Checkout { path, .. } = query else { return None };
        Some((query.clone(), found.get(path.as_str())?.clone()))
    };
    queries.iter().filter_map(answer).collect()
}
