//! `render`: a file on the controller, beside the inventory.

use std::sync::Arc;

use crate::config::{Diagnostic, Diagnostics, FromNode as _, Node, Sp};
use crate::facts::file::PathQuery;
use crate::facts::{Facts, Object, Query, Touches};
use crate::resources::files::template;
use crate::resources::shared::check::Check;
use crate::resources::shared::content::{RegularFile, Want};
use crate::resources::shared::value::{FileMode, HostPath, Presence};
use crate::resources::{Built, Change, Context, Planned, Resource};
use crate::transport::Script;

crate::record! {
    /// A file on this machine, beside the inventory: a job script, a manifest, a list for other tools.
    ///
    /// It is written once for all hosts, and no host is touched. The run shows it under a host called
    /// `controller`, with diff and drift as for `file`. Templates see the variables of the first host
    /// of the task, but no `facts` of their own: write `hosts.NAME.facts` to say whose. Symbolic links
    /// to directories are not followed below the inventory's directory.
    RenderFields("a rendered file") {
        /// Path of the file, below the directory of the inventory's file.
        req path: Sp<String>,
        /// Its content.
        opt content: String,
        /// The template, relative to the playbook's file.
        opt src: Sp<String>,
        /// Permission bits as a string. Left out: an existing file keeps its bits, a new one gets
        /// "0644", or "0600" if it holds a secret.
        opt mode: FileMode,
        /// A program of the host with its arguments that looks at the new file before it is put in place;
        /// `"%s"` stands for the path of the draft. When it ends with a status other than 0, or is not there, the
        /// task fails and the old file stays.
        opt validate: Check,
        /// Whether it must exist (`present`) or must not (`absent`).
        def state: Presence = Presence::Present,
    }
}

kind! { "render", RenderFields, rendered: true, central: true, secrets: &["content"] }

#[derive(Debug)]
struct Render {
    /// The inventory's directory.
    base: String,
    file: RegularFile,
    state: Presence,
}

/// A path below the directory of the inventory's file, as a task writes it.
pub(super) fn beside(
    path: &Sp<String>,
    what: &str,
    context: &dyn Context,
    diagnostics: &mut Diagnostics,
) -> Option<HostPath> {
    if path.starts_with('/') {
        diagnostics.push(
            Diagnostic::error(path.span, format!("`{}` is not below the inventory's directory", **path))
                .help("write a relative path: `jobs/nccl.sbatch`"),
        );
        return None;
    }
    // `./jobs` is `jobs`.
    let joined: camino::Utf8PathBuf = context.base().join(&**path).components().collect();
    match HostPath::new(joined.as_str()) {
        Ok(path) if path.as_str() != context.base().as_str() => Some(path),
        Ok(_) => {
            let text = format!("this is the inventory's directory itself: name a {what} in it");
            diagnostics.error(path.span, text);
            None
        }
        Err(message) => {
            diagnostics.error(path.span, message);
            None
        }
    }
}

/// The same change, which follows no link below the inventory's directory.
pub(super) fn below(base: &str, change: Change) -> Change {
    let script =
        Script::new(crate::shell!("resources/files/render/below.sh")).named("base", base).then(change.script);
    Change { script, ..change }
}

pub(in crate::resources) fn read(node: &Node, context: &dyn Context, diagnostics: &mut Diagnostics) -> Built {
    let fields = RenderFields::from_node(node, diagnostics)?;
    let path = beside(&fields.path, "file", context, diagnostics)?;
    let text = match (fields.content, fields.src, fields.state) {
        (Some(content), None, Presence::Present) => content,
        (None, Some(src), Presence::Present) => template::rendered(&src, context, diagnostics)?,
        (None, None, Presence::Absent) => String::new(),
        (_, _, Presence::Absent) => {
            diagnostics.error(node.span, "`state: absent` cannot have content");
            return None;
        }
        (_, _, Presence::Present) => {
            diagnostics.error(node.span, "give either `content` or `src`");
            return None;
        }
    };
    let file = RegularFile {
        path,
        want: Want::Text(text),
        mode: fields.mode,
        owner: None,
        group: None,
        check: fields.validate,
    };
    let base = context.base().as_str().trim_end_matches('/').to_owned();
    let state = fields.state;
    file.is_closed(node, diagnostics).then(|| Arc::new(Render { base, file, state }) as Arc<dyn Resource>)
}

impl Resource for Render {
    fn queries(&self) -> Vec<Query> {
        match self.state {
            Presence::Present => self.file.queries(),
            Presence::Absent => vec![PathQuery(self.file.path.0.clone()).into()],
        }
    }

    fn plan(&self, facts: &Facts) -> Planned {
        let changes = self.file.plan_state(self.state, facts)?;
        Ok(changes.into_iter().map(|change| below(&self.base, change)).collect())
    }

    fn touches(&self) -> Touches {
        Touches::one(Object::Path(self.file.path.0.clone()))
    }

    fn manages(&self) -> Vec<(Object, String)> {
        self.file.manages_state(self.state)
    }
}
