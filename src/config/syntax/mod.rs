//! Diagnosis of a text that is no YAML: the usual mistakes, at the line where they are made.
//!
//! A parser notices most of them lines later, where something stops to make sense.

mod brackets;

use super::diagnostic::Diagnostic;
use super::fault::Fault;
use super::source::{SourceId, Span};
use crate::words::count;

/// Most lines above the place that are looked at.
const ABOVE: usize = 60;

/// A line of a file.
#[derive(Debug, Clone, Copy)]
struct Line<'a> {
    /// Offset of its first byte in the file.
    start: usize,
    text: &'a str,
}

impl<'a> Line<'a> {
    /// Columns of white space before it.
    fn indent(self) -> usize {
        self.text.len() - self.text.trim_start().len()
    }

    /// Returns where its content begins in it, and that content.
    fn content(self) -> (usize, &'a str) {
        (self.indent(), self.text.trim())
    }

    /// Returns where the content behind its dashes begins in it, and that content.
    fn entry(self) -> (usize, &'a str) {
        let (mut at, mut text) = self.content();
        while let Some(rest) = text.strip_prefix("- ") {
            let trimmed = rest.trim_start();
            at += text.len() - trimmed.len();
            text = trimmed;
        }
        (at, text)
    }

    /// Returns its text in front of a comment, without white space at its end.
    fn uncommented(self) -> &'a str {
        let end = Signs::of(self.text).comment.unwrap_or(self.text.len());
        self.text.get(..end).unwrap_or(self.text).trim_end()
    }

    fn says_something(self) -> bool {
        let (_, text) = self.content();
        !text.is_empty() && !text.starts_with('#')
    }
}

/// Finds the usual mistake behind a fault at a place; `None` where it is none.
pub(super) fn usual(fault: &Fault, place: Span, source: SourceId, text: &str) -> Option<Diagnostic> {
    let at = text.floor_char_boundary(place.start as usize);
    let here = line_at(text, at)?;
    let below = line_at(text, here.start + here.text.len() + 1);
    let above = above(text, here);
    let looks = Looks { source, here, at: at - here.start, above: &above };
    looks
        .tab(below)
        .or_else(|| looks.wide_signs())
        .or_else(|| looks.comma_behind())
        .or_else(|| looks.copied())
        .or_else(|| looks.template())
        .or_else(|| looks.behind_a_bracket())
        .or_else(|| looks.nothing_between_commas())
        .or_else(|| match fault {
            Fault::BehindQuote(quote) => looks.half_quoted(*quote).or_else(|| looks.quote()),
            Fault::UnknownEscape => looks.escape().or_else(|| looks.quote()),
            Fault::InQuotes => looks.quote(),
            Fault::ReservedCharacter => looks.odd_beginning(&['@', '`', '%']),
            Fault::Anchor => looks.odd_beginning(&['*', '&']),
            Fault::NoColon => looks.block().or_else(|| looks.no_colon(here)),
            Fault::ValueNotAllowed => looks.block().or_else(|| looks.key()),
            Fault::EntryNotAllowed => looks.list_behind_its_key(),
            Fault::NoDash => looks.no_dash().or_else(|| looks.indentation()),
            Fault::NoKey => looks.odd_dash().or_else(|| looks.indentation()),
            Fault::NoNode | Fault::BlockHeader => looks.indentation(),
            Fault::NoSpaceBeforeBracket => looks.no_space_behind_colon(),
            Fault::OpenBracket => looks.open_bracket(here),
            Fault::ColonInBrackets | Fault::DashInBrackets => looks.open_bracket(looks.before()?),
            Fault::ClosingBracket => looks.closing_bracket(),
            Fault::OtherBracket(open, close) => Some(brackets::of_another_kind(place, *open, *close)),
            Fault::NoCommaInList => looks.brackets().or_else(|| Some(brackets::no_comma(place, ']'))),
            Fault::NoCommaInMap => looks
                .open_bracket_of_a_map()
                .or_else(|| looks.brackets())
                .or_else(|| looks.no_colon_before_bracket())
                .or_else(|| Some(brackets::no_comma(place, '}'))),
            Fault::SecondDocument
            | Fault::DuplicateKey(_)
            | Fault::Tag(_)
            | Fault::TooLarge
            | Fault::TooDeep
            | Fault::KeyIsNoText
            | Fault::KeyIsNull
            | Fault::Other => None,
        })
}

