//! Files to a [`Project`].

use std::collections::{BTreeMap, BTreeSet};

use camino::{Utf8Path, Utf8PathBuf};
use jiff::civil::Date;
use serde_json::Value as Json;

use super::check::{self, Checker};
use super::expand::{Expander, Size};
use super::external_hosts::Outside;
use super::lifetimes::Look;
use super::model::{Project, Rollout};
use super::step::Step;
use super::world::{Language, World};
use crate::config::{
    Bases, Diagnostic, Diagnostics, Node, SourceId, Sources, Sp, Span, Yaml, did_you_mean_text, yaml,
};
use crate::foreign::{self, Place};
use crate::inventory::file::RolloutFile;
use crate::inventory::{Expect, Host, Inventory, Ssh, TransportKind, Vars, load as inventory, select};
use crate::playbook::{Library, Origin, files, library};
use crate::secrets::Secrets;
use crate::transport::quote;

/// Options of the command line for a load.
#[derive(Debug, Clone, Default)]
pub struct LoadOptions {
    /// `--set`: `key=value`.
    pub set: Vec<String>,
    /// `--hosts`.
    pub hosts: Option<String>,
    /// `--tags`: steps with one of these; empty: all.
    pub tags: Vec<String>,
    /// `--skip-tags`: steps with none of these.
    pub skip_tags: Vec<String>,
    /// Home directory of the user, for `~` in paths.
    pub home: Option<Utf8PathBuf>,
    /// Way of getting the lists of `hosts_from`.
    pub outside: Outside,
    /// Names of the hosts that `@failed` and its like stand for, under `failed` and so on. Missing
    /// when there was no earlier run.
    pub recorded: BTreeMap<String, BTreeSet<String>>,
    /// The day on which what has ended is warned of; without one, nothing is.
    pub today: Option<Date>,
}

/// Reason why nothing was loaded.
#[derive(Debug, Default)]
pub struct LoadError {
    /// All files read.
    pub sources: Sources,
    /// The mistakes that were found.
    pub diagnostics: Diagnostics,
    /// Whether it is the command line that is wrong (exit 2), and not a file (exit 3).
    pub usage: bool,
}

impl LoadError {
    /// Renders everything that is wrong.
    pub fn render(&self, color: bool) -> String {
        self.diagnostics.render(&self.sources, color)
    }
}

impl std::fmt::Display for LoadError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.render(false))
    }
}

impl std::error::Error for LoadError {}

/// Loads an inventory and everything that it uses.
///
/// # Errors
/// All mistakes found.
pub fn load(path: &Utf8Path, options: &LoadOptions) -> Result<Project, Box<LoadError>> {
    load_with(path, options, Language::default())
}

/// Says what is wrong with the playbooks of an inventory that cannot be read as a whole, so that nobody is told
/// one file after the other.
fn playbooks_of(
    language: &Language,
    sources: &mut Sources,
    source: SourceId,
    base: &Utf8Path,
    diagnostics: &mut Diagnostics,
) {
    let Ok(node) = yaml::parse(sources, source) else { return };
    let Some(Yaml::List(uses)) = node.get("playbooks").map(|uses| &uses.value) else { return };
    let mut library = Library::default();
    for node in uses.iter().map(|entry| entry.get("use").unwrap_or(entry)) {
        let Some(name) = node.as_str() else { continue };
        let name = Sp::new(name.to_owned(), node.span);
        let origin = library::origin(&name.value, None, base);
        // Those that come with the program are right.
        if matches!(origin, Origin::Disk(_)) {
            library.get(&name, origin, &language.kinds, sources, diagnostics);
        }
    }
}

