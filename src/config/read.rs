//! Typed values out of YAML nodes; every mistake is collected.

use std::collections::BTreeSet;
use std::num::NonZeroU32;

use serde_json::{Value as Json, json};

use super::diagnostic::{Diagnostic, Diagnostics};
use super::node::{Node, Yaml};
use super::source::{Sp, Span};
use super::yaml::{in_quotes, scalar};
use crate::foreign::{self, Place};

/// Role of a mapping whose mistakes have advice of their own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// Any other mapping.
    Other,
    /// A playbook.
    Playbook,
    /// A use of a playbook.
    PlaybookEntry,
    /// A parameter of a playbook.
    Parameter,
    /// The retries of a task.
    Retries,
    /// A host of the inventory.
    Host,
    /// A group of the inventory.
    Group,
    /// The way to a host.
    Ssh,
    /// A source of hosts outside of the inventory.
    HostsFrom,
    /// A reference to a secret.
    SecretReference,
    /// The resource `command`.
    Command,
    /// The resource `package`.
    Package,
    /// The resource `sysctl`.
    Sysctl,
}

/// Keys of `ssh` that are often written beside it.
const OF_SSH: [&str; 5] = ["user", "port", "identity_file", "known_hosts", "jump"];

/// Keys of a task that are often written into its resource.
const OF_TASK: [&str; 14] = [
    "notify",
    "when",
    "loop",
    "register",
    "run_once",
    "on_failure",
    "timeout",
    "tags",
    "vars",
    "retries",
    "hosts",
    "become_user",
    "detach",
    "raw",
];

/// A type that can be read from a YAML node.
pub trait FromNode: Sized {
    /// Reads the value; on a mistake adds it to `diagnostics` and returns `None`.
    fn from_node(node: &Node, diagnostics: &mut Diagnostics) -> Option<Self>;

    /// JSON Schema of what [`from_node`](Self::from_node) takes.
    fn schema() -> Json;
}

/// The nearest of the known names, if one is near enough to be a typo.
pub fn did_you_mean<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let length = name.chars().count();
    // Every sign is near to every other.
    let limit = (length / 3).clamp(usize::from(length > 1), 3);
    known
        .into_iter()
        .map(|candidate| {
            let folded =
                candidate.eq_ignore_ascii_case(name) || candidate.replace('-', "_") == name.replace('-', "_");
            (if folded { 0 } else { strsim::damerau_levenshtein(name, candidate) }, candidate)
        })
        .filter(|(distance, _)| *distance <= limit)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

/// The help line for an unknown name: the nearest one, else the whole list when it is short.
pub fn did_you_mean_text<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<String> {
    let known: BTreeSet<&str> = known.into_iter().collect();
    near_text(name, &known).or_else(|| list_text(&known))
}

/// The help line that suggests the nearest of the known names.
pub fn near_text(name: &str, known: &BTreeSet<&str>) -> Option<String> {
    if let Some((_, near)) = foreign::KEYS.iter().find(|(other, near)| *other == name && known.contains(near))
    {
        return Some(format!("did you mean `{near}`?"));
    }
    // `integer` for `int`, `str` for `string`
    let shortens = |long: &str, short: &str| short.len() > 2 && long.starts_with(short);
    let mut alike = known.iter().copied().filter(|known| shortens(name, known) || shortens(known, name));
    let near =
        did_you_mean(name, known.iter().copied()).or_else(|| alike.next().filter(|_| alike.next().is_none()));
    near.map(|near| format!("did you mean `{near}`?"))
}

/// The help line that lists the known names, when there are only a few.
pub fn list_text(known: &BTreeSet<&str>) -> Option<String> {
    if known.is_empty() || known.len() > 24 {
        return None;
    }
    Some(format!("known here: {}", known.iter().map(|k| format!("`{k}`")).collect::<Vec<_>>().join(", ")))
}

/// Reports that a node has the wrong type.
pub fn wrong_type(node: &Node, wanted: &str, diagnostics: &mut Diagnostics) {
    diagnostics.push(wrong(node, wanted));
}

fn wrong(node: &Node, wanted: &str) -> Diagnostic {
    Diagnostic::error(node.span, format!("expected {wanted}, found {}", node.value.kind()))
        .label(format!("expected {wanted}"))
}

