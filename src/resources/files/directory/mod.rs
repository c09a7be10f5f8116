//! `directory`: one directory.

use std::sync::Arc;

use crate::config::{Diagnostics, FromNode as _, Node};
use crate::facts::file::{FileKind, PathQuery};
use crate::facts::{Facts, Object, Query, Touches};
use crate::resources::shared::attributes::attributes_change;
use crate::resources::shared::known;
use crate::resources::shared::value::{FileMode, HostPath, Presence, Principal, claims, ownership};
use crate::resources::{Attribute, Built, Change, Context, Detail, Planned, Resource, Unplannable};
use crate::transport::Script;

crate::record! {
    /// A directory with this mode and owner. Missing parent directories are created with mode 0755.
    ///
    /// `state: absent` removes it with everything in it, but not the files of other file systems that
    /// are mounted below it.
    Directory("a directory") {
        /// Its path on the host.
        req path: HostPath,
        /// Permission bits as a string. Left out: an existing directory keeps its bits, a new one gets
        /// "0755".
        opt mode: FileMode,
        /// Owner by name or number. Left out: unchanged.
        opt owner: Principal,
        /// Group by name or number. Left out: unchanged.
        opt group: Principal,
        /// Whether it must exist (`present`) or must not (`absent`).
        def state: Presence = Presence::Present,
    }
}

kind! { "directory", Directory }

/// Directories that a system does not live without.
pub(in crate::resources) const KEPT: &[&str] = &[
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

pub(in crate::resources) fn read(node: &Node, _: &dyn Context, diagnostics: &mut Diagnostics) -> Built {
    let fields = Directory::from_node(node, diagnostics)?;
    if fields.state == Presence::Absent && KEPT.contains(&fields.path.as_str()) {
        diagnostics.error(
            node.get("path").map_or(node.span, |path| path.span),
            format!("{} cannot be removed: the system needs it", fields.path.as_str()),
        );
        return None;
    }
    Some(Arc::new(fields))
}

impl Directory {
    fn create(&self) -> Change {
        let path = self.path.as_str();
        let mode = self.mode.unwrap_or(FileMode(0o755));
        let mut attributes = vec![Attribute::new("mode", None, Some(&mode.to_string()))];
        attributes.extend(self.owner.as_ref().map(|owner| Attribute::new("owner", None, Some(&owner.0))));
        attributes.extend(self.group.as_ref().map(|group| Attribute::new("group", None, Some(&group.0))));
        Change::new(
            Object::Path(path.to_owned()),
            format!("+ {path}/"),
            Detail::Attributes(attributes),
            Script::new(crate::shell!(
                "shell/reach.sh",
                "resources/shared/after.sh",
                "resources/files/directory/directory.sh"
            ))
            .named("path", path)
            .named("mode", mode.to_string())
            .named("ownership", ownership(self.owner.as_ref(), self.group.as_ref())),
        )
    }

    fn remove(&self) -> Change {
        let path = self.path.as_str();
        Change::new(
            Object::Path(path.to_owned()),
            format!("- {path}/ (with everything in it)"),
            Detail::Attributes(Vec::new()),
            Script::new(crate::shell!("shell/reach.sh", "resources/files/directory/directory_remove.sh"))
                .named("path", path),
        )
    }
}

impl Resource for Directory {
    fn queries(&self) -> Vec<Query> {
        vec![PathQuery(self.path.0.clone()).into()]
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
                    "{path} is a symbolic link to {target}: name that directory, or remove the link first"
                )))
            }
            (Some(kind @ (FileKind::File | FileKind::Other)), _) => Err(Unplannable::Failed(format!(
                "{path} is {}, not a directory: move it away first",
                kind.as_str()
            ))),
        }
    }

    fn touches(&self) -> Touches {
        Touches::one(Object::Path(self.path.0.clone()))
    }

    fn brief(&self) -> bool {
        // What is removed may be large.
        self.state == Presence::Present
    }

    fn makes_directory(&self, facts: &Facts) -> Option<&str> {
        let path = self.path.as_str();
        (self.state == Presence::Present && known::path(facts, path) == Ok(None)).then_some(path)
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
