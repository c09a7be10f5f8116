//! A task of a playbook: which of its keys is the resource, and which mean nothing where they are.

use super::file::{Action, Block, RunOnceFile, Task, TaskRecord};
use crate::config::read::map_entries;
use crate::config::{
    Diagnostic, Diagnostics, FromNode as _, Need, Node, Record as _, Sp, Span, Yaml, did_you_mean,
    did_you_mean_text,
};
use crate::foreign::{self, Place};
use crate::resources::Kind;
use crate::template::paths::is_template;

/// Reads a task or, with `handler`, a handler. `None` for what is none.
pub(super) fn task(
    node: &Node,
    kinds: &[Kind],
    handler: bool,
    diagnostics: &mut Diagnostics,
) -> Option<Task> {
    let entries = map_entries(node, diagnostics)?;
    let read = whole(node, entries, kinds, handler, diagnostics);
    read.or_else(|| rest(node, entries, kinds, handler, diagnostics))
}

/// Keys that every task may have, whatever it does.
fn common_keys() -> Vec<&'static str> {
    TaskRecord::fields().iter().map(|field| field.name).collect()
}

/// Keeps the valid part of a task with a mistake: with it the mistakes of others are reported, and none that
/// follows from this one.
fn rest(
    node: &Node,
    entries: &[(Sp<String>, Node)],
    kinds: &[Kind],
    handler: bool,
    diagnostics: &mut Diagnostics,
) -> Option<Task> {
    let fields = common_keys();
    let of = |entries| Node { value: Yaml::Map(entries), span: node.span };
    let right = |entry: &&(Sp<String>, Node)| {
        let mut own = Diagnostics::default();
        let known = fields.contains(&entry.0.value.as_str()) && !entry.1.is_null();
        known && TaskRecord::from_node(&of(vec![(*entry).clone()]), &mut own).is_some() && !own.has_errors()
    };
    let record = TaskRecord::from_node(
        &of(entries.iter().filter(right).cloned().collect()),
        &mut Diagnostics::default(),
    )?;
    let resources = entries.iter().filter_map(|(key, body)| {
        let kind = kinds.iter().find(|kind| kind.name == key.value)?;
        body.as_str().is_none_or(is_template).then_some((*kind, key.span, body))
    });
    let resources: Vec<_> = resources.collect();
    // A key that nobody knows may be what gives the others their sense, such as `with_items`.
    let is_known = |(key, _): &(Sp<String>, Node)| {
        fields.contains(&key.value.as_str()) || kinds.iter().any(|kind| kind.name == key.value)
    };
    let gives =
        |entry: &(Sp<String>, Node)| matches!(entry.0.value.as_str(), "loop" | "vars") && !right(&entry);
    let has_its_sense = entries.iter().all(|entry| is_known(entry) && !gives(entry));
    let action = match (resources.as_slice(), &record.include, &record.block) {
        ([(kind, span, body)], None, None) if has_its_sense => {
            Action::Resource { kind: *kind, span: *span, body: (*body).clone() }
        }
        ([], Some(playbook), None) => Action::Include(playbook.clone()),
        ([], None, Some(tasks)) => {
            // Its tasks may have been read before the mistake was seen.
            let mut own = Diagnostics::default();
            let mut read = |nodes: &[Node]| -> Vec<Task> {
                nodes.iter().filter_map(|node| task(node, kinds, handler, &mut own)).collect()
            };
            let always = record.always.as_ref().map(|always| read(&always.value)).unwrap_or_default();
            let block = Block { span: tasks.span, tasks: read(&tasks.value), always };
            diagnostics.append_new(own);
            Action::Block(block)
        }
        _ => Action::Broken,
    };
    let span = record.name.as_ref().map_or(node.span, |name| name.span);
    Some(Task { record, action, span })
}

fn has_field(kind: &Kind, field: &str) -> bool {
    (kind.fields)().iter().any(|known| known.name == field)
}

/// The resource that has such a field, where it is the only one.
fn only_with_field(kinds: &[Kind], field: &str) -> Option<&'static str> {
    let mut having = kinds.iter().filter(|kind| has_field(kind, field));
    having.next().filter(|_| having.next().is_none()).map(|kind| kind.name)
}