impl FromNode for String {
    fn from_node(node: &Node, diagnostics: &mut Diagnostics) -> Option<Self> {
        match &node.value {
            Yaml::Str(text) => Some(text.clone()),
            Yaml::Int(_) | Yaml::Float(_) | Yaml::Bool(_) => {
                diagnostics.push(
                    Diagnostic::error(node.span, format!("expected a string, found {}", node.value.kind()))
                        .label("YAML reads this as a number or a boolean")
                        .quoted(),
                );
                None
            }
            Yaml::Null | Yaml::List(_) | Yaml::Map(_) => {
                wrong_type(node, "a string", diagnostics);
                None
            }
        }
    }

    fn schema() -> Json {
        json!({ "type": "string" })
    }
}

impl FromNode for bool {
    fn from_node(node: &Node, diagnostics: &mut Diagnostics) -> Option<Self> {
        if let Yaml::Bool(value) = node.value {
            return Some(value);
        }
        let mut diagnostic =
            Diagnostic::error(node.span, format!("expected `true` or `false`, found {}", node.value.kind()));
        if let Some(word) = node.as_str() {
            match word.to_ascii_lowercase().as_str() {
                "yes" | "on" | "y" => diagnostic = diagnostic.help("write `true`"),
                "no" | "off" | "n" => diagnostic = diagnostic.help("write `false`"),
                value @ ("true" | "false") => {
                    diagnostic = diagnostic.help(format!("write it without quotes: `{value}`"));
                }
                _ => {}
            }
        }
        diagnostics.push(diagnostic);
        None
    }

    fn schema() -> Json {
        json!({ "type": "boolean" })
    }
}

macro_rules! integer {
    ($($type:ty),*) => {$(
        impl FromNode for $type {
            fn from_node(node: &Node, diagnostics: &mut Diagnostics) -> Option<Self> {
                let Yaml::Int(value) = node.value else {
                    let bare = node.as_str().filter(|text| text.parse::<i64>().is_ok());
                    // YAML 1.2 has no numbers with leading zeros: 022 is read as one with a fraction.
                    let whole = if let Yaml::Float(number) = node.value { Some(format!("{number}")) } else { None };
                    let whole = whole.filter(|number| number.parse::<i64>().is_ok());
                    let help = bare
                        .map(|number| format!("write it without quotes: `{number}`"))
                        .or_else(|| whole.map(|number| format!("write `{number}`")));
                    diagnostics.push(wrong(node, "an integer").maybe_help(help));
                    return None;
                };
                let converted = Self::try_from(value).ok();
                if converted.is_none() {
                    diagnostics.error(node.span, format!("{value} is out of range: {} to {}", Self::MIN, Self::MAX));
                }
                converted
            }

            fn schema() -> Json {
                if Self::MIN == 0 { json!({ "type": "integer", "minimum": 0 }) } else { json!({ "type": "integer" }) }
            }
        }
    )*};
}
integer!(i64, u64, u32, u16);

impl FromNode for NonZeroU32 {
    fn from_node(node: &Node, diagnostics: &mut Diagnostics) -> Option<Self> {
        let number = Self::new(u32::from_node(node, diagnostics)?);
        if number.is_none() {
            diagnostics.error(node.span, "0 is too few here: give 1 or more");
        }
        number
    }

    fn schema() -> Json {
        json!({ "type": "integer", "minimum": 1 })
    }
}

/// Advises what to write for a text where a list is wanted: its words, as far as they are no line for a
/// shell.
fn in_brackets(line: &str) -> Option<String> {
    let words: Vec<&str> = line.split([' ', ',', '\n', '\t']).filter(|word| !word.is_empty()).collect();
    if words.len() > 1 && line.contains(['|', '<', '>', ';', '&', '$', '*']) {
        return Some(
            "a list has a program and its arguments: `[ls, -l]`; a line for a shell is `script: LINE`"
                .to_owned(),
        );
    }
    let plain = |word: &&str| word.chars().all(|c| c.is_ascii_alphanumeric() || "-_./:@=+%".contains(c));
    let fits = !words.is_empty() && words.iter().all(plain) && line.len() < 60;
    // What YAML would read as a number stays a word.
    fits.then(|| format!("write `[{}]`", words.into_iter().map(scalar).collect::<Vec<_>>().join(", ")))
}

