//! YAML text to a tree of nodes with positions: the only file that names the YAML crate.
//!
//! Strict where YAML is treacherous: a duplicate key, a second document, a tab, an anchor
//! bomb and deep nesting are errors; `yes` and `on` are text. See `docs/design/0002-yaml.md`.

use std::fmt;

use serde::Deserialize;
use serde::de::{self, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_yaml::{DuplicateKeyPolicy, Spanned};

use serde_json::Value as Json;

use super::diagnostic::{Diagnostic, Diagnostics};
use super::source::{SourceId, Sources, Sp, Span};
use crate::put;

/// The largest file that is read, in bytes; a 10 000-host inventory has about 1 MiB.
pub const MAX_FILE: u64 = 8 << 20;

/// A YAML value and where it stands.
#[derive(Debug, Clone, PartialEq)]
pub struct Node {
    /// The value.
    pub value: Yaml,
    /// Its place in the file.
    pub span: Span,
}

/// A YAML value.
#[derive(Debug, Clone, PartialEq)]
pub enum Yaml {
    /// `null`, `~` or nothing.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A whole number.
    Int(i64),
    /// A number with a fraction or an exponent.
    Float(f64),
    /// Text.
    Str(String),
    /// A sequence.
    List(Vec<Node>),
    /// A mapping, in the order written; keys are unique.
    Map(Vec<(Sp<String>, Node)>),
}

impl Yaml {
    /// Returns the name of this kind of value, for people.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Null => "nothing",
            Self::Bool(_) => "a boolean",
            Self::Int(_) => "an integer",
            Self::Float(_) => "a number",
            Self::Str(_) => "a string",
            Self::List(_) => "a list",
            Self::Map(_) => "a map",
        }
    }
}

impl Node {
    /// A node that no file holds.
    pub fn detached(value: Yaml) -> Self {
        Self { value, span: Span::NONE }
    }

    /// The entry of a mapping with this key.
    pub fn get(&self, key: &str) -> Option<&Self> {
        let Yaml::Map(entries) = &self.value else { return None };
        entries.iter().find(|(k, _)| k.value == key).map(|(_, v)| v)
    }

    /// The text, when it is text.
    pub fn as_str(&self) -> Option<&str> {
        if let Yaml::Str(text) = &self.value { Some(text) } else { None }
    }

    /// The value as JSON, which is what variables are.
    pub fn to_json(&self) -> Json {
        match &self.value {
            Yaml::Null => Json::Null,
            Yaml::Bool(value) => Json::Bool(*value),
            Yaml::Int(value) => Json::from(*value),
            Yaml::Float(value) => Json::from(*value),
            Yaml::Str(text) => Json::String(text.clone()),
            Yaml::List(items) => Json::Array(items.iter().map(Self::to_json).collect()),
            Yaml::Map(entries) => Json::Object(
                entries.iter().map(|(key, value)| (key.value.clone(), value.to_json())).collect(),
            ),
        }
    }

    /// A node for a value that was filled in at a place.
    pub fn from_json(value: &Json, span: Span) -> Self {
        let value = match value {
            Json::Null => Yaml::Null,
            Json::Bool(value) => Yaml::Bool(*value),
            Json::Number(number) => match (number.as_i64(), number.as_f64()) {
                (Some(value), _) => Yaml::Int(value),
                (None, Some(value)) => Yaml::Float(value),
                (None, None) => Yaml::Str(number.to_string()),
            },
            Json::String(text) => Yaml::Str(text.clone()),
            Json::Array(items) => Yaml::List(items.iter().map(|item| Self::from_json(item, span)).collect()),
            Json::Object(map) => Yaml::Map(
                map.iter()
                    .map(|(key, value)| (Sp::new(key.clone(), span), Self::from_json(value, span)))
                    .collect(),
            ),
        };
        Self { value, span }
    }

    /// Whether nothing is written here.
    pub fn is_null(&self) -> bool {
        self.value == Yaml::Null
    }

    /// Whether it is not even a `null` that a file has here: a key has nothing behind its colon.
    pub fn is_empty(&self) -> bool {
        self.is_null() && self.span != Span::NONE && self.span.start == self.span.end
    }
}