fn line_at(text: &str, at: usize) -> Option<Line<'_>> {
    let start = text.get(..at)?.rfind('\n').map_or(0, |end| end + 1);
    let rest = text.get(start..)?;
    let line = rest.split('\n').next().unwrap_or(rest);
    Some(Line { start, text: line.strip_suffix('\r').unwrap_or(line) })
}

/// Lines above one that say something, the nearest first.
fn above<'a>(text: &'a str, here: Line<'_>) -> Vec<Line<'a>> {
    let mut lines = Vec::new();
    let mut end = here.start;
    while end > 0 && lines.len() < ABOVE {
        let Some(line) = line_at(text, end - 1) else { break };
        end = line.start;
        if line.says_something() {
            lines.push(line);
        }
    }
    lines
}

/// One place and the lines around it.
struct Looks<'a> {
    source: SourceId,
    here: Line<'a>,
    /// The column that the parser names, in bytes.
    at: usize,
    above: &'a [Line<'a>],
}

impl Looks<'_> {
    fn span(&self, line: Line<'_>, from: usize, length: usize) -> Span {
        let byte = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
        Span { source: self.source, start: byte(line.start + from), end: byte(line.start + from + length) }
    }

    fn tab(&self, below: Option<Line<'_>>) -> Option<Diagnostic> {
        let indented = |line: &Line<'_>| {
            let white = line.text.get(..line.indent()).unwrap_or("");
            let odd = white.char_indices().find(|(_, c)| *c != ' ');
            odd.filter(|_| line.says_something())
        };
        let mut lines = [Some(self.here), below].into_iter().flatten();
        let (line, (at, sign)) = lines.find_map(|line| Some((line, indented(&line)?)))?;
        let (text, help) = if sign == '\t' {
            ("this line is indented with a tab", "YAML indents with spaces; replace the tab")
        } else {
            (
                "this line is indented with a no-break space",
                "pages of the web have them; replace it by a space",
            )
        };
        Some(Diagnostic::error(self.span(line, at, sign.len_utf8()), text).help(help))
    }

    /// The part of the line that stands in front of the place.
    fn before(&self) -> Option<Line<'_>> {
        Some(Line { text: self.here.text.get(..self.at)?, ..self.here })
    }

    /// The line that the parser names, and the one above it: it is often the one that is meant.
    fn near(&self) -> impl Iterator<Item = &Line<'_>> {
        std::iter::once(&self.here).chain(self.above.first())
    }

    /// Finds what came along when the text was copied: a fence of Markdown, marks of a merge, comments of C,
    /// a dash of a text processor.
    fn copied(&self) -> Option<Diagnostic> {
        self.near().find_map(|line| {
            let (at, text) = line.content();
            let begins = |signs: &[&str]| signs.iter().any(|sign| text.starts_with(sign));
            let (text, length, help) = if begins(&["```", "~~~"]) {
                ("this is a mark of Markdown", text.len(), "take this line away")
            } else if begins(&["<<<<<<<", "=======", ">>>>>>>"]) {
                (
                    "two versions of this file were not merged",
                    text.len(),
                    "keep one of them, and take the marks away",
                )
            } else if begins(&["//", "/*"]) {
                ("this is no comment for YAML", 2, "a comment begins with `#`")
            } else if begins(&["– ", "— ", "− "]) {
                let sign = text.chars().next().map_or(1, char::len_utf8);
                (
                    "this sign looks like a dash, and is none for YAML",
                    sign,
                    "an entry of a list begins with `- `",
                )
            } else {
                return None;
            };
            Some(Diagnostic::error(self.span(*line, at, length), text).help(help))
        })
    }

    /// `path: {{ x }}` is a map of a map.
    fn template(&self) -> Option<Diagnostic> {
        let line = self.here;
        let (at, _) = line.text.match_indices("{{").find(|(at, _)| {
            let before = line.text.get(..*at).unwrap_or("").trim_end();
            let quoted = before.matches('"').count() % 2 == 1 || before.matches('\'').count() % 2 == 1;
            !quoted && (before.is_empty() || before.ends_with([':', '-', '[', ',', '{']))
        })?;
        // `content: a: {{ x }}`: the whole text.
        let (entry_at, entry) = line.entry();
        let value_at =
            entry.split_once(": ").map(|(_, value)| entry_at + entry.len() - value.trim_start().len());
        let plain = !line.text.get(..at)?.contains(['{', '[']);
        let at = value_at.filter(|value| *value < at && plain).unwrap_or(at);
        let rest = line.text.get(at..)?;
        let end = rest.rfind("}}").map_or(rest.len(), |end| end + 2);
        // In brackets the text ends where they go on.
        let before = line.text.get(..at)?;
        let flow = before.contains(['{', '[']);
        let close = rest.find("}}").map_or(rest.len(), |end| end + 2);
        let tail = rest.get(close..).unwrap_or("");
        let end = if flow {
            close + tail.find([',', '}', ']']).unwrap_or(tail.len())
        } else {
            end + rest.get(end..).map_or(0, |tail| tail.split(" #").next().unwrap_or(tail).trim_end().len())
        };
        let value = rest.get(..end)?.trim_end();
        let text = if value.starts_with("{{") {
            "a text that begins with `{{` stands in quotes"
        } else {
            "a text with `: ` in it stands in quotes"
        };
        let diagnostic =
            Diagnostic::error(self.span(line, at, value.len()), text).label("YAML reads a map here");
        if before.trim_end().ends_with("when:") {
            let inner = value.strip_prefix("{{").and_then(|value| value.strip_suffix("}}")).map(str::trim);
            let plain = inner
                .filter(|inner| !inner.contains("}}"))
                .map(|inner| format!(": `when: {}`", shown(inner)));
            let help = format!("a condition is written without braces{}", plain.unwrap_or_default());
            return Some(diagnostic.help(help));
        }
        Some(in_quotes(diagnostic, value))
    }

    /// Returns the text up to where the map or the list around it goes on, else up to the end of the line;
    /// without a comment.
    fn to_its_end<'b>(&self, from: usize, text: &'b str) -> &'b str {
        let flow = self.here.text.get(..from).is_some_and(|before| before.contains(['{', '[']));
        let end = if flow { text.find([',', '}', ']']) } else { text.find(" #") }.unwrap_or(text.len());
        text.get(..end).unwrap_or(text).trim_end()
    }

    /// `when: "a" in b`
    fn half_quoted(&self, quote: char) -> Option<Diagnostic> {
        let before = self.here.text.get(..self.at)?;
        let open = before.trim_end().strip_suffix(quote)?.rfind(quote)?;
        let value = self.to_its_end(open, self.here.text.get(open..)?);
        let text = "only a part of this text is in quotes";
        let diagnostic = Diagnostic::error(self.span(self.here, open, value.len()), text)
            .label("YAML ends it with the second quote");
        let (outer, inner) = if quote == '"' { ("\"", "'") } else { ("'", "\"") };
        let inside = value.strip_prefix(outer).and_then(|rest| rest.strip_suffix(outer));
        // `when: "facts.arch" == "x86_64"`
        let parts = value.strip_prefix(outer).and_then(|rest| rest.split_once(outer));
        if let Some((path, rest)) = parts.filter(|(path, _)| path.contains('.') && is_word(path))
            && before.get(..open)?.trim_end().ends_with("when:")
        {
            return Some(diagnostic.help(format!("write `{path} {}`: a path has no quotes", shown(rest))));
        }
        if !value.contains("{{") {
            // `'it's done'`
            let other = inside.filter(|inside| {
                // Those of `"a" == "b"` are two texts.
                inside.matches(quote).count() % 2 == 1 && !inside.contains(inner) && !inside.contains('\\')
            });
            return Some(match other {
                Some(text) => diagnostic.help(format!("write `{inner}{}{inner}`", shown(text))),
                None => in_quotes(diagnostic, value),
            });
        }
        // All of the template is meant to be in these quotes: those inside are others.
        let fixed =
            inside.filter(|inside| !inside.contains(inner)).map(|inside| inside.replace(outer, inner));
        let example = fixed.unwrap_or_else(|| format!("{{{{ x | default(value={inner}y{inner}) }}}}"));
        Some(diagnostic.help(format!("write the other quotes inside: `{outer}{}{outer}`", shown(&example))))
    }

    /// `match: "^\d+"`
    fn escape(&self) -> Option<Diagnostic> {
        let rest = self.here.text.get(self.at..)?.strip_prefix('"')?;
        let inner = rest.split('"').next()?;
        let text = "a `\\` in double quotes begins a sign such as `\\n`";
        let diagnostic = Diagnostic::error(self.span(self.here, self.at, inner.len() + 2), text);
        let single = format!("in single quotes it is itself: `'{}'`", shown(inner));
        Some(diagnostic.help(if inner.contains('\'') { "write `\\\\` for each".to_owned() } else { single }))
    }

    /// A text behind `|` that is not indented.
    fn block(&self) -> Option<Diagnostic> {
        let own = self.here.indent();
        let mut first = self.here;
        for line in self.above {
            let (column, entry) = line.entry();
            if column == own
                && [": |", ": >", ": |-", ": >-", ": |+", ": >+"].iter().any(|end| entry.ends_with(end))
            {
                let key = entry.split(':').next().unwrap_or(entry);
                let length = first.content().1.len();
                return Some(
                    Diagnostic::error(self.span(first, own, length), "this text is not indented").help(
                        format!(
                            "begin each of its lines with {}, more than `{}`",
                            count(own as u64 + 2, "space"),
                            shown(key)
                        ),
                    ),
                );
            }
            if line.indent() != own {
                return None;
            }
            first = *line;
        }
        None
    }

    /// `name： x`
    fn wide_signs(&self) -> Option<Diagnostic> {
        self.near().find_map(|line| {
            let (at, entry) = line.entry();
            let (key, value) = entry.split_once('\u{ff1a}').filter(|(key, _)| is_word(key))?;
            let text = "this sign looks like a colon, and is none for YAML";
            let key_and_value = format!("{key}: {}", shown(value));
            Some(
                Diagnostic::error(self.span(*line, at + key.len(), '\u{ff1a}'.len_utf8()), text)
                    .help(format!("write `{}`", key_and_value.trim_end())),
            )
        })
    }

    /// `names: - jq`
    fn list_behind_its_key(&self) -> Option<Diagnostic> {
        let (before, rest) = self.here.text.split_at_checked(self.at)?;
        let item = self.to_its_end(self.at, rest).strip_prefix("- ")?.trim();
        let key = before.trim_end().strip_suffix(':')?;
        let key = key.rsplit([' ', '-']).next().unwrap_or(key);
        Some(
            Diagnostic::error(
                self.span(self.here, self.at, 1),
                "a list begins in the line below its key, or stands in brackets",
            )
            .help(format!("write `{key}: [{}]`", shown(item))),
        )
    }

    /// A key where a list goes on.
    fn no_dash(&self) -> Option<Diagnostic> {
        let (own, word) = self.here.content();
        let entry = self.above.iter().find(|line| line.indent() <= own)?;
        if entry.indent() != own || !entry.content().1.starts_with("- ") {
            return None;
        }
        if let Some(found) = self.no_space_behind_dash(self.here) {
            return Some(found);
        }
        let length = word.split([':', ' ']).next().map_or(1, str::len).max(1);
        let text = "this line has no dash, unlike those of the list above";
        let diagnostic = Diagnostic::error(self.span(self.here, own, length), text);
        // `handlers:` is no entry, and meant to stand beside `tasks:`.
        let list = self.above.iter().find(|line| line.indent() < own);
        let list = list.map(|line| line.entry()).filter(|(_, key)| word.ends_with(':') && key.ends_with(':'));
        Some(diagnostic.help(match list {
            Some((column, key)) => {
                format!("with {} it stands below `{}`", count(column as u64, "space"), key.trim_end_matches(':'))
            }
            None => format!(
                "an entry begins with one, `- {}`; what belongs to the entry above stands 2 columns to the right",
                shown(word)
            ),
        }))
    }

    /// A quote that is not closed on its line, and whose text ends lines later.
    fn quote(&self) -> Option<Diagnostic> {
        let mut lines = std::iter::once(&self.here).chain(self.above);
        lines.find_map(|line| Some((line, Signs::of(line.text).open_quote?))).map(|(line, at)| {
            Diagnostic::error(self.span(*line, at, 1), "this quote is not closed")
                .help("close it on the same line; a text of several lines begins with `|`")
        })
    }

    /// `name: @x`, `name: %x`, `hosts: *x`.
    fn odd_beginning(&self, signs: &[char]) -> Option<Diagnostic> {
        let rest = self.here.text.get(self.at..)?;
        let first = rest.chars().next().filter(|first| signs.contains(first))?;
        let value = self.to_its_end(self.at, rest);
        if let Some(name) = value.strip_prefix('*').filter(|name| is_word(name)) {
            let text = format!("nothing above is marked `&{name}`, which `*{name}` stands for");
            let help = format!(
                "write `&{name}` in front of the value that is meant, or the text in quotes: `\"{value}\"`"
            );
            return Some(Diagnostic::error(self.span(self.here, self.at, value.len()), text).help(help));
        }
        if let Some(inside) = value.strip_prefix('`').and_then(|rest| rest.strip_suffix('`')) {
            let help = format!("take them away: {}", shown(inside));
            return Some(
                Diagnostic::error(self.span(self.here, self.at, value.len()), "backticks are no quotes")
                    .help(help),
            );
        }
        if value == "*" && self.here.text.get(..self.at)?.trim_end().ends_with("hosts:") {
            let help = "write `all`";
            return Some(
                Diagnostic::error(self.span(self.here, self.at, 1), "`*` means nothing here").help(help),
            );
        }
        let text = format!("a text that begins with `{first}` stands in quotes");
        Some(in_quotes(Diagnostic::error(self.span(self.here, self.at, value.len()), text), value))
    }

    /// A key without its colon, or a colon without its space.
    fn key(&self) -> Option<Diagnostic> {
        if is_flow_without_colon(self.here.entry().1) {
            return self.no_colon(self.here);
        }
        // `name: this: that`
        let (from, entry) = self.here.entry();
        if let Some((key, value)) = entry.split_once(": ")
            && from + key.len() + 1 < self.at
        {
            let trimmed = value.trim_start();
            let at = from + entry.len() - trimmed.len();
            let value = trimmed.split(" #").next().unwrap_or(trimmed).trim_end();
            let diagnostic = Diagnostic::error(
                self.span(self.here, at, value.len()),
                "a text with `: ` in it stands in quotes",
            )
            .label("YAML reads a second key here");
            return Some(in_quotes(diagnostic, value));
        }
        let above = self.above.first().copied()?;
        if let Some(found) = self.no_space_behind_dash(above).or_else(|| self.no_colon(above)) {
            return Some(found);
        }
        // The line above has a value, and this one is below it.
        let (column, key) = above.entry();
        let name = key.split(':').next().unwrap_or(key);
        let (own, _) = self.here.entry();
        (own > column && key.contains(": ")).then(|| {
            let (indent, word) = self.here.content();
            let length = word.split([':', ' ']).next().map_or(1, str::len).max(1);
            Diagnostic::error(self.span(self.here, indent, length), "this line is indented too deep")
                .label(format!("`{}` above has its value already", shown(name)))
                .help(format!("begin it with {}, below `{}`", count(column as u64, "space"), shown(name)))
        })
    }

    /// `-name: x`
    fn no_space_behind_dash(&self, line: Line<'_>) -> Option<Diagnostic> {
        let (at, text) = line.content();
        let rest = text.strip_prefix('-').filter(|rest| !rest.starts_with(['-', ' ']) && !rest.is_empty())?;
        Some(
            Diagnostic::error(self.span(line, at, 1), "there is no space behind this dash")
                .help(format!("write `- {}`", shown(rest))),
        )
    }

    /// `{ names:[jq] }`
    fn no_space_behind_colon(&self) -> Option<Diagnostic> {
        let (before, behind) = self.here.text.split_at_checked(self.at)?;
        let key = before.rsplit([' ', ',', '{', '[']).next()?;
        let value = behind.strip_prefix(':')?.split([' ', ',', '}']).next()?;
        Some(
            Diagnostic::error(self.span(self.here, self.at, 1), "there is no space behind this colon")
                .help(format!("write `{key}: {}`", shown(value))),
        )
    }

    /// An entry of a list among the keys of a map.
    fn odd_dash(&self) -> Option<Diagnostic> {
        let (own, word) = self.here.content();
        let rest = word.strip_prefix("- ")?;
        let above = self.above.iter().find(|line| line.indent() <= own)?;
        (above.indent() == own && !above.content().1.starts_with("- ")).then(|| {
            Diagnostic::error(
                self.span(self.here, own, 1),
                "this line begins with a dash, unlike those above",
            )
            .help({
                // `- name: u` below the fields of the task before it.
                let list =
                    self.above.iter().find(|line| line.indent() < own && line.content().1.starts_with("- "));
                let away = format!("take it away: `{}`", shown(rest));
                match list {
                    Some(line) => format!(
                        "with {} it is the next entry of the list above; else {away}",
                        count(line.indent() as u64, "space")
                    ),
                    None => away,
                }
            })
        })
    }

    /// A line that is one word, or `user:ops`, where a key is needed.
    fn no_colon(&self, line: Line<'_>) -> Option<Diagnostic> {
        let (at, text) = line.entry();
        let text = text.split(" #").next().unwrap_or(text).trim_end();
        let (word, rest) = text.split_once(' ').unwrap_or((text, ""));
        if let Some((key, value)) = text.split_once(':').filter(|_| !is_flow_without_colon(text)) {
            if !is_word(key) || value.is_empty() || value.starts_with(' ') || value.starts_with("//") {
                return None;
            }
            let at = at + key.len();
            return Some(
                Diagnostic::error(self.span(line, at, 1), "there is no space behind this colon")
                    .help(format!("write `{key}: {}`", shown(value))),
            );
        }
        if !is_word(word) {
            return None;
        }
        // `cluster = c`
        let (key, value) = (word, rest.trim_start().trim_start_matches('=').trim_start());
        let write = if value.is_empty() { format!("{key}:") } else { format!("{key}: {}", shown(value)) };
        Some(
            Diagnostic::error(self.span(line, at, key.len()), "this key has no colon")
                .help(format!("write `{write}`")),
        )
    }

    /// A line that begins where no line above it begins.
    fn indentation(&self) -> Option<Diagnostic> {
        let (own, word) = self.here.content();
        let mut least = usize::MAX;
        let mut near: Option<(usize, &str)> = None;
        for line in self.above {
            let (dash, content) = line.content();
            let (at, entry) = line.entry();
            // An entry of a list is meant to stand below another one.
            let columns = match (word.starts_with("- "), content.starts_with("- ")) {
                (false, _) => [Some(at), Some(dash)],
                (true, true) => [Some(dash), None],
                (true, false) => [None, None],
            };
            for column in columns.into_iter().flatten() {
                if column < least {
                    least = column;
                    let name = entry.split([':', ' ']).next().unwrap_or("");
                    if column == own {
                        return None;
                    }
                    if near.is_none_or(|(known, _)| column.abs_diff(own) < known.abs_diff(own)) {
                        near = Some((column, name));
                    }
                }
            }
            if least == 0 {
                break;
            }
        }
        let (column, name) = near?;
        let length = word.split([':', ' ']).next().map_or(1, str::len).max(1);
        Some(
            Diagnostic::error(
                self.span(self.here, own, length),
                "this line begins where no line above it begins",
            )
            .label(format!("behind {own} {}", if own == 1 { "space" } else { "spaces" }))
            .help(format!("with {column} it stands below `{}`", shown(name))),
        )
    }
}