/// Advises what to write for the keys of a map without values, as Ansible names hosts, where a list is
/// wanted.
pub fn keys_in_brackets(entries: &[(Sp<String>, Node)]) -> Option<String> {
    let names: Vec<&str> = entries.iter().map(|(key, _)| key.value.as_str()).collect();
    let short = !names.is_empty() && entries.iter().all(|(_, value)| value.is_null());
    let list = names.join(", ");
    (short && list.len() < 60 && !list.contains(['[', '{', '"'])).then(|| format!("write `[{list}]`"))
}

/// Advises what to write for a value that stands where a map with one such key is wanted.
fn in_a_map(node: &Node, role: Role) -> Option<String> {
    let plain = |node: &Node| match &node.value {
        Yaml::Str(text) if text.contains(['[', ']', '{', '}', ',']) => Some(in_quotes(text)),
        Yaml::Str(text) => Some(scalar(text)),
        Yaml::Int(number) => Some(number.to_string()),
        Yaml::Bool(value) => Some(value.to_string()),
        Yaml::Null | Yaml::Float(_) | Yaml::List(_) | Yaml::Map(_) => None,
    };
    let (kind, value) = match &node.value {
        Yaml::List(items) => {
            ("list", format!("[{}]", items.iter().map(plain).collect::<Option<Vec<_>>>()?.join(", ")))
        }
        Yaml::Int(_) => ("int", plain(node)?),
        Yaml::Bool(_) => ("bool", plain(node)?),
        Yaml::Null | Yaml::Float(_) | Yaml::Str(_) | Yaml::Map(_) => ("string", plain(node)?),
    };
    match role {
        Role::Group => Some(format!("write `{{ hosts: {value} }}`")),
        Role::Parameter => Some(format!("write `{{ type: {kind}, default: {value} }}`")),
        Role::Retries if kind == "int" => Some(format!("write `{{ attempts: {value} }}`")),
        Role::Ssh if kind == "string" => Some(format!("write `{{ user: {value} }}`")),
        Role::Command => Some(format!("write `{{ run: {value} }}`")),
        Role::Package => Some(format!("write `{{ names: {value} }}`")),
        Role::Other
        | Role::Playbook
        | Role::PlaybookEntry
        | Role::Retries
        | Role::Host
        | Role::Ssh
        | Role::HostsFrom
        | Role::SecretReference
        | Role::Sysctl => None,
    }
}

impl<T: FromNode> FromNode for Vec<T> {
    fn from_node(node: &Node, diagnostics: &mut Diagnostics) -> Option<Self> {
        let Yaml::List(items) = &node.value else {
            let help = match &node.value {
                Yaml::Map(entries) => keys_in_brackets(entries)
                    .or_else(|| Some("each entry of a list begins with `- `".to_owned())),
                // `--with-cuda --foo` is no entry of a list.
                Yaml::Str(line) if line.starts_with('-') && !line.starts_with("- ") => {
                    let option = line.starts_with("--") || line.len() == 2;
                    option
                        .then(|| in_brackets(line))
                        .flatten()
                        .or_else(|| Some("a space stands behind a dash: `- x`".to_owned()))
                }
                Yaml::Str(line) => in_brackets(line),
                Yaml::Null | Yaml::Bool(_) | Yaml::Int(_) | Yaml::Float(_) | Yaml::List(_) => None,
            };
            diagnostics.push(wrong(node, "a list").maybe_help(help));
            return None;
        };
        let read: Vec<Option<T>> = items.iter().map(|item| T::from_node(item, diagnostics)).collect();
        read.into_iter().collect()
    }

    fn schema() -> Json {
        json!({ "type": "array", "items": T::schema() })
    }
}

impl<T: FromNode> FromNode for Sp<T> {
    fn from_node(node: &Node, diagnostics: &mut Diagnostics) -> Option<Self> {
        T::from_node(node, diagnostics).map(|value| Self::new(value, node.span))
    }

    fn schema() -> Json {
        T::schema()
    }
}

/// A mapping whose keys are names of the user's choice, in the order written.
#[derive(Debug, Clone, PartialEq)]
pub struct Entries<T>(pub Vec<(Sp<String>, T)>);

impl<T> Default for Entries<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<T: FromNode> FromNode for Entries<T> {
    fn from_node(node: &Node, diagnostics: &mut Diagnostics) -> Option<Self> {
        let Yaml::Map(entries) = &node.value else {
            diagnostics.push(wrong(node, "a map").maybe_help(name_help(node)));
            return None;
        };
        let read = entries.iter().enumerate().map(|(at, (key, value))| {
            let mut own = Diagnostics::default();
            let read = T::from_node(value, &mut own);
            let above = at.checked_sub(1).and_then(|at| entries.get(at)).filter(|(_, value)| value.is_null());
            match above {
                Some((name, _)) if read.is_none() && is_field::<T>(&key.value) => {
                    diagnostics.push(too_shallow(key, &name.value));
                }
                _ => diagnostics.append(own),
            }
            read.map(|value| (key.clone(), value))
        });
        let read: Vec<Option<(Sp<String>, T)>> = read.collect();
        read.into_iter().collect::<Option<Vec<_>>>().map(Self)
    }

