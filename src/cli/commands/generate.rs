//! `provision generate`: what is made from the code.

use anyhow::Context as _;
use camino::Utf8Path;
use clap::CommandFactory as _;

use crate::cli::args::{Cli, GenerateCommand};
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
            let mut text = Vec::new();
            clap_complete::generate(shell, &mut Cli::command(), "provision", &mut text);
            output::data(&String::from_utf8_lossy(&text)).context("cannot write to stdout")?;
        }
        GenerateCommand::Man { directory } => {
            std::fs::create_dir_all(&directory).with_context(|| format!("cannot create {directory}"))?;
            clap_mangen::generate_to(Cli::command(), &directory)
                .with_context(|| format!("cannot write into {directory}"))?;
        }
        GenerateCommand::Docs { directory } => docs(&directory)?,
    }
    Ok(exit::OK)
}

fn docs(directory: &Utf8Path) -> anyhow::Result<()> {
    std::fs::create_dir_all(directory).with_context(|| format!("cannot create {directory}"))?;
    for (name, text) in reference::pages(Cli::command())? {
        let path = directory.join(name);
        std::fs::write(&path, text).with_context(|| format!("cannot write {path}"))?;
    }
    Ok(())
}
