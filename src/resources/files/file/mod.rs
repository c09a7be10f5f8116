//! `file`: one regular file.

use std::sync::Arc;

use crate::config::{Diagnostic, Diagnostics, FromNode as _, Node, Sp};
use crate::facts::file::{FileKind, PathQuery};
use crate::facts::{Facts, Object, Query, Touches};
use crate::resources::shared::check::Check;
use crate::resources::shared::content::{RegularFile, Want, local_want, removal};
use crate::resources::shared::known;
use crate::resources::shared::value::{FileMode, HostPath, Presence, Principal, names_a_file};
use crate::resources::{Built, Context, Planned, Resource, Unplannable};

crate::record! {
    /// A regular file with this content, mode and owner.
    ///
    /// It is written in one step, with its mode; a half-written file is never visible. Without
    /// `content` and `src` only mode and owner are set. If a symbolic link or a directory has its path,
    /// the task fails. What is written to `/etc/sudoers` and into `/etc/sudoers.d`, by any task, is looked at by
    /// `visudo` first where the host has it.
    FileFields("a file") {
        /// Its path on the host.
        req path: HostPath,
        /// Its content.
        opt content: String,
        /// A file of this machine with the content, relative to the playbook's file.
        opt src: Sp<String>,
        /// Permission bits as a string. Left out: an existing file keeps its bits, a new one gets
        /// "0644", or "0600" if it holds a secret.
        opt mode: FileMode,
        /// Owner by name or number. Left out: unchanged.
        opt owner: Principal,
        /// Group by name or number. Left out: unchanged.
        opt group: Principal,
        /// A program of the host with its arguments that looks at the new file before it is put in place;
        /// `"%s"` stands for the path of the draft. When it ends with a status other than 0, or is not there, the
        /// task fails and the old file stays.
        opt validate: Check,
        /// Whether it must exist (`present`) or must not (`absent`).
        def state: Presence = Presence::Present,
    }
}

kind! { "file", FileFields, secrets: &["content"] }

#[derive(Debug)]
struct File {
    file: RegularFile,
    state: Presence,
}

pub(in crate::resources) fn read(node: &Node, context: &dyn Context, diagnostics: &mut Diagnostics) -> Built {
    let fields = FileFields::from_node(node, diagnostics)?;
    if !names_a_file(node, diagnostics) {
        return None;
    }
    if fields.state == Presence::Absent && (fields.content.is_some() || fields.src.is_some()) {
        diagnostics.push(
            Diagnostic::error(node.span, "`state: absent` cannot have content")
                .help("remove `content` and `src`, or `state: absent`"),
        );
        return None;
    }
    let want = match (fields.content, fields.src) {
        (Some(_), Some(src)) => {
            diagnostics
                .push(Diagnostic::error(src.span, "give either `content` or `src`").label("second source"));
            return None;
        }
        (Some(content), None) => Want::Text(content),
        (None, Some(src)) => local_want(&src, context, diagnostics)?,
        (None, None) => Want::Anything,
    };
    if let Some(Want::Anything) = fields.validate.as_ref().map(|_| &want) {
        diagnostics.push(
            Diagnostic::error(node.span, "`validate` has nothing to look at")
                .help("give `content` or `src`, or leave `validate` out"),
        );
        return None;
    }
    let file = RegularFile {
        path: fields.path,
        want,
        mode: fields.mode,
        owner: fields.owner,
        group: fields.group,
        check: fields.validate,
    };
    file.is_closed(node, diagnostics)
        .then(|| Arc::new(File { file, state: fields.state }) as Arc<dyn Resource>)
}

impl Resource for File {
    fn queries(&self) -> Vec<Query> {
        match self.state {
            Presence::Present => self.file.queries(),
            Presence::Absent => vec![PathQuery(self.file.path.0.clone()).into()],
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
                Err(Unplannable::Failed(format!("{path} is a directory: use `directory` to remove it")))
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

    fn brief(&self) -> bool {
        self.file.brief()
    }
}
