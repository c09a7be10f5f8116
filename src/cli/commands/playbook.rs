//! `provision playbook`: what the built-in playbooks are and do.

use std::sync::Arc;

use anyhow::Context as _;
use camino::Utf8Path;

use crate::cli::args::PlaybookCommand;
use crate::config::{Diagnostics, Sources, Sp, Span};
use crate::exit::{self, Exit};
use crate::playbook::file::{Action, Task};
use crate::playbook::{Library, Playbook, builtin, library};
use crate::put;
use crate::report::output;
use crate::report::style::{DIM, GOOD, paint};
use crate::resources;

/// Runs the command; its exit code.
///
/// # Errors
/// When there is no such playbook, or it is wrong.
pub(crate) fn run(command: PlaybookCommand) -> anyhow::Result<u8> {
    let text = match command {
        PlaybookCommand::List => list()?,
        PlaybookCommand::Show { name } => show(&*load(&name)?),
    };
    output::data(&text).context("cannot write to stdout")?;
    Ok(exit::OK)
}

fn load(name: &str) -> anyhow::Result<Arc<Playbook>> {
    let mut sources = Sources::default();
    let mut diagnostics = Diagnostics::default();
    let origin = library::origin(name, None, Utf8Path::new(""));
    let name = Sp::new(name.to_owned(), Span::NONE);
    let playbook = Library::default().get(&name, origin, resources::kinds(), &mut sources, &mut diagnostics);
    playbook.filter(|_| !diagnostics.has_errors()).ok_or_else(|| {
        output::say(&diagnostics.render(&sources, output::stderr_color()));
        Exit::new(exit::CONFIG, "").hint("`provision playbook list` shows the built-in ones").into()
    })
}

fn list() -> anyhow::Result<String> {
    let mut text = String::new();
    for name in builtin::names() {
        put!(text, "{name:20} {}\n", load(name)?.title);
    }
    Ok(text)
}

fn show(playbook: &Playbook) -> String {
    let mut text = format!("{}\n", paint(GOOD, &playbook.title));
    if !playbook.doc.is_empty() {
        put!(text, "{}\n", playbook.doc.trim_end());
    }
    if !playbook.order.is_empty() {
        text.push_str("\nParameters (`with:` of the entry):\n");
    }
    for (name, param) in playbook.order.iter().filter_map(|name| Some((name, &playbook.params.get(name)?.1)))
    {
        let default = match &param.default {
            Some(node) => format!("default {}", node.to_json()),
            None => "required".to_owned(),
        };
        put!(text, "  {name:16} {:6} {default}\n", param.kind);
        if !param.doc.is_empty() {
            put!(text, "                   {}\n", paint(DIM, &param.doc));
        }
    }
    text.push_str("\nTasks:\n");
    text.extend(playbook.tasks.iter().map(task_line));
    if !playbook.handlers.is_empty() {
        text.push_str("\nHandlers:\n");
        text.extend(playbook.handlers.iter().map(task_line));
    }
    text
}

fn task_line(task: &Task) -> String {
    let kind = match &task.action {
        // It is those of its tasks.
        Action::Block(block) => return block.tasks.iter().chain(&block.always).map(task_line).collect(),
        Action::Include(playbook) => format!("include {}", playbook.value),
        Action::Resource { kind, .. } => kind.name.to_owned(),
        Action::Broken => String::new(),
    };
    format!("  {kind:20} {}\n", task.title())
}