/// The same with other words.
///
/// # Errors
/// All mistakes found.
pub fn load_with(
    path: &Utf8Path,
    options: &LoadOptions,
    language: Language,
) -> Result<Project, Box<LoadError>> {
    let mut sources = Sources::default();
    let mut diagnostics = Diagnostics::default();
    let fail = |sources, diagnostics, usage| Err(Box::new(LoadError { sources, diagnostics, usage }));
    let text = match files::read_text(path) {
        Ok(text) => text,
        Err(error) => {
            let error = Diagnostic::error(Span::NONE, format!("cannot read the inventory `{path}`: {error}"));
            let make = "`provision init` makes one from the hosts that you name".to_owned();
            let make = || Some(make).filter(|_| !path.exists());
            diagnostics.push(error.maybe_help(files::near(path).or_else(make)));
            return fail(sources, diagnostics, false);
        }
    };
    let source = sources.add(path, text);
    let base = path.parent().unwrap_or(Utf8Path::new("")).to_owned();
    let absolute = std::path::absolute(if base.as_str().is_empty() { Utf8Path::new(".") } else { &base })
        .ok()
        .and_then(|path| Utf8PathBuf::from_path_buf(path).ok())
        .unwrap_or_else(|| base.clone());
    let bases = Bases { directory: &absolute, home: options.home.as_deref() };
    let Some(mut inventory) =
        inventory::load(&mut sources, source, bases, &language.checks, &options.outside, &mut diagnostics)
    else {
        playbooks_of(&language, &mut sources, source, &base, &mut diagnostics);
        return fail(sources, diagnostics, false);
    };
    inventory.directory.recorded.clone_from(&options.recorded);

    let mut usage = Diagnostics::default();
    let set = settings(&options.set, &mut sources, &mut usage);
    let selected = selection(options.hosts.as_deref(), path, &inventory, &mut sources, &mut usage);
    let world = World {
        cluster: inventory.cluster.clone(),
        hosts: std::mem::take(&mut inventory.hosts),
        by_name: inventory.directory.hosts.clone(),
        groups: inventory.directory.groups.clone(),
        set,
        secrets: inventory.secrets.keys().cloned().collect(),
        site_sources: std::mem::take(&mut inventory.site_sources),
        // Without links and dots, as resources want their paths.
        base: absolute.canonicalize_utf8().unwrap_or_else(|_| absolute.clone()),
        ..World::default()
    };
    let common = check::common(&world, &language.specimens, inventory.directory.groups.keys().cloned());
    let values = |nodes: &Vec<(Node, Span)>| nodes.iter().map(|(node, _)| node.to_json()).collect();
    let mut expander = Expander {
        language: &language,
        sources,
        library: Library::default(),
        world,
        directory: inventory.directory.clone(),
        base,
        inventory: inventory.set_vars.iter().map(|(name, nodes)| (name.clone(), values(nodes))).collect(),
        common,
        registers: BTreeMap::new(),
        steps: Vec::new(),
        handlers: Vec::new(),
        ids: BTreeMap::new(),
        size: Size::default(),
        blocks: 0,
        complete: true,
        others: false,
    };
    expander.uses(&inventory.uses, &mut diagnostics);
    diagnostics.help_undefined(|name, span| {
        let registers = |step: &&Step| step.conduct.register.as_deref() == Some(name);
        let task = expander.steps.iter().find(registers)?;
        let later = task.span.source == span.source && task.span.start > span.start;
        later.then(|| {
            format!("the task `{}` registers it and comes later: put it before this one", task.title)
        })
    });
    check_variables(&expander.checker(), &inventory, &expander.library, expander.complete, &mut diagnostics);
    if let Some(on) = options.today {
        let (library, world, base) = (&expander.library, &expander.world, expander.base.as_path());
        let written = yaml::parse(&expander.sources, source).ok();
        Look { on, library, world, base }.at_all(&inventory, written.as_ref(), &mut diagnostics);
    }
    check_set(&expander.world, &inventory, &expander.library, expander.complete, &mut usage);
    let mut tags = |option, given: &[String]| {
        tags(option, given, &expander.steps, expander.complete, &mut expander.sources, &mut usage)
    };
    let (only, never) = (tags("--tags", &options.tags), tags("--skip-tags", &options.skip_tags));
    let Expander { sources, library, world, steps, handlers, others, .. } = expander;
    if usage.has_errors() {
        return fail(sources, usage, true);
    }
    let here = |index: &usize| {
        // What is done on the controller is for the inventory, whatever hosts are selected.
        *index == world.hosts.len()
            || selected.contains(index) && world.hosts.get(*index).is_some_and(|host| host.offline.is_none())
    };
    let cut = |mut step: Step| {
        step.hosts.retain(here);
        step
    };
    let handlers: Vec<Step> = handlers.into_iter().map(cut).collect();
    let steps: Vec<Step> = tagged(steps, &handlers, &only, &never)
        .into_iter()
        .map(cut)
        .filter(|step| !step.hosts.is_empty())
        .enumerate()
        .map(|(index, step)| Step { index, ..step })
        .collect();
    let central = steps.iter().chain(&handlers).any(|step| step.seen_as.is_some());
    let controller = central.then(|| controller(&world));
    let failed = diagnostics.has_errors();
    let mut project = Project {
        cluster: inventory.cluster,
        path: path.to_owned(),
        options: Vec::new(),
        budget: options.outside.budget.clone(),
        sources,
        hosts: world.hosts.clone(),
        controller,
        selected,
        directory: inventory.directory,
        steps,
        handlers,
        policy: inventory.policy,
        rollout: rollout(inventory.rollout.as_ref()),
        maintenance: inventory.maintenance,
        secrets: inventory.secrets,
        watch: inventory.watch,
        lab: inventory.lab,
        host_labs: inventory.host_labs,
        playbooks: library.iter().cloned().collect(),
        lists: options.outside.heard(),
        given: Secrets::default(),
        warnings: Diagnostics::default(),
        world,
        language,
    };
    if failed {
        // Where nobody knows all names, a step may seem to read none.
        if !others {
            project.validate_constant(&mut diagnostics);
        }
        return fail(project.sources, diagnostics, false);
    }
    project.warnings = diagnostics;
    Ok(project)
}

