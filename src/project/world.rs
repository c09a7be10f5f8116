//! Data that every evaluation in a run shares, and the values of variables.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use indexmap::IndexMap;
use serde_json::{Map, Value as Json, json};

use crate::config::{Code, Diagnostic, Node, TextError, did_you_mean_text, weight};
use crate::hostlist;
use crate::inventory::Host;
use crate::placeholder;
use crate::playbook::file::{Param, ParamType};
use crate::playbook::files::Files;
use crate::playbook::{Playbook, library};
use crate::resources::{Kind, Member, Roster};
use crate::sources::SiteSources;
use crate::template::lookup::{Awaited, Lookup, Missing, descend};
use crate::template::paths::is_template;
use crate::template::shape::PathError;
use crate::template::text::Values;
use crate::template::{MOST_TEXT, PathUse, Segment, Shape, Text, Unresolved};

/// Maximum depth of variables that refer to each other.
const MAX_DEPTH: u32 = 16;

/// Parsed texts by their source.
#[derive(Debug, Default)]
pub(super) struct Texts(Mutex<BTreeMap<Arc<str>, Parsed>>);

type Parsed = Result<Arc<Text>, TextError>;

impl Texts {
    pub(super) fn get(&self, source: &str) -> Parsed {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(text) = known.get(source) {
            return text.clone();
        }
        let source: Arc<str> = source.into();
        let text = Text::parse(&source)
            .map(Arc::new)
            .map_err(|error| TextError { code: Code::NoTemplate(source.clone()), ..error });
        known.insert(source, text.clone());
        text
    }
}

/// Data that does not change during a run.
#[derive(Debug, Default)]
pub(super) struct World {
    pub(super) texts: Texts,
    pub(super) files: Files,
    pub(super) cluster: String,
    pub(super) hosts: Vec<Host>,
    pub(super) by_name: BTreeMap<String, usize>,
    pub(super) groups: BTreeMap<String, BTreeSet<usize>>,
    /// `--set`: the text as given, and what YAML takes it for.
    pub(super) set: BTreeMap<String, (String, Json)>,
    pub(super) secrets: BTreeSet<String>,
    pub(super) site_sources: SiteSources,
    /// Absolute directory of the inventory's file.
    pub(super) base: camino::Utf8PathBuf,
    /// Every name that some task registers.
    pub(super) registers: BTreeSet<String>,
    /// `hosts` as templates see it, without facts.
    pub(super) hosts_view: OnceLock<tera::Value>,
    /// `groups`, as conditions and as templates see it.
    pub(super) groups_json: OnceLock<Json>,
    pub(super) groups_view: OnceLock<tera::Value>,
    /// The hosts as resources see them that are about all of them.
    pub(super) members: OnceLock<Arc<[Member]>>,
}

impl World {
    /// Reports a mistake in a parameter's value, as far as it is known before any template is filled in.
    pub(super) fn wrong_value(&self, name: &str, param: &Param, node: &Node) -> Option<Diagnostic> {
        if node.as_str().is_some_and(is_template) {
            return None;
        }
        let value = node.to_json();
        if !param.kind.takes(&value) {
            return Some(library::wrong_value(name, param, node));
        }
        let PathError { message, help, code } = self.no_such_group(param, &value)?;
        Some(Diagnostic { code, help, ..Diagnostic::error(node.span, message) })
    }

    /// Reports a value that names a group which the inventory lacks. A playbook's own default may: it was written
    /// for other inventories too.
    pub(super) fn no_such_group(&self, param: &Param, value: &Json) -> Option<PathError> {
        let name = value.as_str()?;
        let default = param.default.as_ref().is_some_and(|default| default.as_str() == Some(name));
        if param.kind != ParamType::Group || default || self.groups.contains_key(name) {
            return None;
        }
        let known = self.groups.keys().map(String::as_str);
        Some(PathError {
            message: format!("there is no group `{name}`"),
            help: did_you_mean_text(name, known),
            code: Code::NoGroup(name.to_owned()),
        })
    }

    /// All hosts in the order of their names. What is written of all of them stays as it is when a group moves in
    /// the inventory.
    fn by_name(&self) -> impl Iterator<Item = &Host> {
        let mut hosts: Vec<&Host> = self.hosts.iter().collect();
        hosts.sort_by(|one, other| hostlist::order(&one.name, &other.name));
        hosts.into_iter()
    }