/// The tree as the YAML crate delivers it, before positions get their file.
enum Raw {
    Null,
    Bool(bool),
    Int(i64),
    Float(f64),
    Str(String),
    List(Vec<Spanned<Raw>>),
    Map(Vec<(Spanned<String>, Spanned<Raw>)>),
}

impl<'de> Deserialize<'de> for Raw {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct RawVisitor;
        impl<'de> Visitor<'de> for RawVisitor {
            type Value = Raw;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a YAML value")
            }
            fn visit_unit<E>(self) -> Result<Raw, E> {
                Ok(Raw::Null)
            }
            fn visit_none<E>(self) -> Result<Raw, E> {
                Ok(Raw::Null)
            }
            fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<Raw, D::Error> {
                Raw::deserialize(deserializer)
            }
            fn visit_bool<E>(self, value: bool) -> Result<Raw, E> {
                Ok(Raw::Bool(value))
            }
            fn visit_i64<E>(self, value: i64) -> Result<Raw, E> {
                Ok(Raw::Int(value))
            }
            fn visit_u64<E: de::Error>(self, value: u64) -> Result<Raw, E> {
                i64::try_from(value).map(Raw::Int).map_err(|_| E::custom("this number is too large"))
            }
            fn visit_f64<E>(self, value: f64) -> Result<Raw, E> {
                Ok(Raw::Float(value))
            }
            fn visit_str<E>(self, value: &str) -> Result<Raw, E> {
                Ok(Raw::Str(value.to_owned()))
            }
            fn visit_string<E>(self, value: String) -> Result<Raw, E> {
                Ok(Raw::Str(value))
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Raw, A::Error> {
                let mut list = Vec::new();
                while let Some(item) = seq.next_element()? {
                    list.push(item);
                }
                Ok(Raw::List(list))
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Raw, A::Error> {
                let mut entries = Vec::new();
                while let Some(entry) = map.next_entry()? {
                    entries.push(entry);
                }
                Ok(Raw::Map(entries))
            }
        }
        deserializer.deserialize_any(RawVisitor)
    }
}

/// `tags`: whether tags mean something to others.
fn options(tags: bool) -> serde_yaml::Options {
    serde_yaml::options! {
        strict_booleans: true,
        duplicate_keys: DuplicateKeyPolicy::Error,
        with_snippet: false,
        emit_comments: false,
        // `!not x` would be `x`.
        reject_unsupported_tags: !tags,
        // Aliases that multiply; an honest file repeats a handful of lines.
        alias_limits: serde_yaml::alias_limits! { max_total_replayed_events: 50_000 },
        budget: serde_yaml::budget! { max_depth: 64, max_nodes: 2_000_000, max_events: 6_000_000 },
    }
}

/// Reads one YAML document. An empty text is [`Yaml::Null`].
///
/// # Errors
/// One diagnostic that points at the first place that is not YAML as we take it.
pub fn parse(sources: &Sources, source: SourceId) -> Result<Node, Box<Diagnostic>> {
    tree(sources, source, options(false))
}

/// The same for a file of another program, whose tags are left out.
///
/// # Errors
/// As [`parse`].
pub fn parse_foreign(sources: &Sources, source: SourceId) -> Result<Node, Box<Diagnostic>> {
    tree(sources, source, options(true))
}

fn tree(sources: &Sources, source: SourceId, options: serde_yaml::Options) -> Result<Node, Box<Diagnostic>> {
    let text = sources.text(source);
    if text.len() as u64 > MAX_FILE {
        let span = Span { source, start: 0, end: 0 };
        return Err(Box::new(
            Diagnostic::error(span, format!("this file has {} MiB", text.len() >> 20))
                .help(format!("an inventory or a playbook has at most {} MiB", MAX_FILE >> 20)),
        ));
    }
    let raw: Result<Spanned<Raw>, _> = serde_yaml::from_str_with_options(text, options);
    match raw {
        Ok(raw) => Ok(attach(raw, source, text)),
        Err(error) => Err(Box::new(syntax_error(&error, source, text))),
    }
}

