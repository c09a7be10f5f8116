//! Entries of the inventory and includes to a flat list of steps.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde_json::Value as Json;

use super::check::Checker;
use super::program::Guard;
use super::step::{Part, Step, Unit};
use super::world::{Language, Scope, World};
use crate::config::{
    Diagnostic, Diagnostics, Entries, Node, Sources, Sp, Span, did_you_mean_text, locate, weight,
};
use crate::inventory::file::{Use, Words};
use crate::inventory::{Directory, select};
use crate::playbook::file::{Action, Block, Task};
use crate::playbook::library::origin;
use crate::playbook::{Library, OnFailure, Origin, Playbook};
use crate::template::Shape;

/// Settings that the tasks of one use of a playbook share.
#[derive(Clone)]
pub(super) struct Place {
    pub(super) scope: Arc<Scope>,
    pub(super) hosts: BTreeSet<usize>,
    pub(super) tags: BTreeSet<String>,
    pub(super) guards: Vec<Guard>,
    pub(super) units: Vec<Unit>,
    /// Playbooks around it, for cycles.
    pub(super) chain: Vec<(Origin, String)>,
    /// Ids of handlers by name, of this playbook and those around it.
    pub(super) handlers: Vec<BTreeMap<String, String>>,
}

/// The most tasks that playbooks come to, with includes and blocks: a large site has a thousand.
const MOST_TASKS: usize = 10_000;
/// The most hosts of all tasks together: 10 000 hosts with 1500 tasks each.
const MOST_PLACES: usize = 15_000_000;
/// The most bytes of all tasks together: what an include repeats counts each time.
const MOST_TEXT: usize = 64 << 20;

/// Size of the expanded playbooks.
#[derive(Debug, Default)]
pub(super) struct Size {
    tasks: usize,
    places: usize,
    text: usize,
    full: bool,
}

impl Size {
    /// Counts a task, an include or a block; whether there is room for it. That there is none is told once.
    fn takes(&mut self, task: &Task, hosts: usize, diagnostics: &mut Diagnostics) -> bool {
        if self.full {
            return false;
        }
        self.tasks += 1;
        self.places += hosts;
        if let Action::Resource { body, .. } = &task.action {
            self.text += weight(&body.to_json(), MOST_TEXT);
        }
        let what = if self.tasks > MOST_TASKS {
            format!("{MOST_TASKS} tasks")
        } else if self.places > MOST_PLACES {
            format!("{MOST_PLACES} hosts of all tasks together")
        } else if self.text > MOST_TEXT {
            format!("{} MiB of tasks", MOST_TEXT >> 20)
        } else {
            return true;
        };
        self.full = true;
        diagnostics.push(
            Diagnostic::error(task.span, format!("the playbooks come to more than {what}"))
                .label("this is the first one too many")
                .help("an include that is included twice doubles what it brings: look at `include` in the playbooks above, or part the inventory"),
        );
        false
    }
}

/// Turns entries and includes into steps.
pub(super) struct Expander<'a> {
    pub(super) language: &'a Language,
    pub(super) sources: Sources,
    pub(super) library: Library,
    pub(super) world: World,
    pub(super) directory: Directory,
    /// Directory of the inventory's file as the user named it.
    pub(super) base: camino::Utf8PathBuf,
    pub(super) inventory: BTreeMap<String, Vec<Json>>,
    pub(super) common: BTreeMap<String, Shape>,
    pub(super) registers: BTreeMap<String, Shape>,
    pub(super) steps: Vec<Step>,
    pub(super) handlers: Vec<Step>,
    pub(super) ids: BTreeMap<String, usize>,
    /// Size of the playbooks expanded so far; expansion ends when it is too much.
    pub(super) size: Size,
    /// Number of blocks so far.
    pub(super) blocks: usize,
    /// Whether every playbook could be read.
    pub(super) complete: bool,
    /// Whether there may be names that nobody knows: a playbook that is included could not be read.
    pub(super) others: bool,
}