    /// The inventory as a task for one of its hosts sees it.
    pub(super) fn roster(&self, own: &Host, targets: &Arc<BTreeSet<usize>>) -> Roster {
        let member = |host: &Host| Member {
            place: host.index,
            name: host.name.clone(),
            address: host.address.clone(),
            offline: host.offline.is_some(),
            groups: host.groups.clone(),
            gpus: host.expect.gpu.as_ref().and_then(|gpu| gpu.count).map(u64::from),
        };
        let members = self.members.get_or_init(|| self.by_name().map(member).collect());
        Roster {
            cluster: self.cluster.clone(),
            own: own.name.clone(),
            members: members.clone(),
            targets: targets.clone(),
        }
    }
}

/// The words of the language that other parts of the program define.
#[derive(Debug, Clone)]
pub struct Language {
    /// Resource keys.
    pub kinds: Vec<Kind>,
    /// Ids of checks.
    pub checks: Vec<&'static str>,
    /// Facts per OS family, by a name for messages. Without any, facts are not checked.
    pub specimens: Vec<(&'static str, Json)>,
}

impl Default for Language {
    fn default() -> Self {
        Self {
            kinds: crate::resources::kinds().to_vec(),
            checks: crate::checks::TABLE.iter().map(|check| check.id).collect(),
            specimens: crate::facts::specimens(),
        }
    }
}

/// Facts of all hosts, for templates that read other hosts' facts.
#[derive(Debug, Default)]
pub struct Fleet {
    pub(super) facts: BTreeMap<usize, Json>,
    pub(super) view: OnceLock<tera::Value>,
}

impl Fleet {
    /// Facts views by host index; a host that was never seen is left out.
    pub fn new(facts: BTreeMap<usize, Json>) -> Self {
        Self { facts, view: OnceLock::new() }
    }
}

/// State of a registered answer on a host.
#[derive(Debug, Clone, PartialEq)]
pub enum Registered {
    /// Its value.
    Known(Json),
    /// It is not known yet.
    Waits,
    /// It has none here: why, for people.
    Never(String),
}

/// Registered answers by name; a name that is not in it is registered by no earlier task of the host.
pub type Registers = BTreeMap<String, Registered>;

/// Answers that are known when a step is filled in.
#[derive(Debug, Clone, Copy)]
pub struct Inputs<'a> {
    /// `facts` of this host: an object of the base facts that were answered. A base fact that is
    /// not in it is waited for.
    pub facts: Option<&'a Json>,
    /// Answers registered on this host; without them all are waited for.
    pub registers: Option<&'a Registers>,
    /// Facts of all hosts, when they were gathered.
    pub fleet: Option<&'a Fleet>,
}

impl Inputs<'_> {
    /// Nothing is known yet.
    pub fn none() -> Self {
        Self { facts: None, registers: None, fleet: None }
    }
}

/// The names that a text sees: those of the inventory, or those of one use of a playbook.
#[derive(Debug, Default)]
pub(super) struct Scope {
    /// The playbook whose parameters are seen; `None` in the inventory.
    pub(super) playbook: Option<Arc<Playbook>>,
    /// Values that the user of the playbook gave it.
    pub(super) with: Arc<BTreeMap<String, Json>>,
    /// Scope in which the values of `with` are evaluated.
    pub(super) outer: Option<Arc<Scope>>,
    /// `vars` of the task.
    pub(super) vars: BTreeMap<String, Json>,
    /// Shape of `item`, where this is a task's scope in a loop.
    pub(super) item: Option<Shape>,
}

impl Scope {
    /// Whether inventory variables of this name are seen.
    pub(super) fn declares(&self, name: &str) -> bool {
        self.playbook.as_ref().is_none_or(|playbook| playbook.params.contains_key(name))
    }

    /// The value of a parameter's default.
    pub(super) fn default_of(&self, name: &str) -> Option<Json> {
        let (_, param) = self.playbook.as_ref()?.params.get(name)?;
        param.default.as_ref().map(Node::to_json)
    }
}

/// One evaluation: a host, a scope and what is known.
#[derive(Debug, Clone, Copy)]
pub(super) struct Env<'a> {
    pub(super) world: &'a World,
    pub(super) host: &'a Host,
    pub(super) scope: &'a Scope,
    pub(super) inputs: Inputs<'a>,
    pub(super) item: Option<&'a Json>,
    pub(super) depth: u32,
}

fn waiting(answer: Awaited) -> Missing {
    Missing::Waiting(BTreeSet::from([answer]))
}

