//! `git`: a repository checked out at one commit.

use std::sync::Arc;

use super::value::{HostPath, claims};
use super::{Attribute, Change, Context, Detail, Disruption, Planned, Resource, Unplannable, known};
use crate::config::{Diagnostic, Diagnostics, FromNode as _, Node, Sp};
use crate::facts::git::{Checkout, Tree};
use crate::facts::{Answer, Facts, Object, Query, Touches};
use crate::sources::Url;
use crate::transport::Script;

crate::record! {
    /// A git repository, checked out at one commit.
    ///
    /// `commit` is that commit wherever it is fetched from; a `tag` can be moved by its owner, unless
    /// `commit` says which one it must be; a `branch` is its head at the time of the first checkout
    /// and stays there, so hosts that are set up on different days differ. Only the wanted revision is
    /// fetched where the server can do that. Files that git does not know stay.
    GitFields("a git checkout") {
        /// Where it comes from.
        req url: Url,
        /// Where it is on the host.
        req path: HostPath,
        /// All 40 digits of a commit.
        opt commit: Sp<String>,
        /// A tag.
        opt tag: Sp<String>,
        /// A branch.
        opt branch: Sp<String>,
        /// Whether changed files are put back as they are in the commit; otherwise they stay, and
        /// another commit is not checked out over them.
        def force: bool = false,
    }
}

#[derive(Debug)]
struct Git {
    url: String,
    path: HostPath,
    revision: Revision,
    force: bool,
    user: Option<String>,
}

#[derive(Debug)]
enum Revision {
    Commit(String),
    Tag { name: String, commit: Option<String> },
    Branch(String),
}

/// What git-check-ref-format(1) lets pass and no shell or option parser trips over.
fn is_ref(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_alphanumeric())
        && name.chars().all(|c| c.is_ascii_alphanumeric() || "._/+@-".contains(c))
        && !name.contains("..")
        && !name.contains("@{")
        && !name.ends_with(['/', '.'])
}

pub(super) fn read(
    node: &Node,
    context: &dyn Context,
    diagnostics: &mut Diagnostics,
) -> Option<Arc<dyn Resource>> {
    let fields = GitFields::from_node(node, diagnostics)?;
    let mut good = true;
    if let Some(commit) = &fields.commit
        && (commit.len() != 40 || !commit.chars().all(|c| matches!(c, '0'..='9' | 'a'..='f')))
    {
        good = false;
        diagnostics.push(
            Diagnostic::error(commit.span, format!("`{}` is not a commit", **commit))
                .help("write all 40 digits, in small letters: `git rev-parse NAME` tells them"),
        );
    }
    for name in [&fields.tag, &fields.branch].into_iter().flatten() {
        if !is_ref(name) {
            good = false;
            diagnostics.error(name.span, format!("`{}` is not the name of a tag or branch", **name));
        }
    }
    let revision = match (fields.commit, fields.tag, fields.branch) {
        (commit, Some(tag), None) => {
            Revision::Tag { name: tag.value, commit: commit.map(|commit| commit.value) }
        }
        (Some(commit), None, None) => Revision::Commit(commit.value),
        (None, None, Some(branch)) => {
            diagnostics.push(
                Diagnostic::warning(branch.span, "a branch moves: hosts set up on different days differ")
                    .help("pin a `commit` or a `tag`"),
            );
            Revision::Branch(branch.value)
        }
        (None, None, None) => {
            diagnostics.push(
                Diagnostic::error(node.span, "which revision is wanted is not said")
                    .help("name a `commit` or a `tag`"),
            );
            return None;
        }
        (_, _, Some(branch)) => {
            diagnostics.error(branch.span, "a branch and another revision contradict");
            return None;
        }
    };
    let url = context.sources().rewrite(fields.url.as_str());
    good.then(|| -> Arc<dyn Resource> {
        let user = context.user().map(str::to_owned);
        Arc::new(Git { url, path: fields.path, revision, force: fields.force, user })
    })
}

