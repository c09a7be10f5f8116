//! `render`: a file on the controller, beside the inventory.

use std::sync::Arc;

use super::content::{RegularFile, Want};
use super::value::{FileMode, HostPath, Presence};
use super::{Context, Planned, Resource, template};
use crate::config::{Diagnostic, Diagnostics, FromNode as _, Node, Sp};
use crate::facts::{Facts, Object, Query, Touches};

crate::record! {
    /// A file on this machine, beside the inventory: a job script, a manifest, a list for other tools.
    ///
    /// It is written once, for all hosts; no host is touched. In the run it belongs to a host called
    /// `controller`, with diff and drift as for `file`. Templates see the variables of the first host
    /// that the task is for, and no `facts` of their own: `hosts.NAME.facts` says whose are meant.
    /// Below the inventory's directory no symbolic link to a directory is followed.
    RenderFields("a rendered file") {
        /// Where it is: a path below the directory of the inventory's file.
        req path: Sp<String>,
        /// What it holds.
        opt content: String,
        /// The template that it is made from, relative to the playbook's file.
        opt src: Sp<String>,
        /// Permission bits as a string; what is there stays, a new file gets "0644", one that holds a
        /// secret is "0600".
        opt mode: FileMode,
        /// Whether it shall be there.
        def state: Presence = Presence::Present,
    }
}

#[derive(Debug)]
struct Render {
    /// The inventory's directory.
    base: String,
    file: RegularFile,
    state: Presence,
}

pub(super) fn read(
    node: &Node,
    context: &dyn Context,
    diagnostics: &mut Diagnostics,
) -> Option<Arc<dyn Resource>> {
    let fields = RenderFields::from_node(node, diagnostics)?;
    if fields.path.starts_with('/') {
        diagnostics.push(
            Diagnostic::error(
                fields.path.span,
                format!("`{}` is not below the inventory's directory", *fields.path),
            )
            .help("write a relative path: `jobs/nccl.sbatch`"),
        );
        return None;
    }
    let path = match HostPath::new(context.base().join(&*fields.path).as_str()) {
        Ok(path) if path.as_str() != context.base().as_str() => path,
        Ok(_) => {
            diagnostics.error(fields.path.span, "this is the inventory's directory, not a file");
            return None;
        }
        Err(message) => {
            diagnostics.error(fields.path.span, message);
            return None;
        }
    };
    let text = match (fields.content, fields.src, fields.state) {
        (Some(content), None, Presence::Present) => content,
        (None, Some(src), Presence::Present) => template::rendered(&src, context, diagnostics)?,
        (None, None, Presence::Absent) => String::new(),
        (_, _, Presence::Absent) => {
            diagnostics.error(node.span, "a file that shall be absent has no content");
            return None;
        }
        (_, _, Presence::Present) => {
            diagnostics.error(node.span, "a rendered file has `content` or `src`, one of them");
            return None;
        }
    };
    let file = RegularFile { path, want: Want::Text(text), mode: fields.mode, owner: None, group: None };
    let base = context.base().as_str().trim_end_matches('/').to_owned();
    Some(Arc::new(Render { base, file, state: fields.state }))
}

impl Resource for Render {
    fn queries(&self) -> Vec<Query> {
        match self.state {
            Presence::Present => self.file.queries(),
            Presence::Absent => vec![Query::Path(self.file.path.0.clone())],
        }
    }

    fn plan(&self, facts: &Facts) -> Planned {
        let mut changes = self.file.plan_state(self.state, facts)?;
        for change in &mut changes {
            let text = std::mem::take(&mut change.script.text);
            change.script.text = format!("{}{text}", crate::shell!("resources/below.sh")).into();
            change.script.args.insert(0, self.base.as_str().into());
        }
        Ok(changes)
    }

    fn touches(&self) -> Touches {
        Touches::one(Object::Path(self.file.path.0.clone()))
    }

    fn manages(&self) -> Vec<(Object, String)> {
        self.file.manages_state(self.state)
    }
}
