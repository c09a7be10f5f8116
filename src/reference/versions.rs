//! `playbooks/versions.yaml` as a page, and what of it is past.

use camino::Utf8Path;
use jiff::civil::Date;

use crate::config::{Diagnostics, Sources, Sp, Span};
use crate::playbook::versions::{Day, Evidence, Taker, Until, VERSIONS, Value};
use crate::playbook::{Library, builtin, library};
use crate::{put, resources};

/// Parameters of the built-in playbooks that take their defaults from the versions.
fn takers() -> Vec<Taker> {
    let (mut sources, mut diagnostics) = (Sources::default(), Diagnostics::default());
    let mut library = Library::default();
    let mut takers = Vec::new();
    for name in builtin::names() {
        let origin = library::origin(name, None, Utf8Path::new(""));
        let name = Sp::new(name.to_owned(), Span::NONE);
        let read = library.get(&name, origin, resources::kinds(), &mut sources, &mut diagnostics);
        let params = read.iter().flat_map(|playbook| playbook.params.values());
        takers.extend(params.filter_map(|(_, param)| {
            let name = param.from.as_ref()?.value.clone();
            Some(Taker { file: format!("playbooks/{}", read.as_ref()?.name.clone() + ".yaml"), name })
        }));
    }
    takers
}

/// Lists what is in use and past on a day: value, successor, who uses it and where to look.
pub fn outdated(on: Date) -> String {
    let takers = takers();
    let past = VERSIONS.outdated(on, &takers);
    if past.is_empty() {
        return format!("nothing that is in use is past on {on}\n");
    }
    let mut text = String::new();
    for (value, users) in past {
        let why = match (value.kind, value.good_until) {
            (Until::EndOfLife, Day(Some(day))) => format!("ended on {day}"),
            (_, Day(Some(day))) => format!("to be looked at again since {day}"),
            (_, Day(None)) => String::new(),
        };
        put!(text, "{}  {}\n  {why}", value.id, shown(value));
        if let Some(next) = &value.follows {
            put!(text, "; {next} follows");
        }
        put!(text, "\n  used by {}\n  look at {}\n", users.join(", "), value.source);
    }
    text
}

/// The value as one line.
fn shown(value: &Value) -> String {
    let json = value.value.to_json();
    json.as_str().map_or_else(|| json.to_string(), str::to_owned)
}

/// A text as code, whatever it holds.
fn code(text: &str) -> String {
    if text.contains('`') { format!("`` {text} ``") } else { format!("`{text}`") }
}

/// The address of a source, as a link where it is one.
fn source(text: &str) -> String {
    if text.starts_with("https://") && !text.contains(' ') { format!("<{text}>") } else { text.to_owned() }
}

/// The page.
pub(super) fn page(generated: &str) -> String {
    let takers = takers();
    let mut text = format!("{generated}# Versions\n\n");
    text.push_str(
        "Versions, branches, URLs, keys, digests and indexes of the built-in playbooks stand once, in \
         `playbooks/versions.yaml`, and this page shows that file. A parameter takes its default from there by `from:`; \
         playbooks of your own may do so too. `provision generate outdated` (`make outdated`) lists what is past, and \
         [Renewing versions](../contributing/renewing-versions.md) says how to renew it.\n\n\
         Each value has a line of its source and the day on which somebody looked. *vendor*: whoever makes it says so; \
         *tracker*: a page that follows the lifetimes of others; *third-party*: reports, code or packages of others, no \
         page of the vendor was found; *computed*: from a file of the vendor; *measured*: by this project.\n",
    );
    let is_used = |value: &&Value| !VERSIONS.users(value, &takers).is_empty();
    let known = || VERSIONS.values.iter().filter(|value| !value.is_unknown());
    let with_source = |value: &&Value| value.evidence != Evidence::Nothing;
    text.push_str("\n## In use\n\n");
    for value in known().filter(with_source).filter(is_used) {
        entry(&mut text, value, &takers);
    }
    text.push_str("\n## In use without a source\n\nNobody found a page that says so.\n\n");
    for value in known().filter(|value| !with_source(value)) {
        entry(&mut text, value, &takers);
    }
    text.push_str("\n## Known, and no default\n\n");
    for value in known().filter(with_source).filter(|value| !is_used(value)) {
        entry(&mut text, value, &takers);
    }
    text.push_str(
        "\n## Unknown\n\nNobody found these, so they are empty and guessed nowhere. The code has the second column.\n\n\
         | value | in the code | what it is | where |\n|---|---|---|---|\n",
    );
    for value in VERSIONS.values.iter().filter(|value| value.is_unknown()) {
        let shipped = value.shipped.as_deref().unwrap_or_default();
        let note = value.note.as_ref().map(|note| format!(". {note}")).unwrap_or_default();
        let users = VERSIONS.users(value, &takers).join(", ");
        put!(text, "| `{}` | {shipped} | {}{} | {users} |\n", value.id, value.what, cell(&note));
    }
    text.push_str(
        "\n## Lifetimes\n\n`validate` warns of a value that names one of these after its end. *ended*: it is over, and the \
         day is not published; *unknown*: no end is published, or it was not found.\n\n\
         | of | release | ends | follows | what it is | source |\n|---|---|---|---|---|---|\n",
    );
    for life in &VERSIONS.lifetimes {
        put!(
            text,
            "| {} | {} | {} | {} | {} | {} ({}) |\n",
            life.product,
            life.release,
            life.ends,
            life.follows.as_deref().unwrap_or_default(),
            cell(&life.what),
            source(&life.source),
            life.evidence
        );
    }
    text
}

fn cell(text: &str) -> String {
    text.replace('|', "\\|")
}

fn entry(text: &mut String, value: &Value, takers: &[Taker]) {
    put!(text, "- `{}`: {}", value.id, code(&shown(value)));
    if !value.names.is_empty() {
        put!(text, " for {}", value.names.join(", "));
    }
    put!(text, "\n  {}.", value.what);
    if let Day(Some(day)) = value.good_until {
        put!(
            text,
            " {} {day}",
            if value.kind == Until::EndOfLife { "Ends on" } else { "To be looked at again on" }
        );
        match &value.follows {
            Some(next) => put!(text, "; {next} follows."),
            None => text.push('.'),
        }
    }
    let users = VERSIONS.users(value, takers);
    if !users.is_empty() {
        put!(text, " Used by {}.", users.join(", "));
    }
    text.push('\n');
    if !value.quote.is_empty() {
        put!(text, "  {}\n", code(&value.quote));
    }
    if !value.source.is_empty() {
        let day = value.source_day.as_ref().map(|day| format!(", {day}")).unwrap_or_default();
        put!(text, "  ({}: {}{day})\n", value.evidence, source(&value.source));
    }
    if let Some(note) = &value.note {
        put!(text, "  {note}\n");
    }
}
