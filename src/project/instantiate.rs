//! A step and a host to instances.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use camino::Utf8Path;
use serde_json::{Map, Value as Json};

use super::model::Project;
use super::program::{Body, Items};
use super::step::{Instance, InstanceState, Step};
use super::world::{Env, Inputs};
use crate::config::{Diagnostic, Diagnostics, Node, Sources, Span, TextError, Yaml, locate};
use crate::inventory::{Host, Nic};
use crate::playbook::Origin;
use crate::resources::{Context, Local, Roster};
use crate::sources::SiteSources;
use crate::template::paths::is_template;
use crate::template::{Awaited, Refuted, Unresolved, refuted};

/// Whether the conditions of a task hold, as far as is known.
enum Holds {
    Yes,
    No,
    Waits(BTreeSet<Awaited>),
    Wrong,
}

impl Project {
    /// Fills a step in for a host with what is known: one instance, or one per item of its loop.
    ///
    /// A loop whose list is not known yet, and a step that `when` rules out as a whole, is one
    /// instance without an item.
    pub fn instantiate(&self, step: &Step, host: &Host, inputs: &Inputs<'_>) -> Vec<Instance> {
        let filled = self.fill(step, host, inputs);
        filled.into_iter().map(|(instance, _)| instance).collect()
    }

    /// Guesses the instances of a step before the host's facts are known: it is filled in with those of a
    /// specimen. For guesses at the queries that it will ask; nothing is planned on it.
    pub fn guess(&self, step: &Step, host: &Host) -> Vec<Instance> {
        let facts = self.language.specimens.first().map(|(_, facts)| facts);
        self.instantiate(step, host, &Inputs { facts, ..Inputs::none() })
    }

    /// Returns the instances of `instantiate`, with the mistakes of each at their places.
    pub(super) fn fill(&self, step: &Step, host: &Host, inputs: &Inputs<'_>) -> Vec<(Instance, Diagnostics)> {
        let program = &step.program;
        let host = self.seen_by(step, host.index).unwrap_or(host);
        let env =
            Env { world: &self.world, host, scope: &program.scope, inputs: *inputs, item: None, depth: 0 };
        let Some(items) = &program.items else {
            return vec![self.one(step, &env, None)];
        };
        let mut diagnostics = Diagnostics::default();
        let by_item =
            program.guards.iter().flat_map(|guard| guard.condition.paths()).any(|path| path.root == "item");
        let mut waiting = BTreeSet::new();
        if !by_item {
            match self.conditions_hold(step, &env, &mut diagnostics) {
                Holds::No => return vec![skipped(step, None, Self::title(step, None, &env))],
                Holds::Yes => {}
                Holds::Waits(names) => waiting = names,
                Holds::Wrong => return vec![self.failed(step, None, &env, diagnostics)],
            }
        }
        let list = self.items(items, &env, &mut waiting, &mut diagnostics);
        if diagnostics.has_errors() {
            return vec![self.failed(step, None, &env, diagnostics)];
        }
        match list {
            None => vec![(Self::instance(step, None, &env, InstanceState::Waiting(waiting)), diagnostics)],
            Some(items) => items
                .iter()
                .enumerate()
                .map(|(place, item)| self.one(step, &Env { item: Some(item), ..env }, Some(place)))
                .collect(),
        }
    }

    /// Returns the number of items that a step has on a host, as far as that is known.
    pub(super) fn number_of_items(&self, step: &Step, host: &Host, inputs: &Inputs<'_>) -> usize {
        let program = &step.program;
        let Some(items) = &program.items else { return 1 };
        let env =
            Env { world: &self.world, host, scope: &program.scope, inputs: *inputs, item: None, depth: 0 };
        let (mut waiting, mut diagnostics) = (BTreeSet::new(), Diagnostics::default());
        self.items(items, &env, &mut waiting, &mut diagnostics).map_or(1, |items| items.len())
    }

