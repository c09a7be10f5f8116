//! YAML text to a tree of nodes with positions: the only file that names the YAML crate.
//!
//! Strict where YAML is treacherous: a duplicate key, a second document, a tab, an anchor
//! bomb and deep nesting are errors; `yes` and `on` are text. See `docs/design/0002-yaml.md`.

use std::fmt;

use serde::Deserialize;
use serde::de::{self, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_yaml::granit_parser::ErrorKind;
use serde_yaml::{DefaultMessageFormatter, DuplicateKeyPolicy, MessageFormatter as _, Spanned};

use super::diagnostic::{Diagnostic, Diagnostics};
use super::fault::Fault;
use super::node::{Node, Yaml};
use super::pitfalls::{check_numbers, is_what_it_looks_like};
use super::source::{SourceId, Sources, Sp, Span};
use crate::put;

/// The largest file that is read, in bytes; a 10 000-host inventory has about 1 MiB.
pub const MAX_FILE: u64 = 8 << 20;

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

/// Brings an error of the crate to a code of ours.
#[expect(clippy::wildcard_enum_match_arm, reason = "the crate has many more, and may have new ones")]
fn fault(error: &serde_yaml::Error) -> Fault {
    use serde_yaml::{Error, ExternalMessageSource, budget::BudgetBreach};
    match error.without_snippet() {
        Error::AliasError { error, .. } => fault(error),
        Error::MultipleDocuments { .. } => Fault::SecondDocument,
        Error::DuplicateMappingKey { key: Some(key), .. } => Fault::DuplicateKey(key.clone()),
        Error::UnsupportedTag { tag, .. } => Fault::Tag(tag.clone()),
        Error::Budget { breach: BudgetBreach::Depth { .. }, .. } => Fault::TooDeep,
        Error::Budget { .. }
        | Error::AliasReplayCounterOverflow { .. }
        | Error::AliasReplayLimitExceeded { .. }
        | Error::AliasReplayStackDepthExceeded { .. } => Fault::TooLarge,
        // All but the keys is read as what it is.
        Error::Unexpected { .. } => Fault::KeyIsNoText,
        Error::NullIntoString { .. } => Fault::KeyIsNull,
        Error::UnknownAnchor { .. } => Fault::Anchor,
        Error::ExternalMessage { source, .. } => match source.as_ref() {
            ExternalMessageSource::Parser(error) => grammar(error.kind()),
            _ => Fault::Other,
        },
        _ => Fault::Other,
    }
}

/// Brings a mistake of the grammar to a code of ours.
#[expect(clippy::wildcard_enum_match_arm, reason = "the crate has many more, and may have new ones")]
fn grammar(kind: &ErrorKind) -> Fault {
    match kind {
        ErrorKind::MultipleDocumentsUnsupported => Fault::SecondDocument,
        ErrorKind::RecursionLimitExceeded => Fault::TooDeep,
        ErrorKind::UnknownAnchor | ErrorKind::MissingAnchorOrAliasName => Fault::Anchor,
        ErrorKind::UnexpectedCharacter { .. } => Fault::ReservedCharacter,
        ErrorKind::InvalidTrailingSingleQuotedScalar => Fault::BehindQuote('\''),
        ErrorKind::InvalidTrailingDoubleQuotedScalar => Fault::BehindQuote('"'),
        ErrorKind::UnknownQuotedScalarEscape => Fault::UnknownEscape,
        ErrorKind::UnclosedQuotedScalar
        | ErrorKind::InvalidQuotedScalarIndent
        | ErrorKind::DocumentIndicatorInQuotedScalar
        | ErrorKind::InvalidQuotedScalarHexEscape => Fault::InQuotes,
        ErrorKind::InvalidBlockScalarHeader => Fault::BlockHeader,
        ErrorKind::SimpleKeyExpected => Fault::NoColon,
        ErrorKind::MappingValueNotAllowed => Fault::ValueNotAllowed,
        ErrorKind::BlockSequenceEntryNotAllowed => Fault::EntryNotAllowed,
        ErrorKind::ExpectedBlockSequenceEntry => Fault::NoDash,
        ErrorKind::ExpectedBlockMappingKey | ErrorKind::UnexpectedEofBlockMapping => Fault::NoKey,
        ErrorKind::ExpectedNodeContent | ErrorKind::ExpectedDocumentStart => Fault::NoNode,
        ErrorKind::InvalidColonPlacement => Fault::ColonInBrackets,
        ErrorKind::FlowMappingValueAdjacentCollection => Fault::NoSpaceBeforeBracket,
        ErrorKind::BlockEntryInFlowCollection => Fault::DashInBrackets,
        ErrorKind::UnclosedFlowCollection { .. } => Fault::OpenBracket,
        ErrorKind::MisplacedFlowCollectionEnd => Fault::ClosingBracket,
        ErrorKind::MismatchedFlowCollectionEnd { open, close } => Fault::OtherBracket(*open, *close),
        ErrorKind::ExpectedFlowSequenceSeparator => Fault::NoCommaInList,
        ErrorKind::ExpectedFlowMappingSeparator => Fault::NoCommaInMap,
        _ => Fault::Other,
    }
}

#[expect(
    clippy::wildcard_enum_match_arm,
    reason = "all others are looked for in the text, and else have the words of the crate"
)]
fn syntax_error(error: &serde_yaml::Error, source: SourceId, text: &str) -> Diagnostic {
    let span = error.location().map_or(Span { source, start: 0, end: 0 }, |l| span_of(l, source, text));
    match fault(error) {
        Fault::SecondDocument => Diagnostic::error(span, "a second document starts here")
            .help("one file holds one document: split the file at `---`"),
        Fault::DuplicateKey(key) => duplicate_key(&key, span, text),
        Fault::Tag(tag) => tagged(&tag, span, text),
        Fault::TooLarge => Diagnostic::error(span, "the aliases of this file expand to too much text")
            .help("write the values out, or make them variables"),
        Fault::TooDeep => Diagnostic::error(span, "this nests too deep"),
        fault => super::syntax::usual(&fault, span, source, text).unwrap_or_else(|| match fault {
            Fault::KeyIsNoText => Diagnostic::error(span, "a key is one word, and this is a list or a map")
                .help("a value with brackets stands behind a key and a colon"),
            Fault::KeyIsNull => Diagnostic::error(span, "this key means nothing to YAML").quoted(),
            Fault::BlockHeader => {
                Diagnostic::error(span, "the text of a `|` or `>` begins in the line below")
                    .help("or write it behind the colon, in quotes")
            }
            _ => Diagnostic::error(span, DefaultMessageFormatter.format_message(error.without_snippet())),
        }),
    }
}