    fn schema() -> Json {
        json!({ "type": "object", "additionalProperties": T::schema() })
    }
}

/// Whether a `T` has such a field.
fn is_field<T: FromNode>(key: &str) -> bool {
    let schema = T::schema();
    let mut fields = ["/properties", "/anyOf/0/properties"].into_iter().filter_map(|at| schema.pointer(at));
    fields.any(|fields| fields.get(key).is_some())
}

/// A key that is meant to stand below the empty one above it.
fn too_shallow(key: &Sp<String>, above: &str) -> Diagnostic {
    Diagnostic::error(key.span, format!("`{}` does not stand below `{above}`", key.value))
        .label("both begin in the same column")
        .help(format!("indent it, and what belongs to it, by two spaces more: then it is part of `{above}`"))
}

/// Advises on names that are written as a list, or without their colons.
fn name_help(node: &Node) -> Option<String> {
    let first = if let Yaml::List(items) = &node.value { items.first()? } else { node };
    let first = match &first.value {
        // `- name: n0` and `- n0: { address: 10.0.0.1 }`
        Yaml::Map(entries) => match first.get("name").and_then(Node::as_str) {
            Some(name) => name,
            None => entries.first()?.0.value.as_str(),
        },
        Yaml::Null | Yaml::Bool(_) | Yaml::Int(_) | Yaml::Float(_) | Yaml::Str(_) | Yaml::List(_) => {
            first.as_str()?
        }
    };
    let block = matches!(&node.value, Yaml::Str(text) if text.contains('\n'));
    let block = if block { "take the `|` away, which makes a text of these lines; " } else { "" };
    let first = first.split_whitespace().next()?;
    if let Some((name, value)) = first.split_once('=').filter(|(name, _)| !name.is_empty()) {
        // A number and a list are what they look like.
        let plain = value.parse::<i64>().is_ok() || value.starts_with('[');
        let value = if plain { value.to_owned() } else { scalar(value) };
        return Some(format!("write `{{ {name}: {value} }}`"));
    }
    let is_name = |c: char| c.is_ascii_alphanumeric() || "_-.[]".contains(c);
    let quote = if first.contains('[') { "\"" } else { "" };
    (first.chars().all(is_name) && first.len() < 60).then(|| {
        format!("{block}each name has a colon behind it, and no dash before it: `{quote}{first}{quote}:`")
    })
}

impl FromNode for Node {
    fn from_node(node: &Node, _: &mut Diagnostics) -> Option<Self> {
        Some(node.clone())
    }

    fn schema() -> Json {
        json!({})
    }
}

/// The entries of a mapping; anything else is reported.
pub fn map_entries<'a>(node: &'a Node, diagnostics: &mut Diagnostics) -> Option<&'a [(Sp<String>, Node)]> {
    if let Yaml::Map(entries) = &node.value {
        return Some(entries);
    }
    wrong_type(node, "a map", diagnostics);
    None
}

/// Takes the fields of one mapping, key by key, and reports what nobody took.
#[derive(Debug)]
pub struct MapReader<'a> {
    entries: &'a [(Sp<String>, Node)],
    span: Span,
    what: &'static str,
    role: Role,
    known: Vec<&'static str>,
}