    /// Returns the items of a loop; `None` when it waits or is wrong.
    fn items(
        &self,
        items: &Items,
        env: &Env<'_>,
        waiting: &mut BTreeSet<Awaited>,
        diagnostics: &mut Diagnostics,
    ) -> Option<Vec<Json>> {
        let (list, node) = match items {
            Items::List(node) => {
                let list = fill_node(env, node, None, &self.sources, waiting, diagnostics);
                (list?.to_json(), node)
            }
            Items::Expression(condition, node) => match condition.value(env) {
                Ok(list) => (list.into_owned(), node),
                Err(Unresolved::Waiting(names)) => {
                    waiting.extend(names);
                    return None;
                }
                Err(Unresolved::Wrong(error)) => {
                    push_text_error(&self.sources, node, error, diagnostics);
                    return None;
                }
            },
            Items::Product(lists) => {
                let mut product = Some(vec![Map::new()]);
                for (name, list) in lists {
                    let span = list.node().map_or(Span::NONE, |node| node.span);
                    // What all of them wait for is asked at once.
                    let list = self.items(list, env, waiting, diagnostics);
                    let before = product.as_ref().map_or(0, Vec::len);
                    let number = before.saturating_mul(list.as_ref().map_or(0, Vec::len));
                    if number > MOST_ITEMS {
                        diagnostics.push(too_many_items(span, number));
                        return None;
                    }
                    product = product.zip(list).map(|(product, list)| combined(&product, name, &list));
                }
                return Some(product?.into_iter().map(Json::Object).collect());
            }
        };
        match list {
            Json::Array(items) if items.len() > MOST_ITEMS => {
                diagnostics.push(too_many_items(node.span, items.len()));
                None
            }
            Json::Array(items) => Some(items),
            other @ (Json::Null | Json::Bool(_) | Json::Number(_) | Json::String(_) | Json::Object(_)) => {
                let found = crate::template::Shape::of(&other).name();
                diagnostics.error(node.span, format!("a loop needs a list, this is {found}"));
                None
            }
        }
    }

    fn one(&self, step: &Step, env: &Env<'_>, item: Option<usize>) -> (Instance, Diagnostics) {
        let mut diagnostics = Diagnostics::default();
        let (condition, mut waiting) = match self.conditions_hold(step, env, &mut diagnostics) {
            Holds::No => return skipped(step, item, Self::title(step, item, env)),
            Holds::Yes => (Ok(true), BTreeSet::new()),
            Holds::Waits(names) => (Err(names.clone()), names),
            Holds::Wrong => return self.failed(step, item, env, diagnostics),
        };
        let Some(body) = &step.program.body else {
            return self.failed(step, item, env, diagnostics);
        };
        let mut needed = BTreeSet::new();
        let node = if step.program.raw {
            Some(body.node.clone())
        } else {
            self.fill_body(env, body, &mut needed, &mut diagnostics)
        };
        let context = TaskContext::new(step, body, env);
        let resource = match node {
            Some(node) if needed.is_empty() => body.kind.read(&node, &context, &mut diagnostics),
            _ => None,
        };
        needed.extend(context.waiting.into_inner());
        if !needed.is_empty() {
            waiting.extend(needed);
            return (
                Self::instance(step, item, env, InstanceState::Waiting(waiting)),
                Diagnostics::default(),
            );
        }
        match resource {
            Some(resource) if !diagnostics.has_errors() => {
                (Self::instance(step, item, env, InstanceState::Ready { resource, condition }), diagnostics)
            }
            // What the condition guards against may not be wrong at all.
            _ if condition.is_err() => {
                (Self::instance(step, item, env, InstanceState::Waiting(waiting)), Diagnostics::default())
            }
            _ => self.failed(step, item, env, diagnostics),
        }
    }

    /// Reports mistakes in those fields of a step that say the same whatever it waits for. Values of the
    /// right types stand in for the other fields, and nothing is reported about these.
    pub(super) fn mistakes_beside(&self, step: &Step, host: &Host, inputs: &Inputs<'_>) -> Diagnostics {
        let mut kept = Diagnostics::default();
        let body = step.program.body.as_ref().filter(|_| !step.program.raw);
        let Some((body, Yaml::Map(entries))) = body.map(|body| (body, &body.node.value)) else { return kept };
        let env = Env {
            world: &self.world,
            host,
            scope: &step.program.scope,
            inputs: *inputs,
            item: None,
            depth: 0,
        };
        let mut fixed = vec![body.node.span];
        let mut filled = Vec::with_capacity(entries.len());
        for (key, value) in entries {
            fixed.push(key.span);
            let condition = body.kind.conditions.contains(&key.value.as_str());
            let value = if condition || !holds_template(value) {
                places(value, &mut fixed);
                value.clone()
            } else {
                Node { value: stand_in(body.fields.get(key.value.as_str())), span: value.span }
            };
            filled.push((key.clone(), value));
        }
        let context = TaskContext::new(step, body, &env);
        let mut found = Diagnostics::default();
        let node = Node { value: Yaml::Map(filled), span: body.node.span };
        body.kind.read(&node, &context, &mut found);
        // What waits in the file that `src` names is no mistake.
        let waits = !context.waiting.into_inner().is_empty();
        let src = body.node.get("src").filter(|_| waits).map(|src| src.span);
        for diagnostic in found.sorted() {
            if fixed.contains(&diagnostic.span) && Some(diagnostic.span) != src {
                kept.push(diagnostic.clone());
            }
        }
        kept
    }

