//! From an inventory's path to a project, with its mistakes shown as they should be.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use anyhow::Context as _;
use camino::Utf8Path;

use crate::bundle;
use crate::cli::args::Target;
use crate::cli::settings::console_width;
use crate::config::{Diagnostic, Diagnostics, FromNode as _, Sources, yaml};
use crate::events::Record;
use crate::exit::{self, Exit};
use crate::inventory::{Host, TransportKind};
use crate::journal;
use crate::lab::{self, LabHost, LabSettings, LabSpec, LabState};
use crate::playbook::files;
use crate::project::{self, LoadError, LoadOptions, Outside, Project};
use crate::report::output;
use crate::report::rows::hanging;
use crate::secrets::SecretSource;
use crate::settings::Settings;

/// Loads a project; its hosts as the inventory says them.
///
/// # Errors
/// With exit code 2 or 3; what is wrong was shown already.
pub(crate) fn load(settings: &Settings, target: &Target) -> anyhow::Result<Project> {
    Ok(told(load_quietly(settings, target)?))
}

/// The same, and what it warns of is not shown yet.
///
/// # Errors
/// With exit code 2 or 3; what is wrong was shown already.
pub(super) fn load_quietly(settings: &Settings, target: &Target) -> anyhow::Result<Project> {
    if bundle::is_bundle(&target.inventory) {
        return Err(Exit::new(
            exit::USAGE,
            format!("`{}` is a bundle: one machine does its own part of it", target.inventory),
        )
        .hint(format!("on that machine: provision apply --bundle {} --here", target.inventory))
        .into());
    }
    load_quietly_from(settings, target, &target.inventory, None)
}

/// The same from another file; `carried` are the lists of a bundle, whose `~` is nobody's.
///
/// # Errors
/// With exit code 2 or 3; what is wrong was shown already.
pub(super) fn load_quietly_from(
    settings: &Settings,
    target: &Target,
    inventory: &Utf8Path,
    carried: Option<BTreeMap<String, String>>,
) -> anyhow::Result<Project> {
    let options = LoadOptions {
        set: target.set.clone(),
        hosts: target.hosts.clone(),
        tags: target.tasks.tags.clone(),
        skip_tags: target.tasks.skip_tags.clone(),
        home: settings.home.clone(),
        outside: Outside {
            run: true,
            kept: Some(settings.cache.join("hosts_from")),
            carried,
            ..Outside::default()
        },
        recorded: recorded(settings, target),
        today: Some(settings.today),
    };
    let file = inventory.to_owned();
    let loaded = options.outside.budget.clone().spend(move || project::load(&file, &options));
    match loaded.map_err(|much| exhausted(*much, &Sources::default()))? {
        Ok(mut project) => {
            project.options = target.lasting();
            Ok(project)
        }
        Err(error) => Err(shown(&error)),
    }
}

/// The same with every template rendered and every type checked.
///
/// # Errors
/// With exit code 2 or 3; what is wrong was shown already.
pub(crate) fn load_checked(settings: &Settings, target: &Target) -> anyhow::Result<Project> {
    checked(load_quietly(settings, target)?)
}

/// Shows what a load warned of.
pub(super) fn told(project: Project) -> Project {
    show(&project.warnings, &project.sources);
    project
}

/// Renders every template and checks every type. What the load warned of is among what is shown.
///
/// # Errors
/// With exit code 3; what is wrong was shown already.
pub(super) fn checked(project: Project) -> anyhow::Result<Project> {
    let (mut project, mut found) = validated(project)?;
    labs(&project, &mut found);
    show(&found, &project.sources);
    if found.has_errors() {
        return Err(count(&found));
    }
    project.warnings = found;
    Ok(project)
}

/// Validates a project as far as its budget goes.
fn validated(project: Project) -> anyhow::Result<(Project, Diagnostics)> {
    let project = Arc::new(project);
    let looked_at = project.clone();
    let found = project.budget.spend(move || {
        let found = looked_at.validate();
        drop(looked_at);
        found
    });
    let found = found.map_err(|much| exhausted(*much, &project.sources))?;
    let project = Arc::into_inner(project).context("a project that was validated is still in use")?;
    Ok((project, found))
}

