//! `provision inventory import`: from an Ansible inventory to one of ours.

use camino::{Utf8Path, Utf8PathBuf};

use crate::cli::inventory_file;
use crate::config::Sources;
use crate::disk::short;
use crate::exit::{self, Exit};
use crate::inventory::ansible::{self, Owner, VarFile};
use crate::playbook::files;
use crate::project::{self, LoadOptions};
use crate::report::output;

/// Runs the command; its exit code.
///
/// # Errors
/// What is not understood, with its line; a file that cannot be read or is there already.
pub(crate) fn run(from: &Utf8Path, to: &Utf8Path, cluster: &str, force: bool) -> anyhow::Result<u8> {
    inventory_file::check(to, force)?;
    let mut sources = Sources::default();
    let source = sources.add(from, read(from)?);
    let mut var_files = Vec::new();
    let beside = from.parent().unwrap_or(Utf8Path::new(""));
    for (owner, folder) in [(Owner::Group, "group_vars"), (Owner::Host, "host_vars")] {
        for (name, path) in owned(&beside.join(folder))? {
            let source = sources.add(path.as_path(), read(&path)?);
            var_files.push(VarFile { owner, name, source });
        }
    }
    let imported = match ansible::import(&sources, source, &var_files, cluster) {
        Ok(imported) => imported,
        Err(diagnostics) => {
            output::say(&diagnostics.render(&sources, output::stderr_color()));
            return Err(Exit::new(exit::CONFIG, "").into());
        }
    };
    inventory_file::write(to, &imported.text)?;
    output::say(&format!("{to} written"));
    let settings = settings(&beside.join("ansible.cfg"));
    if !imported.losses.is_empty() || settings.is_some() {
        output::say("not taken over:");
        for loss in imported.losses.iter().chain(&settings) {
            output::say(&format!("  {loss}"));
        }
    }
    // Ansible allows what is a mistake here, such as two hosts with one address.
    if let Err(error) = project::load(to, &LoadOptions::default()) {
        output::say(&error.render(output::stderr_color()));
        return Err(Exit::new(exit::CONFIG, format!("{to} has to be mended before it is used")).into());
    }
    output::say(&format!("next: provision validate {to}"));
    output::say(&format!("      provision inventory trust {to}"));
    Ok(exit::OK)
}

fn read(path: &Utf8Path) -> anyhow::Result<String> {
    files::read_text(path).map_err(|error| {
        Exit::new(exit::USAGE, format!("cannot read {path}: {error}"))
            .hint("if it is a folder or a program, import the output of `ansible-inventory -i PATH --list >hosts.json`")
            .into()
    })
}

/// Reports the settings of Ansible about reaching the hosts, none of which is in an inventory.
fn settings(path: &Utf8Path) -> Option<String> {
    const OF_REACH: [&str; 9] = [
        "remote_user",
        "remote_port",
        "private_key_file",
        "transport",
        "ssh_args",
        "ssh_common_args",
        "ssh_extra_args",
        "become",
        "become_user",
    ];
    let text = std::fs::read_to_string(path).ok()?;
    let keys: Vec<String> = text
        .lines()
        .filter_map(|line| line.split_once('='))
        .map(|(key, _)| key.trim())
        .filter(|key| OF_REACH.contains(key))
        .map(|key| format!("`{key}`"))
        .collect();
    let keys = keys.join(", ");
    (!keys.is_empty()).then(|| format!("{path}: {keys}: such settings stand under `ssh:` here"))
}

/// Endings of files of variables, in the order in which Ansible looks for them.
const ENDINGS: [&str; 4] = ["", ".yml", ".yaml", ".json"];

/// The files of a folder such as `group_vars/` with the names that they are for: `gpu.yml`, or all files
/// of the folder `gpu/`.
fn owned(folder: &Utf8Path) -> anyhow::Result<Vec<(String, Utf8PathBuf)>> {
    if !folder.is_dir() {
        return Ok(Vec::new());
    }
    let entries = listed(folder)?;
    let mut found = Vec::new();
    for path in &entries {
        let file = path.file_name().unwrap_or_default();
        let ending =
            ENDINGS.iter().rev().find(|ending| file.ends_with(**ending)).copied().unwrap_or_default();
        let name = file.strip_suffix(ending).unwrap_or(file);
        let earlier = ENDINGS.iter().take_while(|other| **other != ending);
        if earlier.into_iter().any(|other| folder.join(format!("{name}{other}")).exists()) {
            continue;
        }
        let mut files = Vec::new();
        if path.is_dir() {
            below(path, &mut files, 8)?;
        } else {
            files.push(path.clone());
        }
        found.extend(files.into_iter().map(|path| (name.to_owned(), path)));
    }
    Ok(found)
}

/// The files of variables in a folder and those in it, but for hidden ones and those that an editor left.
fn below(folder: &Utf8Path, found: &mut Vec<Utf8PathBuf>, depth: usize) -> anyhow::Result<()> {
    for path in listed(folder)? {
        let file = path.file_name().unwrap_or_default();
        let ending = path.extension().map(|ending| format!(".{ending}")).unwrap_or_default();
        if file.starts_with('.') || file.ends_with('~') || !ENDINGS.contains(&ending.as_str()) {
            continue;
        }
        if !path.is_dir() {
            found.push(path);
        } else if ending.is_empty() && depth > 0 {
            below(&path, found, depth - 1)?;
        }
    }
    Ok(())
}

fn listed(folder: &Utf8Path) -> anyhow::Result<Vec<Utf8PathBuf>> {
    let entries = folder.read_dir_utf8().and_then(Iterator::collect::<Result<Vec<_>, _>>);
    let entries = entries
        .map_err(|error| Exit::new(exit::USAGE, format!("cannot read {folder}: {}", short(&error))))?;
    let mut paths: Vec<Utf8PathBuf> = entries.into_iter().map(|entry| entry.path().to_owned()).collect();
    paths.sort();
    Ok(paths)
}