fn undefined(root: &str, path: &[Segment]) -> Missing {
    Missing::Undefined(PathError::undefined(root, path, None))
}

impl<'a> Env<'a> {
    pub(super) fn within(&self, scope: &'a Scope) -> Self {
        Self { scope, depth: self.depth + 1, ..*self }
    }

    /// A value with its templates filled in.
    pub(super) fn fill(&self, value: &Json) -> Result<Json, Missing> {
        match value {
            Json::String(text) if is_template(text) => {
                let text = self.world.texts.get(text).map_err(|error| Missing::Failed(error.message))?;
                text.render(self).map_err(|error| match (error, self.unreached(&text)) {
                    (Unresolved::Waiting(names), _) => Missing::Waiting(names),
                    (Unresolved::Wrong(error), unreached) if unreached.is_empty() => {
                        Missing::Failed(error.message)
                    }
                    (Unresolved::Wrong(_), unreached) => Missing::Waiting(unreached),
                })
            }
            Json::Array(items) => {
                let (mut filled, mut room) = (Vec::new(), MOST_TEXT);
                for item in items {
                    filled.push(self.fill_within(item, &mut room)?);
                }
                Ok(Json::Array(filled))
            }
            Json::Object(map) => {
                let (mut filled, mut room) = (Map::new(), MOST_TEXT);
                for (key, value) in map {
                    filled.insert(key.clone(), self.fill_within(value, &mut room)?);
                }
                Ok(Json::Object(filled))
            }
            Json::Null | Json::Bool(_) | Json::Number(_) | Json::String(_) => Ok(value.clone()),
        }
    }

    /// Fills in a part of a list or a map. What is written there has been read from a file that is not too large; what
    /// templates bring, each some times the other, has to fit into `room`.
    fn fill_within(&self, value: &Json, room: &mut usize) -> Result<Json, Missing> {
        let filled = self.fill(value)?;
        if value.as_str().is_some_and(is_template) || value.is_array() || value.is_object() {
            let taken = weight(&filled, *room);
            *room = room.checked_sub(taken).ok_or_else(|| {
                Missing::Failed(format!("a list or a map comes to more than {} MiB", MOST_TEXT >> 20))
            })?;
        }
        Ok(filled)
    }

    /// A variable, from the strongest layer that has it.
    fn variable_value(&self, name: &str) -> Result<Json, Missing> {
        if self.depth > MAX_DEPTH {
            return Err(Missing::Failed(format!("`{name}` refers to itself")));
        }
        let value = self.layered(name)?;
        let param = self.scope.playbook.as_ref().and_then(|playbook| playbook.params.get(name));
        match param {
            Some((_, param)) if !self.scope.vars.contains_key(name) && !param.kind.takes(&value) => {
                let found = Shape::of(&value).name();
                Err(Missing::Failed(format!(
                    "`{name}` must be {}, but its value is {found}",
                    param.kind.article()
                )))
            }
            Some((_, param)) if !self.scope.vars.contains_key(name) => {
                match self.world.no_such_group(param, &value) {
                    Some(error) => {
                        let message = format!("`{name}`: {}", error.message);
                        Err(Missing::Undefined(PathError { message, ..error }))
                    }
                    None => Ok(value),
                }
            }
            _ => Ok(value),
        }
    }

    fn layered(&self, name: &str) -> Result<Json, Missing> {
        let scope = self.scope;
        let declared = scope.declares(name);
        if declared && let Some((text, value)) = self.world.set.get(name) {
            let param = scope.playbook.as_ref().and_then(|playbook| playbook.params.get(name));
            let wants_text =
                param.is_some_and(|(_, param)| matches!(param.kind, ParamType::String | ParamType::Group));
            return Ok(if wants_text { Json::String(text.clone()) } else { value.clone() });
        }
        if let Some(value) = scope.vars.get(name) {
            return self.within(scope).fill(value);
        }
        if let (Some(value), Some(outer)) = (scope.with.get(name), &scope.outer) {
            return self.within(outer).fill(value);
        }
        if declared && let Some(var) = self.host.vars.get(name) {
            return self.within(inventory_scope()).fill(&var.value);
        }
        if let Some(default) = scope.default_of(name) {
            return self.within(scope).fill(&default);
        }
        if self.world.registers.contains(name) { self.registered(name) } else { Err(undefined(name, &[])) }
    }