/// The same of a task without a mistake.
fn whole(
    node: &Node,
    entries: &[(Sp<String>, Node)],
    kinds: &[Kind],
    handler: bool,
    diagnostics: &mut Diagnostics,
) -> Option<Task> {
    let fields = common_keys();
    let (mut common, others): (Vec<_>, Vec<_>) =
        entries.iter().cloned().partition(|(key, _)| fields.contains(&key.value.as_str()));
    let mut found: Vec<(Kind, Span, Node)> = Vec::new();
    let mut unknown = false;
    // Ansible has a module of this name.
    if let Some(at) = common.iter().position(|(key, value)| key.value == "raw" && value.as_str().is_some()) {
        let (_, value) = common.remove(at);
        unknown = true;
        diagnostics.push(
            Diagnostic::error(value.span, "`raw` runs nothing: it is `true` where a task has no templates")
                .help("a command is run by `command: { script: \"...\" }`"),
        );
    }
    // An empty `when` or `hosts` would be no condition: the task would be for all.
    for (key, _) in common.iter().filter(|(key, value)| value.is_null() && key.value != "vars") {
        unknown = true;
        let text = format!("`{}` has no value", key.value);
        diagnostics.push(
            Diagnostic::error(key.span, text).help("write one behind the colon, or take the line away"),
        );
    }
    let common = Node { value: Yaml::Map(common), span: node.span };
    let record = TaskRecord::from_node(&common, diagnostics);
    for (key, body) in others {
        if let Some(kind) = kinds.iter().find(|kind| kind.name == key.value) {
            match body.as_str().filter(|text| !is_template(text)) {
                Some(text) => {
                    unknown = true;
                    diagnostics.push(no_fields(kind, text, &body));
                }
                None => found.push((*kind, key.span, body)),
            }
            continue;
        }
        unknown = true;
        if let Some(help) = foreign::help(&key.value, &[Place::Task, Place::Module]) {
            let text = format!("there is no `{}` for a task", key.value);
            diagnostics.push(Diagnostic::error(key.span, text).help(help));
            continue;
        }
        let all = fields.iter().copied().chain(kinds.iter().map(|kind| kind.name));
        // `file:` and its fields in one column, or one of them beside it.
        let field_of = entries.iter().find_map(|(name, body)| {
            let kind = kinds.iter().find(|kind| kind.name == name.value)?;
            has_field(kind, &key.value).then_some((kind.name, body.is_null()))
        });
        let is_field = field_of.is_some() || did_you_mean(&key.value, fields.iter().copied()).is_some();
        let what = if is_field { "key" } else { "resource" };
        let help = match did_you_mean(&key.value, all.clone()) {
            _ if let Some((kind, empty)) = field_of => Some(format!(
                "it is a field of `{kind}`: {}",
                if empty { "indent it below that line" } else { "write it among those" }
            )),
            // It looks like `user`.
            _ if key.value == "use" => {
                Some("a playbook is used in `playbooks:` of the inventory; a task takes one in by `include: ./FILE`".to_owned())
            }
            Some(near) => Some(format!("did you mean `{near}`?")),
            None if let Some(kind) = only_with_field(kinds, &key.value) => {
                Some(format!("it is a field of `{kind}`: write `{kind}: {{ {}: ... }}`", key.value))
            }
            // `ansible.builtin.copy`: a collection stands before the name.
            None => did_you_mean_text(key.value.rsplit('.').next().unwrap_or(&key.value), all),
        };
        diagnostics.push(
            Diagnostic::error(key.span, format!("there is no {what} `{}` for a task", key.value))
                .maybe_help(help),
        );
    }
    let record = record?;
    let span = record
        .name
        .as_ref()
        .map_or_else(|| entries.first().map_or(node.span, |(key, _)| key.span), |name| name.span);
    if let [(_, first, _), (kind, second, _), ..] = found.as_slice() {
        diagnostics.push(
            Diagnostic::error(*second, format!("this task has a second resource: `{}`", kind.name))
                .related(*first, "the first one")
                .help("a task does one thing: make it two tasks"),
        );
        return None;
    }
    let action = match (found.pop(), &record.include, &record.block) {
        (Some((kind, span, body)), None, None) => Action::Resource { kind, span, body },
        (None, Some(playbook), None) => Action::Include(playbook.clone()),
        (None, None, Some(tasks)) => {
            let none = Vec::new();
            let always = record.always.as_ref().map_or(&none, |always| &always.value);
            let mut read = |nodes: &[Node]| -> Vec<Task> {
                nodes.iter().filter_map(|node| task(node, kinds, handler, diagnostics)).collect()
            };
            let (read_tasks, read_always) = (read(&tasks.value), read(always));
            Action::Block(Block { span: tasks.span, tasks: read_tasks, always: read_always })
        }
        (None, None, None) => {
            if !unknown {
                diagnostics.push(Diagnostic::error(span, "this task has no resource").help(
                    "say what it does with one resource key, such as `package` or `file`, or with `include` or `block`",
                ));
            }
            return None;
        }
        (_, include, block) => {
            let place = include.as_ref().map(|name| name.span).or(block.as_ref().map(|block| block.span));
            diagnostics.error(place.unwrap_or(span), "a task has one of a resource, `include` and `block`");
            return None;
        }
    };
    if unknown {
        return None;
    }
    misplaced(&record, &action, handler, span, diagnostics).then_some(Task { record, action, span })
}