fn is_word(word: &str) -> bool {
    !word.is_empty() && word.chars().all(|c| c.is_ascii_alphanumeric() || "_-./".contains(c))
}

/// `package { names: [jq] }`
fn is_flow_without_colon(entry: &str) -> bool {
    entry
        .split_once(' ')
        .is_some_and(|(word, rest)| is_word(word) && word != "-" && rest.trim_start().starts_with(['{', '[']))
}

/// Signs of a line that may stand alone.
#[derive(Default)]
struct Signs {
    /// Brackets outside of quotes, and where they stand.
    brackets: Vec<(usize, char)>,
    /// Position of a quote that has no end on this line.
    open_quote: Option<usize>,
    /// Position where a comment begins.
    comment: Option<usize>,
}

impl Signs {
    fn of(line: &str) -> Self {
        let mut signs = Self::default();
        let mut open: Option<char> = None;
        let mut before = ' ';
        for (at, c) in line.char_indices() {
            match (open, c) {
                (Some(quote), _) if c == quote && !(quote == '"' && before == '\\') => open = None,
                (None, '"' | '\'') if matches!(before, ' ' | '[' | '{' | ',') => {
                    open = Some(c);
                    signs.open_quote = Some(at);
                }
                (None, '#') if before == ' ' => {
                    signs.comment = Some(at);
                    break;
                }
                (None, '[' | ']' | '{' | '}') => signs.brackets.push((at, c)),
                (Some(_) | None, _) => {}
            }
            before = c;
        }
        signs.open_quote = signs.open_quote.filter(|_| open.is_some());
        signs
    }
}

/// Says that quotes are the fix: double ones, where the text has none itself.
fn in_quotes(diagnostic: Diagnostic, value: &str) -> Diagnostic {
    if !value.contains(['"', '\\']) {
        diagnostic.quoted()
    } else if value.contains('\'') {
        diagnostic.help("put it in double quotes, and a `\\` before each double quote in it")
    } else {
        diagnostic.help(format!("put it in single quotes: `'{}'`", shown(value)))
    }
}

/// The beginning of a text that may be long.
fn shown(text: &str) -> String {
    let short: String = text.trim().chars().take(60).collect();
    if short.len() < text.trim().len() { format!("{short}...") } else { short }
}
