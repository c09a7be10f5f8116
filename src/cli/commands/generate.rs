//! `provision generate`: what is made from the code.

use anyhow::Context as _;
use camino::Utf8Path;
use clap::CommandFactory as _;

use crate::cli::args::{Cli, GenerateCommand};
use crate::cli::complete;
use crate::events;
use crate::exit;
use crate::reference;
use crate::report::output;
use crate::schema;

/// Runs the command; its exit code.
///
/// # Errors
/// When something cannot be written.
pub(crate) fn run(command: GenerateCommand) -> anyhow::Result<u8> {
    match command {
        GenerateCommand::Schema { file } => {
            let schema = if file == "inventory" { schema::inventory() } else { schema::playbook() };
            output::data(&(serde_json::to_string_pretty(&schema)? + "\n"))
                .context("cannot write to stdout")?;
        }
        GenerateCommand::Completions { shell } => {
            let text = complete::registration(shell)?;
            output::data(&text).context("cannot write to stdout")?;
        }
        GenerateCommand::Man { directory } => write(&directory, reference::man_pages(Cli::command())?)?,
        GenerateCommand::Docs { directory } => write(&directory, reference::pages(Cli::command())?)?,
        GenerateCommand::Outdated { on } => {
            let text = reference::outdated(on.unwrap_or_else(events::today));
            output::data(&text).context("cannot write to stdout")?;
        }
    }
    Ok(exit::OK)
}

fn write(
    directory: &Utf8Path,
    pages: impl IntoIterator<Item = (impl AsRef<Utf8Path>, impl AsRef<[u8]>)>,
) -> anyhow::Result<()> {
    std::fs::create_dir_all(directory).with_context(|| format!("cannot create {directory}"))?;
    for (name, text) in pages {
        let path = directory.join(name);
        std::fs::write(&path, text).with_context(|| format!("cannot write {path}"))?;
    }
    Ok(())
}
