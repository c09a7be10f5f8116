//! Resources, checks, facts, exit codes and keys as pages.

use serde_json::{Value as Json, json};

use crate::checks::{self, Check};
use crate::config::{FieldDoc, Need};
use crate::exit::{self, ExitCode};
use crate::report::rows::wrap;
use crate::resources::{self, Kind};
use crate::{facts, put, schema};

/// About how wide the pages are written, and how wide the columns of an index are.
pub const WIDTH: usize = 100;

/// Said at the top of each generated page.
pub(super) const GENERATED: &str =
    "<!-- Written by `provision generate docs DIRECTORY`; `make docs` does it. -->\n";

/// A name and what it is, over as many lines as it takes.
pub(super) fn row(name: &str, room: usize, what: &str) -> String {
    let mut text = String::new();
    for (at, line) in wrap(what, WIDTH - room - 3).iter().enumerate() {
        let name = if at == 0 { name } else { "" };
        let gap = if name.len() < room { "" } else { " " };
        put!(text, "  {name:room$}{gap} {line}\n");
    }
    text
}

/// The first sentence of a documentation.
pub(super) fn first_sentence(doc: &str) -> String {
    let paragraph = doc.split("\n\n").next().unwrap_or("");
    let words: Vec<&str> = paragraph.split_whitespace().collect();
    let end = words.iter().position(|word| word.ends_with('.')).unwrap_or(words.len());
    words.get(..=end).unwrap_or(&words).join(" ")
}

/// All resources with their first line.
pub fn resource_index() -> String {
    let mut text = String::from("Resources (`provision explain NAME`):\n\n");
    for kind in resources::kinds() {
        text.push_str(&row(kind.name, 16, &first_sentence((kind.doc)())));
    }
    text
}

/// All checks with what they prove.
pub fn check_index() -> String {
    let mut text = String::from("Checks of `verify` (`provision explain NAME`):\n\n");
    for check in checks::TABLE.iter() {
        text.push_str(&row(check.id, 24, check.title));
    }
    text
}

/// The resources whose tasks fill in what a check expects, as a line of its page.
fn promised(check: &Check) -> String {
    let by = |key: &str| -> Vec<String> {
        let kinds = resources::kinds().iter().filter(|kind| kind.promises.contains(&key));
        kinds.map(|kind| format!("`{}`", kind.name)).collect()
    };
    let keys = check.keys().into_iter().map(|key| (key, by(key))).filter(|(_, by)| !by.is_empty());
    let told: Vec<String> = keys.map(|(key, by)| format!("`expect.{key}` by {}", by.join(", "))).collect();
    if told.is_empty() { String::new() } else { format!("- filled in by tasks: {}\n", told.join("; ")) }
}

/// The page of a check.
pub fn check(check: &Check) -> String {
    format!(
        "# {}\n\n{}.\n\n{}\n\n- expected: {}\n{}- what to do: {}\n- a finding is a {}; kind: {}\n- source: {}\n",
        check.id,
        capital(check.title),
        check.why,
        check.expects,
        promised(check),
        check.hint,
        check.severity.word(),
        check.needs.word(),
        check.source,
    )
}

/// All checks as one page.
pub(super) fn check_page() -> String {
    let mut text = format!("{GENERATED}# Checks\n\n");
    text.push_str(
        "What `provision verify` checks on every host. A check ends as *pass*, *warn*, *fail*, *unknown* (there is no answer: a tool is missing, hung or not understood; never a pass) or *skip* (it does not apply). \
         `idle` checks are made at any time, `load` needs work on the host, `delta` an earlier `verify`, \
         `fleet` other hosts with the same groups, `active` traffic between hosts (`verify --active`). `expect.ignore` leaves a check out. \
         Where `expect:` of the inventory does not say what a check expects, the tasks of the host do (*filled in by \
         tasks*), unless they are skipped or blocked there. The evidence of a finding says where its expectation \
         came from. `provision explain NAME` \
         shows one.\n\n| check | what is proven | finding | kind |\n|---|---|---|---|\n",
    );
    for check in checks::TABLE.iter() {
        let (id, severity) = (check.id, check.severity.word());
        put!(
            text,
            "| [{id}](#{}) | {} | {severity} | {} |\n",
            id.replace('.', ""),
            check.title,
            check.needs.word()
        );
    }
    for entry in checks::TABLE.iter() {
        text.push('\n');
        text.push_str(&check(entry).replacen("# ", "## ", 1));
    }
    text
}

