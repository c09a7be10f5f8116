//! One task of a playbook to a step.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use serde_json::Value as Json;

use super::expand::{Expander, Place};
use super::inputs::{Reader, Reads};
use super::loops::{self, item_shape, unused};
use super::program::{Body, Guard, Items, Program, apart};
use super::step::{Conduct, Retries, RunOnce, Step};
use super::world::{Env, Inputs, Scope};
use crate::config::{Diagnostic, Diagnostics, Node, Sp, Span, Yaml};
use crate::playbook::file::{Action, RunOnceFile, Task};
use crate::playbook::library::RESERVED;
use crate::playbook::{OnFailure, Origin, Playbook, files};
use crate::resources::Kind;
use crate::template::paths::is_template;
use crate::template::{Condition, Shape};
use crate::words::count;

impl Expander<'_> {
    /// The scope of a task: that of its playbook, with its own variables.
    pub(super) fn scope(task: &Task, place: &Place, diagnostics: &mut Diagnostics) -> Arc<Scope> {
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

    pub(super) fn guard(
        &self,
        task: &Task,
        scope: &Arc<Scope>,
        diagnostics: &mut Diagnostics,
    ) -> Option<Guard> {
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

    pub(super) fn step(
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
        let items = loops::items(&self.checker(), &self.sources, task, &scope, diagnostics);
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