/// A value of `mode=0644` as YAML has it.
fn plain(value: &str) -> String {
    let is_text = |c: char| c.is_ascii_alphanumeric() || "/._-".contains(c);
    match value.to_ascii_lowercase().as_str() {
        "yes" | "true" => "true".to_owned(),
        "no" | "false" => "false".to_owned(),
        _ if value.starts_with(|c: char| c.is_ascii_alphabetic() || c == '/')
            && value.chars().all(is_text) =>
        {
            value.to_owned()
        }
        _ => format!("\"{}\"", value.trim_matches(['"', '\''])),
    }
}

/// Reports a resource whose fields are written as one text. Ansible takes `apt: name=jq state=present`.
fn no_fields(kind: &Kind, text: &str, body: &Node) -> Diagnostic {
    let name = kind.name;
    let pairs: Option<Vec<String>> = text
        .split_whitespace()
        .map(|word| word.split_once('=').map(|(key, value)| format!("{key}: {}", plain(value))))
        .collect();
    // `names:[jq]` is a text.
    let fields = (kind.fields)();
    let spaced = text.split_once(':').filter(|(key, value)| {
        !value.starts_with([' ', '\n']) && fields.iter().any(|field| field.name == *key)
    });
    let help = match pairs {
        _ if let Some((key, value)) = spaced => {
            format!("a space stands behind the colon: `{key}: {}`", value.lines().next().unwrap_or(value))
        }
        _ if kind.runs_anything => {
            "a program and its arguments: `{ run: [ls, -l] }`; a line for the shell: `{ script: \"ls | wc -l\" }`"
                .to_owned()
        }
        Some(pairs) if !pairs.is_empty() => format!("write them as a map: `{name}: {{ {} }}`", pairs.join(", ")),
        _ => {
            let needed = fields.into_iter().filter(|field| field.need == Need::Required);
            let needed: Vec<String> = needed.map(|field| format!("{}: ...", field.name)).collect();
            let map = if needed.is_empty() { "...".to_owned() } else { needed.join(", ") };
            format!("write a map, `{name}: {{ {map} }}`; `provision explain {name}` shows all fields")
        }
    };
    Diagnostic::error(body.span, format!("expected the fields of `{name}`, found a string")).help(help)
}