fn exhausted(much: Diagnostic, sources: &Sources) -> anyhow::Error {
    let mut found = Diagnostics::default();
    found.push(much);
    show(&found, sources);
    count(&found)
}

/// Puts the running lab's addresses and keys in place of the inventory's.
///
/// # Errors
/// When the lab is meant and not up.
pub(crate) fn reachable(
    settings: &Settings,
    target: &Target,
    mut project: Project,
) -> anyhow::Result<Project> {
    if !target.lab && project.lab.is_none() {
        return Ok(project);
    }
    let Some(state) = lab::overlay(&settings.state, &target.inventory)? else {
        return Err(lab_is_down(&target.inventory));
    };
    // A lab has no host that is marked offline.
    for host in project.hosts.iter_mut().filter(|host| host.offline.is_none()) {
        let Some(in_lab) = state.host(&host.name) else {
            return Err(Exit::new(exit::USAGE, format!("host `{}` is not in the running lab", host.name))
                .hint(format!("bring it up to date: provision lab up {}", target.inventory))
                .into());
        };
        host.transport = TransportKind::Ssh;
        host.address.clone_from(&in_lab.address);
        host.ssh = state.ssh(in_lab);
    }
    if let Some(mirror) = &state.mirror {
        let mut sources = project.site_sources().clone();
        mirror.stand_in(&mut sources)?;
        project.set_site_sources(sources);
    }
    if let Some(file) = &state.sudo_password {
        project.secrets.insert(LabState::SUDO_SECRET.to_owned(), SecretSource::File(file.clone()));
    }
    Ok(project)
}

/// The error when a lab is asked for that is not up.
pub(super) fn lab_is_down(inventory: &Utf8Path) -> anyhow::Error {
    Exit::new(exit::USAGE, format!("the lab of {inventory} is not up"))
        .hint(format!("provision lab up {inventory}"))
        .into()
}

/// Whether somebody is left of whom something can be asked: a run that asks nobody would end well.
///
/// # Errors
/// When each host that was selected is marked offline, and this machine has no task either where `tasks` are run.
pub(super) fn some_online(project: &Project, tasks: bool) -> anyhow::Result<()> {
    let offline: Vec<(&Host, &str)> = project.selected_offline().collect();
    let Some((host, reason)) = offline.first().filter(|_| offline.len() == project.selected.len()) else {
        return Ok(());
    };
    if tasks && project.controller.is_some() {
        return Ok(());
    }
    let name = &host.name;
    let message = match offline.len() {
        1 => format!("{name} is marked offline ({reason}), and no other host is selected: nothing was asked"),
        number => format!(
            "all {number} hosts that are selected are marked offline ({name}: {reason}): nothing was asked"
        ),
    };
    Err(Exit::new(exit::USAGE, message)
        .hint("take `offline:` out of the inventory when a host is back")
        .into())
}

fn show(found: &Diagnostics, sources: &Sources) {
    if !found.is_empty() {
        let width = console_width();
        for line in found.render(sources, output::stderr_color()).lines() {
            // Source text stands above its marks, and is not wrapped.
            let help = line.contains("= help: ");
            output::say(&hanging(line, 10, width.filter(|_| help)));
        }
        output::say("");
    }
}

fn shown(error: &LoadError) -> anyhow::Error {
    show(&error.diagnostics, &error.sources);
    if error.usage {
        return Exit::new(exit::USAGE, "").into();
    }
    count(&error.diagnostics)
}

fn count(found: &Diagnostics) -> anyhow::Error {
    let errors = crate::words::count(found.errors() as u64, "mistake");
    Exit::new(exit::CONFIG, format!("{errors} found; nothing was touched")).into()
}

