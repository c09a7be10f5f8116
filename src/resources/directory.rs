//! `directory`: one directory.

use std::sync::Arc;

use super::content::attributes_change;
use super::value::{FileMode, HostPath, Presence, Principal, claims, ownership};
use super::{Attribute, Change, Context, Detail, Disruption, Planned, Resource, Unplannable, known};
use crate::config::{Diagnostics, FromNode as _, Node, Sp};
use crate::facts::file::FileKind;
use crate::facts::{Facts, Object, Query, Touches};
use crate::transport::Script;

crate::record! {
    /// A directory with this mode and owner; those above it are made too (mode 0755).
    ///
    /// `state: absent` takes it away with all that is in it, but nothing of another file system
    /// that is mounted below.
    DirectoryFields("a directory") {
        /// Where it is on the host.
        req path: Sp<HostPath>,
        /// Permission bits as a string; what is there stays, a new directory gets "0755".
        opt mode: FileMode,
        /// Owner by name or number; what is there stays.
        opt owner: Principal,
        /// Group by name or number; what is there stays.
        opt group: Principal,
        /// Whether it shall be there.
        def state: Presence = Presence::Present,
    }
}

/// Directories that a system does not live without.
pub(super) const KEPT: &[&str] = &[
    "/",
    "/bin",
    "/boot",
    "/dev",
    "/etc",
    "/home",
    "/lib",
    "/lib64",
    "/opt",
    "/proc",
    "/root",
    "/run",
    "/sbin",
    "/srv",
    "/sys",
    "/tmp",
    "/usr",
    "/usr/bin",
    "/usr/lib",
    "/usr/lib64",
    "/usr/local",
    "/usr/sbin",
    "/usr/share",
    "/var",
    "/var/lib",
    "/var/log",
    "/var/tmp",
];

pub(super) fn read(node: &Node, _: &dyn Context, diagnostics: &mut Diagnostics) -> Option<Arc<dyn Resource>> {
    let fields = DirectoryFields::from_node(node, diagnostics)?;
    if fields.state == Presence::Absent && KEPT.contains(&fields.path.as_str()) {
        diagnostics.error(fields.path.span, format!("{} is never taken away", fields.path.as_str()));
        return None;
    }
    Some(Arc::new(Directory {
        path: fields.path.value,
        mode: fields.mode,
        owner: fields.owner,
        group: fields.group,
        state: fields.state,
    }))
}

#[derive(Debug)]
pub(super) struct Directory {
    pub(super) path: HostPath,
    pub(super) mode: Option<FileMode>,
    pub(super) owner: Option<Principal>,
    pub(super) group: Option<Principal>,
    pub(super) state: Presence,
}

impl Directory {
    fn create(&self) -> Change {
        let path = self.path.as_str();
        let mode = self.mode.unwrap_or(FileMode(0o755));
        let mut attributes = vec![Attribute::new("mode", None, Some(&mode.to_string()))];
        attributes.extend(self.owner.as_ref().map(|owner| Attribute::new("owner", None, Some(&owner.0))));
        attributes.extend(self.group.as_ref().map(|group| Attribute::new("group", None, Some(&group.0))));
        Change {
            object: Object::Path(path.to_owned()),
            summary: format!("+ {path}/"),
            detail: Detail::Attributes(attributes),
            script: Script::new(crate::shell!(
                "resources/reach.sh",
                "resources/after.sh",
                "resources/directory.sh"
            ))
            .arg(path)
            .arg(mode.to_string())
            .arg(ownership(self.owner.as_ref(), self.group.as_ref())),
            upload: None,
            disruption: Disruption::None,
        }
    }

    fn remove(&self) -> Change {
        let path = self.path.as_str();
        Change {
            object: Object::Path(path.to_owned()),
            summary: format!("- {path}/ (with all in it)"),
            detail: Detail::Attributes(Vec::new()),
            script: Script::new(crate::shell!("resources/reach.sh", "resources/directory_remove.sh"))
                .arg(path),
            upload: None,
            disruption: Disruption::None,
        }
    }
}

impl Resource for Directory {
    fn queries(&self) -> Vec<Query> {
        vec![Query::Path(self.path.0.clone())]
    }

    fn plan(&self, facts: &Facts) -> Planned {
        let path = self.path.as_str();
        let found = known::path(facts, path)?;
        match (found.map(|found| found.kind), self.state) {
            (None, Presence::Absent) => Ok(Vec::new()),
            (None, Presence::Present) => Ok(vec![self.create()]),
            (Some(FileKind::Directory), Presence::Absent) => Ok(vec![self.remove()]),
            (Some(FileKind::Directory), Presence::Present) => Ok(found
                .and_then(|found| {
                    attributes_change(path, found, self.mode, self.owner.as_ref(), self.group.as_ref())
                })
                .into_iter()
                .collect()),
            (Some(FileKind::Symlink), _) => {
                let target = found.and_then(|found| found.target.as_deref()).unwrap_or("another place");
                Err(Unplannable::Failed(format!(
                    "{path} is a symbolic link to {target}: name that directory, or take the link away first"
                )))
            }
            (Some(kind @ (FileKind::File | FileKind::Other)), _) => Err(Unplannable::Failed(format!(
                "{path} is {}, not a directory: it stands in the way",
                kind.as_str()
            ))),
        }
    }

    fn touches(&self) -> Touches {
        Touches::one(Object::Path(self.path.0.clone()))
    }

    fn manages(&self) -> Vec<(Object, String)> {
        if self.state == Presence::Absent {
            return vec![(Object::Path(self.path.0.clone()), "absent".to_owned())];
        }
        claims(
            Object::Path,
            self.path.as_str(),
            "a directory",
            [
                ("mode", self.mode.map(|mode| mode.to_string())),
                ("owner", self.owner.as_ref().map(|owner| owner.0.clone())),
                ("group", self.group.as_ref().map(|group| group.0.clone())),
            ],
        )
    }
}