    fn registered(&self, name: &str) -> Result<Json, Missing> {
        let known = self.inputs.registers.map_or(Some(&Registered::Waits), |known| known.get(name));
        let why = match known {
            Some(Registered::Known(value)) => return Ok(value.clone()),
            Some(Registered::Waits) => return Err(waiting(Awaited::Register(name.to_owned()))),
            Some(Registered::Never(why)) => why,
            None => "no earlier task of this host registers it",
        };
        Err(Missing::Undefined(PathError::new(format!("`{name}` has no value: {why}"))))
    }

    fn fact(&self, path: &[Segment]) -> Result<Cow<'a, Json>, Missing> {
        let Some(Segment::Key(name)) = path.first() else {
            return self
                .inputs
                .facts
                .map(Cow::Borrowed)
                .ok_or_else(|| waiting(Awaited::Fact("facts".to_owned())));
        };
        let Some(fact) = self.inputs.facts.and_then(|facts| facts.get(name)) else {
            return Err(waiting(Awaited::Fact(name.clone())));
        };
        descend(&format!("facts.{name}"), fact, path.get(1..).unwrap_or(&[]))
    }

    fn other_host(&self, path: &[Segment]) -> Result<Cow<'a, Json>, Missing> {
        let Some(Segment::Key(name)) = path.first() else {
            let all = serde_json::to_value(self.hosts_value(false)?).unwrap_or_default();
            return below("hosts", all, path);
        };
        let Some(host) = self.world.by_name.get(name).and_then(|index| self.world.hosts.get(*index)) else {
            return Err(Missing::Undefined(PathError {
                help: did_you_mean_text(name, self.world.by_name.keys().map(String::as_str)),
                ..PathError::new(format!("there is no host `{name}`"))
            }));
        };
        let rest = path.get(1..).unwrap_or(&[]);
        if rest.first() == Some(&Segment::Key("facts".to_owned())) {
            let fleet = self.inputs.fleet.ok_or_else(|| waiting(Awaited::Hosts))?;
            let facts =
                fleet.facts.get(&host.index).ok_or_else(|| waiting(Awaited::FactsOf(name.clone())))?;
            return descend(&format!("hosts.{name}.facts"), facts, rest.get(1..).unwrap_or(&[]));
        }
        below(&format!("hosts.{name}"), self.view_of(host), rest)
    }

    /// Returns the answers for which a text waits that could not be filled in: facts of hosts that were never
    /// reached, offline ones aside.
    pub(super) fn unreached(&self, text: &Text) -> BTreeSet<Awaited> {
        let facts = Segment::Key("facts".to_owned());
        let reads =
            text.paths().iter().any(|path| path.root == "hosts" && path.segments.get(1) == Some(&facts));
        let Some(fleet) = self.inputs.fleet.filter(|_| reads) else { return BTreeSet::new() };
        let missing = self
            .world
            .hosts
            .iter()
            .filter(|host| host.offline.is_none() && !fleet.facts.contains_key(&host.index));
        missing.map(|host| Awaited::FactsOf(host.name.clone())).collect()
    }

    /// A host as other hosts' templates see it, without its facts.
    fn view_of(&self, host: &Host) -> Json {
        let mut view = host.view();
        if let Some(map) = view.as_object_mut() {
            let env = Env { host, scope: inventory_scope(), item: None, ..*self };
            let vars: Map<String, Json> = host
                .vars
                .iter()
                .filter_map(|(name, var)| Some((name.clone(), env.fill(&var.value).ok()?)))
                .collect();
            map.insert("vars".to_owned(), Json::Object(vars));
        }
        view
    }

    /// `hosts` for the template engine.
    fn hosts_value(&self, facts: bool) -> Result<tera::Value, Missing> {
        if !facts {
            return Ok(self.world.hosts_view.get_or_init(|| self.build_hosts(None)).clone());
        }
        let fleet = self.inputs.fleet.ok_or_else(|| waiting(Awaited::Hosts))?;
        Ok(fleet.view.get_or_init(|| self.build_hosts(Some(fleet))).clone())
    }

    fn build_hosts(&self, fleet: Option<&Fleet>) -> tera::Value {
        // What a variable takes from facts differs from host to host and is left out here.
        let plain = Env { inputs: Inputs::none(), ..*self };
        let hosts: IndexMap<String, tera::Value> = self
            .world
            .by_name()
            .map(|host| {
                let mut view = plain.view_of(host);
                let facts = fleet.and_then(|fleet| fleet.facts.get(&host.index));
                if let (Some(map), Some(facts)) = (view.as_object_mut(), facts) {
                    map.insert("facts".to_owned(), facts.clone());
                }
                (host.name.clone(), tera::Value::from_serializable(&view))
            })
            .collect();
        tera::Value::from(hosts)
    }

    fn groups(&self) -> &'a Json {
        self.world.groups_json.get_or_init(|| {
            let members = |group: &BTreeSet<usize>| {
                let hosts = self.world.by_name().filter(|host| group.contains(&host.index));
                hosts.map(|host| host.name.as_str()).collect::<Json>()
            };
            self.world.groups.iter().map(|(name, group)| (name.clone(), members(group))).collect()
        })
    }
}