/// The page of a resource.
pub fn resource(name: &str) -> Option<String> {
    resources::kind(name).map(resource_page)
}

fn resource_page(kind: &Kind) -> String {
    let mut text = format!("# {}\n\n{}\n\n", kind.name, dedent((kind.doc)()));
    for field in (kind.fields)() {
        text.push_str(&field_line(&field));
    }
    if !kind.promises.is_empty() {
        let keys: Vec<String> = kind.promises.iter().map(|key| format!("`{key}`")).collect();
        put!(
            text,
            "\nWhere `expect:` does not say it, `verify` expects what these tasks set: {}.\n",
            keys.join(", ")
        );
    }
    put!(text, "\n```yaml\n{}\n```\n", kind.example.trim_end());
    text
}

fn field_line(field: &FieldDoc) -> String {
    let need = match &field.need {
        Need::Required => ", required".to_owned(),
        Need::Optional => String::new(),
        Need::Default(code) => {
            plain_default(code).map(|default| format!(", default `{default}`")).unwrap_or_default()
        }
    };
    let doc = dedent(field.doc).replace('\n', "\n  ");
    format!("- `{}` ({}{need})\n  {doc}\n", field.name, kind_of(&field.schema))
}

/// The values of a schema in words.
fn kind_of(schema: &Json) -> String {
    let words =
        |value: &Json| value.as_str().map_or_else(|| format!("`{value}`"), |text| format!("`{text}`"));
    if let Some(choices) = schema.get("enum").and_then(Json::as_array) {
        return choices.iter().map(words).collect::<Vec<_>>().join(" or ");
    }
    for key in ["anyOf", "oneOf"] {
        if let Some(choices) = schema.get(key).and_then(Json::as_array) {
            let mut kinds: Vec<String> = choices.iter().map(kind_of).collect();
            kinds.dedup();
            return kinds.join(" or ");
        }
    }
    match schema.get("type") {
        Some(Json::String(kind)) => one_kind(kind, schema),
        Some(Json::Array(kinds)) => {
            let kinds: Vec<_> = kinds.iter().filter_map(Json::as_str).collect();
            kinds.iter().map(|kind| one_kind(kind, schema)).collect::<Vec<_>>().join(" or ")
        }
        _ => "any value".to_owned(),
    }
}

fn one_kind(kind: &str, schema: &Json) -> String {
    let pattern = schema.get("pattern").and_then(Json::as_str).unwrap_or("");
    match kind {
        "string" if pattern.contains("[smhd]") => "a time such as `90s`, `10m`".to_owned(),
        "string" if pattern == "^[0-7]{3,4}$" => "a mode such as `\"0644\"`".to_owned(),
        "string" if pattern == "^/" => "absolute path".to_owned(),
        "integer" => "number".to_owned(),
        "boolean" => "`true` or `false`".to_owned(),
        "array" => match schema.get("items") {
            Some(items) if items.get("$ref").is_some() => "list of tasks".to_owned(),
            Some(items) => match kind_of(items).as_str() {
                "string" => "list of strings".to_owned(),
                "map" => "list of maps".to_owned(),
                "any value" => "list".to_owned(),
                other => format!("list of {other}"),
            },
            None => "list".to_owned(),
        },
        "object" => "map".to_owned(),
        "null" => "`null`".to_owned(),
        other => other.to_owned(),
    }
}

/// `State::Present` as a person writes it: `present`. Nothing when it is nothing.
fn plain_default(code: &str) -> Option<String> {
    let word = code.rsplit("::").next().unwrap_or(code).trim_end_matches("()").trim();
    let empty = code.ends_with("::default()") || code.ends_with("::new()");
    (!empty).then(|| word.trim_matches('"').to_lowercase())
}

fn dedent(doc: &str) -> String {
    doc.lines().map(str::trim).collect::<Vec<_>>().join("\n")
}

/// The table of exit codes.
pub fn exit_codes() -> String {
    let mut text = String::from("# Exit codes\n\n");
    for row in exit::TABLE {
        put!(text, "- **{}** `{}`: {}.\n", row.code, row.name, row.meaning);
        put!(text, "  What to do: {}.\n", row.cure);
    }
    let order: Vec<String> = exit::PRECEDENCE.iter().map(u8::to_string).collect();
    put!(text, "\nWhere several apply, the first of this order is given: {}.\n", order.join(", "));
    text
}

