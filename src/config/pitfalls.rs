//! Text that YAML takes for something else than a person does.

use super::diagnostic::{Diagnostic, Diagnostics};
use super::node::{Node, Yaml};
use super::source::Sources;

/// Reports numbers that lose something when they are read as numbers: `0644`, `550.10`, `1_000`.
pub(super) fn check_numbers(node: &Node, sources: &Sources, diagnostics: &mut Diagnostics) {
    let canonical = match &node.value {
        Yaml::Int(value) => value.to_string(),
        Yaml::Float(value) if sources.snippet(node.span) == format!("{value:?}") => return,
        Yaml::Float(value) => value.to_string(),
        Yaml::List(items) => {
            for item in items {
                check_numbers(item, sources, diagnostics);
            }
            return;
        }
        Yaml::Map(entries) => {
            for (_, value) in entries {
                check_numbers(value, sources, diagnostics);
            }
            return;
        }
        Yaml::Null | Yaml::Bool(_) | Yaml::Str(_) => return,
    };
    let written = sources.snippet(node.span);
    // An alias stands here by its name; its anchor was looked at where it is.
    let number = written.starts_with(|c: char| c.is_ascii_digit() || matches!(c, '-' | '+' | '.'));
    if number && written != canonical {
        let diagnostic =
            Diagnostic::error(node.span, format!("`{written}` would be read as the number {canonical}"))
                .label("versions and modes are strings");
        // `0o755`
        diagnostics.push(match written.strip_prefix("0o") {
            Some(mode) => diagnostic.help(format!("a mode is written in quotes: `\"0{mode}\"`")),
            None if matches!(node.value, Yaml::Int(_)) => diagnostic.help(format!(
                "a text stands in quotes, `\"{written}\"`, and a number is written `{canonical}`"
            )),
            None => diagnostic.quoted(),
        });
    }
}

/// Keys whose texts have lines.
const LINES: [&str; 2] = ["script", "content"];

/// Returns a text as it is written behind its colon, unless it is a block below `|` or `>`.
fn in_place<'s>(node: &Node, sources: &'s Sources) -> Option<&'s str> {
    let written = sources.snippet(node.span).trim_end();
    let before = sources.text(node.span.source).get(..node.span.start as usize)?;
    let is_block = !before.trim_end().ends_with(':') || written.starts_with(['|', '>']);
    (node.as_str().is_some() && !is_block).then_some(written)
}

/// Whether the file means what it looks like. YAML takes some things for something else than a person:
/// letters that pages of the web and text processors put in place of spaces and quotes, and a `!` that it
/// drops.
pub(super) fn is_what_it_looks_like(node: &Node, sources: &Sources, diagnostics: &mut Diagnostics) -> bool {
    let mut well = true;
    match &node.value {
        Yaml::Str(_) => {
            let before = sources.text(node.span.source).get(..node.span.start as usize).unwrap_or("");
            // The parser takes it for "this is a text", and it is gone.
            if before
                .trim_end_matches(' ')
                .strip_suffix('!')
                .is_some_and(|rest| rest.ends_with([' ', '\n', '[', ',']))
            {
                well = false;
                diagnostics.push(
                    Diagnostic::error(node.span, "YAML drops the `!` in front of this")
                        .help("put the whole text in quotes; a condition says `not`"),
                );
            }
            let written = sources.snippet(node.span);
            let quoted = |open, close| written.starts_with(open) && written.ends_with(close);
            if quoted('“', '”') || quoted('‘', '’') {
                diagnostics.push(
                    Diagnostic::warning(node.span, "these quotes become part of the text")
                        .help("quotes of YAML are `\"` and `'`"),
                );
            }
        }
        Yaml::List(items) => {
            for item in items {
                well &= is_what_it_looks_like(item, sources, diagnostics);
            }
        }
        Yaml::Map(entries) => {
            for (key, value) in entries {
                if key.value.starts_with(|c: char| c.is_whitespace() && !c.is_ascii()) {
                    well = false;
                    diagnostics.push(
                        Diagnostic::error(
                            key.span,
                            "this line begins with no-break spaces, which look like spaces",
                        )
                        .help("pages of the web have them; replace them by spaces"),
                    );
                }
                if let Some((name, value)) = key.value.split_once(":{").or_else(|| key.value.split_once(":["))
                {
                    well = false;
                    let bracket = &key.value[name.len() + 1..key.value.len() - value.len()];
                    diagnostics.push(
                        Diagnostic::error(key.span, "a colon is followed by a space")
                            .help(format!("write `{name}: {bracket}`")),
                    );
                }
                let behind = sources.text(key.span.source).get(key.span.end as usize..).unwrap_or("");
                let behind = behind.lines().next().unwrap_or("").trim_start_matches([':', ' ']).trim_end();
                if value.is_empty()
                    && behind.starts_with(['&', '!'])
                    && !behind.contains(' ')
                    && behind.len() > 1
                {
                    well = false;
                    let what = if behind.starts_with('&') { "an anchor" } else { "a tag" };
                    diagnostics.push(
                        Diagnostic::error(
                            key.span,
                            format!("`{behind}` is {what} of YAML, and nothing stands behind it"),
                        )
                        .help(format!("put it in double quotes: `\"{behind}\"`")),
                    );
                }
                let has_lines = LINES.contains(&key.value.as_str());
                let written = has_lines.then(|| in_place(value, sources)).flatten();
                let escaped = written.is_some_and(|written| written.contains("\\n"));
                let lines = written.is_some_and(|written| written.contains('\n'));
                if lines && !escaped {
                    well = false;
                    diagnostics.push(Diagnostic::error(value.span, "YAML makes one line of these").help(
                        format!("`{0}: |` keeps the lines; `{0}: >` says that they are joined", key.value),
                    ));
                }
                let is_quoted = written.is_some_and(|written| written.starts_with('"'));
                if escaped && !lines && !is_quoted && key.value == "content" {
                    diagnostics.push(
                        Diagnostic::warning(
                            value.span,
                            "`\\n` is no new line here: the file gets a `\\` and an `n`",
                        )
                        .help("it is one in double quotes, or write `content: |` and the lines below it"),
                    );
                }
                well &= is_what_it_looks_like(value, sources, diagnostics);
            }
        }
        Yaml::Null | Yaml::Bool(_) | Yaml::Int(_) | Yaml::Float(_) => {}
    }
    well
}
