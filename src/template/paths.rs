//! Every variable path of a text template, with its place, even inside branches not taken.
//!
//! Tera keeps its syntax tree to itself and answers an unknown name in `{% if %}` with false, so
//! the paths are read from the text: a lexer of what stands between the braces, the names that
//! `for` and `set` bind, and what is a filter, a test or an argument's name and thus no variable.
//! A text that tera refuses gives the paths before the mistake; tera reports the mistake.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use serde_json::Value as Json;

use super::lexer::{Token, TokenKind, token};
use super::shape::Segment;

/// One use of a variable.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PathUse {
    /// The variable.
    pub root: String,
    /// Path below the variable.
    pub segments: Vec<Segment>,
    /// First byte.
    pub start: usize,
    /// One past the last byte.
    pub end: usize,
    /// Whether it stands alone between braces: no filter and no operator sees its value.
    pub bare: bool,
}

/// Relation between a variable and a literal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ComparisonKind {
    /// Whether they are the same.
    Equal,
    /// Order of the two: which of them comes first.
    Ordered,
    /// Whether the literal is in it.
    Within,
}

/// A variable that is compared with a literal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Comparison {
    /// The variable.
    pub root: String,
    /// Path below the variable.
    pub segments: Vec<Segment>,
    /// Kind of comparison.
    pub kind: ComparisonKind,
    /// Whether the variable stands there by its own name: what `for` and `set` bind may be of any type.
    pub named: bool,
    /// The literal: text, a number or a boolean.
    pub literal: Json,
    /// First byte of the literal.
    pub start: usize,
    /// One past its last byte.
    pub end: usize,
}

#[derive(Debug)]
struct Tag<'a> {
    /// `{{ }}`, else `{% %}`.
    output: bool,
    tokens: Vec<Token<'a>>,
}

/// Meaning of a name that is bound inside the template.
#[derive(Debug, Clone)]
enum Binding {
    /// The same as this path.
    Path(String, Vec<Segment>),
    /// Something made from this variable.
    From(String),
    /// Nothing that can be checked.
    Unknown,
}

const KEYWORDS: [&str; 16] = [
    "and", "or", "not", "in", "is", "if", "else", "elif", "for", "true", "True", "false", "False", "none",
    "None", "null",
];

/// Filters whose result has the elements of what they take.
const TRANSPARENT: [&str; 5] = ["sort", "reverse", "unique", "values", "default"];

/// Whether a text has anything that tera would act on.
pub fn is_template(text: &str) -> bool {
    text.match_indices('{').any(|(at, _)| matches!(text.as_bytes().get(at + 1), Some(b'{' | b'%' | b'#')))
}

/// For a text that is exactly one `{{ expression }}`: where the expression stands.
pub fn sole_expression(text: &str) -> Option<Range<usize>> {
    let inner = text.strip_prefix("{{")?.strip_suffix("}}")?;
    let (tags, rest) = tags(text);
    let only = rest == text.len() && tags.len() == 1 && tags.first().is_some_and(|tag| tag.output);
    let plain = !inner.starts_with('-') && !inner.ends_with('-');
    (only && plain && spans_all(text)).then(|| 2..text.len() - 2)
}

/// Whether the first tag ends where the text ends.
fn spans_all(text: &str) -> bool {
    let mut lexer = Lexer { text, at: 2 };
    lexer.inside("}}");
    lexer.at == text.len()
}

/// Every variable path of a template, and those that are compared with literals.
pub fn variables(text: &str) -> (Vec<PathUse>, Vec<Comparison>) {
    let mut scan = Scan {
        scopes: vec![BTreeMap::new()],
        assigned: BTreeSet::new(),
        out: Vec::new(),
        comparisons: Vec::new(),
    };
    for tag in tags(text).0 {
        if tag.output {
            scan.expression(&tag.tokens, true);
        } else {
            scan.statement(&tag.tokens);
        }
    }
    // What a loop sets is so in its next round, and with `set_global` behind it.
    for comparison in &mut scan.comparisons {
        comparison.named &= !scan.assigned.contains(&comparison.root);
    }
    (scan.out, scan.comparisons)
}

