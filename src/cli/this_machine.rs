//! Commands on this machine alone: as one host of an inventory, or of a bundle.

use std::collections::BTreeMap;
use std::io::Read as _;
use std::os::unix::fs::MetadataExt as _;

use camino::Utf8Path;
use secrecy::SecretString;

use super::load;
use crate::bundle::{self, Opened};
use crate::cli::args::{Target, ThisMachine};
use crate::disk;
use crate::exit::{self, Exit};
use crate::inventory::Become;
use crate::project::Project;
use crate::report::output;
use crate::secrets::{SecretSource, Secrets};
use crate::settings::Settings;

/// The most that values of secrets may take, in bytes.
const LONGEST: u64 = 4 << 20;

/// A checked project whose hosts can be reached; with the bundle that it was unpacked from, to be kept until the
/// run has ended.
///
/// # Errors
/// Also when this machine is no host of it.
pub(super) fn load_to_run(
    settings: &Settings,
    target: &Target,
    here: &ThisMachine,
) -> anyhow::Result<(Project, Option<Opened>)> {
    let (project, opened) = prepared(settings, target, here, load::checked)?;
    load::some_online(&project, true)?;
    Ok((project, opened))
}

/// The same without rendering every template.
///
/// # Errors
/// Also when this machine is no host of it.
pub(super) fn load(
    settings: &Settings,
    target: &Target,
    here: &ThisMachine,
) -> anyhow::Result<(Project, Option<Opened>)> {
    let (project, opened) = prepared(settings, target, here, |project| Ok(load::told(project)))?;
    load::some_online(&project, false)?;
    Ok((project, opened))
}

fn prepared(
    settings: &Settings,
    target: &Target,
    here: &ThisMachine,
    check: impl FnOnce(Project) -> anyhow::Result<Project>,
) -> anyhow::Result<(Project, Option<Opened>)> {
    if !here.here {
        let project = check(load::load_quietly(settings, target)?)?;
        return Ok((load::reachable(settings, target, project)?, None));
    }
    let named = || bundle::is_bundle(&target.inventory).then(|| target.inventory.clone());
    let file = here.bundle.clone().or_else(named);
    let opened = match &file {
        Some(file) => Some(
            bundle::open(file, &settings.cache.join("bundles"), settings.sudo_user).map_err(Exit::from)?,
        ),
        None => None,
    };
    let mut project = match (&opened, file) {
        (Some(opened), Some(file)) => {
            let mut set = opened.index.set.clone();
            set.extend(target.set.iter().cloned());
            // A controller packs what the chosen hosts need: nothing of others is looked for.
            let hosts = here.name.clone().filter(|_| here.events);
            let packed = Target { hosts, set, ..target.clone() };
            let lists = Some(opened.index.lists.clone());
            let mut project = load::load_quietly_from(settings, &packed, &opened.inventory(), lists)?;
            project.options = target.lasting();
            project.path = file;
            project
        }
        _ => load::load_quietly(settings, target)?,
    };
    project.options.push("--here".to_owned());
    if let Some(name) = &here.name {
        project.options.extend(["--as".to_owned(), name.clone()]);
    }
    if let Some(file) = &here.secrets {
        project.options.extend(["--secrets".to_owned(), file.to_string()]);
    }
    let mut project = check(project)?;
    stay_here(&mut project, here)?;
    if let Some(file) = &here.secrets {
        project.given = given(file, settings.sudo_user)?;
    }
    if let Some(opened) = &opened {
        no_secret_files(&project, opened)?;
    }
    Ok((project, opened))
}

/// Leaves the host that this machine is.
fn stay_here(project: &mut Project, here: &ThisMachine) -> anyhow::Result<()> {
    let hostname = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    let host = bundle::which(&project.hosts, here.name.as_deref(), &hostname).map_err(Exit::from)?;
    if let Some(reason) = &host.offline {
        let message = format!("{} is marked offline in the inventory: {reason}", host.name);
        return Err(Exit::new(exit::CONFIG, message).hint("take `offline` away, and pack it anew").into());
    }
    let root = disk::user().is_ok_and(|user| user == 0);
    let by_root = host.ssh.become_method == Become::None && host.ssh.user.as_deref() == Some("root");
    if by_root && !root {
        return Err(Exit::new(exit::CONFIG, format!("{} is managed as root", host.name))
            .hint("run the command as root: sudo provision ...")
            .into());
    }
    let index = host.index;
    let left_out = project.leave_alone(index, root);
    if !left_out.is_empty() {
        let tasks: Vec<String> = left_out.iter().map(|title| format!("`{title}`")).collect();
        output::say(&format!(
            "left out, they are done on the controller for all hosts: {}",
            tasks.join(", ")
        ));
    }
    Ok(())
}

/// Values of secrets as a JSON object, in a file that only this user and `also` know and write.
fn given(file: &Utf8Path, also: Option<u32>) -> anyhow::Result<Secrets> {
    if file != "-"
        && let Ok(open) = disk::open(file)
    {
        let known = open.metadata().map_or(0, |found| found.mode() & 0o004);
        let open = if known == 0 {
            disk::nobody_else_writes(&open, also)
        } else {
            Err(std::io::Error::other("everybody may read it"))
        };
        open.map_err(|error| {
            Exit::new(exit::CONFIG, format!("the secrets in {file} are not used: {error}"))
                .hint(format!("chown $(id -u) {file} && chmod 600 {file}"))
        })?;
    }
    let bytes = if file == "-" {
        let mut bytes = Vec::new();
        std::io::stdin().take(LONGEST).read_to_end(&mut bytes).map(|_| bytes)
    } else {
        disk::read(file, LONGEST)
    };
    let bytes = bytes.map_err(|error| {
        Exit::new(exit::CONFIG, format!("cannot read secrets from {file}: {}", disk::short(&error)))
    })?;
    // What is wrong with the text may be shown nowhere: it is secrets.
    let values: BTreeMap<String, SecretString> = serde_json::from_slice(&bytes).map_err(|_| {
        Exit::new(exit::CONFIG, format!("{file} holds no JSON object of names and texts"))
            .hint("write for example {\"token\": \"...\"}")
    })?;
    Ok(Secrets::new(values))
}

/// A file beside the inventory is not in the bundle, though its name is.
fn no_secret_files(project: &Project, opened: &Opened) -> anyhow::Result<()> {
    for (name, source) in project.needed_secrets(true) {
        let SecretSource::File(path) = source else { continue };
        if let Ok(path) = path.strip_prefix(opened.directory())
            && project.given.get(&name).is_none()
        {
            return Err(Exit::new(
                exit::CONFIG,
                format!(
                    "the secret `{name}` is in the file {path} of the project, and a bundle holds no secrets"
                ),
            )
            .hint("hand it over: --secrets FILE, or --secrets - for standard input")
            .into());
        }
    }
    Ok(())
}