    fn fill_body(
        &self,
        env: &Env<'_>,
        body: &Body,
        waiting: &mut BTreeSet<Awaited>,
        diagnostics: &mut Diagnostics,
    ) -> Option<Node> {
        let Yaml::Map(entries) = &body.node.value else {
            return fill_node(env, &body.node, None, &self.sources, waiting, diagnostics);
        };
        let mut filled = Vec::with_capacity(entries.len());
        for (key, value) in entries {
            if body.kind.conditions.contains(&key.value.as_str()) {
                filled.push(Some((key.clone(), value.clone())));
                continue;
            }
            let schema = body.fields.get(key.value.as_str());
            let value = fill_node(env, value, schema, &self.sources, waiting, diagnostics);
            filled.push(value.map(|value| (key.clone(), value)));
        }
        let entries = filled.into_iter().collect::<Option<Vec<_>>>()?;
        Some(Node { value: Yaml::Map(entries), span: body.node.span })
    }

    fn conditions_hold(&self, step: &Step, env: &Env<'_>, diagnostics: &mut Diagnostics) -> Holds {
        let mut waiting = BTreeSet::new();
        for guard in &step.program.guards {
            match guard.condition.holds(&env_of(env, &guard.scope)) {
                Ok(false) => return Holds::No,
                Err(Unresolved::Waiting(names)) => waiting.extend(names),
                Err(Unresolved::Wrong(error)) if waiting.is_empty() => {
                    push_text_error(&self.sources, &guard.node, error, diagnostics);
                    return Holds::Wrong;
                }
                // What an earlier condition may rule out need not make sense.
                Ok(true) | Err(Unresolved::Wrong(_)) => {}
            }
        }
        if waiting.is_empty() { Holds::Yes } else { Holds::Waits(waiting) }
    }

    /// The name with everything filled in, as far as that is possible. What a command does for an item of a loop
    /// is in no other text.
    fn title(step: &Step, item: Option<usize>, env: &Env<'_>) -> String {
        if step.program.raw {
            return step.title.clone();
        }
        if !is_template(&step.title) {
            let of_item = item.filter(|_| step.runs_anything());
            let value = of_item.and_then(|_| env.fill(&Json::String("{{ item }}".to_owned())).ok());
            let text = value.and_then(|value| match value {
                Json::String(text) => Some(text),
                Json::Number(number) => Some(number.to_string()),
                Json::Object(fields) => fields.get("name")?.as_str().map(str::to_owned),
                Json::Null | Json::Bool(_) | Json::Array(_) => None,
            });
            return text.map_or_else(|| step.title.clone(), |text| format!("{} ({text})", step.title));
        }
        match env.fill(&Json::String(step.title.clone())) {
            Ok(Json::String(title)) => title,
            Ok(other) => other.to_string(),
            Err(_) => step.title.clone(),
        }
    }

    fn instance(step: &Step, item: Option<usize>, env: &Env<'_>, state: InstanceState) -> Instance {
        Instance { step: step.index, item, name: Self::title(step, item, env), state }
    }

    fn failed(
        &self,
        step: &Step,
        item: Option<usize>,
        env: &Env<'_>,
        diagnostics: Diagnostics,
    ) -> (Instance, Diagnostics) {
        let list = diagnostics.sorted();
        let text = list
            .iter()
            .map(|diagnostic| format!("{}: {}", self.sources.place(diagnostic.span), diagnostic.message))
            .collect::<Vec<_>>()
            .join("; ");
        (Self::instance(step, item, env, InstanceState::Failed(text)), diagnostics)
    }
}

/// The most items of a loop: one for each host of the largest inventory, and some more.
const MOST_ITEMS: usize = 100_000;