/// One exit code.
pub fn exit_code(row: &ExitCode) -> String {
    format!("# exit code {}: {}\n\n{}.\n\nWhat to do: {}.\n", row.code, row.name, row.meaning, row.cure)
}

/// All resources as one page.
pub(super) fn resources() -> String {
    let mut text = format!("{GENERATED}# Resources\n\n");
    text.push_str("A task has exactly one of these keys. `provision explain NAME` shows the same.\n\n");
    for kind in resources::kinds() {
        put!(text, "- [{0}](#{0})\n", kind.name);
    }
    for kind in resources::kinds() {
        text.push('\n');
        text.push_str(&resource_page(kind).replacen("# ", "## ", 1));
    }
    text
}

/// All facts, as the specimens have them.
pub(super) fn fact_page() -> String {
    let mut text = format!("{GENERATED}# Facts\n\n");
    text.push_str(
        "Templates and conditions see them as `facts.NAME`, those of other hosts as \
         `hosts[\"gpu0\"].facts.NAME`. `[]` stands for each entry of a list. The examples are those of one Debian \
         host; `provision facts INVENTORY` shows those of yours. A fact that is one of a few words is compared with \
         these alone: another one is a mistake. Texts that are ordered are versions, so \
         `facts.os.version_id >= \"9\"` holds for 22.04.\n",
    );
    for fact in facts::base::TABLE {
        text.push('\n');
        text.push_str(&fact_of(fact));
    }
    text
}

/// All facts with what they are, one line each.
pub fn fact_index() -> String {
    let mut text =
        String::from("Facts (`provision explain facts.NAME` has the fields and values of one):\n\n");
    for fact in facts::base::TABLE {
        text.push_str(&row(fact.name, 16, fact.doc));
    }
    text.push_str("\nThose that are one of a few words, which conditions must name as they are:\n\n");
    for (keys, words) in facts::base::WORDS {
        text.push_str(&row(&keys.join("."), 24, &choices(words)));
    }
    text.push_str("\nTexts that are ordered are versions: `facts.os.version_id >= \"9\"` holds for 22.04.\n");
    text
}

/// The words that a fact may be.
fn choices(words: &[&str]) -> String {
    words.iter().copied().filter(|word| !word.is_empty()).collect::<Vec<_>>().join(", ")
}

/// The page of a fact, by its name or that of a field: `facts.os`, `facts.os.family`.
pub fn fact(name: &str) -> Option<String> {
    let mut keys = name.strip_prefix("facts.")?.split('.');
    let name = keys.next()?;
    let fact = facts::base::TABLE.iter().find(|fact| fact.name == name)?;
    let specimens = facts::specimens();
    let mut value = specimens.first().and_then(|(_, specimen)| specimen.get(name));
    // What is in a list has no name of its own.
    while let (Some(Json::Object(fields)), Some(key)) = (value, keys.next()) {
        value = Some(fields.get(key.split('[').next()?)?);
    }
    Some(fact_of(fact))
}

fn fact_of(fact: &facts::base::BaseFact) -> String {
    let mut text = String::new();
    let specimen = facts::specimens().into_iter().next();
    if let Some(value) = specimen.as_ref().and_then(|(_, specimen)| specimen.get(fact.name)) {
        put!(text, "## {}\n\n{}.\n\n", fact.name, capital(fact.doc));
        text.push_str("| path | type | for example |\n|---|---|---|\n");
        leaves(&format!("facts.{}", fact.name), value, &mut |path, value| {
            let words =
                facts::base::WORDS.iter().find(|(keys, _)| path == format!("facts.{}", keys.join(".")));
            let kind = match value {
                Json::String(_) => "string",
                Json::Number(_) => "int",
                Json::Bool(_) => "bool",
                Json::Array(_) => "list",
                Json::Object(_) => "map",
                Json::Null => "none",
            };
            let kind = match words {
                Some((_, words)) => format!("one of {}", choices(words)),
                None => kind.to_owned(),
            };
            put!(text, "| `{path}` | {kind} | `{}` |\n", value.to_string().replace('|', "\\|"));
        });
    }
    text
}