/// Reads one YAML document and reports everything that is treacherous in it. The root may not
/// be empty.
pub fn read(sources: &Sources, source: SourceId, diagnostics: &mut Diagnostics) -> Option<Node> {
    match parse(sources, source) {
        Ok(node) if node.is_null() => {
            let span = Span { source, start: 0, end: 0 };
            diagnostics.push(Diagnostic::error(span, "this file is empty"));
            None
        }
        Ok(node) => {
            check_numbers(&node, sources, diagnostics);
            is_what_it_looks_like(&node, sources, diagnostics).then_some(node)
        }
        Err(diagnostic) => {
            diagnostics.push(*diagnostic);
            None
        }
    }
}

/// Reports numbers that lose something when they are read as numbers: `0644`, `550.10`, `1_000`.
fn check_numbers(node: &Node, sources: &Sources, diagnostics: &mut Diagnostics) {
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
fn is_what_it_looks_like(node: &Node, sources: &Sources, diagnostics: &mut Diagnostics) -> bool {
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

/// A text of one line as YAML: in quotes where it would be a number or another value.
pub fn scalar(text: &str) -> String {
    let yaml = to_string(&text).map(|yaml| yaml.trim_end().to_owned());
    // A long text is folded over two lines, which nothing else can stand in.
    yaml.filter(|yaml| !yaml.contains('\n')).unwrap_or_else(|| in_quotes(text))
}

/// A text in double quotes.
pub fn in_quotes(value: &str) -> String {
    let json = serde_json::json!(value).to_string();
    json.chars().fold(String::new(), |mut text, c| {
        if is_odd(c) {
            put!(text, "\\u{:04x}", u32::from(c));
        } else {
            text.push(c);
        }
        text
    })
}

/// Whether YAML has no such character as it is: control characters and what it takes for the end of a line.
pub fn is_odd(c: char) -> bool {
    c.is_control() || matches!(c, '\u{2028}' | '\u{2029}' | '\u{feff}' | '\u{fffe}' | '\u{ffff}')
}

/// Writes a value as YAML; nothing when it cannot be written so.
pub fn to_string<T: serde::Serialize>(value: &T) -> Option<String> {
    serde_yaml::to_string(value).ok()
}

fn span_of(location: serde_yaml::Location, source: SourceId, text: &str) -> Span {
    let span = location.span();
    let number = |n: u64| usize::try_from(n).unwrap_or(usize::MAX);
    // A mistake is told in characters, not in bytes.
    let after = |from: usize, chars: u64| {
        let rest = text.get(from..).unwrap_or("");
        from + rest.char_indices().nth(number(chars)).map_or(rest.len(), |(at, _)| at)
    };
    let start = span.byte_offset().map_or_else(|| after(0, span.offset()), number);
    let end =
        span.byte_len().map_or_else(|| after(start, span.len()), |len| start.saturating_add(number(len)));
    let byte = |at: usize| u32::try_from(text.floor_char_boundary(at)).unwrap_or(u32::MAX);
    Span { source, start: byte(start), end: byte(end) }
}

fn attach(raw: Spanned<Raw>, source: SourceId, text: &str) -> Node {
    let span = span_of(raw.referenced, source, text);
    let value = match raw.value {
        Raw::Null => Yaml::Null,
        Raw::Bool(value) => Yaml::Bool(value),
        Raw::Int(value) => Yaml::Int(value),
        Raw::Float(value) => Yaml::Float(value),
        Raw::Str(value) => Yaml::Str(value),
        Raw::List(items) => Yaml::List(items.into_iter().map(|item| attach(item, source, text)).collect()),
        Raw::Map(entries) => Yaml::Map(
            entries
                .into_iter()
                .map(|(key, value)| {
                    let span = span_of(key.referenced, source, text);
                    (Sp::new(key.value, span), attach(value, source, text))
                })
                .collect(),
        ),
    };
    Node { value, span }
}

fn syntax_error(error: &serde_yaml::Error, source: SourceId, text: &str) -> Diagnostic {
    let span = error.location().map_or(Span { source, start: 0, end: 0 }, |l| span_of(l, source, text));
    let full = error.to_string();
    // The crate ends its text with the position, which we show ourselves.
    let message = full.split(" at line ").next().unwrap_or(&full).trim_end_matches([',', ':', ' ']);
    if full.contains("multiple YAML documents") {
        return Diagnostic::error(span, "a second document starts here")
            .help("one file holds one document: split the file at `---`");
    }
    if let Some(key) = message.strip_prefix("duplicate mapping key: ") {
        let key = key.split(", set ").next().unwrap_or(key);
        let first = text.get(..span.start as usize).and_then(|before| first_key(before, key, source));
        let diagnostic = Diagnostic::error(span, format!("the key `{key}` is written twice"));
        return match first {
            Some(first) => {
                // `- name: t` and, below it in the same column, `name: u`.
                let before = text.get(..first.start as usize).unwrap_or("");
                let dash = before.rsplit('\n').next().is_some_and(|line| line.trim() == "-");
                let help = format!("a new entry of the list begins with a dash: `- {key}: ...`");
                let help = dash.then_some(help).or_else(|| below_what(text, span));
                diagnostic.label("again here").related(first, "first here").maybe_help(help)
            }
            None => diagnostic,
        };
    }
    if let Some(tag) = message.strip_prefix("unsupported tag ") {
        let help = match tag.trim_matches('`') {
            "!vault" => "secrets have a place of their own: `provision explain secrets`",
            "!unsafe" => "`{% raw %}` and `{% endraw %}` keep the braces of a text",
            _ => "a text that begins with `!` stands in quotes; a condition says `not`",
        };
        let before = text.get(..span.start as usize).unwrap_or("");
        let start = before.rfind(tag.trim_matches('`')).and_then(|at| u32::try_from(at).ok());
        let span = start.map_or(span, |start| Span { start, ..span });
        return Diagnostic::error(span, format!("{tag} is a tag of YAML, and tags mean nothing here"))
            .help(help);
    }
    if full.contains("alias replay") || full.contains("budget") {
        return Diagnostic::error(span, "the aliases of this file expand to too much text")
            .help("write the values out, or make them variables");
    }
    if full.contains("recursion limit") || full.contains("depth") {
        return Diagnostic::error(span, "this nests too deep");
    }
    super::syntax::usual(message, span, source, text).unwrap_or_else(|| plainer(message, span))
}

/// Repeats what the parser says of a place, in plainer words where they are known.
fn plainer(message: &str, span: Span) -> Diagnostic {
    if message.contains("expected string scalar") {
        return Diagnostic::error(span, "a key is one word, and this is a list or a map")
            .help("a value with brackets stands behind a key and a colon");
    }
    if message.contains("deserialize null into string") {
        return Diagnostic::error(span, "this key means nothing to YAML").quoted();
    }
    if message.contains("did not find expected comment or line break") {
        return Diagnostic::error(span, "the text of a `|` or `>` begins in the line below")
            .help("or write it behind the colon, in quotes");
    }
    Diagnostic::error(span, message.to_owned())
}

/// The empty key in the line above, in the same column, which a repeated key may be meant to stand below.
fn below_what(text: &str, key: Span) -> Option<String> {
    let before = text.get(..key.start as usize)?;
    let (above, indent) = before.rsplit_once('\n')?;
    let above = above.rsplit('\n').next()?;
    let name = above.strip_prefix(indent)?.strip_suffix(':')?;
    (indent.trim().is_empty() && !name.starts_with([' ', '#', '-']))
        .then(|| format!("indent it by two spaces more, when it is part of `{name}`"))
}

/// The last line before a repeated key that begins with the same key.
fn first_key(before: &str, key: &str, source: SourceId) -> Option<Span> {
    let mut end = before.len();
    for line in before.rsplit('\n') {
        let opened = line.trim_start_matches([' ', '"', '\'', '-']);
        let closes = |rest: &str| rest.trim_start_matches(['"', '\'']).starts_with(':');
        if opened.strip_prefix(key).is_some_and(closes) {
            let start = u32::try_from(end - opened.len()).ok()?;
            return Some(Span { source, start, end: start + u32::try_from(key.len()).ok()? });
        }
        end = end.saturating_sub(line.len() + 1);
    }
    None
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::config::FromNode as _;

    fn read(text: &str) -> Result<(Sources, Node), String> {
        let mut sources = Sources::default();
        let id = sources.add("t.yaml", text);
        match parse(&sources, id) {
            Ok(node) => Ok((sources, node)),
            Err(diagnostic) => Err(diagnostic.render(&sources, false)),
        }
    }

    #[test]
    fn a_text_of_one_line_is_one_line() {
        let long = "a".repeat(100);
        for text in [
            "a",
            "1",
            "yes",
            "~",
            "",
            " a",
            "a: b",
            "# a",
            "ü",
            "a\u{2028}b",
            "- a",
            &long,
            &format!("{long} b {long}"),
        ] {
            let yaml = scalar(text);
            assert!(!yaml.contains('\n'), "{yaml}");
            let (_, node) = read(&format!("a: {{ {yaml}: {yaml} }}\nb:\n  {yaml}:\n    - {yaml}\n")).unwrap();
            for outer in ["a", "b"] {
                let inner = node.get(outer).unwrap().get(text).unwrap_or_else(|| panic!("{yaml}"));
                let inner = if let Yaml::List(items) = &inner.value { &items[0] } else { inner };
                assert!(matches!(&inner.value, Yaml::Str(value) if value == text), "{yaml}: {inner:?}");
            }
        }
    }

    #[test]
    fn nodes_know_their_place() {
        let (sources, node) = read("a: 1\nbé:\n  - \"x y\"\n  - {k: 0755}\n").unwrap();
        let list = node.get("bé").unwrap();
        let Yaml::List(items) = &list.value else { panic!("{list:?}") };
        assert_eq!(sources.snippet(items[0].span), "\"x y\"");
        let mode = items[1].get("k").unwrap();
        assert_eq!(sources.snippet(mode.span), "0755");
        assert_eq!(sources.place(mode.span), "t.yaml:4:9");
    }

    /// The first of two keys is looked for in one pass, and an empty key is found as well.
    #[test]
    fn any_key_that_is_there_twice_is_told() {
        let error = read("x: {b: 1}\n\"\": 1\nb: 2\n'': 2\n").unwrap_err();
        assert!(error.contains("the key `` is written twice") && error.contains("first here"), "{error}");
        assert!(error.contains("2 | \"\": 1"), "{error}");
        let error = read(&format!("{{b: 1, c: {}, b: 2}}\n", "b".repeat(4 << 20))).unwrap_err();
        assert!(error.contains("the key `b` is written twice"), "{}", error.get(..200).unwrap_or(&error));
    }

    #[test]
    fn treacherous_yaml() {
        for (text, want) in [
            ("a: 1\na: 2\n", "t.yaml:2:1"),
            ("a: 1\n---\nb: 2\n", "t.yaml:3:1"),
            ("a:\n\tb: 1\n", "t.yaml:2"),
            ("a: [1, 2\n", "t.yaml:"),
        ] {
            let error = read(text).unwrap_err();
            assert!(error.contains(want), "{text:?}:\n{error}");
        }
        for (text, place) in [
            ("漢字: \"é\" x漢字\n", "t.yaml:1:5"),
            ("- é\n漢字: [漢字\n- 漢\n", "t.yaml:2:1"),
            ("漢字: 'é\n", "t.yaml:"),
        ] {
            let error = read(text).unwrap_err();
            assert!(error.contains(place), "{text:?}:\n{error}");
        }
        let deep = "[".repeat(5000);
        assert!(read(&deep).is_err());
        assert_eq!(read("").unwrap().1.value, Yaml::Null);
        let (_, node) = read("a: yes\nb: no\nc: true\n").unwrap();
        assert_eq!(node.get("a").unwrap().value, Yaml::Str("yes".to_owned()));
        assert_eq!(node.get("c").unwrap().value, Yaml::Bool(true));
    }

    proptest! {
        #[test]
        fn no_text_panics(text in "([a-cé漢:{}\\[\\],&*!|>'\"#%@\t -]|\n|\n  |\n- |---|: |0x|1e|\u{feff}|\u{85}){0,40}|\\PC{0,24}|(?s).{0,24}") {
            if let Ok((sources, node)) = read(&text) {
                let mut found = Diagnostics::default();
                check_numbers(&node, &sources, &mut found);
                drop(found.render(&sources, false));
                drop(crate::inventory::file::InventoryFile::from_node(&node, &mut found));
                drop(found.render(&sources, false));
            }
        }
    }
}