impl Expander<'_> {
    pub(super) fn checker(&self) -> Checker<'_> {
        Checker {
            world: &self.world,
            inventory: &self.inventory,
            common: &self.common,
            registers: &self.registers,
            others: self.others,
            sources: &self.sources,
        }
    }

    pub(super) fn uses(&mut self, uses: &[Use], diagnostics: &mut Diagnostics) {
        let outer = Arc::new(Scope::default());
        for entry in uses {
            let record = &entry.entry;
            let all = (0..self.world.hosts.len()).collect();
            let errors = diagnostics.errors();
            let hosts = self.narrow(&all, record.hosts.as_ref(), diagnostics);
            let none = hosts.is_empty() && !all.is_empty() && diagnostics.errors() == errors;
            if let Some(word) = record.hosts.as_ref().and_then(|words| words.0.first()).filter(|_| none) {
                diagnostics.push(
                    Diagnostic::warning(word.span, "no host is picked by this: the playbook does nothing")
                        .help("`provision inventory show` has the hosts of each group"),
                );
            }
            let origin = origin(&record.playbook.value, None, &self.base);
            let Some(playbook) = self.playbook(&record.playbook, origin.clone(), diagnostics) else {
                continue;
            };
            let place = Place {
                scope: Arc::clone(&outer),
                hosts,
                tags: record.tags.iter().map(|tag| tag.value.clone()).collect(),
                guards: Vec::new(),
                units: Vec::new(),
                chain: vec![(origin, record.playbook.value.clone())],
                handlers: Vec::new(),
            };
            self.enter(&playbook, &record.with, record.playbook.span, place, diagnostics);
        }
    }

    fn playbook(
        &mut self,
        name: &Sp<String>,
        origin: Origin,
        diagnostics: &mut Diagnostics,
    ) -> Option<Arc<Playbook>> {
        let kinds = &self.language.kinds;
        let playbook = self.library.get(name, origin, kinds, &mut self.sources, diagnostics);
        self.complete &= playbook.as_ref().is_some_and(|playbook| playbook.whole);
        playbook
    }

    /// The hosts of a set that an expression names.
    pub(super) fn narrow(
        &self,
        hosts: &BTreeSet<usize>,
        words: Option<&Words>,
        diagnostics: &mut Diagnostics,
    ) -> BTreeSet<usize> {
        let Some(words) = words else { return hosts.clone() };
        let mut named = BTreeSet::new();
        for word in &words.0 {
            match select(&word.value, &self.directory) {
                Ok(found) => named.extend(found),
                Err(error) => {
                    let span = locate(&self.sources, word.span, &word.value, error.start, error.end);
                    diagnostics.push(Diagnostic::at(span, error));
                }
            }
        }
        hosts.intersection(&named).copied().collect()
    }

    /// Expands one use of a playbook. `place.scope` is where the values of `with` are evaluated.
    fn enter(
        &mut self,
        playbook: &Arc<Playbook>,
        with: &Entries<Node>,
        span: Span,
        mut place: Place,
        diagnostics: &mut Diagnostics,
    ) {
        self.check_with(playbook, with, span, &place, diagnostics);
        let values = with.0.iter().map(|(name, value)| (name.value.clone(), value.to_json())).collect();
        place.scope = Arc::new(Scope {
            playbook: Some(Arc::clone(playbook)),
            with: Arc::new(values),
            outer: Some(place.scope),
            vars: BTreeMap::new(),
            item: None,
        });
        let names = self.checker().names(&place.scope);
        for (name, (_, param)) in &playbook.params {
            // One that nobody uses here may name what this inventory does not have, such as a secret.
            if let Some(default) = param.default.as_ref().filter(|_| !place.scope.with.contains_key(name)) {
                self.checker().node(default, &place.scope, &names, diagnostics);
            }
        }
        let mut ids = BTreeMap::new();
        // That one has no name was told.
        for handler in playbook.handlers.iter().filter(|handler| !handler.title().is_empty()) {
            let id = self.id(playbook, handler);
            if ids.insert(handler.title().to_owned(), id).is_some() {
                diagnostics.error(handler.span, format!("there are two handlers `{}`", handler.title()));
            }
        }
        place.handlers.push(ids);
        self.tasks(&playbook.tasks, playbook, &place, diagnostics);
        for handler in &playbook.handlers {
            if !self.size.takes(handler, place.hosts.len(), diagnostics) {
                return;
            }
            let id = place.handlers.last().and_then(|ids| ids.get(handler.title())).cloned();
            if let Some(step) = self.step(handler, playbook, &place, id, diagnostics) {
                self.handlers.push(Step { index: self.handlers.len(), ..step });
            }
        }
    }

    fn tasks(
        &mut self,
        tasks: &[Task],
        playbook: &Arc<Playbook>,
        place: &Place,
        diagnostics: &mut Diagnostics,
    ) {
        for task in tasks {
            if !self.size.takes(task, place.hosts.len(), diagnostics) {
                return;
            }
            match &task.action {
                Action::Include(name) => self.include(name, task, playbook, place, diagnostics),
                Action::Block(block) => self.block(block, task, playbook, place, diagnostics),
                Action::Resource { .. } | Action::Broken => {
                    if let Some(step) = self.step(task, playbook, place, None, diagnostics) {
                        self.steps.push(Step { index: self.steps.len(), ..step });
                    }
                }
            }
        }
    }

    /// The tasks of a block: each has what is said of all of them.
    fn block(
        &mut self,
        block: &Block,
        task: &Task,
        playbook: &Arc<Playbook>,
        place: &Place,
        diagnostics: &mut Diagnostics,
    ) {
        let inner = self.within(task, place, diagnostics);
        let on_failure = task.record.on_failure.unwrap_or(OnFailure::Stop);
        let (id, first) = (self.blocks, self.steps.len());
        self.blocks += 1;
        for (part, tasks) in [(Part::Tasks, &block.tasks), (Part::Always, &block.always)] {
            let mut place = inner.clone();
            place.units.push(Unit { id, part, on_failure });
            self.tasks(tasks, playbook, &place, diagnostics);
        }
        if block.always.is_empty() && on_failure == OnFailure::Stop {
            return;
        }
        // A host that failed takes no part in later stages.
        for step in self.steps.iter().skip(first).filter(|step| step.fleet || step.conduct.run_once.is_some())
        {
            let key = if block.always.is_empty() { "on_failure: continue" } else { "always" };
            diagnostics.push(
                Diagnostic::error(step.span, "this task waits for other hosts, or they wait for it")
                    .related(block.span, format!("a block with `{key}` is about one host"))
                    .help("take the task out of the block"),
            );
        }
    }

    /// Returns the settings for the tasks inside an include or a block: those around it, and its own.
    fn within(&self, task: &Task, place: &Place, diagnostics: &mut Diagnostics) -> Place {
        let scope = Self::scope(task, place, diagnostics);
        let names = self.checker().names(&scope);
        for (_, value) in &task.record.vars.0 {
            self.checker().node(value, &scope, &names, diagnostics);
        }
        let mut inner = place.clone();
        inner.hosts = self.narrow(&place.hosts, task.record.hosts.as_ref(), diagnostics);
        inner.tags.extend(task.record.tags.iter().map(|tag| tag.value.0.clone()));
        inner.guards.extend(self.guard(task, &scope, diagnostics));
        inner.scope = scope;
        inner
    }

    fn check_with(
        &self,
        playbook: &Playbook,
        with: &Entries<Node>,
        span: Span,
        place: &Place,
        diagnostics: &mut Diagnostics,
    ) {
        let names = self.checker().names(&place.scope);
        for (name, value) in &with.0 {
            let Some((_, param)) = playbook.params.get(&name.value) else {
                let known = playbook.params.keys().map(String::as_str);
                diagnostics.push(
                    Diagnostic::error(
                        name.span,
                        format!("`{}` has no parameter `{}`", playbook.name, name.value),
                    )
                    .maybe_help(did_you_mean_text(&name.value, known)),
                );
                continue;
            };
            match self.world.wrong_value(&name.value, param, value) {
                Some(wrong) => diagnostics.push(wrong),
                None => self.checker().node(value, &place.scope, &names, diagnostics),
            }
        }
        // What is wrong with a parameter itself was told.
        for name in playbook.order.iter().filter(|_| playbook.whole) {
            let given = with.0.iter().any(|(key, _)| key.value == *name) || self.world.set.contains_key(name);
            let default = playbook.params.get(name).is_some_and(|(_, param)| param.default.is_some());
            if given || default {
                continue;
            }
            let lacking = place
                .hosts
                .iter()
                .filter_map(|index| self.world.hosts.get(*index))
                .find(|host| !host.vars.contains_key(name));
            if let Some(host) = lacking {
                diagnostics.push(
                    Diagnostic::error(
                        span,
                        format!("`{}` needs `{name}`, which `{}` does not have", playbook.name, host.name),
                    )
                    .help("set it in `with:` here, or in `vars:` of the inventory"),
                );
            }
        }
    }

    fn include(
        &mut self,
        name: &Sp<String>,
        task: &Task,
        playbook: &Arc<Playbook>,
        place: &Place,
        diagnostics: &mut Diagnostics,
    ) {
        let origin = origin(&name.value, Some(&playbook.origin), &self.base);
        if let Some(from) = place.chain.iter().position(|(seen, _)| *seen == origin) {
            let mut walk: Vec<&str> = place.chain.iter().skip(from).map(|(_, name)| name.as_str()).collect();
            walk.push(&name.value);
            diagnostics.push(
                Diagnostic::error(
                    name.span,
                    format!("these playbooks include each other: {}", walk.join(" -> ")),
                )
                .label("closes the circle"),
            );
            return;
        }
        let Some(included) = self.playbook(name, origin.clone(), diagnostics) else {
            self.others = true;
            return;
        };
        let mut inner = self.within(task, place, diagnostics);
        inner.chain.push((origin, name.value.clone()));
        let empty = Entries::default();
        let with = task.record.with.as_ref().map_or(&empty, |with| &with.value);
        self.enter(&included, with, name.span, inner, diagnostics);
    }

    /// A stable name across runs.
    pub(super) fn id(&mut self, playbook: &Playbook, task: &Task) -> String {
        let id = format!("{}/{}", playbook.name, task.title());
        let count = self.ids.entry(id.clone()).or_default();
        *count += 1;
        if *count == 1 { id } else { format!("{id}~{count}") }
    }
}