fn leaves(path: &str, value: &Json, each: &mut dyn FnMut(&str, &Json)) {
    match value {
        Json::Object(map) => {
            for (key, value) in map {
                leaves(&format!("{path}.{key}"), value, each);
            }
        }
        Json::Array(list) => match list.first() {
            Some(first @ (Json::Object(_) | Json::Array(_))) => leaves(&format!("{path}[]"), first, each),
            Some(_) | None => each(path, value),
        },
        Json::Null | Json::Bool(_) | Json::Number(_) | Json::String(_) => each(path, value),
    }
}

fn capital(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map(|first| first.to_uppercase().chain(chars).collect()).unwrap_or_default()
}

/// Every key of an inventory.
pub(super) fn inventory() -> String {
    let mut text = format!("{GENERATED}# The inventory\n\n");
    text.push_str(
        "Every key. `inventories/example.yaml` shows most of them at work; \
         [inventory.schema.json](inventory.schema.json) is the same for editors.\n\n",
    );
    keys(&mut text, &schema::inventory(), 0, &|_| false);
    text
}

/// Every key of a playbook.
pub(super) fn playbook() -> String {
    let schema = schema::playbook();
    let mut text = format!("{GENERATED}# The playbook\n\n");
    text.push_str("Every key. [playbook.schema.json](playbook.schema.json) is the same for editors.\n\n");
    keys(&mut text, &schema, 0, &|_| false);
    text.push_str("\n## A task\n\nA task has a resource ([resources](resources.md)), `include` or `block`, and any of these keys. An include and a block \
         take `name`, `hosts`, `when`, `vars` and `tags`, which are for all of their tasks; a block `on_failure` as well.\n\n");
    if let Some(task) = schema.pointer("/$defs/task") {
        keys(&mut text, task, 0, &|name| resources::kind(name).is_some());
    }
    text
}

/// The keys of a schema and of the maps inside.
fn keys(text: &mut String, schema: &Json, depth: usize, left_out: &dyn Fn(&str) -> bool) {
    let required: Vec<&str> = schema
        .get("required")
        .and_then(Json::as_array)
        .map(|names| names.iter().filter_map(Json::as_str).collect())
        .unwrap_or_default();
    let Some(properties) = schema.get("properties").and_then(Json::as_object) else { return };
    for (name, field) in properties.iter().filter(|(name, _)| !left_out(name)) {
        let indent = "  ".repeat(depth);
        let need = if required.contains(&name.as_str()) { ", required" } else { "" };
        let doc = field.get("description").and_then(Json::as_str).unwrap_or("");
        let doc = dedent(doc).replace('\n', &format!("\n{indent}  "));
        put!(text, "{indent}- `{name}` ({}{need})\n{indent}  {doc}\n", kind_of(field));
        let nested = [
            Some(field),
            field.get("items"),
            field.get("additionalProperties").filter(|inner| inner.is_object()),
        ];
        for inner in nested.into_iter().flatten() {
            keys(text, inner, depth + 1, left_out);
            for choice in inner.get("anyOf").and_then(Json::as_array).into_iter().flatten() {
                keys(text, choice, depth + 1, left_out);
            }
        }
    }
}

/// One key of a schema and the keys inside.
pub(super) fn key_lines(schema: &Json, name: &str) -> String {
    let field = schema.get("properties").and_then(|fields| fields.get(name)).cloned().unwrap_or_default();
    let required = schema.get("required").cloned().unwrap_or_default();
    let mut text = String::new();
    keys(&mut text, &json!({ "properties": { name: field }, "required": required }), 0, &|_| false);
    text
}

/// Writes the page of commands: the `--help` of each.
pub(super) fn cli(command: clap::Command) -> String {
    let mut text = format!("{GENERATED}# Commands\n\nWhat `provision COMMAND --help` says.\n");
    let mut root = command.term_width(100);
    root.build();
    help(&mut text, &mut root, &[]);
    text
}

fn help(text: &mut String, command: &mut clap::Command, above: &[String]) {
    let mut path = above.to_vec();
    path.push(command.get_name().to_owned());
    let shown = command.render_long_help().to_string();
    let shown: Vec<&str> = shown.lines().map(str::trim_end).collect();
    put!(text, "\n## {}\n\n```text\n{}\n```\n", path.join(" "), shown.join("\n").trim_end());
    for sub in command.get_subcommands_mut().filter(|sub| sub.get_name() != "help" && !sub.is_hide_set()) {
        help(text, sub, &path);
    }
}