/// Name of the cluster, for finding its recorded runs without loading everything.
///
/// # Errors
/// When the file cannot be read as an inventory.
pub(crate) fn cluster_of(inventory: &Utf8Path) -> anyhow::Result<String> {
    if bundle::is_bundle(inventory) {
        return Ok(bundle::peek(inventory).map_err(Exit::from)?.cluster);
    }
    let mut sources = Sources::default();
    let text = files::read_text(inventory).map_err(|error| {
        Exit::new(exit::CONFIG, format!("cannot read the inventory `{inventory}`: {error}"))
    })?;
    let id = sources.add(inventory, text);
    let mut diagnostics = Diagnostics::default();
    let cluster = yaml::read(&sources, id, &mut diagnostics)
        .and_then(|node| node.get("cluster").and_then(|node| String::from_node(node, &mut diagnostics)));
    match cluster {
        Some(cluster) if !cluster.contains('/') => Ok(cluster),
        _ => {
            show(&diagnostics, &sources);
            Err(Exit::new(exit::CONFIG, format!("{inventory} has no `cluster:`")).into())
        }
    }
}

/// Returns the hosts of the last recorded run that `@failed` and its like stand for.
fn recorded(settings: &Settings, target: &Target) -> BTreeMap<String, BTreeSet<String>> {
    let mut recorded = BTreeMap::new();
    if !target.hosts.as_ref().is_some_and(|hosts| hosts.contains('@')) {
        return recorded;
    }
    let Ok(cluster) = cluster_of(&target.inventory) else { return recorded };
    let directory = settings.cluster_dir(&cluster);
    let Some(run) = journal::last_run(&directory) else { return recorded };
    let Ok(events) = journal::read(&directory, &run) else { return recorded };
    for (name, hosts) in Record::of(&events).again() {
        recorded.insert(name.to_owned(), hosts);
    }
    recorded
}

/// The lab of an inventory.
///
/// # Errors
/// What is wrong with the inventory.
pub(crate) fn lab_spec(settings: &Settings, inventory: &Utf8Path) -> anyhow::Result<LabSpec> {
    let target = Target::of(inventory.to_owned(), Vec::new());
    let project = load(settings, &target)?;
    let mut diagnostics = Diagnostics::default();
    let Some((defaults, mut of_hosts)) = labs(&project, &mut diagnostics) else {
        show(&diagnostics, &project.sources);
        return Err(count(&diagnostics));
    };
    Ok(LabSpec {
        state_root: settings.state.clone(),
        cache_root: settings.cache.clone(),
        inventory: inventory.to_owned(),
        only: project.lab.is_some(),
        cluster: project.cluster.clone(),
        settings: defaults,
        hosts: project
            .hosts
            .iter()
            .filter(|host| host.offline.is_none())
            .map(|host| LabHost {
                name: host.name.clone(),
                groups: host.groups.iter().cloned().collect(),
                settings: of_hosts.remove(&host.name).unwrap_or_default(),
            })
            .collect(),
    })
}

/// `lab:` of an inventory and of its hosts, by their names.
fn labs(
    project: &Project,
    diagnostics: &mut Diagnostics,
) -> Option<(LabSettings, BTreeMap<String, LabSettings>)> {
    let defaults = match &project.lab {
        Some(node) => LabSettings::from_node(node, diagnostics),
        None => Some(LabSettings::default()),
    };
    let mut of_hosts = BTreeMap::new();
    for (name, node) in &project.host_labs {
        let mut said = Diagnostics::default();
        let settings = LabSettings::from_node(node, &mut said);
        if let Some(key) = settings.as_ref().and_then(LabSettings::of_all) {
            let span = node.get(key).map_or(node.span, |node| node.span);
            said.push(
                Diagnostic::error(span, format!("`{key}` is said of a whole lab, not of a host"))
                    .help("write it under `lab:` of the inventory"),
            );
        }
        // Hosts of a list have one `lab:`.
        diagnostics.append_new(said);
        of_hosts.insert(name.clone(), settings.unwrap_or_default());
    }
    defaults.filter(|_| !diagnostics.has_errors()).map(|defaults| (defaults, of_hosts))
}