struct Lexer<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Lexer<'a> {
    fn rest(&self) -> &'a str {
        self.text.get(self.at..).unwrap_or("")
    }

    /// Tokens up to a closing mark, which is eaten.
    fn inside(&mut self, close: &str) -> Vec<Token<'a>> {
        let mut tokens = Vec::new();
        loop {
            let rest = self.rest();
            let trimmed = rest.trim_start();
            self.at += rest.len() - trimmed.len();
            if trimmed.is_empty() {
                return tokens;
            }
            let dashed = trimmed.strip_prefix('-').filter(|after| after.starts_with(close));
            if trimmed.starts_with(close) || dashed.is_some() {
                self.at += close.len() + usize::from(dashed.is_some());
                return tokens;
            }
            let Some(token) = token(self.text, self.at) else { return tokens };
            tokens.push(token);
            self.at = token.end;
        }
    }
}

/// The tags of a text and where reading them ended.
fn tags(text: &str) -> (Vec<Tag<'_>>, usize) {
    let mut lexer = Lexer { text, at: 0 };
    let mut tags = Vec::new();
    loop {
        let rest = lexer.rest();
        // One look for all of them: each by itself would look through the rest for every tag.
        let opens = |(at, _): &(usize, &str)| {
            rest.get(at + 1..).is_some_and(|after| after.starts_with(['{', '%', '#']))
        };
        let Some((found, _)) = rest.match_indices('{').find(opens) else {
            return (tags, text.len());
        };
        lexer.at += found + 2;
        let mark = rest.get(found..found + 2).unwrap_or("");
        if mark == "{#" {
            let Some(end) = lexer.rest().find("#}") else { return (tags, text.len()) };
            lexer.at += end + 2;
            continue;
        }
        if lexer.rest().starts_with('-') {
            lexer.at += 1;
        }
        let output = mark == "{{";
        let tokens = lexer.inside(if output { "}}" } else { "%}" });
        if !output && tokens.len() == 1 && tokens.first().is_some_and(|token| token.text == "raw") {
            let Some(end) = end_of_raw(lexer.rest()) else { return (tags, text.len()) };
            lexer.at += end;
            continue;
        }
        tags.push(Tag { output, tokens });
    }
}

/// One past the `{% endraw %}` of a raw block.
fn end_of_raw(text: &str) -> Option<usize> {
    let mut at = 0;
    while let Some(found) = text.get(at..)?.find("{%") {
        let mut lexer = Lexer { text, at: at + found + 2 };
        if lexer.rest().starts_with('-') {
            lexer.at += 1;
        }
        let tail = lexer.rest().trim_start();
        if tail
            .strip_prefix("endraw")
            .is_some_and(|rest| rest.trim_start().trim_start_matches('-').starts_with("%}"))
        {
            lexer.inside("%}");
            return Some(lexer.at);
        }
        at += found + 2;
    }
    None
}

struct Scan {
    scopes: Vec<BTreeMap<String, Binding>>,
    /// All names that are set anywhere.
    assigned: BTreeSet<String>,
    out: Vec<PathUse>,
    comparisons: Vec<Comparison>,
}

impl Scan {
    fn bind(&mut self, name: &str, binding: Binding) {
        if let Some(scope) = self.scopes.last_mut() {
            scope.insert(name.to_owned(), binding);
        }
    }

    fn binding(&self, name: &str) -> Option<Binding> {
        self.scopes.iter().rev().find_map(|scope| scope.get(name).or_else(|| scope.get("*")).cloned())
    }

