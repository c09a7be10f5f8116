//! Entries of the inventory and includes to a flat list of steps.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use serde_json::Value as Json;

use super::check::Checker;
use super::looped::{item_shape, unused};
use super::program::{Body, Guard, Items, Program, apart};
use super::reads::Reader;
use super::step::{Conduct, Part, Retries, RunOnce, Step, Unit};
use super::world::{Env, Inputs, Scope, World};
use super::{Language, reads::Reads};
use crate::config::{
    Diagnostic, Diagnostics, Entries, Node, Sources, Sp, Span, Yaml, did_you_mean_text, locate, weight,
};
use crate::inventory::file::{Use, Words};
use crate::inventory::{Directory, select};
use crate::playbook::file::{Action, Block, RunOnceFile, Task};
use crate::playbook::library::{RESERVED, origin};
use crate::playbook::{Library, OnFailure, Origin, Playbook, files};
use crate::resources::Kind;
use crate::template::paths::is_template;
use crate::template::{Condition, Shape};
use crate::words::count;

/// Settings that the tasks of one use of a playbook share.
#[derive(Clone)]
struct Place {
    scope: Arc<Scope>,
    hosts: BTreeSet<usize>,
    tags: BTreeSet<String>,
    guards: Vec<Guard>,
    units: Vec<Unit>,
    /// Playbooks around it, for cycles.
    chain: Vec<(Origin, String)>,
    /// Ids of handlers by name, of this playbook and those around it.
    handlers: Vec<BTreeMap<String, String>>,
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
    fn narrow(
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
                    diagnostics.push(Diagnostic::error(span, error.message).maybe_help(error.help));
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
    fn id(&mut self, playbook: &Playbook, task: &Task) -> String {
        let id = format!("{}/{}", playbook.name, task.title());
        let count = self.ids.entry(id.clone()).or_default();
        *count += 1;
        if *count == 1 { id } else { format!("{id}~{count}") }
    }

    /// The scope of a task: that of its playbook, with its own variables.
    fn scope(task: &Task, place: &Place, diagnostics: &mut Diagnostics) -> Arc<Scope> {
        let item = task.record.looped.as_ref().map(item_shape);
        let vars = &task.record.vars.0;
        if vars.is_empty() && item.is_none() {
            return Arc::clone(&place.scope);
        }
        for (name, _) in vars {
            if RESERVED.contains(&name.value.as_str()) {
                diagnostics
                    .error(name.span, format!("`{}` is a name that every task already has", name.value));
            }
        }
        let own = vars.iter().map(|(name, value)| (name.value.clone(), value.to_json()));
        Arc::new(Scope {
            playbook: place.scope.playbook.clone(),
            with: Arc::clone(&place.scope.with),
            outer: place.scope.outer.clone(),
            // Those of a block are there already.
            vars: place.scope.vars.clone().into_iter().chain(own).collect(),
            item,
        })
    }

    fn guard(&self, task: &Task, scope: &Arc<Scope>, diagnostics: &mut Diagnostics) -> Option<Guard> {
        let when = task.record.when.as_ref()?;
        let checker = self.checker();
        let condition = match &when.value {
            Yaml::Str(_) => checker.expression(when, scope, &checker.names(scope), true, diagnostics)?,
            Yaml::Bool(holds) => Condition::parse(if *holds { "true" } else { "false" }).ok()?,
            Yaml::List(_) => {
                diagnostics.push(
                    Diagnostic::error(when.span, "expected a condition (a string), found a list")
                        .help("write one condition, with `and` between its parts"),
                );
                return None;
            }
            Yaml::Null | Yaml::Int(_) | Yaml::Float(_) | Yaml::Map(_) => {
                crate::config::read::wrong_type(when, "a condition (a string)", diagnostics);
                return None;
            }
        };
        Some(Guard { condition: Arc::new(condition), scope: Arc::clone(scope), node: when.clone() })
    }

    fn step(
        &mut self,
        task: &Task,
        playbook: &Arc<Playbook>,
        place: &Place,
        handler: Option<String>,
        diagnostics: &mut Diagnostics,
    ) -> Option<Step> {
        let record = &task.record;
        let Action::Resource { kind, body, .. } = &task.action else {
            if let Some(name) = &record.register {
                self.world.registers.insert(name.value.clone());
                self.registers.insert(name.value.clone(), Shape::Any);
            }
            return None;
        };
        let id = handler.unwrap_or_else(|| self.id(playbook, task));
        let hosts = self.narrow(&place.hosts, record.hosts.as_ref(), diagnostics);
        let scope = Self::scope(task, place, diagnostics);
        let mut guards = place.guards.clone();
        guards.extend(self.guard(task, &scope, diagnostics));
        if guards.is_empty() && record.looped.is_none() && hosts.len() > 1 {
            one_for_all(kind, body, hosts.len() as u64, diagnostics);
        }
        let items = self.items(task, &scope, diagnostics);
        // What else would be said of it follows from the loop.
        if record.looped.is_some() && items.is_none() {
            return None;
        }
        let checker = self.checker();
        let names = checker.names(&scope);
        let (conditions, others) = apart(kind, body);
        let conditions: Vec<Condition> = conditions
            .into_iter()
            .filter_map(|node| checker.expression(node, &scope, &names, true, diagnostics))
            .collect();
        if !record.raw {
            for (_, value) in &record.vars.0 {
                checker.node(value, &scope, &names, diagnostics);
            }
            if let Some(name) = &record.name {
                let node = Node { value: Yaml::Str(name.value.clone()), span: name.span };
                checker.node(&node, &scope, &names, diagnostics);
            }
            for node in &others {
                checker.node(node, &scope, &names, diagnostics);
            }
        }
        let source = self.template_source(task, playbook, &scope, &hosts, diagnostics);
        if let Some(unused) = unused(task, source.as_deref()) {
            diagnostics.push(unused);
        }
        let mut read: Vec<(&Condition, &Scope)> = conditions.iter().map(|own| (own, &*scope)).collect();
        read.extend(guards.iter().map(|guard| (&*guard.condition, &*guard.scope)));
        let mut nodes = if record.raw { Vec::new() } else { others };
        for list in items.iter().flat_map(Items::lists) {
            match list {
                Items::List(node) => nodes.push(node),
                Items::Expression(condition, _) => read.push((condition, &*scope)),
                Items::Product(_) => {}
            }
        }
        let texts = |own: &BTreeMap<String, Vec<Json>>| {
            self.reads((task, &scope), &read, &nodes, source.as_deref(), own)
        };
        let reads = texts(&self.inventory);
        let secrets = self.secrets_by_host(&reads, &hosts, texts);
        let conduct = self.conduct(task, kind, place, diagnostics);
        let members = Arc::new(hosts.clone());
        let (hosts, seen_as) = if kind.central {
            if let Some(fact) = reads.facts.first() {
                diagnostics.push(
                    Diagnostic::error(
                        task.span,
                        format!("`{}` is for all hosts, and each has its own `facts.{fact}`", kind.name),
                    )
                    .help("name the host whose facts are meant: `hosts.NAME.facts`"),
                );
            }
            if kind.fleet
                && let Some(field) = reads.host.first()
            {
                let text = format!("`{}` is for all hosts, and each has its own `host.{field}`", kind.name);
                diagnostics
                    .push(Diagnostic::error(task.span, text).help("say what is the same for all of them"));
            }
            let controller = hosts.first().map(|_| self.world.hosts.len());
            (controller.into_iter().collect(), hosts.first().copied())
        } else {
            (hosts, None)
        };
        if let Some(register) = &record.register {
            if !reads.secrets.is_empty() {
                diagnostics.push(
                    Diagnostic::error(register.span, "this answer cannot be registered")
                        .related(task.span, "it is given a secret, which its answer may contain"),
                );
            }
            self.register(register, body, playbook, diagnostics);
        }
        let fields = (kind.fields)().into_iter().map(|field| (field.name, field.schema)).collect();
        let mut tags = place.tags.clone();
        tags.extend(record.tags.iter().map(|tag| tag.value.0.clone()));
        Some(Step {
            index: 0,
            id,
            title: task.title().to_owned(),
            playbook: playbook.name.clone(),
            kind: kind.name,
            members,
            hosts,
            seen_as,
            tags,
            units: place.units.clone(),
            conduct,
            facts: reads.facts.clone(),
            registers: reads.registers.clone(),
            fleet: reads.fleet || kind.fleet,
            span: task.span,
            program: Arc::new(Program {
                scope,
                guards,
                items,
                body: Some(Body {
                    kind: *kind,
                    node: body.clone(),
                    fields: Arc::new(fields),
                    origin: playbook.origin.clone(),
                }),
                raw: record.raw,
                reads,
                secrets,
            }),
        })
    }

    fn conduct(&self, task: &Task, kind: &Kind, place: &Place, diagnostics: &mut Diagnostics) -> Conduct {
        let record = &task.record;
        let run_once = match &record.run_once {
            None | Some(RunOnceFile::No) => None,
            Some(RunOnceFile::First) => Some(RunOnce::First),
            Some(RunOnceFile::Host(name)) => {
                let index = self.world.by_name.get(&name.value);
                if index.is_none() {
                    let known = self.world.by_name.keys().map(String::as_str);
                    crate::inventory::file::unknown("host", name, known, diagnostics);
                }
                index.map(|index| RunOnce::Host(*index))
            }
        };
        let mut notify = Vec::new();
        for word in record.notify.iter().flat_map(|words| &words.0) {
            if let Some(id) = place.handlers.iter().rev().find_map(|ids| ids.get(&word.value)) {
                notify.push(id.clone());
            } else {
                let known = place.handlers.iter().flat_map(BTreeMap::keys).map(String::as_str);
                crate::inventory::file::unknown("handler", word, known, diagnostics);
            }
        }
        if let Some(user) = &record.become_user {
            let bad = user.value.starts_with('-')
                || user.value.contains(char::is_whitespace)
                || user.value.is_empty();
            if bad {
                diagnostics.error(user.span, format!("`{}` is not a user name", user.value));
            }
        }
        Conduct {
            timeout: record.timeout.map_or(kind.timeout, |period| period.0),
            on_deadline: record.on_deadline,
            retries: record.retries.as_ref().map_or(
                Retries { attempts: 1, delay: Duration::ZERO },
                |retries| Retries { attempts: retries.attempts.value, delay: retries.delay.0 },
            ),
            become_user: record.become_user.as_ref().map(|user| user.value.clone()),
            run_once,
            notify,
            on_failure: record.on_failure.unwrap_or(OnFailure::Stop),
            detach: record.detach || kind.detached,
            register: record.register.as_ref().map(|name| name.value.clone()),
        }
    }

    fn register(
        &mut self,
        name: &Sp<String>,
        body: &Node,
        playbook: &Playbook,
        diagnostics: &mut Diagnostics,
    ) {
        let word = name.value.starts_with(|c: char| c.is_ascii_alphabetic())
            && name.value.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        if !word || RESERVED.contains(&name.value.as_str()) {
            let text = format!("`{}` cannot be the name of an answer", name.value);
            let help = if word {
                "that name means something here already: take another one".to_owned()
            } else {
                let plain: String =
                    name.value.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
                let plain =
                    plain.trim_start_matches(|c: char| !c.is_ascii_alphabetic()).trim_end_matches('_');
                let plain = if plain.is_empty() { "answer" } else { plain };
                format!("letters, digits and `_`, as in `{plain}`")
            };
            diagnostics.push(Diagnostic::error(name.span, text).help(help));
            return;
        }
        if let Some((span, _)) = playbook.params.get(&name.value) {
            diagnostics.push(
                Diagnostic::error(name.span, format!("`{}` is a parameter already", name.value))
                    .related(*span, "the parameter"),
            );
        }
        let shape = match body.get("parse").and_then(Node::as_str) {
            Some("lines") => Shape::List(Arc::new(Shape::Text)),
            Some("json") => Shape::Any,
            Some("status") => Shape::Number,
            _ => Shape::Text,
        };
        self.world.registers.insert(name.value.clone());
        // Of two tasks that register one name, either may be the one whose `when` holds.
        let shape = match self.registers.remove(&name.value) {
            Some(known) => known.merge(shape),
            None => shape,
        };
        self.registers.insert(name.value.clone(), shape);
    }

    /// The text of a template's `src`, checked like any other text.
    fn template_source(
        &mut self,
        task: &Task,
        playbook: &Playbook,
        scope: &Arc<Scope>,
        hosts: &BTreeSet<usize>,
        diagnostics: &mut Diagnostics,
    ) -> Option<Arc<str>> {
        let Action::Resource { kind, body, .. } = &task.action else { return None };
        if !kind.rendered || task.record.raw {
            return None;
        }
        let src = body.get("src")?.as_str()?.to_owned();
        let src = if is_template(&src) {
            // One that depends on facts is only known later; what it reads is then waited for.
            let host = hosts.iter().find_map(|index| self.world.hosts.get(*index))?;
            let env = Env { world: &self.world, host, scope, inputs: Inputs::none(), item: None, depth: 0 };
            env.fill(&Json::String(src)).ok()?.as_str()?.to_owned()
        } else {
            src
        };
        let local = self.world.files.get(&src, &playbook.origin).ok()?;
        let text = files::text(&local)?;
        let path = match &playbook.origin {
            Origin::BuiltIn(file) => camino::Utf8Path::new("playbooks").join(file).with_file_name(&src),
            Origin::Disk(file) => file.with_file_name(&src),
        };
        let source = self.sources.add(path, text.as_ref());
        let start = Node { value: Yaml::Null, span: Span { source, start: 0, end: 0 } };
        let checker = self.checker();
        checker.text(&start, &text, scope, &checker.names(scope), diagnostics);
        Some(text)
    }

    /// Collects the names of a task's secrets on each host, where variables of the hosts name them.
    fn secrets_by_host(
        &self,
        reads: &Reads,
        hosts: &BTreeSet<usize>,
        texts: impl Fn(&BTreeMap<String, Vec<Json>>) -> Reads,
    ) -> BTreeMap<usize, BTreeSet<String>> {
        if reads.secrets.is_empty() || reads.vars.is_empty() {
            return BTreeMap::new();
        }
        let mut known = Vec::<(BTreeMap<_, _>, BTreeSet<String>)>::new();
        let mut by_host = BTreeMap::new();
        for host in hosts.iter().filter_map(|index| self.world.hosts.get(*index)) {
            let own: BTreeMap<String, Vec<Json>> = (reads.vars.iter())
                .filter_map(|name| Some((name.clone(), vec![host.vars.get(name)?.value.clone()])))
                .collect();
            let secrets = known.iter().find(|(values, _)| *values == own).map(|(_, secrets)| secrets.clone());
            let secrets = secrets.unwrap_or_else(|| {
                let secrets = texts(&own).secrets;
                known.push((own, secrets.clone()));
                secrets
            });
            by_host.insert(host.index, secrets);
        }
        by_host.retain(|_, secrets| *secrets != reads.secrets);
        by_host
    }

    fn reads(
        &self,
        (task, scope): (&Task, &Scope),
        conditions: &[(&Condition, &Scope)],
        nodes: &[&Node],
        source: Option<&str>,
        own: &BTreeMap<String, Vec<Json>>,
    ) -> Reads {
        let mut reader = Reader::new(&self.world, &self.inventory).with(own);
        for (condition, scope) in conditions {
            for path in condition.paths() {
                reader.path(&path, scope);
            }
        }
        for node in nodes {
            reader.node(node, scope);
        }
        if !task.record.raw {
            reader.text(task.title(), scope);
        }
        if let Some(source) = source {
            reader.text(source, scope);
        }
        reader.reads
    }
}

/// Reports what each host has of its own and a task gives to several.
fn one_for_all(kind: &Kind, body: &Node, hosts: u64, diagnostics: &mut Diagnostics) {
    fn is_fixed(node: &Node) -> bool {
        match &node.value {
            Yaml::Str(text) => !is_template(text),
            Yaml::List(items) => items.iter().any(is_fixed),
            Yaml::Null | Yaml::Bool(_) | Yaml::Int(_) | Yaml::Float(_) | Yaml::Map(_) => false,
        }
    }
    for field in kind.own {
        if let Some(value) = body.get(field).filter(|value| is_fixed(value)) {
            diagnostics.push(
                Diagnostic::error(
                    value.span,
                    format!("{} would get the same `{field}`", count(hosts, "host")),
                )
                .help("write what is the host's own, as in `{{ host.name }}`, or narrow the task by `hosts`"),
            );
        }
    }
}