/// Returns the value at a path below an owned value.
fn below(root: &str, value: Json, path: &[Segment]) -> Result<Cow<'static, Json>, Missing> {
    if path.is_empty() {
        return Ok(Cow::Owned(value));
    }
    descend(root, &value, path).map(|found| Cow::Owned(found.into_owned()))
}

/// The first steps of paths; `None` where one of them is the whole or cannot be told.
fn fields<'a>(uses: &[&'a PathUse]) -> Option<BTreeSet<&'a str>> {
    uses.iter()
        .map(|path| match path.segments.first() {
            Some(Segment::Key(name)) => Some(name.as_str()),
            _ => None,
        })
        .collect()
}

/// The scope of the inventory itself.
pub(super) fn inventory_scope() -> &'static Scope {
    static SCOPE: OnceLock<Scope> = OnceLock::new();
    SCOPE.get_or_init(Scope::default)
}

impl Lookup for Env<'_> {
    fn resolve(&self, root: &str, path: &[Segment]) -> Result<Cow<'_, Json>, Missing> {
        match root {
            "host" => match path {
                [Segment::Key(name), rest @ ..] if let Some(field) = self.host.field(name) => {
                    below(&format!("host.{name}"), field, rest)
                }
                _ => below("host", self.host.view(), path),
            },
            "facts" => self.fact(path),
            "hosts" => self.other_host(path),
            "groups" => descend("groups", self.groups(), path),
            "cluster" => below("cluster", json!({ "name": self.world.cluster }), path),
            "item" => match self.item {
                Some(item) => descend("item", item, path),
                None => Err(undefined(root, path)),
            },
            "secrets" => match path {
                [Segment::Key(name)] if self.world.secrets.contains(name) => {
                    Ok(Cow::Owned(Json::String(placeholder::of(name))))
                }
                _ => Err(undefined(root, path)),
            },
            name => below(name, self.variable_value(name)?, path),
        }
    }
}

impl Values for Env<'_> {
    fn variable(&self, root: &str, uses: &[&PathUse]) -> Result<tera::Value, Missing> {
        match root {
            "hosts" => {
                let facts = Segment::Key("facts".to_owned());
                self.hosts_value(uses.iter().any(|path| path.segments.get(1) == Some(&facts)))
            }
            "groups" => Ok(self
                .world
                .groups_view
                .get_or_init(|| tera::Value::from_serializable(self.groups()))
                .clone()),
            // Only the fields that are read: the rest would be copied for each text of each host.
            "host" => match fields(uses) {
                Some(names) => {
                    let known = names.into_iter().filter_map(|name| {
                        Some((name.to_owned(), tera::Value::from_serializable(&self.host.field(name)?)))
                    });
                    Ok(tera::Value::from(known.collect::<BTreeMap<_, _>>()))
                }
                None => Ok(tera::Value::from_serializable(&self.host.view())),
            },
            "facts" => {
                let Some(names) = fields(uses) else {
                    return self.fact(&[]).map(|facts| tera::Value::from_serializable(&*facts));
                };
                let mut facts = BTreeMap::new();
                let mut missing = BTreeSet::new();
                for name in names {
                    match self.inputs.facts.and_then(|facts| facts.get(name)) {
                        Some(fact) => {
                            facts.insert(name.to_owned(), tera::Value::from_serializable(fact));
                        }
                        None => {
                            missing.insert(Awaited::Fact(name.to_owned()));
                        }
                    }
                }
                if missing.is_empty() { Ok(tera::Value::from(facts)) } else { Err(Missing::Waiting(missing)) }
            }
            "secrets" => {
                let all: BTreeMap<String, String> =
                    self.world.secrets.iter().map(|name| (name.clone(), placeholder::of(name))).collect();
                Ok(tera::Value::from(all))
            }
            root => self.resolve(root, &[]).map(|value| tera::Value::from_serializable(&value)),
        }
    }
}
