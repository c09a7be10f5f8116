//! `line`: one line of a text file, edited on this side and written whole.

use std::sync::Arc;

use regex::Regex;
use serde_json::{Value as Json, json};

use crate::config::{Diagnostic, Diagnostics, FromNode, Node, Sp};
use crate::facts::file::PathQuery;
use crate::facts::{Facts, Object, Query, Touches};
use crate::resources::shared::check::Check;
use crate::resources::shared::content::{edit, text_query};
use crate::resources::shared::known;
use crate::resources::shared::value::{HostPath, Presence};
use crate::resources::{Built, Context, Planned, Resource};

/// A regular expression of the user's, in the syntax of the `regex` crate.
#[derive(Debug, Clone)]
pub struct Pattern(Regex);

impl FromNode for Pattern {
    fn from_node(node: &Node, diagnostics: &mut Diagnostics) -> Option<Self> {
        let text = String::from_node(node, diagnostics)?;
        if text.is_empty() {
            diagnostics.push(
                Diagnostic::error(node.span, "an empty expression finds every line of the file")
                    .help("take `match` away, or write what the lines begin with: `^NAME`"),
            );
            return None;
        }
        match Regex::new(&text) {
            Ok(regex) => Some(Self(regex)),
            Err(error) => {
                diagnostics.push(
                    Diagnostic::error(node.span, "this is not a valid regular expression")
                        .note(error.to_string()),
                );
                None
            }
        }
    }

    fn schema() -> Json {
        json!({ "type": "string", "format": "regex" })
    }
}

crate::record! {
    /// One line of an existing text file (at most 64 KiB; use `template` for larger ones).
    ///
    /// `present`: the file has `line` exactly once. It replaces the first line that equals it or that
    /// `match` finds, else it is added where `after` or `before` says, or at the end; other lines that `match`
    /// finds are removed.
    /// `absent`: all lines that equal it or that `match` finds are removed.
    LineFields("a line") {
        /// The file on the host.
        req path: HostPath,
        /// The whole line.
        req line: Sp<String>,
        /// A regular expression that finds the lines to replace or remove.
        opt matches("match"): Pattern,
        /// A regular expression: a line that is added is put behind the last line that it finds, else at the end.
        /// A line that is there stays where it is.
        opt after: Sp<Pattern>,
        /// The same in front of the first line that it finds: `"^"` for the beginning of the file.
        opt before: Sp<Pattern>,
        /// A program of the host with its arguments that looks at the new file before it is put in place;
        /// `"%s"` stands for the path of the draft. When it ends with a status other than 0, or is not there, the
        /// task fails and the old file stays.
        opt validate: Check,
        /// Whether the line must exist (`present`) or must not (`absent`).
        def state: Presence = Presence::Present,
    }
}

kind! { "line", LineFields }

/// The place of a new line.
#[derive(Debug)]
enum Spot {
    /// Behind all lines that this finds.
    After(Regex),
    /// In front of all lines that this finds.
    Before(Regex),
    End,
}

impl Spot {
    /// # Errors
    /// When the fields say more than one thing.
    fn read(fields: &mut LineFields, diagnostics: &mut Diagnostics) -> Option<Self> {
        let (after, before) = (fields.after.take(), fields.before.take());
        let given = after.as_ref().or(before.as_ref()).map(|pattern| pattern.span);
        if let Some(span) = given.filter(|_| fields.state == Presence::Absent) {
            diagnostics.error(span, "a line that must not exist has no place");
            return None;
        }
        match (after, before) {
            (Some(_), Some(before)) => {
                diagnostics.error(before.span, "a line is put by `after` or by `before`, not by both");
                None
            }
            (Some(after), None) => Some(Self::After(after.value.0)),
            (None, Some(before)) => Some(Self::Before(before.value.0)),
            (None, None) => Some(Self::End),
        }
    }

    /// The byte of a text in front of which a new line is put.
    fn find(&self, text: &str) -> usize {
        let (mut start, mut found) = (0, text.len());
        for piece in text.split_inclusive('\n') {
            let line = piece.strip_suffix('\n').unwrap_or(piece);
            match self {
                Self::After(pattern) if pattern.is_match(line) => found = start + piece.len(),
                Self::Before(pattern) if pattern.is_match(line) => return start,
                Self::After(_) | Self::Before(_) | Self::End => {}
            }
            start += piece.len();
        }
        found
    }
}

#[derive(Debug)]
struct Line {
    path: HostPath,
    text: String,
    pattern: Option<Regex>,
    spot: Spot,
    state: Presence,
    check: Option<Check>,
}

pub(in crate::resources) fn read(node: &Node, _: &dyn Context, diagnostics: &mut Diagnostics) -> Built {
    let mut fields = LineFields::from_node(node, diagnostics)?;
    let spot = Spot::read(&mut fields, diagnostics)?;
    let line = fields.line.value;
    if line.contains(['\n', '\r', '\0']) || line.is_empty() {
        diagnostics.error(fields.line.span, "this must be one line of text");
        return None;
    }
    Some(Arc::new(Line {
        path: fields.path,
        text: line,
        pattern: fields.matches.map(|pattern| pattern.0),
        spot,
        state: fields.state,
        check: fields.validate,
    }))
}

impl Line {
    fn is_ours(&self, line: &str) -> bool {
        line == self.text || self.pattern.as_ref().is_some_and(|pattern| pattern.is_match(line))
    }

    /// The text as it shall be.
    fn edit(&self, text: &str) -> String {
        let mut written = self.state == Presence::Absent;
        let mut out = String::with_capacity(text.len() + self.text.len() + 1);
        for piece in text.split_inclusive('\n') {
            let line = piece.strip_suffix('\n').unwrap_or(piece);
            if !self.is_ours(line) {
                out.push_str(piece);
            } else if !written {
                written = true;
                out.push_str(&self.text);
                // A last line without its end keeps it that way: nothing else is changed.
                out.push_str(piece.get(line.len()..).unwrap_or("\n"));
            }
        }
        if written {
            return out;
        }
        let behind = out.split_off(self.spot.find(&out));
        if !out.is_empty() && !out.ends_with('\n') {
            out.push('\n');
        }
        format!("{out}{}\n{behind}", self.text)
    }
}

impl Resource for Line {
    fn queries(&self) -> Vec<Query> {
        vec![PathQuery(self.path.0.clone()).into(), text_query(&self.path).into()]
    }

    fn plan(&self, facts: &Facts) -> Planned {
        if self.state == Presence::Absent && known::path(facts, self.path.as_str())?.is_none() {
            return Ok(Vec::new());
        }
        edit(&self.path, facts, self.check.as_ref(), |text| self.edit(text))
    }

    fn touches(&self) -> Touches {
        Touches::one(Object::Path(self.path.0.clone()))
    }

    fn brief(&self) -> bool {
        self.check.is_none()
    }

    /// Not the path: many tasks may each own a line of one file.
    fn manages(&self) -> Vec<(Object, String)> {
        let place = self.pattern.as_ref().map_or(self.text.as_str(), Regex::as_str);
        vec![(
            Object::Path(format!("{} (line `{place}`)", self.path.0)),
            format!("{}: {}", self.state, self.text),
        )]
    }
}
