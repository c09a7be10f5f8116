//! Mistakes of brackets, and of the commas and comments between them.

use super::{Line, Looks, Signs, in_quotes, is_word, shown};
use crate::config::diagnostic::Diagnostic;
use crate::config::source::Span;

impl Looks<'_> {
    /// `names: [jq] and more`
    pub(super) fn behind_a_bracket(&self) -> Option<Diagnostic> {
        self.near().find_map(|line| {
            let (from, entry) = line.entry();
            let at = if entry.starts_with(['{', '[']) {
                from
            } else {
                let (key, value) = entry.split_once(": ")?;
                let value_at = from + key.len() + 2 + (value.len() - value.trim_start().len());
                line.text.get(value_at..)?.starts_with(['{', '[']).then_some(value_at)?
            };
            let inside = Signs::of(line.text).brackets.into_iter().filter(|(place, _)| *place >= at);
            let mut open = Vec::new();
            let mut end = None;
            for (place, sign) in inside {
                match sign {
                    '[' => open.push(']'),
                    '{' => open.push('}'),
                    // Another mistake, which is told as that.
                    _ if open.pop() != Some(sign) => return None,
                    _ if open.is_empty() => {
                        end = Some((place, sign));
                        break;
                    }
                    _ => {}
                }
            }
            let (end, sign) = end?;
            let rest = line.text.get(end + 1..)?;
            let behind = rest.trim();
            if behind.is_empty()
                || behind.starts_with([',', ':', ']', '}'])
                || (rest.starts_with(' ') && behind.starts_with('#'))
            {
                return None;
            }
            let place = end + 1 + (rest.len() - rest.trim_start().len());
            let text = format!("something stands behind this `{sign}`, which ends the value");
            let diagnostic = Diagnostic::error(self.span(*line, place, behind.len()), text);
            let whole = line.text.get(at..)?.trim_end();
            Some(match behind {
                _ if behind.starts_with('#') => {
                    diagnostic.help("a space stands in front of the `#` of a comment")
                }
                _ if behind.starts_with("//") => diagnostic.help("a comment begins with `#`"),
                ";" => diagnostic.help("take it away"),
                _ if whole.contains(['"', '\'']) => {
                    diagnostic.help("a text that begins with a bracket stands in quotes")
                }
                _ => diagnostic.help(format!(
                    "a text that begins with a bracket stands in quotes: `\"{}\"`",
                    shown(whole)
                )),
            })
        })
    }

    /// `[gpu[0-3]]`, `{ address: 10.0.0.{{ host.number }} }`
    pub(super) fn brackets(&self) -> Option<Diagnostic> {
        let before = self.here.text.get(..self.at)?;
        let start = before.rfind([' ', ',', '[', '{']).map_or(0, |at| at + 1);
        let inside = self.here.text.get(self.at..)?;
        let close = if inside.starts_with("{{") {
            inside.find("}}")? + 2
        } else if inside.starts_with('[') {
            inside.find(']')? + 1
        } else {
            return None;
        };
        let rest = inside.get(close..)?;
        let end = self.at + close + rest.find([' ', ',', ']', '}']).unwrap_or(rest.len());
        let value = self.here.text.get(start..end).filter(|_| start < self.at)?;
        let text = "a text with brackets stands in quotes here";
        Some(in_quotes(Diagnostic::error(self.span(self.here, start, value.len()), text), value))
    }

    /// Finds a bracket that is open at the end of `here`: the parser goes on to where another entry cannot be
    /// inside of it.
    pub(super) fn open_bracket(&self, here: Line<'_>) -> Option<Diagnostic> {
        let (line, at, sign) = self.unclosed(here)?;
        Some(self.not_closed(line, at, sign))
    }

    /// Finds an open brace whose entries end on its line: where entries in several lines follow, a comma is missing.
    pub(super) fn open_bracket_of_a_map(&self) -> Option<Diagnostic> {
        let before = self.before()?;
        let (line, at, sign) = self.unclosed(before)?;
        let above = self.above.first().filter(|above| above.start == line.start);
        let behind = line.text.get(at + 1..).is_some_and(|rest| !rest.trim().is_empty());
        let ends_there = behind && above.is_some_and(|above| !above.uncommented().ends_with(','));
        ends_there.then(|| self.not_closed(line, at, sign))
    }

    fn not_closed(&self, line: Line<'_>, at: usize, sign: char) -> Diagnostic {
        let end = if sign == '[' { ']' } else { '}' };
        let diagnostic = Diagnostic::error(self.span(line, at, 1), format!("this `{sign}` is not closed"));
        let behind = line.text.get(line.uncommented().len()..).filter(|comment| comment.contains(end));
        match behind {
            Some(_) => diagnostic
                .label(format!("the `{end}` of this line stands in a comment, which begins with `#`"))
                .help(format!(
                    "write the comment behind the `{end}`, or a text that begins with `#` in quotes"
                )),
            None => diagnostic.help(format!("write `{end}` where it ends")),
        }
    }

    /// The innermost bracket that is open at the end of a line, and where it stands.
    fn unclosed<'b>(&'b self, here: Line<'b>) -> Option<(Line<'b>, usize, char)> {
        let mut closed = 0;
        for line in std::iter::once(here).chain(self.above.iter().copied()) {
            for (at, sign) in Signs::of(line.text).brackets.into_iter().rev() {
                match sign {
                    ']' | '}' => closed += 1,
                    _ if closed > 0 => closed -= 1,
                    _ => return Some((line, at, sign)),
                }
            }
        }
        None
    }

    /// `n0: { address: 10.0.0.1 },`
    pub(super) fn comma_behind(&self) -> Option<Diagnostic> {
        self.near().find_map(|line| {
            let rest = line.uncommented().strip_suffix(',')?;
            let ends = rest.ends_with(['}', ']', '"', '\'']) && rest.contains(": ");
            let behind = Line { text: rest, ..*line };
            let above: Vec<Line<'_>> =
                self.above.iter().filter(|above| above.start < line.start).copied().collect();
            let is_open = Looks { above: &above, ..*self }.unclosed(behind).is_some();
            (ends && !is_open).then(|| {
                Diagnostic::error(self.span(*line, rest.len(), 1), "a comma ends nothing here")
                    .help("take it away: entries of their own lines have none between them")
            })
        })
    }

    /// `[jq, , curl]`
    pub(super) fn nothing_between_commas(&self) -> Option<Diagnostic> {
        let (before, behind) = self.here.text.split_at_checked(self.at)?;
        let first = before.trim_end();
        (behind.starts_with(',') && first.ends_with([',', '[', '{'])).then(|| {
            let text = if first.ends_with(',') {
                "there is nothing between these commas"
            } else {
                "there is nothing in front of this comma"
            };
            let from = if first.ends_with(',') { first.len() - 1 } else { self.at };
            Diagnostic::error(self.span(self.here, from, self.at + 1 - from), text).help("take one away")
        })
    }

    /// `package { names: [jq] }`, or a bracket that closes nothing.
    pub(super) fn closing_bracket(&self) -> Option<Diagnostic> {
        self.no_colon(self.here).or_else(|| {
            let sign = self.here.text.get(self.at..)?.chars().next()?;
            let opens = if sign == ']' { '[' } else { '{' };
            let text = format!("this `{sign}` closes nothing");
            Some(
                Diagnostic::error(self.span(self.here, self.at, 1), text)
                    .help(format!("take it away, or write `{opens}` where it begins")),
            )
        })
    }

    /// `{ n0 { address: 10.0.0.1 } }`: a word that begins an entry, and then a map or a list.
    pub(super) fn no_colon_before_bracket(&self) -> Option<Diagnostic> {
        let (before, rest) = self.here.text.split_at_checked(self.at)?;
        let value = [('{', "{ ... }"), ('[', "[ ... ]")];
        let (_, value) = value.into_iter().find(|(sign, _)| rest.starts_with(*sign))?;
        let before = before.trim_end();
        let at = before.rfind([' ', ',', '{']).map_or(0, |end| end + 1);
        let (above, key) = before.split_at_checked(at).filter(|(_, word)| is_word(word))?;
        (above.trim_end().ends_with([',', '{']) && !rest.starts_with("{{")).then(|| {
            Diagnostic::error(self.span(self.here, at, key.len()), "this key has no colon")
                .help(format!("write `{key}: {value}`"))
        })
    }
}

/// Reports a bracket that one of the other kind closes.
pub(super) fn of_another_kind(place: Span, open: char, close: char) -> Diagnostic {
    Diagnostic::error(place, format!("this `{open}` is closed by `{close}`"))
        .help(format!("write its own end before `{close}`"))
}

/// Reports something behind an entry in brackets that is neither a comma nor the bracket that ends them.
pub(super) fn no_comma(place: Span, end: char) -> Diagnostic {
    Diagnostic::error(place, "a comma is missing before this, or a text stands without quotes")
        .help(format!("entries are separated by `,` and end with `{end}`"))
}
