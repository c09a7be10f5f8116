//! `provision inventory import`: from an Ansible inventory to one of ours.

use anyhow::Context as _;
use camino::Utf8Path;

use crate::cli::dispatch::Exit;
use crate::config::Sources;
use crate::exit;
use crate::inventory::ansible;
use crate::playbook::files;
use crate::report::output;

/// Runs the command; its exit code.
///
/// # Errors
/// What is not understood, with its line; a file that cannot be read or is there already.
pub(crate) fn run(from: &Utf8Path, to: &Utf8Path, cluster: &str, force: bool) -> anyhow::Result<u8> {
    if to.exists() && !force {
        return Err(Exit::new(exit::USAGE, format!("{to} is already there"))
            .hint("`--force` writes over it, `--output FILE` writes elsewhere")
            .into());
    }
    let text = files::read_text(from).map_err(|error| {
        Exit::new(exit::USAGE, format!("cannot read {from}: {error}"))
            .hint("if it is a folder or a program, import the output of `ansible-inventory -i PATH --list --yaml >hosts.yaml`")
    })?;
    let mut sources = Sources::default();
    let source = sources.add(from, text);
    let made = match ansible::import(&sources, source, cluster) {
        Ok(made) => made,
        Err(diagnostics) => {
            output::say(&diagnostics.render(&sources, output::stderr_color()));
            return Err(Exit::new(exit::CONFIG, "").into());
        }
    };
    std::fs::write(to, made).with_context(|| format!("cannot write {to}"))?;
    output::say(&format!("{to} written"));
    output::say(&format!("next: provision validate {to}"));
    output::say(&format!("      provision inventory trust {to}"));
    Ok(exit::OK)
}
