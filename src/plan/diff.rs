//! Differences as people read them.

use similar::TextDiff;

use crate::resources::{Attribute, Detail};

/// Lines of a diff that are shown at most.
const MAX_LINES: usize = 400;

/// A unified diff of two texts with three lines of context; empty when they are equal.
pub fn unified(path: &str, before: Option<&str>, after: Option<&str>) -> String {
    let old = before.unwrap_or("");
    let new = after.unwrap_or("");
    let diff = TextDiff::from_lines(old, new);
    let old_name = if before.is_some() { path } else { "/dev/null" };
    let new_name = if after.is_some() { path } else { "/dev/null" };
    let text = diff.unified_diff().context_radius(3).header(old_name, new_name).to_string();
    bounded(&text)
}

fn bounded(text: &str) -> String {
    let lines = text.lines().count();
    if lines <= MAX_LINES {
        return text.to_owned();
    }
    let mut kept: Vec<&str> = text.lines().take(MAX_LINES).collect();
    let more = format!("... and {} more lines", lines - MAX_LINES);
    kept.push(&more);
    kept.join("\n") + "\n"
}

/// Renders the detail of a change: a diff, attribute lines or a command.
pub fn render(path: &str, detail: &Detail) -> String {
    match detail {
        Detail::Text { before: None, after: None } => {
            "(content not shown: it may hold a secret, is not text or is long)\n".to_owned()
        }
        Detail::Text { before, after } => unified(path, before.as_deref(), after.as_deref()),
        Detail::Attributes(attributes) => attributes.iter().map(attribute).collect(),
        Detail::Command(command) => bounded(&format!("$ {}\n", command.trim().replace('\n', "\n  "))),
    }
}

/// All that a change's detail says of the state before it.
pub fn before(detail: &Detail) -> String {
    match detail {
        Detail::Text { before, .. } => format!("{before:?}"),
        Detail::Attributes(attributes) => {
            let before = attributes.iter().map(|attribute| (&attribute.name, &attribute.before));
            format!("{:?}", before.collect::<Vec<_>>())
        }
        Detail::Command(_) => String::new(),
    }
}

fn attribute(attribute: &Attribute) -> String {
    match (&attribute.before, &attribute.after) {
        (Some(before), Some(after)) => format!("  {}: {before} -> {after}\n", attribute.name),
        (None, Some(after)) => format!("+ {}: {after}\n", attribute.name),
        (Some(before), None) => format!("- {}: {before}\n", attribute.name),
        (None, None) => String::new(),
    }
}
