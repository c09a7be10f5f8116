//! `git`: a repository checked out at one commit.

pub mod question;

use std::sync::Arc;

use crate::config::{Diagnostic, Diagnostics, FromNode as _, Node, Sp};
use crate::facts::{Facts, Object, Query, Touches};
use crate::resources::builds::git::question::{Checkout, CheckoutQuery, Tree};
use crate::resources::shared::known;
use crate::resources::shared::value::{HostPath, claims};
use crate::resources::{Attribute, Built, Change, Context, Detail, Planned, Resource, Unplannable};
use crate::sources::Url;
use crate::transport::Script;

crate::record! {
    /// A git repository, checked out at one commit.
    ///
    /// `commit` names that commit, whatever server it comes from. The owner of a `tag` can move it;
    /// give `commit` as well to fix which commit the tag must be. Over `http` and `git`, which anybody on the way can
    /// change, `commit` is required; what counts is the URL after the mirrors of the site. For a `branch`, each host
    /// takes its newest commit at the first checkout and keeps it, so hosts that are set up on different days
    /// differ. Only the wanted revision is fetched where the server supports that. Files that git does
    /// not track are kept.
    GitFields("a git checkout") {
        /// URL of the repository.
        req url: Url,
        /// Directory of the checkout on the host.
        req path: HostPath,
        /// All 40 digits of a commit.
        opt commit: Sp<String>,
        /// A tag.
        opt tag: Sp<String>,
        /// A branch.
        opt branch: Sp<String>,
        /// Whether changed files are reset to the commit. Otherwise they are kept, and no other commit
        /// is checked out over them.
        def force: bool = false,
    }
}

kind! { "git", GitFields }

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

/// Whether git-check-ref-format(1) lets a name pass and no shell or option parser trips over it.
fn is_ref(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_alphanumeric())
        && name.chars().all(|c| c.is_ascii_alphanumeric() || "._/+@-".contains(c))
        && !name.contains("..")
        && !name.contains("@{")
        && !name.ends_with(['/', '.'])
}

pub(in crate::resources) fn read(node: &Node, context: &dyn Context, diagnostics: &mut Diagnostics) -> Built {
    let fields = GitFields::from_node(node, diagnostics)?;
    let mut good = true;
    if let Some(commit) = &fields.commit
        && (commit.len() != 40 || !commit.chars().all(|c| matches!(c, '0'..='9' | 'a'..='f')))
    {
        good = false;
        diagnostics.push(
            Diagnostic::error(commit.span, format!("`{}` is not a commit", **commit))
                .help("write all 40 digits, in lower case: `git rev-parse NAME` prints them"),
        );
    }
    for name in [&fields.tag, &fields.branch].into_iter().flatten() {
        if !is_ref(name) {
            good = false;
            diagnostics.error(name.span, format!("`{}` is not the name of a tag or branch", **name));
        }
    }
    let sources = context.sources();
    let url = sources.rewrite(fields.url.as_str());
    // The lab's is a commit of its own.
    let stand_in = sources.stand_in(fields.url.as_str()).map(str::to_owned);
    if fields.commit.is_none()
        && stand_in.is_none()
        && let Some(name) = fields.tag.as_ref().or(fields.branch.as_ref())
    {
        good &= proven(&url, fields.url.as_str(), name, diagnostics);
    }
    let revision = match (fields.commit, fields.tag, fields.branch) {
        (commit, Some(tag), None) => {
            Revision::Tag { name: tag.value, commit: stand_in.or(commit.map(|commit| commit.value)) }
        }
        (Some(commit), None, None) => Revision::Commit(commit.value),
        (None, None, Some(branch)) => {
            diagnostics.push(
                Diagnostic::warning(
                    branch.span,
                    "a branch moves: hosts that are set up on different days get different commits",
                )
                .help("pin a `commit` or a `tag`"),
            );
            Revision::Branch(branch.value)
        }
        (None, None, None) => {
            diagnostics.push(
                Diagnostic::error(node.span, "no revision is given").help("name a `commit` or a `tag`"),
            );
            return None;
        }
        (_, _, Some(branch)) => {
            diagnostics.error(branch.span, "`branch` cannot be combined with `commit` or `tag`");
            return None;
        }
    };
    good.then(|| -> Arc<dyn Resource> {
        let user = context.user().map(str::to_owned);
        Arc::new(Git { url, path: fields.path, revision, force: fields.force, user })
    })
}

/// Whether the way to a repository proves what it serves under a name; says what is missing.
fn proven(url: &str, asked: &str, name: &Sp<String>, diagnostics: &mut Diagnostics) -> bool {
    let plain = ["http", "git"].into_iter().find(|scheme| url.starts_with(&format!("{scheme}://")));
    let help = "add `commit`: `git ls-remote URL 'refs/tags/NAME^{}' refs/tags/NAME` asks its owner's server, and the first \
                line is the commit";
    if let Some(scheme) = plain {
        let through = if url == asked { String::new() } else { format!(", which stands in for {asked}") };
        diagnostics.push(
            Diagnostic::error(name.span, format!("`{}` is no proof over {scheme}", **name))
                .label("anybody on the way can serve another tree under this name")
                .note(format!("it is fetched from {url}{through}"))
                .help(help),
        );
        return false;
    }
    if url != asked {
        diagnostics.push(
            Diagnostic::warning(name.span, format!("the mirror decides which commit `{}` is", **name))
                .note(format!("it is fetched from {url}, which stands in for {asked}"))
                .help(help),
        );
    }
    true
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

    fn query(&self) -> CheckoutQuery {
        CheckoutQuery { path: self.path.0.clone(), user: self.user.clone() }
    }

    fn change(&self, summary: String, attributes: Vec<Attribute>) -> Change {
        let [kind, name, commit] = self.revision.words();
        Change::new(
            self.object(),
            summary,
            Detail::Attributes(attributes),
            Script::new(crate::shell!(
                "shell/rooted.sh",
                "shell/rooted_below.sh",
                "resources/builds/git/git_rooted.sh",
                "shell/reach.sh",
                "resources/builds/git/git.sh"
            ))
            .named("path", self.path.as_str())
            .named("url", self.url.as_str())
            .named("kind", kind)
            .named("name", name)
            .named("commit", commit)
            .named("force", if self.force { "force" } else { "" }),
        )
    }
}

impl Resource for Git {
    fn queries(&self) -> Vec<Query> {
        vec![self.query().into()]
    }

    fn plan(&self, facts: &Facts) -> Planned {
        let path = self.path.as_str();
        let found = known::answer(facts, &self.query(), &self.object())?;
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
                    "{path} exists and is not a git checkout: move it away, or choose another path"
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
                "{path} has {} changed files: commit them, or set `force: true` to discard them",
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
