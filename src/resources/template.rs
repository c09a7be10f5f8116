//! `template`: a file of this machine, rendered with all that the task sees.

use std::sync::Arc;

use super::content::{RegularFile, Want};
use super::value::{FileMode, HostPath, Principal};
use super::{Context, Local, Resource};
use crate::config::{Diagnostic, Diagnostics, FromNode as _, Node, Sp};

crate::record! {
    /// A regular file whose content is a template, rendered for each host.
    TemplateFields("a template") {
        /// The template, relative to the playbook's file.
        req src: Sp<String>,
        /// Where the file is on the host.
        req path: HostPath,
        /// Permission bits as a string; what is there stays, a new file gets "0644", one that holds a
        /// secret is "0600".
        opt mode: FileMode,
        /// Owner by name or number; what is there stays.
        opt owner: Principal,
        /// Group by name or number; what is there stays.
        opt group: Principal,
    }
}

pub(super) fn read(
    node: &Node,
    context: &dyn Context,
    diagnostics: &mut Diagnostics,
) -> Option<Arc<dyn Resource>> {
    let fields = TemplateFields::from_node(node, diagnostics)?;
    let text = rendered(&fields.src, context, diagnostics)?;
    Some(Arc::new(RegularFile {
        path: fields.path,
        want: Want::Text(text),
        mode: fields.mode,
        owner: fields.owner,
        group: fields.group,
    }))
}

/// The text of a template, rendered.
pub(super) fn rendered(
    src: &Sp<String>,
    context: &dyn Context,
    diagnostics: &mut Diagnostics,
) -> Option<String> {
    let rendered = match context.local(src) {
        Ok(Local::Bytes(bytes)) => match std::str::from_utf8(&bytes) {
            Ok(text) => context.render(src, text),
            Err(_) => Err(format!("`{}` is not UTF-8 text", **src)),
        },
        Ok(Local::Large { .. }) => Err(format!("`{}` is larger than 1 MiB: too large for a template", **src)),
        Ok(Local::Tree(_)) => Err(format!("`{}` is a directory", **src)),
        Err(message) => Err(message),
    };
    rendered.map_err(|message| diagnostics.push(Diagnostic::error(src.span, message))).ok()
}