impl<'a> MapReader<'a> {
    /// Starts on a node that must be a mapping; `what` names it in messages ("a task").
    pub fn new(
        node: &'a Node,
        what: &'static str,
        role: Role,
        diagnostics: &mut Diagnostics,
    ) -> Option<Self> {
        if let Yaml::Map(entries) = &node.value {
            return Some(Self { entries, span: node.span, what, role, known: Vec::new() });
        }
        let diagnostic = wrong(node, &format!("{what} (a map)"));
        if role == Role::SecretReference && node.as_str().is_some() {
            let help = "write `{ secret: NAME }`, and where it comes from under `secrets:`";
            diagnostics.push(diagnostic.hidden().help(help));
            return None;
        }
        // `user:ops` and `user = ops` are texts.
        let parts = node.as_str().and_then(|text| text.split_once([':', '='])).filter(|(key, value)| {
            let is_key = |c: char| c.is_ascii_alphanumeric() || c == '_';
            let key = key.trim_end();
            // `https://x` is no key either.
            let one = !value.contains(['\n', '=']) && !value.starts_with("//");
            !key.is_empty() && key.chars().all(is_key) && !value.is_empty() && one
        });
        let spaced = parts.map(|(key, value)| {
            format!(
                "a colon and a space stand between a key and its value: `{}: {}`",
                key.trim_end(),
                value.trim()
            )
        });
        let dashes = matches!(&node.value, Yaml::List(items)
            if !items.is_empty() && items.iter().all(|item| matches!(item.value, Yaml::Map(_))))
        .then(|| "its keys begin without a dash".to_owned());
        let address = node.as_str().filter(|text| role == Role::Host && !text.contains(char::is_whitespace));
        let address = || address.map(|text| format!("write `{{ address: {text} }}`"));
        let file = node.as_str().filter(|_| role == Role::HostsFrom);
        let file = file.map(|file| format!("write `[{{ file: {} }}]`", scalar(file)));
        let empty = || node.is_empty().then(|| "write its keys below, or `{}` for none".to_owned());
        let help =
            file.or(spaced).or_else(address).or_else(|| in_a_map(node, role)).or(dashes).or_else(empty);
        diagnostics.push(diagnostic.maybe_help(help));
        None
    }

    /// The node under a key; `null` counts as absent.
    pub fn node(&mut self, key: &'static str) -> Option<&'a Node> {
        self.known.push(key);
        self.entries.iter().find(|(k, _)| k.value == key).map(|(_, v)| v).filter(|v| !v.is_null())
    }

    /// Reads an optional field. The outer `None` says that it was written wrongly.
    pub fn optional<T: FromNode>(
        &mut self,
        key: &'static str,
        diagnostics: &mut Diagnostics,
    ) -> Option<Option<T>> {
        if let Some(node) = self.node(key) {
            return T::from_node(node, diagnostics).map(Some);
        }
        // `offline: # soon` and `creates:` look as if they said something. A list or a map may have no entry yet.
        let empty = self.entries.iter().find(|(written, value)| written.value == key && value.is_empty());
        if let Some((written, _)) = empty.filter(|_| !has_entries(&T::schema())) {
            diagnostics.push(no_value(written));
            return None;
        }
        Some(None)
    }

    /// Reads a field that must be there.
    pub fn required<T: FromNode>(&mut self, key: &'static str, diagnostics: &mut Diagnostics) -> Option<T> {
        if let Some(node) = self.node(key) {
            return T::from_node(node, diagnostics);
        }
        if let Some((written, _)) = self.entries.iter().find(|(written, _)| written.value == key) {
            diagnostics.push(no_value(written).label(format!("{} needs one", self.what)));
            return None;
        }
        // When what was meant is there under another name, or belongs to another resource, `finish` reports that
        // instead.
        let is_said = |written: &str| self.means(written, key) || self.belongs_elsewhere(written);
        if !self.entries.iter().any(|(written, _)| is_said(&written.value)) {
            diagnostics.push(
                Diagnostic::error(self.span, format!("{} needs `{key}`", self.what))
                    .label(format!("`{key}` is missing"))
                    .maybe_help((key == "cluster").then(|| "give it a name: `cluster: NAME`".to_owned())),
            );
        }
        None
    }

    /// Whether a key is written that stands for this one: a near miss, one with its value in it, or the word of
    /// another tool.
    fn means(&self, written: &str, key: &str) -> bool {
        did_you_mean(written, [key]).is_some()
            || joined(written).is_some_and(|(name, _)| name == key)
            || foreign::find(written, self.places()).is_some_and(|word| word.keys.contains(&key))
    }

    /// `content` of a `copy` is the word for another resource.
    fn belongs_elsewhere(&self, written: &str) -> bool {
        !self.known.contains(&written)
            && foreign::find(written, &[Place::Field]).is_some_and(|word| word.is_of_another)
    }

    /// `{ path:/etc/a }`, `{ path /etc/a }` and `{ path= /etc/a }` are keys of that name, with no value.
    fn no_colon(&self, key: &str, value: &Yaml) -> Option<String> {
        if *value != Yaml::Null {
            return None;
        }
        let (name, value) = joined(key).filter(|(name, _)| self.known.contains(name))?;
        Some(format!("a colon and a space stand between a key and its value: `{name}: {value}`"))
    }

    /// `{ port: 2222 }` of a host stands one level deeper.
    fn of_ssh(&self, key: &str) -> Option<String> {
        let is_there = self.known.contains(&"ssh") && OF_SSH.contains(&key);
        is_there.then(|| format!("it is a key of `ssh`: write `ssh: {{ {key}: ... }}`"))
    }

    /// `notify` of a task among the fields of its resource.
    fn of_task(&self, key: &str) -> Option<String> {
        if self.role == Role::PlaybookEntry {
            let text = "an entry has none: `hosts` narrows it, and each task of the playbook has its own";
            return OF_TASK.contains(&key).then(|| text.to_owned());
        }
        let is_one = OF_TASK.contains(&key);
        is_one.then(|| {
            "it is a key of the task: it stands in one column with the name of the resource".to_owned()
        })
    }

    /// Places in which words of Ansible are looked for.
    fn places(&self) -> &'static [Place] {
        if self.role == Role::Playbook { &[Place::Playbook] } else { &[Place::Inventory, Place::Field] }
    }

