//! An Ansible inventory as one of ours.
//!
//! What decides which machine is meant and who is logged in there is taken over as Ansible works it out
//! for each host: address, port, user, key, jump hosts, `become`, and whether it is this machine at all.
//! A host that Ansible reaches in another way, or that only Ansible can find, is offline. Variables are
//! told by name, never by value: a variable that no playbook knows is an error here, and any value may
//! be a secret. INI, YAML, `group_vars/` and `host_vars/` are read, and the JSON that
//! `ansible-inventory --list` prints of every other kind.

mod losses;
mod model;
mod reach;
mod read;
mod text;
mod write;

use losses::Losses;
use model::Model;

use crate::config::{Diagnostic, Diagnostics, SourceId, Sources, Span, yaml};
use crate::inventory::file::OVER_BASE;
use crate::put;

/// Owner of variables that are in a file of their own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Owner {
    /// A file of `group_vars/`.
    Group,
    /// A file of `host_vars/`.
    Host,
}

/// A file of `group_vars/` or `host_vars/`. A later one of the same owner is stronger.
#[derive(Debug, Clone)]
pub struct VarFile {
    /// Owner of its variables.
    pub owner: Owner,
    /// The name of the group or host.
    pub name: String,
    /// Its text.
    pub source: SourceId,
}

/// An inventory that was made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Imported {
    /// Its text.
    pub text: String,
    /// Losses, one line each; they are comments of the text as well.
    pub losses: Vec<String>,
}

/// An inventory with the same hosts and groups, with `cluster` as its name.
///
/// # Errors
/// Every line that is not understood.
pub fn import(
    sources: &Sources,
    source: SourceId,
    files: &[VarFile],
    cluster: &str,
) -> Result<Imported, Diagnostics> {
    let mut diagnostics = Diagnostics::default();
    let path = sources.path(source);
    let mut model = Model::default();
    let mut losses = Losses::default();
    read::inventory(&mut model, sources, source, &mut losses, &mut diagnostics);
    for file in files {
        let vars = match file.owner {
            Owner::Group if file.name == "all" => Some(&mut model.group("all").vars),
            Owner::Group => model.groups.get_mut(&file.name).map(|group| &mut group.vars),
            Owner::Host => model.hosts.get_mut(&file.name),
        };
        if let Some(vars) = vars {
            read::variables(&mut vars.files, sources, file.source, &mut losses, &mut diagnostics);
        }
    }
    if model.hosts.is_empty() && !diagnostics.has_errors() {
        diagnostics.push(Diagnostic::error(Span::NONE, format!("{path} names no host")));
    }
    if diagnostics.has_errors() {
        return Err(diagnostics);
    }
    let related = match model.relate() {
        Ok(related) => related,
        Err(why) => {
            diagnostics.push(Diagnostic::error(Span::NONE, format!("{path}: {why}")));
            return Err(diagnostics);
        }
    };
    let (head, body) = model.write(&related, &mut losses);
    let losses = losses.lines(sources);
    let mut text = String::new();
    write::comment(&mut text, "", &[format!("Made from {path} by `provision inventory import`.")]);
    if !losses.is_empty() {
        text.push_str("# Not taken over:\n");
        write::comment(&mut text, "", &losses.iter().map(|loss| format!("  {loss}")).collect::<Vec<_>>());
    }
    put!(
        text,
        "cluster: {cluster}\n\nssh:\n  known_hosts: ./known_hosts    # strict; `provision inventory trust` records the keys\n{head}\nplaybooks:\n{OVER_BASE}  - base\n\n{body}"
    );
    if text.len() as u64 > yaml::MAX_FILE {
        let why = format!("{path} would make an inventory of {} MiB", text.len() >> 20);
        let help = format!("one has at most {} MiB: import it in parts", yaml::MAX_FILE >> 20);
        diagnostics.push(Diagnostic::error(Span::NONE, why).help(help));
        return Err(diagnostics);
    }
    Ok(Imported { text, losses })
}

#[cfg(test)]
mod tests;
