//! Checkouts of git repositories.
//!
//! Formats: git-rev-parse(1), git-for-each-ref(1) `--points-at`, git-status(1) `--porcelain`.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::facts::{Answers, Family, Object, Query, Question, Told, Touches, after, answers, lines, of_type};
use crate::transport::Script;

/// State of the path of a checkout.
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
    /// URL of its remote `origin`.
    #[serde(default)]
    pub url: Option<String>,
    /// Full names of the tags and branches that are this commit.
    #[serde(default)]
    pub refs: Vec<String>,
    /// Number of tracked files that differ from it.
    #[serde(default)]
    pub changed: u32,
}

/// A checkout of git.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct CheckoutQuery {
    /// Its path.
    pub path: String,
    /// User that asks, where it is not the login's user: git runs what the checkout tells it to, and tells
    /// nobody but the owner.
    pub user: Option<String>,
}

impl Question for CheckoutQuery {
    type Answer = Checkout;
    const FAMILY: &'static Family = FAMILY;

    fn label(&self) -> String {
        format!("checkout {}", self.path)
    }

    fn touched_by(&self, touches: &Touches) -> bool {
        touches.meets(&Object::Path(self.path.clone())) || touches.asker(self.user.as_deref())
    }

    fn user(&self) -> Option<&str> {
        self.user.as_deref()
    }
}

pub(crate) const FAMILY: &Family = &Family {
    tools: "`git`",
    chunk: 256,
    ..Family::new("git", script, parse, |label| {
        Some(CheckoutQuery { path: after("checkout", label)?.to_owned(), user: None }.into())
    })
};

fn script(queries: &[Query]) -> Script {
    let paths = of_type(queries).map(|query: &CheckoutQuery| query.path.as_str());
    Script::new(crate::shell!(
        "shell/rooted.sh",
        "shell/rooted_below.sh",
        "resources/builds/git/git_rooted.sh",
        "resources/builds/git/question/git.sh"
    ))
    .args(paths)
}

fn parse(queries: &[Query], output: &str, _: i32) -> Answers {
    let mut found: BTreeMap<&str, Told<Checkout>> = BTreeMap::new();
    let (mut path, mut tree) = ("", Tree::default());
    for line in lines(output) {
        let (key, rest) = line.split_once(' ').unwrap_or((line, ""));
        match key {
            "absent" => drop(found.insert(rest, Ok(Checkout::Absent))),
            "other" => drop(found.insert(rest, Ok(Checkout::Other))),
            "tool" => drop(found.insert(rest, Err("`git` is not installed".to_owned()))),
            "tree" => (path, tree) = (rest, Tree::default()),
            "refused" => drop(found.insert(path, Err(rest.to_owned()))),
            "head" => tree.head = Some(rest.to_owned()).filter(|head| !head.is_empty()),
            "url" => tree.url = Some(rest.to_owned()).filter(|url| !url.is_empty()),
            "ref" => tree.refs.push(rest.to_owned()),
            "changed" => tree.changed += 1,
            "end" => {
                let tree = std::mem::take(&mut tree);
                found.entry(path).or_insert(Ok(Checkout::Tree(tree)));
            }
            _ => {}
        }
    }
    answers(queries, |query: &CheckoutQuery| found.get(query.path.as_str()).cloned())
}