    /// Advises about a key that is a word of Ansible.
    fn of_ansible(&self, key: &str) -> Option<String> {
        match (self.role, key) {
            // A user of a host and a login have one each.
            (Role::Ssh, "password") => foreign::help("ansible_password", &[Place::Inventory]),
            (Role::Sysctl, "value") => {
                Some("`values: { KEY: VALUE }` has the settings; `name` is that of their file".to_owned())
            }
            _ => foreign::help(key, self.places()),
        }
    }

    /// A key that may be meant to stand below the empty one above it.
    fn below(&self, key: &str, empty: Option<&str>) -> Option<String> {
        let above = empty.filter(|_| did_you_mean(key, self.known.iter().copied()).is_none())?;
        let known = did_you_mean_text(key, self.known.iter().copied());
        let known = known.map(|known| format!("; {known}")).unwrap_or_default();
        Some(format!("when it is part of `{above}` above, indent it by two spaces more{known}"))
    }

    /// Reports every key that was not asked for. Returns whether there was none.
    pub fn finish(self, diagnostics: &mut Diagnostics) -> bool {
        let mut clean = true;
        // A known key without a value, below which the unknown ones are meant to stand.
        let mut empty: Option<&str> = None;
        for (key, value) in self.entries {
            if self.known.contains(&key.value.as_str()) {
                empty = value.is_null().then_some(key.value.as_str());
            } else {
                clean = false;
                let text = format!("unknown key `{}` in {}", key.value, self.what);
                // What stands behind such a key is shown to nobody.
                let diagnostic = if key.value.contains("pass") && value.as_str().is_some() {
                    Diagnostic::error(value.span, text).hidden()
                } else {
                    Diagnostic::error(key.span, text)
                };
                diagnostics.push(
                    diagnostic.label("not known here").maybe_help(
                        self.no_colon(&key.value, &value.value)
                            .or_else(|| self.of_ssh(&key.value))
                            .or_else(|| self.of_ansible(&key.value))
                            .or_else(|| self.of_task(&key.value))
                            .or_else(|| self.below(&key.value, empty))
                            .or_else(|| did_you_mean_text(&key.value, self.known.iter().copied())),
                    ),
                );
            }
        }
        clean
    }
}

fn no_value(key: &Sp<String>) -> Diagnostic {
    Diagnostic::error(key.span, format!("`{}` has no value", key.value))
        .help("write one behind the colon, or take the line away; a `#` behind a space begins a comment")
}

/// Whether all that a schema allows is a list or a map.
fn has_entries(schema: &Json) -> bool {
    match (schema.get("type").and_then(Json::as_str), schema.get("anyOf").and_then(Json::as_array)) {
        (Some(kind), _) => matches!(kind, "object" | "array" | "null"),
        (None, Some(kinds)) => kinds.iter().all(has_entries),
        (None, None) => schema.get("enum").is_none(),
    }
}

/// `path:/etc/a` and `path /etc/a`: a key and what was meant to be its value.
fn joined(key: &str) -> Option<(&str, &str)> {
    let (name, value) = key.split_at_checked(key.find([':', ' ', '='])?)?;
    Some((name, value.trim_start_matches([':', ' ', '='])))
}
