//! From a place in a YAML scalar's text to the place in its file.

use std::sync::Arc;

use super::source::{Sources, Span};

/// Code of a mistake that the program itself has to recognise.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Code {
    /// Nothing depends on it.
    #[default]
    Plain,
    /// A name is not defined.
    Undefined {
        /// The name, the first of a path.
        name: String,
        /// Whether the help says more than which names there are.
        advised: bool,
    },
    /// A value names this group, which the inventory lacks.
    NoGroup(String),
    /// This text is no template, although it looks like one.
    NoTemplate(Arc<str>),
    /// A value names a release that has ended.
    Ended {
        /// The product it is a release of.
        product: String,
        /// The release.
        release: String,
    },
}

impl Code {
    /// Whether two errors follow from one mistake.
    pub(super) fn is_same(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Undefined { name, .. }, Self::Undefined { name: other, .. })
            | (Self::NoGroup(name), Self::NoGroup(other)) => name == other,
            (Self::NoTemplate(text), Self::NoTemplate(other)) => text == other,
            (
                Self::Plain
                | Self::Undefined { .. }
                | Self::NoGroup(_)
                | Self::NoTemplate(_)
                | Self::Ended { .. },
                _,
            ) => false,
        }
    }
}

/// An error in a text, with its place: a byte range of the text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TextError {
    /// First byte.
    pub start: usize,
    /// One past the last byte.
    pub end: usize,
    /// Description of the error.
    pub message: String,
    /// Advice on what to do.
    pub help: Option<String>,
    /// Its code.
    pub code: Code,
}

impl TextError {
    /// An error over a byte range.
    pub fn new(start: usize, end: usize, message: impl Into<String>) -> Self {
        Self { start, end: end.max(start), message: message.into(), help: None, code: Code::Plain }
    }

    /// Adds what to do.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// The same error in a text that has `by` bytes before this one.
    #[must_use]
    pub fn shift(mut self, by: usize) -> Self {
        self.start += by;
        self.end += by;
        self
    }
}

/// Finds the place where bytes `start..end` of a scalar's text are written. `scalar` is the scalar's own
/// place.
///
/// Text and file differ by quotes, escapes and the indentation of block scalars; they are walked
/// side by side. Where they cannot be matched, the whole scalar is the answer.
pub fn locate(sources: &Sources, scalar: Span, text: &str, start: usize, end: usize) -> Span {
    let raw = sources.snippet(scalar);
    let Some(from) = offset(raw, text, start) else { return scalar };
    // The end is found from the last byte of the range, so that a line's end is not skipped.
    let to = if end > start { offset(raw, text, end - 1).map_or(from, |last| last + 1) } else { from };
    let base = scalar.start;
    let place = |byte: usize| u32::try_from(byte).map_or(u32::MAX, |byte| base.saturating_add(byte));
    Span { source: scalar.source, start: place(from), end: place(to.max(from)) }
}

/// The byte of `raw` that stands for byte `wanted` of `text`.
fn offset(raw: &str, text: &str, wanted: usize) -> Option<usize> {
    if raw == text {
        return Some(wanted.min(raw.len()));
    }
    let quote = raw.chars().next().filter(|c| matches!(c, '"' | '\''));
    let block = raw.starts_with(['|', '>']);
    let mut at = if quote.is_some() {
        1
    } else if block {
        raw.find('\n')? + 1
    } else {
        0
    };
    let bytes = raw.as_bytes();
    for (i, byte) in text.bytes().enumerate() {
        let folded = byte == b' ' || byte == b'\n';
        loop {
            let here = *bytes.get(at)?;
            if quote == Some('"') && here == b'\\' {
                break;
            }
            // A folded line's end is a space in the text.
            if here == byte || (folded && here == b'\n') {
                break;
            }
            at += 1;
        }
        if i == wanted {
            return Some(at);
        }
        let escape = quote == Some('"') && bytes.get(at) == Some(&b'\\');
        let doubled = quote == Some('\'') && byte == b'\'' && bytes.get(at + 1) == Some(&b'\'');
        at += if escape || doubled { 2 } else { 1 };
    }
    (wanted >= text.len()).then(|| at.min(raw.len()))
}

#[cfg(test)]
mod tests {
    use super::super::yaml;
    use super::*;

    #[test]
    fn scalars_of_all_styles() {
        for yaml_text in [
            "k: a {{ mtuu }} b\n",
            "k: \"a\\n\\t{{ mtuu }} b\"\n",
            "k: 'it''s {{ mtuu }} b'\n",
            "k: |\n  first line\n    deeper\n  {{ mtuu }}\n",
            "k: >-\n  first line\n  {{ mtuu }}\n",
        ] {
            let mut sources = Sources::default();
            let id = sources.add("t.yaml", yaml_text);
            let node = yaml::parse(&sources, id).unwrap();
            let node = node.get("k").unwrap();
            let text = node.as_str().unwrap();
            let start = text.find("mtuu").unwrap();
            let span = locate(&sources, node.span, text, start, start + 4);
            assert_eq!(sources.snippet(span), "mtuu", "{yaml_text}");
        }
    }
}