    fn statement(&mut self, tokens: &[Token<'_>]) {
        let Some((word, rest)) = tokens.split_first() else { return };
        match word.text {
            "for" => {
                let Some(at) = rest.iter().position(|token| token.text == "in") else { return };
                let (names, target) = rest.split_at(at);
                let target = target.get(1..).unwrap_or(&[]);
                self.expression(target, false);
                let mut bound = self.loop_names(names, target);
                bound.insert("loop".to_owned(), Binding::Unknown);
                self.scopes.push(bound);
            }
            "endfor" | "endcomponent" if self.scopes.len() > 1 => {
                self.scopes.pop();
            }
            "component" => self.scopes.push(BTreeMap::from([("*".to_owned(), Binding::Unknown)])),
            "set" | "set_global" => {
                let Some(name) = rest.first().filter(|token| token.kind == TokenKind::Name) else { return };
                let value = rest.get(2..).unwrap_or(&[]);
                let assigned = rest.get(1).is_some_and(|token| token.text == "=");
                let binding = if assigned {
                    self.expression(value, false);
                    self.target(value)
                } else {
                    Binding::Unknown
                };
                self.assigned.insert(name.text.to_owned());
                self.bind(name.text, binding);
            }
            "if" | "elif" => self.expression(rest, false),
            // `{% filter upper %}` names a filter first; the rest names things of tera's own.
            "filter" => self.expression(rest.get(1..).unwrap_or(&[]), false),
            _ => {}
        }
    }

    /// Returns the meanings of the names of a `for`.
    fn loop_names(&self, names: &[Token<'_>], target: &[Token<'_>]) -> BTreeMap<String, Binding> {
        let names: Vec<&str> =
            names.iter().filter(|token| token.kind == TokenKind::Name).map(|token| token.text).collect();
        let element = match self.target(target) {
            Binding::Path(root, mut segments) => {
                segments.push(Segment::Any);
                Binding::Path(root, segments)
            }
            other @ (Binding::From(_) | Binding::Unknown) => other,
        };
        let mut bound = BTreeMap::new();
        match names.as_slice() {
            [value] => {
                bound.insert((*value).to_owned(), element);
            }
            [key, value] => {
                bound.insert((*key).to_owned(), Binding::Unknown);
                bound.insert((*value).to_owned(), element);
            }
            _ => {}
        }
        bound
    }

    /// Returns the meaning of an expression's value, when it is a path with harmless filters.
    fn target(&self, tokens: &[Token<'_>]) -> Binding {
        let Some(first) = tokens.first().filter(|token| is_variable(token)) else {
            return Binding::Unknown;
        };
        let (segments, mut at) = steps(tokens, 1);
        let (root, segments) = match self.binding(first.text) {
            None => (first.text.to_owned(), segments),
            Some(Binding::Path(root, mut head)) => {
                head.extend(segments);
                (root, head)
            }
            Some(other) => return other,
        };
        while at < tokens.len() {
            let word = |i: usize| tokens.get(i).map_or("", |token| token.text);
            if word(at) != "|" || !TRANSPARENT.contains(&word(at + 1)) {
                return Binding::From(root);
            }
            at += 2;
            if word(at) == "(" {
                at = closing(tokens, at) + 1;
            }
        }
        Binding::Path(root, segments)
    }

    fn expression(&mut self, tokens: &[Token<'_>], output: bool) {
        let word = |i: usize| tokens.get(i).map_or("", |token: &Token<'_>| token.text);
        let mut comprehensions: Vec<usize> = Vec::new();
        let mut braces: Vec<&str> = Vec::new();
        let mut at = 0;
        while let Some(token) = tokens.get(at) {
            let before = at.checked_sub(1).map_or("", word);
            match token.text {
                // `.name` belongs to the path before it.
                "." | "?." if token.kind == TokenKind::Mark => at += 1,
                "[" | "?[" | "(" | "{" if token.kind == TokenKind::Mark => {
                    braces.push(token.text);
                    if token.text == "["
                        && let Some(bound) = self.comprehension(tokens, at)
                    {
                        comprehensions.push(closing(tokens, at));
                        self.scopes.push(bound);
                    }
                }
                "]" | ")" | "}" if token.kind == TokenKind::Mark => {
                    braces.pop();
                    if comprehensions.last() == Some(&at) {
                        comprehensions.pop();
                        self.scopes.pop();
                    }
                }
                // What a comprehension binds was bound when its bracket opened.
                "for" if token.kind == TokenKind::Name => {
                    at += tokens.iter().skip(at).position(|token| token.text == "in").unwrap_or(0);
                }
                "is" if token.kind == TokenKind::Name => {
                    // The name of a test follows.
                    at += 1 + usize::from(word(at + 1) == "not");
                }
                _ if !is_variable(token) => {}
                _ if before == "|" || word(at + 1) == "(" || word(at + 1) == "=" => {}
                _ if word(at + 1) == ":" && braces.last() == Some(&"{") && matches!(before, "{" | ",") => {}
                name => {
                    let (segments, next) = steps(tokens, at + 1);
                    let end = tokens.get(next - 1).map_or(token.end, |last| last.end);
                    let bare = output && at == 0 && next == tokens.len();
                    let known = self.out.len();
                    let named = self.binding(name).is_none();
                    self.variable(name, &segments, token.start..end, bare);
                    for (mark, token) in compared(tokens, at, next) {
                        let Some(path) = self.out.get(known) else { break };
                        self.comparisons.push(Comparison {
                            root: path.root.clone(),
                            segments: path.segments.clone(),
                            kind: match mark {
                                "==" | "!=" => ComparisonKind::Equal,
                                "in" => ComparisonKind::Within,
                                _ => ComparisonKind::Ordered,
                            },
                            named,
                            literal: literal(&token).unwrap_or_default(),
                            start: token.start,
                            end: token.end,
                        });
                    }
                    // Expressions in its brackets are looked at on their own.
                }
            }
            at += 1;
        }
        for _ in comprehensions {
            self.scopes.pop();
        }
    }

    /// The names that `[x for y in z]` binds.
    fn comprehension(&self, tokens: &[Token<'_>], open: usize) -> Option<BTreeMap<String, Binding>> {
        let close = closing(tokens, open);
        let mut depth = 0_usize;
        let mut start = None;
        for (i, token) in tokens.iter().enumerate().take(close).skip(open + 1) {
            match token.text {
                "[" | "(" | "{" if token.kind == TokenKind::Mark => depth += 1,
                "]" | ")" | "}" if token.kind == TokenKind::Mark => depth = depth.saturating_sub(1),
                "for" if depth == 0 => start = Some(i + 1),
                "in" if depth == 0 && start.is_some() => {
                    let names = tokens.get(start?..i)?;
                    let rest = tokens.get(i + 1..close)?;
                    let end = rest.iter().position(|token| token.text == "if").unwrap_or(rest.len());
                    return Some(self.loop_names(names, rest.get(..end)?));
                }
                _ => {}
            }
        }
        None
    }

    fn variable(&mut self, name: &str, segments: &[Segment], place: Range<usize>, bare: bool) {
        let (root, segments) = match self.binding(name) {
            None => (name.to_owned(), segments.to_vec()),
            Some(Binding::Path(root, mut head)) => {
                head.extend_from_slice(segments);
                (root, head)
            }
            Some(Binding::From(root)) => {
                // Only what matters for the order of the run: that other hosts' facts are read.
                let facts = Segment::Key("facts".to_owned());
                let Some(i) = segments.iter().position(|segment| *segment == facts) else { return };
                let tail = segments.get(i..).unwrap_or(&[]);
                (root, std::iter::once(Segment::Any).chain(tail.iter().cloned()).collect())
            }
            Some(Binding::Unknown) => return,
        };
        self.out.push(PathUse { root, segments, start: place.start, end: place.end, bare });
    }
}

/// A text without escapes, a whole number or a boolean.
fn literal(token: &Token<'_>) -> Option<Json> {
    match token.kind {
        TokenKind::Text if token.text.contains('\\') => None,
        TokenKind::Text => Some(Json::from(token.text.trim_matches(['"', '\'', '`']))),
        TokenKind::Number => token.text.parse::<u64>().ok().map(Json::from),
        TokenKind::Name => token.text.to_ascii_lowercase().parse::<bool>().ok().map(Json::from),
        TokenKind::Mark => None,
    }
}

/// The literals with which the path of these tokens is compared by itself, each with the mark between them: `==` for
/// those of a list that it is in, `in` for one that is in it.
fn compared<'a>(tokens: &[Token<'a>], first: usize, next: usize) -> Vec<(&'a str, Token<'a>)> {
    let at = |i: Option<usize>| i.and_then(|i| tokens.get(i));
    let word = |i: Option<usize>| at(i).map_or("", |token| token.text);
    let known = |i: Option<usize>| at(i).copied().filter(|token| literal(token).is_some());
    let begins = |i: Option<usize>| matches!(word(i), "" | "(" | "and" | "or" | "not" | "if");
    let ends = |i: usize| matches!(word(Some(i)), "" | ")" | "and" | "or" | "if" | "else");
    let before = |n: usize| first.checked_sub(n);
    let marks = ["==", "!=", "<", "<=", ">", ">="];
    if begins(before(1)) {
        let mark = word(Some(next));
        if ends(next + 2) && marks.contains(&mark) {
            return known(Some(next + 1)).map(|token| (mark, token)).into_iter().collect();
        }
        let list = next + 1 + usize::from(mark == "not");
        if matches!(mark, "in" | "not") && word(Some(list - 1)) == "in" && word(Some(list)) == "[" {
            let close = closing(tokens, list);
            let literals: Option<Vec<_>> =
                (list + 1..close).step_by(2).map(|i| known(Some(i)).map(|token| ("==", token))).collect();
            return literals.filter(|_| ends(close + 1)).unwrap_or_default();
        }
    }
    let mark = word(before(1));
    let negated = usize::from(mark == "in" && word(before(2)) == "not");
    if begins(before(3 + negated)) && ends(next) && (mark == "in" || marks.contains(&mark)) {
        return known(before(2 + negated)).map(|token| (mark, token)).into_iter().collect();
    }
    Vec::new()
}

fn is_variable(token: &Token<'_>) -> bool {
    token.kind == TokenKind::Name && !KEYWORDS.contains(&token.text)
}

/// The place of the bracket that closes the one at `open`, or the end.
fn closing(tokens: &[Token<'_>], open: usize) -> usize {
    let mut depth = 0_usize;
    for (i, token) in tokens.iter().enumerate().skip(open) {
        if token.kind != TokenKind::Mark {
            continue;
        }
        match token.text {
            "[" | "(" | "{" | "?[" => depth += 1,
            "]" | ")" | "}" => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    return i;
                }
            }
            _ => {}
        }
    }
    tokens.len()
}

/// The steps of a path from `at`, and where they end.
fn steps(tokens: &[Token<'_>], mut at: usize) -> (Vec<Segment>, usize) {
    let mut segments = Vec::new();
    while let Some(token) = tokens.get(at) {
        match token.text {
            "." | "?." if token.kind == TokenKind::Mark => {
                let Some(name) = tokens.get(at + 1).filter(|name| name.kind == TokenKind::Name) else {
                    break;
                };
                segments.push(Segment::Key(name.text.to_owned()));
                at += 2;
            }
            "[" | "?[" if token.kind == TokenKind::Mark => {
                let close = closing(tokens, at);
                let inner = tokens.get(at + 1..close.min(tokens.len())).unwrap_or(&[]);
                segments.push(match inner {
                    [key] if key.kind == TokenKind::Text => Segment::Key(unquote(key.text)),
                    [index] if index.kind == TokenKind::Number => {
                        index.text.parse().map_or(Segment::Any, Segment::Index)
                    }
                    _ => Segment::Any,
                });
                at = (close + 1).min(tokens.len());
            }
            _ => break,
        }
    }
    (segments, at)
}

fn unquote(text: &str) -> String {
    let mut chars = text.chars();
    chars.next();
    chars.next_back();
    let mut value = String::new();
    let mut escaped = false;
    for c in chars {
        if c == '\\' && !escaped {
            escaped = true;
        } else {
            escaped = false;
            value.push(c);
        }
    }
    value
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::shape::path_text;
    use super::*;

    fn paths(text: &str) -> Vec<PathUse> {
        variables(text).0
    }

    fn list(text: &str) -> String {
        paths(text).iter().map(|path| path_text(&path.root, &path.segments)).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn what_is_a_variable() {
        for (text, want) in [
            ("plain", ""),
            ("{{ mtu }}", "mtu"),
            ("{{ host.name }} {{ facts[\"os\"].family }}", "host.name facts.os.family"),
            ("{{ a.b[0].c ~ d['x-y'] }}", "a.b[0].c d[\"x-y\"]"),
            (
                "{% if a == 'b' and not c is defined %}{{ d }}{% elif e %}{% else %}{{ f }}{% endif %}",
                "a c d e f",
            ),
            ("{{ a | default(value=b) | upper }}", "a b"),
            ("{{ range(end=n) }}", "n"),
            (
                "{% for x in list %}{{ x.y }} {{ loop.index }} {{ z }}{% endfor %}{{ x }}",
                "list list[...].y z x",
            ),
            ("{% for x in list %}{% set n = loop.index0 %}{{ n }}{% endfor %}{{ loop }}", "list loop"),
            (
                "{% for k, h in hosts %}{{ k }} {{ h.facts.os.id }}{% endfor %}",
                "hosts hosts[...].facts.os.id",
            ),
            ("{% for h in hosts | values %}{{ h.address }}{% endfor %}", "hosts hosts[...].address"),
            (
                "{% for h in hosts | group_by(attribute='x') %}{{ h.facts.a }}{{ h.b }}{% endfor %}",
                "hosts hosts[...].facts.a",
            ),
            ("{% set x = a.b %}{{ x.c }}", "a.b a.b.c"),
            ("{% raw %}{{ not_me }}{% endraw %}{{ me }}", "me"),
            ("{# {{ no }} #}{{- yes -}}", "yes"),
            ("{{ a[host.name].b }}", "a[...].b host.name"),
            ("{{ [x.n for x in list if x.on] }}", "list[...].n list list[...].on"),
            ("{{ {\"k\": v} | json }}", "v"),
            ("{{ a if b else c }}", "a b c"),
            ("{{ a?.b?[\"c\"] }}", "a.b.c"),
            ("{{ 'a }} b' ~ x }}", "x"),
        ] {
            assert_eq!(list(text), want, "{text}");
        }
        let found = paths("x {{ mtu }} {{ mtu | upper }} {{ a ~ b }}");
        assert_eq!(found.iter().map(|path| path.bare).collect::<Vec<_>>(), [true, false, false, false]);
        assert_eq!((found[0].start, found[0].end), (5, 8));
    }

    #[test]
    fn one_expression() {
        assert_eq!(sole_expression("{{ a }}"), Some(2..5));
        assert_eq!(sole_expression("{{ a | default(value='}}') }}"), Some(2..27));
        for text in ["{{ a }} ", "{{ a }}{{ b }}", "a", "{{ a }} {% if b %}{{ c }}", "{{- a }}", "{{ a }"] {
            assert_eq!(sole_expression(text), None, "{text}");
        }
    }

    #[test]
    fn tags_without_number() {
        // Minutes, when each tag looks at all that follow.
        assert_eq!(paths(&"{{ a }}".repeat(1 << 17)).len(), 1 << 17);
    }

    proptest! {
        #[test]
        fn no_text_panics(text in "([{]{2}|[}]{2}|[{]%|%[}]|for |in |set |[a-c.\\[\\]()|='\" é-]|raw|endraw){0,30}|\\PC{0,24}") {
            drop(paths(&text));
            let _ = sole_expression(&text);
        }
    }
}