fn duplicate_key(key: &str, span: Span, text: &str) -> Diagnostic {
    let diagnostic = Diagnostic::error(span, format!("the key `{key}` is written twice"));
    let before = text.get(..span.start as usize);
    let Some(first) = before.and_then(|before| first_key(before, key, span.source)) else {
        return diagnostic;
    };
    // `- name: t` and, below it in the same column, `name: u`.
    let before = text.get(..first.start as usize).unwrap_or("");
    let dash = before.rsplit('\n').next().is_some_and(|line| line.trim() == "-");
    let help = format!("a new entry of the list begins with a dash: `- {key}: ...`");
    let help = dash.then_some(help).or_else(|| below_what(text, span));
    diagnostic.label("again here").related(first, "first here").maybe_help(help)
}

fn tagged(tag: &str, span: Span, text: &str) -> Diagnostic {
    let help = match tag {
        "!vault" => "secrets have a place of their own: `provision explain secrets`",
        "!unsafe" => "`{% raw %}` and `{% endraw %}` keep the braces of a text",
        _ => "a text that begins with `!` stands in quotes; a condition says `not`",
    };
    let before = text.get(..span.start as usize).unwrap_or("");
    let start = before.rfind(tag).and_then(|at| u32::try_from(at).ok());
    let span = start.map_or(span, |start| Span { start, ..span });
    Diagnostic::error(span, format!("`{tag}` is a tag of YAML, and tags mean nothing here")).help(help)
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