fn too_many_items(span: Span, number: usize) -> Diagnostic {
    Diagnostic::error(span, format!("a loop over {number} items, and {MOST_ITEMS} are the most")).help(
        "each item is a task of its own on each host: write one file from the whole list by `template`, or part the list",
    )
}

/// Each map with each element of a list under a name.
fn combined(maps: &[Map<String, Json>], name: &str, list: &[Json]) -> Vec<Map<String, Json>> {
    let with = |map: &Map<String, Json>, element: &Json| {
        let mut map = map.clone();
        map.insert(name.to_owned(), element.clone());
        map
    };
    maps.iter().flat_map(|map| list.iter().map(move |element| with(map, element))).collect()
}

fn env_of<'a>(env: &Env<'a>, scope: &'a super::world::Scope) -> Env<'a> {
    Env { scope, ..*env }
}

fn skipped(step: &Step, item: Option<usize>, name: String) -> (Instance, Diagnostics) {
    let state = InstanceState::Skipped("`when` is false".to_owned());
    (Instance { step: step.index, item, name, state }, Diagnostics::default())
}

fn push_text_error(sources: &Sources, node: &Node, error: TextError, diagnostics: &mut Diagnostics) {
    let span = match node.as_str() {
        Some(text) => locate(sources, node.span, text, error.start, error.end),
        None => node.span,
    };
    diagnostics.push(Diagnostic::at(span, error));
}

/// A node with its templates filled in; each becomes the type that the schema at its place wants.
fn fill_node(
    env: &Env<'_>,
    node: &Node,
    schema: Option<&Json>,
    sources: &Sources,
    waiting: &mut BTreeSet<Awaited>,
    diagnostics: &mut Diagnostics,
) -> Option<Node> {
    let value = match &node.value {
        Yaml::Str(source) if is_template(source) => {
            let rendered = match env.world.texts.get(source) {
                Ok(text) => text.render(env).map_err(|error| match (error, env.unreached(&text)) {
                    (Unresolved::Wrong(_), unreached) if !unreached.is_empty() => {
                        Unresolved::Waiting(unreached)
                    }
                    (error, _) => error,
                }),
                Err(error) => Err(Unresolved::Wrong(error)),
            };
            return match rendered {
                Ok(value) => Some(Node::from_json(&wanted(value, schema), node.span)),
                Err(Unresolved::Waiting(names)) => {
                    waiting.extend(names);
                    None
                }
                Err(Unresolved::Wrong(error)) => {
                    push_text_error(sources, node, error, diagnostics);
                    None
                }
            };
        }
        Yaml::List(items) => {
            let schema = schema.and_then(|schema| schema.get("items"));
            let filled: Vec<Option<Node>> = items
                .iter()
                .map(|item| fill_node(env, item, schema, sources, waiting, diagnostics))
                .collect();
            Yaml::List(filled.into_iter().collect::<Option<_>>()?)
        }
        Yaml::Map(entries) => {
            let mut filled = Vec::with_capacity(entries.len());
            for (key, value) in entries {
                let schema = schema.and_then(|schema| {
                    let named = schema.get("properties").and_then(|properties| properties.get(&key.value));
                    named.or_else(|| schema.get("additionalProperties"))
                });
                let value = fill_node(env, value, schema, sources, waiting, diagnostics);
                filled.push(value.map(|value| (key.clone(), value)));
            }
            Yaml::Map(filled.into_iter().collect::<Option<_>>()?)
        }
        Yaml::Null | Yaml::Bool(_) | Yaml::Int(_) | Yaml::Float(_) | Yaml::Str(_) => {
            return Some(node.clone());
        }
    };
    Some(Node { value, span: node.span })
}

/// Whether a template is in a value, at any depth.
fn holds_template(node: &Node) -> bool {
    match &node.value {
        Yaml::Str(text) => is_template(text),
        Yaml::List(items) => items.iter().any(holds_template),
        Yaml::Map(entries) => entries.iter().any(|(_, value)| holds_template(value)),
        Yaml::Null | Yaml::Bool(_) | Yaml::Int(_) | Yaml::Float(_) => false,
    }
}

