//! `template`: a file of this machine, rendered with all that the task sees.

use std::sync::Arc;

use crate::config::{Diagnostic, Diagnostics, FromNode as _, Node, Sp, TextError};
use crate::resources::shared::check::Check;
use crate::resources::shared::content::{RegularFile, Want};
use crate::resources::shared::value::{FileMode, HostPath, Principal, names_a_file};
use crate::resources::{Built, Context, Local, Resource};

crate::record! {
    /// A regular file whose content is a template, rendered for each host.
    TemplateFields("a template") {
        /// The template, relative to the playbook's file.
        req src: Sp<String>,
        /// Path of the file on the host.
        req path: HostPath,
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
    }
}

kind! { "template", TemplateFields, rendered: true }

pub(in crate::resources) fn read(node: &Node, context: &dyn Context, diagnostics: &mut Diagnostics) -> Built {
    let fields = TemplateFields::from_node(node, diagnostics)?;
    if !names_a_file(node, diagnostics) {
        return None;
    }
    let text = rendered(&fields.src, context, diagnostics)?;
    let file = RegularFile {
        path: fields.path,
        want: Want::Text(text),
        mode: fields.mode,
        owner: fields.owner,
        group: fields.group,
        check: fields.validate,
    };
    file.is_closed(node, diagnostics).then(|| Arc::new(file) as Arc<dyn Resource>)
}

/// The text of a template, rendered.
pub(in crate::resources) fn rendered(
    src: &Sp<String>,
    context: &dyn Context,
    diagnostics: &mut Diagnostics,
) -> Option<String> {
    let mistake = match context.local(src) {
        Ok(Local::Bytes(bytes)) => match std::str::from_utf8(&bytes) {
            Ok(text) => match context.render(src, text) {
                Ok(text) => return Some(text),
                Err(error) => Diagnostic::at(src.span, TextError { help: None, ..error }),
            },
            Err(_) => Diagnostic::error(src.span, format!("`{}` is not UTF-8 text", **src)),
        },
        Ok(Local::Large { .. }) => {
            let message = format!("`{}` is larger than 1 MiB, the limit for a template", **src);
            Diagnostic::error(src.span, message)
        }
        Ok(Local::Tree(_)) => Diagnostic::error(src.span, format!("`{}` is a directory", **src)),
        Err(message) => Diagnostic::error(src.span, message),
    };
    diagnostics.push(mistake);
    None
}
