//! Answers out of facts, with the right refusal where there is none.

use crate::facts::base::Fact;
use crate::facts::base::virtualization::Virtualization;
use crate::facts::file::{Attributes, Content, ContentQuery, FileKind, PathQuery};
use crate::facts::setting::{Setting, SettingQuery};
use crate::facts::{BaseQuery, Facts, Known, Object, Question};
use crate::resources::Unplannable;

/// An answer; a question that was not asked or not answered is the refusal.
pub(in crate::resources) fn answer<'a, Q: Question>(
    facts: &'a Facts,
    question: &Q,
    object: &Object,
) -> Result<&'a Q::Answer, Unplannable> {
    match facts.get(question) {
        Known::Answer(answer) => Ok(answer),
        Known::Unknown(reason) => Err(Unplannable::Unknown(object.clone(), reason.to_owned())),
        // No task before this one makes it better.
        Known::Unreadable(reason) => Err(Unplannable::Failed(format!("{object}: {reason}"))),
        Known::NoUser(user) => Err(Unplannable::Missing(
            Object::User(user.to_owned()),
            format!("`become_user` names `{user}`, but there is no such user on the host"),
        )),
        Known::NotAsked => {
            Err(Unplannable::Unknown(object.clone(), format!("the host was not asked about {object}")))
        }
    }
}

/// A basic fact.
pub(in crate::resources) fn base<'a, F: Fact>(
    facts: &'a Facts,
    object: &Object,
) -> Result<&'a F, Unplannable> {
    let value = answer(facts, &BaseQuery(F::NAME), object)?;
    value.get().ok_or_else(|| Unplannable::Failed(format!("{object}: facts.{} cannot be read", F::NAME)))
}

/// Returns the attributes of a path; `None` when nothing is there.
pub(in crate::resources) fn path<'a>(
    facts: &'a Facts,
    path: &str,
) -> Result<Option<&'a Attributes>, Unplannable> {
    let question = PathQuery(path.to_owned());
    answer(facts, &question, &Object::Path(path.to_owned())).map(Option::as_ref)
}

/// Returns the content of a file; `None` when there is no regular file.
pub(in crate::resources) fn content<'a>(
    facts: &'a Facts,
    question: &ContentQuery,
) -> Result<Option<&'a Content>, Unplannable> {
    answer(facts, question, &Object::Path(question.path.clone())).map(Option::as_ref)
}

/// Refuses when the directory that would hold a new path is not there.
pub(in crate::resources) fn parent(facts: &Facts, directory: &str) -> Result<(), Unplannable> {
    match path(facts, directory)? {
        Some(Attributes { kind: FileKind::Directory | FileKind::Symlink, .. }) => Ok(()),
        Some(other) => {
            Err(Unplannable::Failed(format!("{directory} is {}, not a directory", other.kind.as_str())))
        }
        None => Err(Unplannable::Missing(
            Object::Path(directory.to_owned()),
            format!("the directory {directory} does not exist"),
        )),
    }
}

/// Refuses to write below the home of an account whose home is not there.
pub(in crate::resources) fn home(homeless: bool, user: &str, home: &str) -> Result<(), Unplannable> {
    if !homeless {
        return Ok(());
    }
    let home = if home.is_empty() { "/" } else { home };
    Err(Unplannable::Missing(
        Object::Path(home.to_owned()),
        format!(
            "the home {home} of {user} is not there: make it before this task (`directory: {{ path: {home}, owner: {user} }}`), or give the account another one (`home` of a `user` task)"
        ),
    ))
}

/// The word for the container that the host is, when it is one: no kernel work can be done there.
pub(in crate::resources) fn container(facts: &Facts) -> Option<String> {
    facts.base().filter(|seen: &&Virtualization| seen.container).map(|seen| seen.kind.clone())
}

/// A setting of the kernel.
pub(in crate::resources) fn setting<'a>(
    facts: &'a Facts,
    path: &str,
) -> Result<Option<&'a Setting>, Unplannable> {
    let question = SettingQuery(path.to_owned());
    answer(facts, &question, &Object::Path(path.to_owned())).map(Option::as_ref)
}