impl Revision {
    /// As the script takes it: kind, name, commit that it must be.
    fn words(&self) -> [&str; 3] {
        match self {
            Self::Commit(commit) => ["commit", commit, ""],
            Self::Tag { name, commit } => ["tag", name, commit.as_deref().unwrap_or("")],
            Self::Branch(name) => ["branch", name, ""],
        }
    }

    fn describe(&self) -> String {
        let [kind, name, _] = self.words();
        format!("{kind} {}", if kind == "commit" { short(name) } else { name })
    }

    fn is_at(&self, tree: &Tree) -> bool {
        let at = |commit: &String| tree.head.as_ref() == Some(commit);
        let named = |name: String| tree.refs.contains(&name);
        match self {
            Self::Commit(commit) => at(commit),
            Self::Tag { name, commit } => {
                named(format!("refs/tags/{name}")) && commit.as_ref().is_none_or(at)
            }
            Self::Branch(name) => named(format!("refs/remotes/origin/{name}")),
        }
    }
}

/// A commit as people write it.
fn short(commit: &str) -> &str {
    commit.get(..12).unwrap_or(commit)
}

impl Git {
    fn object(&self) -> Object {
        Object::Path(self.path.0.clone())
    }

    fn query(&self) -> Query {
        Query::Checkout { path: self.path.0.clone(), user: self.user.clone() }
    }

    fn change(&self, summary: String, attributes: Vec<Attribute>) -> Change {
        let [kind, name, commit] = self.revision.words();
        Change {
            object: self.object(),
            summary,
            detail: Detail::Attributes(attributes),
            script: Script::new(crate::shell!("resources/reach.sh", "resources/git.sh"))
                .arg(self.path.as_str())
                .arg(self.url.as_str())
                .arg(kind)
                .arg(name)
                .arg(commit)
                .arg(if self.force { "force" } else { "" }),
            upload: None,
            disruption: Disruption::None,
        }
    }
}

impl Resource for Git {
    fn queries(&self) -> Vec<Query> {
        vec![self.query()]
    }

    fn plan(&self, facts: &Facts) -> Planned {
        let path = self.path.as_str();
        let Answer::Checkout(found) = known::answer(facts, &self.query(), &self.object())? else {
            return Err(known::strange(&self.object()));
        };
        let wanted = self.revision.describe();
        let attribute = |name: &str, before: Option<&str>, after: &str| {
            (before != Some(after)).then(|| Attribute::new(name, before, Some(after)))
        };
        let none = Tree::default();
        let tree = match found {
            Checkout::Absent => &none,
            Checkout::Tree(tree) => tree,
            Checkout::Other => {
                return Err(Unplannable::Failed(format!(
                    "{path} is there and is no checkout of git: move it away, or take another path"
                )));
            }
        };
        let head = tree.head.as_deref().map(short);
        let mut attributes: Vec<Attribute> =
            attribute("url", tree.url.as_deref(), &self.url).into_iter().collect();
        let moves = !self.revision.is_at(tree);
        if moves {
            attributes.extend(attribute("revision", head, &wanted));
        }
        if tree.changed > 0 && self.force {
            let files = format!("{} changed", tree.changed);
            attributes.push(Attribute::new("files", Some(&files), Some("as committed")));
        }
        if attributes.is_empty() {
            return Ok(Vec::new());
        }
        if moves && tree.changed > 0 && !self.force {
            return Err(Unplannable::Failed(format!(
                "{path} has {} changed files: commit them, or give `force: true` to lose them",
                tree.changed
            )));
        }
        let summary = match head {
            None => format!("+ {path} ({wanted})"),
            Some(head) if moves => format!("~ {path} ({head} -> {wanted})"),
            Some(_) => {
                let names: Vec<&str> = attributes.iter().map(|attribute| attribute.name.as_str()).collect();
                format!("~ {path} ({})", names.join(", "))
            }
        };
        Ok(vec![self.change(summary, attributes)])
    }

    fn touches(&self) -> Touches {
        Touches::one(self.object())
    }

    fn manages(&self) -> Vec<(Object, String)> {
        let attributes =
            [("url", Some(self.url.clone())), ("revision", Some(self.revision.words().join(" ")))];
        claims(Object::Path, &self.path.0, "a checkout of git", attributes)
    }
}