/// Reports keys that mean nothing where they are.
fn misplaced(
    record: &TaskRecord,
    action: &Action,
    handler: bool,
    span: Span,
    diagnostics: &mut Diagnostics,
) -> bool {
    let before = diagnostics.errors();
    if let Some(always) = record.always.as_ref().filter(|_| record.block.is_none()) {
        diagnostics.error(always.span, "`always` belongs to `block`");
    }
    match action {
        Action::Broken => {}
        Action::Include(include) => {
            without_effect(record, "an include", span, diagnostics);
            if record.on_failure.is_some() {
                let text = "`on_failure` has no effect on an include";
                let help = "put the include into a `block` that has it";
                diagnostics.push(Diagnostic::error(span, text).help(help));
            }
            if handler {
                diagnostics.error(include.span, "a handler cannot include a playbook");
            }
        }
        Action::Block(block) => {
            without_effect(record, "a block", span, diagnostics);
            if let Some(with) = &record.with {
                diagnostics.error(with.span, "`with` belongs to `include`");
            }
            if record.block.as_ref().is_some_and(|tasks| tasks.value.is_empty()) {
                diagnostics.error(block.span, "this block has no tasks");
            }
            if handler {
                diagnostics.error(block.span, "a handler cannot be a block");
            }
        }
        Action::Resource { kind, span: key, body } => {
            if record.name.is_none() {
                diagnostics.push(
                    Diagnostic::error(span, "this task has no `name`")
                        .help("say in a few words what it is for"),
                );
            }
            if let Some(with) = &record.with {
                diagnostics.error(with.span, "`with` belongs to `include`");
            }
            let asks =
                kind.runs_anything && body.get("changes").is_some_and(|node| node.value == Yaml::Bool(false));
            if let Some(register) = &record.register {
                if !kind.runs_anything {
                    diagnostics.push(
                        Diagnostic::error(
                            register.span,
                            format!("`{}` has no answer to register", kind.name),
                        )
                        .related(*key, "this resource")
                        .help("only a `command` with `changes: false` has one"),
                    );
                } else if !asks {
                    diagnostics.push(
                        Diagnostic::error(
                            register.span,
                            "a command that changes something cannot be registered",
                        )
                        .label("on the second run there would be nothing to register")
                        .related(*key, "this command")
                        .help("if it only asks, say `changes: false`"),
                    );
                } else if let Some((place, why)) = not_registered(record, handler, span) {
                    diagnostics.push(
                        Diagnostic::error(register.span, "this answer cannot be registered")
                            .related(place, why),
                    );
                }
            }
            if let Some(retries) = record.retries.as_ref().filter(|retries| retries.attempts.value == 0) {
                diagnostics.error(retries.attempts.span, "a task is tried at least once");
            }
        }
    }
    diagnostics.errors() == before
}

/// Reports keys that are about one task only. `task` is where it begins, for keys without a place of their own.
fn without_effect(record: &TaskRecord, what: &str, task: Span, diagnostics: &mut Diagnostics) {
    let foreign: [(&str, Option<Span>); 10] = [
        ("loop", record.looped.as_ref().map(|node| node.span)),
        ("register", record.register.as_ref().map(|name| name.span)),
        ("notify", record.notify.as_ref().and_then(|words| words.0.first()).map(|word| word.span)),
        ("become_user", record.become_user.as_ref().map(|user| user.span)),
        ("retries", record.retries.as_ref().map(|retries| retries.attempts.span)),
        ("timeout", record.timeout.map(|_| task)),
        ("on_deadline", record.on_deadline.map(|_| task)),
        ("run_once", record.run_once.as_ref().map(|_| task)),
        ("raw", record.raw.then_some(task)),
        ("detach", record.detach.then_some(task)),
    ];
    for (name, place) in foreign {
        if let Some(place) = place {
            let text = format!("`{name}` has no effect on {what}");
            diagnostics.push(Diagnostic::error(place, text).help("say it at the tasks that it is for"));
        }
    }
}

/// Returns the place of the key that leaves a question without one answer for all later tasks of its host,
/// and the reason.
fn not_registered(record: &TaskRecord, handler: bool, span: Span) -> Option<(Span, &'static str)> {
    if handler {
        return Some((span, "a handler runs after the tasks that would read it"));
    }
    if let Some(items) = &record.looped {
        return Some((items.span, "a loop has an answer for each item"));
    }
    match &record.run_once {
        Some(RunOnceFile::Host(host)) => Some((host.span, "the other hosts would have no answer")),
        Some(RunOnceFile::First) => Some((span, "with `run_once`, the other hosts would have no answer")),
        Some(RunOnceFile::No) | None => None,
    }
}