/// The machine that this program runs on, as the place of what is done once for all hosts.
fn controller(world: &World) -> Host {
    let name = if world.by_name.contains_key("controller") { "provision-controller" } else { "controller" };
    Host {
        name: name.to_owned(),
        index: world.hosts.len(),
        number: None,
        groups: BTreeSet::new(),
        labels: BTreeMap::new(),
        offline: None,
        address: "localhost".to_owned(),
        transport: TransportKind::Local,
        ssh: Ssh::default(),
        vars: Vars::default(),
        nics: Vec::new(),
        expect: Expect::default(),
        mesh_user: None,
        span: Span::NONE,
    }
}

fn rollout(file: Option<&RolloutFile>) -> Rollout {
    let default = Rollout::default();
    let Some(file) = file else { return default };
    let parallel = file.parallel.and_then(|number| usize::try_from(number.get()).ok());
    Rollout {
        parallel: parallel.unwrap_or(default.parallel),
        canary: file.canary,
        batch: file.batch.clone(),
        max_failed: file.max_failed,
        gate: file.gate,
    }
}

/// `--set key=value`, each a source of its own so that mistakes can be shown.
fn settings(
    set: &[String],
    sources: &mut Sources,
    usage: &mut Diagnostics,
) -> BTreeMap<String, (String, Json)> {
    let mut settings = BTreeMap::new();
    for text in set {
        let source = sources.add("--set", text.as_str());
        let span = Span { source, start: 0, end: u32::try_from(text.len()).unwrap_or(u32::MAX) };
        let Some((key, value)) = text.split_once('=') else {
            usage.push(Diagnostic::error(span, "`--set` wants `name=value`"));
            continue;
        };
        let scratch = sources.add("--set", value);
        let parsed = match yaml::parse(sources, scratch) {
            // What YAML would change is meant letter by letter.
            Ok(node) => match node.value {
                Yaml::Int(number) if number.to_string() != value => Json::from(value),
                Yaml::Float(_) => Json::from(value),
                Yaml::Null | Yaml::Bool(_) | Yaml::Int(_) | Yaml::Str(_) | Yaml::List(_) | Yaml::Map(_) => {
                    node.to_json()
                }
            },
            Err(_) => Json::from(value),
        };
        settings.insert(key.to_owned(), (value.to_owned(), parsed));
    }
    settings
}

fn selection(
    hosts: Option<&str>,
    path: &Utf8Path,
    inventory: &Inventory,
    sources: &mut Sources,
    usage: &mut Diagnostics,
) -> BTreeSet<usize> {
    let Some(text) = hosts else { return (0..inventory.hosts.len()).collect() };
    let source = sources.add("--hosts", text);
    let place = |byte: usize| u32::try_from(byte).unwrap_or(u32::MAX);
    match select(text, &inventory.directory) {
        Ok(selected) => {
            if selected.is_empty() {
                let span = Span { source, start: 0, end: place(text.len()) };
                let recorded = text.contains('@').then(|| {
                    let path = quote(path.as_str());
                    format!("such names are about the last run alone; `provision report list {path}` shows the earlier ones")
                });
                let message =
                    if recorded.is_some() { "the last run left no such host" } else { "this names no host" };
                usage.push(Diagnostic::error(span, message).maybe_help(recorded));
            }
            selected
        }
        Err(error) => {
            let span = Span { source, start: place(error.start), end: place(error.end) };
            usage.push(Diagnostic::at(span, error));
            BTreeSet::new()
        }
    }
}

fn tags(
    option: &str,
    tags: &[String],
    steps: &[Step],
    complete: bool,
    sources: &mut Sources,
    usage: &mut Diagnostics,
) -> BTreeSet<String> {
    let known: BTreeSet<&str> = steps.iter().flat_map(|step| step.tags.iter().map(String::as_str)).collect();
    for tag in tags {
        if complete && !known.contains(tag.as_str()) {
            let source = sources.add(option, tag.as_str());
            let span = Span { source, start: 0, end: u32::try_from(tag.len()).unwrap_or(u32::MAX) };
            usage.push(
                Diagnostic::error(span, format!("no task has the tag `{tag}`"))
                    .maybe_help(did_you_mean_text(tag, known.iter().copied())),
            );
        }
    }
    tags.iter().cloned().collect()
}

