//! `file`: one regular file.

use std::sync::Arc;

use super::content::{RegularFile, Want, removal};
use super::value::{FileMode, HostPath, Presence, Principal};
use super::{Context, Planned, Resource, Unplannable, known, local_want};
use crate::config::{Diagnostic, Diagnostics, FromNode as _, Node, Sp};
use crate::facts::file::FileKind;
use crate::facts::{Facts, Object, Query, Touches};

crate::record! {
    /// A regular file with this content, mode and owner.
    ///
    /// It appears whole, under its name and with its mode, or not at all. Without `content` and
    /// `src` only mode and owner are looked after. A symbolic link or a directory in its place is
    /// an error.
    FileFields("a file") {
        /// Where it is on the host.
        req path: HostPath,
        /// What it holds.
        opt content: String,
        /// A file of this machine, relative to the playbook's file, that has what it holds.
        opt src: Sp<String>,
        /// Permission bits as a string; what is there stays, a new file gets "0644", one that holds a
        /// secret is "0600".
        opt mode: FileMode,
        /// Owner by name or number; what is there stays.
        opt owner: Principal,
        /// Group by name or number; what is there stays.
        opt group: Principal,
        /// Whether it shall be there.
        def state: Presence = Presence::Present,
    }
}

#[derive(Debug)]
struct File {
    file: RegularFile,
    state: Presence,
}

pub(super) fn read(
    node: &Node,
    context: &dyn Context,
    diagnostics: &mut Diagnostics,
) -> Option<Arc<dyn Resource>> {
    let fields = FileFields::from_node(node, diagnostics)?;
    if fields.state == Presence::Absent && (fields.content.is_some() || fields.src.is_some()) {
        diagnostics.push(
            Diagnostic::error(node.span, "a file that shall be absent has no content")
                .help("take `content` and `src` out, or `state: absent`"),
        );
        return None;
    }
    let want = match (fields.content, fields.src) {
        (Some(_), Some(src)) => {
            diagnostics.push(
                Diagnostic::error(src.span, "a file has `content` or `src`, not both").label("second source"),
            );
            return None;
        }
        (Some(content), None) => Want::Text(content),
        (None, Some(src)) => local_want(&src, context, diagnostics)?,
        (None, None) => Want::Anything,
    };
    let file =
        RegularFile { path: fields.path, want, mode: fields.mode, owner: fields.owner, group: fields.group };
    Some(Arc::new(File { file, state: fields.state }))
}

impl Resource for File {
    fn queries(&self) -> Vec<Query> {
        match self.state {
            Presence::Present => self.file.queries(),
            Presence::Absent => vec![Query::Path(self.file.path.0.clone())],
        }
    }

    fn plan(&self, facts: &Facts) -> Planned {
        if self.state == Presence::Present {
            return self.file.plan(facts);
        }
        let path = self.file.path.as_str();
        match known::path(facts, path)?.map(|found| found.kind) {
            None => Ok(Vec::new()),
            Some(FileKind::Directory) => {
                Err(Unplannable::Failed(format!("{path} is a directory: use `directory` to take it away")))
            }
            Some(FileKind::File | FileKind::Symlink | FileKind::Other) => Ok(vec![removal(path, None)]),
        }
    }

    fn touches(&self) -> Touches {
        Touches::one(Object::Path(self.file.path.0.clone()))
    }

    fn manages(&self) -> Vec<(Object, String)> {
        self.file.manages_state(self.state)
    }
}
