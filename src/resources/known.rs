//! Answers out of facts, with the right refusal where there is none.

use super::Unplannable;
use crate::facts::file::{Attributes, Content, FileKind};
use crate::facts::setting::Setting;
use crate::facts::{Answer, Facts, Object, Query};

/// An answer; a query that was not asked or not answered is the refusal.
pub(super) fn answer<'a>(
    facts: &'a Facts,
    query: &Query,
    object: &Object,
) -> Result<&'a Answer, Unplannable> {
    match facts.get(query) {
        Some(Answer::Unknown(reason)) => Err(Unplannable::Unknown(object.clone(), reason.clone())),
        Some(Answer::NoUser(user)) => Err(Unplannable::Missing(
            Object::User(user.clone()),
            format!("there is no user `{user}` on the host, whom `become_user` names"),
        )),
        Some(answer) => Ok(answer),
        None => Err(Unplannable::Unknown(object.clone(), format!("{object} was not asked about"))),
    }
}

/// An answer of another kind than its query: a bug, told as unknown.
pub(super) fn strange(object: &Object) -> Unplannable {
    Unplannable::Unknown(object.clone(), format!("the answer about {object} is of another kind"))
}

/// What is at a path.
pub(super) fn path<'a>(facts: &'a Facts, path: &str) -> Result<Option<&'a Attributes>, Unplannable> {
    let object = Object::Path(path.to_owned());
    let Answer::Path(attributes) = answer(facts, &Query::Path(path.to_owned()), &object)? else {
        return Err(strange(&object));
    };
    Ok(attributes.as_ref())
}

/// What a file holds.
pub(super) fn content<'a>(
    facts: &'a Facts,
    query: &Query,
    path: &str,
) -> Result<Option<&'a Content>, Unplannable> {
    let object = Object::Path(path.to_owned());
    let Answer::Content(content) = answer(facts, query, &object)? else { return Err(strange(&object)) };
    Ok(content.as_ref())
}

/// Refuses when the directory that would hold a new path is not there.
pub(super) fn parent(facts: &Facts, directory: &str) -> Result<(), Unplannable> {
    match path(facts, directory)? {
        Some(Attributes { kind: FileKind::Directory | FileKind::Symlink, .. }) => Ok(()),
        Some(other) => {
            Err(Unplannable::Failed(format!("{directory} is {}, not a directory", other.kind.as_str())))
        }
        None => Err(Unplannable::Missing(
            Object::Path(directory.to_owned()),
            format!("the directory {directory} is not there"),
        )),
    }
}

/// The word for the container that the host is, when it is one: no kernel work can be done there.
pub(super) fn container(facts: &Facts) -> Option<String> {
    let value = facts.base("virtualization")?;
    value.get("container")?.as_bool()?.then(|| value.get("kind")?.as_str().map(str::to_owned))?
}

/// A setting of the kernel.
pub(super) fn setting<'a>(facts: &'a Facts, path: &str) -> Result<Option<&'a Setting>, Unplannable> {
    let object = Object::Path(path.to_owned());
    let Answer::Setting(setting) = answer(facts, &Query::Setting(path.to_owned()), &object)? else {
        return Err(strange(&object));
    };
    Ok(setting.as_ref())
}