/// The steps with one of the tags `only`, and none of `never`; and the questions whose answers they or handlers read: a handler
/// may wait since an earlier run, whoever notified it.
fn tagged(
    steps: Vec<Step>,
    handlers: &[Step],
    only: &BTreeSet<String>,
    never: &BTreeSet<String>,
) -> Vec<Step> {
    let chosen =
        |step: &Step| (only.is_empty() || !only.is_disjoint(&step.tags)) && never.is_disjoint(&step.tags);
    let mut read: BTreeSet<String> = handlers.iter().flat_map(|step| step.registers.clone()).collect();
    let (mut kept, mut left): (Vec<Step>, Vec<Step>) = steps.into_iter().partition(chosen);
    loop {
        read.extend(kept.iter().flat_map(|step| step.registers.iter().cloned()));
        let (asked, others): (Vec<Step>, Vec<Step>) = left
            .into_iter()
            .partition(|step| step.conduct.register.as_ref().is_some_and(|name| read.contains(name)));
        if asked.is_empty() {
            break;
        }
        kept.extend(asked);
        left = others;
    }
    kept.sort_by_key(|step| step.index);
    kept
}

/// Every variable of the inventory must be known to a playbook or to the inventory itself, and
/// be of the type that the playbook declares.
fn check_variables(
    checker: &Checker<'_>,
    inventory: &Inventory,
    library: &Library,
    complete: bool,
    diagnostics: &mut Diagnostics,
) {
    let nodes = || inventory.set_vars.values().flatten().map(|(node, _)| node);
    check::inventory_values(checker, nodes(), diagnostics);
    let with = inventory.uses.iter().flat_map(|entry| entry.entry.with.0.iter().map(|(_, node)| node));
    let referred = check::referred(checker.world, &nodes().chain(with).collect::<Vec<_>>());
    for (name, values) in &inventory.set_vars {
        let declared: Vec<_> =
            library.iter().filter_map(|playbook| Some((playbook, playbook.params.get(name)?))).collect();
        for (node, span) in values {
            if library::RESERVED.contains(&name.as_str()) {
                diagnostics.error(*span, format!("`{name}` is a name that every task already has"));
            } else if declared.is_empty()
                && !referred.contains(name)
                && complete
                && !inventory.uses.is_empty()
            {
                let known = library.iter().flat_map(|playbook| playbook.params.keys()).map(String::as_str);
                diagnostics.push(
                    Diagnostic::error(*span, format!("no playbook in use has a parameter `{name}`"))
                        .label("no playbook takes this variable")
                        .help(
                            foreign::help(name, &[Place::Inventory])
                                .or_else(|| did_you_mean_text(name, known))
                                .unwrap_or_else(|| {
                                    format!("a playbook that reads it names it: `params: {{ {name}: {{ type: string }} }}`")
                                }),
                        ),
                );
            }
            for (playbook, (place, param)) in &declared {
                if let Some(wrong) = checker.world.wrong_value(name, param, node) {
                    diagnostics.push(wrong.related(*place, format!("declared by `{}`", playbook.name)));
                }
            }
        }
    }
}

fn check_set(
    world: &World,
    inventory: &Inventory,
    library: &Library,
    complete: bool,
    usage: &mut Diagnostics,
) {
    for (name, (text, value)) in &world.set {
        let declared: Vec<_> = library.iter().filter_map(|playbook| playbook.params.get(name)).collect();
        if declared.is_empty() && !inventory.set_vars.contains_key(name) && complete {
            let params = library.iter().flat_map(|playbook| playbook.params.keys());
            let known = params.chain(inventory.set_vars.keys()).map(String::as_str);
            usage.push(
                Diagnostic::error(Span::NONE, format!("`--set {name}=...`: nothing reads `{name}`"))
                    .maybe_help(did_you_mean_text(name, known)),
            );
        }
        for (_, param) in declared {
            let text = Json::from(text.as_str());
            if !param.kind.takes(value) && !param.kind.takes(&text) {
                usage.push(Diagnostic::error(
                    Span::NONE,
                    format!("`--set {name}=...`: `{name}` must be {}", param.kind.article()),
                ));
            } else if let Some(error) = world.no_such_group(param, &text) {
                let message = format!("`--set {name}=...`: {}", error.message);
                usage.push(Diagnostic::error(Span::NONE, message).maybe_help(error.help));
            }
        }
    }
}
