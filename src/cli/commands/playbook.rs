//! `provision playbook`: what the built-in playbooks are and do.

use anyhow::Context as _;

use crate::cli::args::PlaybookCommand;
use crate::cli::dispatch::Exit;
use crate::exit;
use crate::playbook::{self, Overview};
use crate::report::output;
use crate::report::style::{DIM, GOOD, paint};

/// Runs the command; its exit code.
///
/// # Errors
/// When there is no such playbook, or it is wrong.
pub fn run(command: PlaybookCommand) -> anyhow::Result<u8> {
    let text = match command {
        PlaybookCommand::List => list()?,
        PlaybookCommand::Show { name } => show(&name)?,
    };
    output::data(&text).context("cannot write to stdout")?;
    Ok(exit::OK)
}

fn list() -> anyhow::Result<String> {
    let mut text = String::new();
    for name in playbook::builtin_names() {
        let overview = overview(&name)?;
        text.push_str(&format!("{:20} {}\n", name, overview.title));
    }
    Ok(text)
}

fn overview(name: &str) -> anyhow::Result<Overview> {
    playbook::overview(name).map_err(|error| {
        let message = error.render(output::stderr_color());
        Exit::new(exit::CONFIG, message).hint("`provision playbook list` shows the built-in ones").into()
    })
}

fn show(name: &str) -> anyhow::Result<String> {
    let overview = overview(name)?;
    let mut text = format!("{}\n", paint(GOOD, &overview.title));
    if !overview.params.is_empty() {
        text.push_str("\nParameters (`with:` of the entry):\n");
    }
    for param in &overview.params {
        let default = param.default.as_ref().map_or("required".to_owned(), |value| format!("default {value}"));
        text.push_str(&format!("  {:16} {:6} {default}\n", param.name, param.kind));
        if !param.doc.is_empty() {
            text.push_str(&format!("                   {}\n", paint(DIM, &param.doc)));
        }
    }
    text.push_str("\nTasks:\n");
    for (title, kind) in &overview.tasks {
        text.push_str(&format!("  {kind:16} {title}\n"));
    }
    if !overview.handlers.is_empty() {
        text.push_str("\nHandlers:\n");
    }
    for (title, kind) in &overview.handlers {
        text.push_str(&format!("  {kind:16} {title}\n"));
    }
    Ok(text)
}