/// Collects the places of a value and of everything in it.
fn places(node: &Node, spans: &mut Vec<Span>) {
    spans.push(node.span);
    match &node.value {
        Yaml::List(items) => items.iter().for_each(|item| places(item, spans)),
        Yaml::Map(entries) => {
            for (key, value) in entries {
                spans.push(key.span);
                places(value, spans);
            }
        }
        Yaml::Null | Yaml::Bool(_) | Yaml::Int(_) | Yaml::Float(_) | Yaml::Str(_) => {}
    }
}

/// Some value of the type that a field wants.
fn stand_in(schema: Option<&Json>) -> Yaml {
    let schema = schema.unwrap_or(&Json::Null);
    if let Some(Json::String(word)) = schema.get("enum").and_then(|words| words.get(0)) {
        return Yaml::Str(word.clone());
    }
    match schema.get("type").and_then(Json::as_str) {
        Some("integer" | "number") => Yaml::Int(1),
        Some("boolean") => Yaml::Bool(true),
        Some("array") => Yaml::List(Vec::new()),
        Some("object") => Yaml::Map(Vec::new()),
        _ => Yaml::Str("/x".to_owned()),
    }
}

/// A template's value as the type that its field wants, where that loses nothing.
fn wanted(value: Json, schema: Option<&Json>) -> Json {
    let kind = schema.and_then(|schema| schema.get("type")).and_then(Json::as_str);
    match (kind, &value) {
        (Some("string"), Json::Number(_) | Json::Bool(_)) => Json::String(value.to_string()),
        (Some("integer"), Json::String(text)) => text.trim().parse::<i64>().map_or(value, Json::from),
        (Some("boolean"), Json::String(text)) => match text.trim() {
            "true" => Json::Bool(true),
            "false" => Json::Bool(false),
            _ => value,
        },
        (Some("array"), Json::Array(items)) => {
            let schema = schema.and_then(|schema| schema.get("items"));
            Json::Array(items.iter().map(|item| wanted(item.clone(), schema)).collect())
        }
        _ => value,
    }
}

/// Answers the questions that a resource asks while it is read.
struct TaskContext<'a> {
    env: &'a Env<'a>,
    origin: &'a Origin,
    members: &'a Arc<BTreeSet<usize>>,
    user: Option<&'a str>,
    timeout: Duration,
    waiting: RefCell<BTreeSet<Awaited>>,
}

impl<'a> TaskContext<'a> {
    fn new(step: &'a Step, body: &'a Body, env: &'a Env<'a>) -> Self {
        Self {
            env,
            origin: &body.origin,
            members: &step.members,
            user: step.conduct.become_user.as_deref(),
            timeout: step.conduct.timeout,
            waiting: RefCell::new(BTreeSet::new()),
        }
    }
}

impl Context for TaskContext<'_> {
    fn local(&self, src: &str) -> Result<Local, String> {
        self.env.world.files.get(src, self.origin)
    }

    fn refuted(&self, condition: &str) -> Result<Option<Refuted>, Unresolved> {
        refuted(condition, self.env)
    }

    fn wait(&self, names: BTreeSet<Awaited>) {
        self.waiting.borrow_mut().extend(names);
    }

    fn sources(&self) -> &SiteSources {
        &self.env.world.site_sources
    }

    fn base(&self) -> &Utf8Path {
        &self.env.world.base
    }

    fn nics(&self) -> &[Nic] {
        &self.env.host.nics
    }

    fn user(&self) -> Option<&str> {
        self.user
    }

    fn timeout(&self) -> Option<Duration> {
        Some(self.timeout)
    }

    fn roster(&self) -> Roster {
        self.env.world.roster(self.env.host, self.members)
    }

    fn render(&self, name: &str, source: &str) -> Result<String, TextError> {
        let of_file = |error: TextError| TextError { message: format!("{name}: {}", error.message), ..error };
        let text = self.env.world.texts.get(source).map_err(of_file)?;
        let error = match text.render(self.env) {
            Ok(Json::String(text)) => return Ok(text),
            Ok(other) => return Ok(other.to_string()),
            Err(error) => error,
        };
        let waiting = match (error, self.env.unreached(&text)) {
            (Unresolved::Waiting(names), _) => names,
            (Unresolved::Wrong(error), unreached) if unreached.is_empty() => return Err(of_file(error)),
            (Unresolved::Wrong(_), unreached) => unreached,
        };
        self.waiting.borrow_mut().extend(waiting);
        Err(TextError::new(0, source.len(), format!("{name} waits for answers")))
    }
}
