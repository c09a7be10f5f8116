//! A mistake in a user's file, and how it is shown.

use std::borrow::Cow;

use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};

use super::locate::{Code, TextError};
use super::source::{SourceId, Sources, Span};
use crate::placeholder;
use crate::words::is_deceptive;

/// Severity of a mistake.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Nothing is done while it stands.
    Error,
    /// Told, and gone on.
    Warning,
}

/// One mistake with its place and what to do about it.
#[derive(Debug, Clone, PartialEq)]
pub struct Diagnostic {
    /// Its severity.
    pub severity: Severity,
    /// Its code.
    pub code: Code,
    /// Description of the mistake: a lowercase sentence without full stop.
    pub message: String,
    /// Its place.
    pub span: Span,
    /// Text beside the mark at that place; may be empty.
    pub label: String,
    /// Other places that matter, such as the first of two hosts of one name.
    pub related: Vec<(Span, String)>,
    /// Further facts that are good to know.
    pub notes: Vec<String>,
    /// Advice on what to do.
    pub help: Option<String>,
    /// The help is to put the marked text in double quotes, which is then shown.
    pub quote: bool,
    /// The marked text is not shown: it may be a secret.
    pub hidden: bool,
}

impl Diagnostic {
    /// An error at a place.
    pub fn error(span: Span, message: impl Into<String>) -> Self {
        Self {
            severity: Severity::Error,
            code: Code::Plain,
            message: message.into(),
            span,
            label: String::new(),
            related: Vec::new(),
            notes: Vec::new(),
            help: None,
            quote: false,
            hidden: false,
        }
    }

    /// An error in a text, which stands at this place.
    pub fn at(span: Span, error: TextError) -> Self {
        let TextError { message, help, code, .. } = error;
        Self { code, help, ..Self::error(span, message) }
    }

    /// A warning at a place.
    pub fn warning(span: Span, message: impl Into<String>) -> Self {
        Self { severity: Severity::Warning, ..Self::error(span, message) }
    }

    /// Adds the text under the marked place.
    #[must_use]
    pub fn label(mut self, label: impl Into<String>) -> Self {
        self.label = label.into();
        self
    }

    /// Adds another place.
    #[must_use]
    pub fn related(mut self, span: Span, label: impl Into<String>) -> Self {
        self.related.push((span, label.into()));
        self
    }

    /// Adds a note.
    #[must_use]
    pub fn note(mut self, note: impl Into<String>) -> Self {
        self.notes.push(note.into());
        self
    }

    /// Adds what to do.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// Adds what to do, when there is something.
    #[must_use]
    pub fn maybe_help(mut self, help: Option<String>) -> Self {
        self.help = help.or(self.help);
        self
    }

    /// Says that double quotes around the marked text are the fix.
    #[must_use]
    pub fn quoted(mut self) -> Self {
        self.quote = true;
        self
    }

    /// Says that the marked text may be a secret.
    #[must_use]
    pub fn hidden(mut self) -> Self {
        self.hidden = true;
        self
    }

    /// Renders like rustc does; `color` adds ANSI styles.
    pub fn render(&self, sources: &Sources, color: bool) -> String {
        let told = self.hidden || self.help.is_some();
        let odd = if told { None } else { looks_like(sources.snippet(self.span)) };
        let quoted = format!("put it in double quotes: `\"{}\"`", sources.snippet(self.span));
        let level = match self.severity {
            Severity::Error => Level::ERROR,
            Severity::Warning => Level::WARNING,
        };
        let renderer = if color { Renderer::styled() } else { Renderer::plain() };
        let title = level.primary_title(self.message.as_str());
        let mut report = Vec::new();
        if self.span.source == SourceId::NONE {
            report.push(Group::with_title(title));
        } else {
            let mut group =
                title.element(snippet(sources, self.span, &self.label, AnnotationKind::Primary, self.hidden));
            for (span, label) in &self.related {
                if span.source != SourceId::NONE {
                    group = group.element(snippet(sources, *span, label, AnnotationKind::Context, false));
                }
            }
            report.push(group);
        }
        if let Some(group) = report.pop() {
            let mut group = group;
            if let Some(note) = &odd {
                group = group.element(Level::NOTE.message(note.as_str()));
            }
            for note in &self.notes {
                group = group.element(Level::NOTE.message(note.as_str()));
            }
            if let Some(help) = &self.help {
                group = group.element(Level::HELP.message(help.as_str()));
            }
            if self.quote {
                group = group.element(Level::HELP.message(quoted.as_str()));
            }
            report.push(group);
        }
        // The renderer shows the first 32 controls by signs of their own, and escapes are its colours.
        let text = renderer.render(&report);
        let text = text.chars().map(|c| match c {
            '\n' | '\t' | '\u{1b}' => c,
            c if c.is_control() || is_deceptive(c) => '\u{fffd}',
            c => c,
        });
        placeholder::shown(&text.collect::<String>()).into_owned()
    }
}

/// Signs that look like another one, or like none, with what they are taken for: pages of the web and text
/// processors have them.
const ALIKE: [(&str, &str); 4] = [
    ("\u{2010}\u{2011}\u{2012}\u{2013}\u{2014}\u{2212}", "`-`"),
    ("\u{ff0c}\u{3001}", "`,`"),
    ("\u{a0}\u{2007}\u{202f}\u{3000}", "a space"),
    ("\u{ad}\u{200b}\u{200c}\u{200d}\u{2060}\u{feff}", ""),
];

/// Describes the first sign of a text that only looks like another one, or is not seen.
fn looks_like(text: &str) -> Option<String> {
    text.chars().find_map(|sign| {
        let (_, like) = ALIKE.iter().find(|(signs, _)| signs.contains(sign))?;
        let code = u32::from(sign);
        Some(match *like {
            "" => format!("it holds a sign that is not seen, U+{code:04X}: type it anew"),
            like => format!("it holds U+{code:04X}, which only looks like {like}"),
        })
    })
}

/// Stands for a text that is not shown.
const HIDDEN: &str = "***";

/// The line of a position with its mark. The rest of the file is not looked at again for each mistake.
fn snippet<'a>(
    sources: &'a Sources,
    span: Span,
    label: &'a str,
    kind: AnnotationKind,
    hidden: bool,
) -> Snippet<'a, annotate_snippets::Annotation<'a>> {
    let text = sources.text(span.source);
    let start = text.floor_char_boundary(span.start as usize);
    let (before, after) = text.split_at(start);
    let line_start = before.rfind('\n').map_or(0, |at| at + 1);
    // A block value runs over many lines: its first one says enough.
    let line_end = after.find('\n').map_or(text.len(), |at| start + at);
    let end = text.floor_char_boundary((span.end as usize).clamp(start, line_end));
    let shown = if hidden { HIDDEN.len() } else { end - start };
    let annotation = kind.span(start - line_start..start - line_start + shown);
    let annotation = if label.is_empty() { annotation } else { annotation.label(label) };
    let line = text.get(line_start..line_end).unwrap_or("");
    let line = if hidden {
        let parts = [text.get(line_start..start), Some(HIDDEN), text.get(end..line_end)];
        Cow::Owned(parts.into_iter().flatten().collect())
    } else {
        Cow::Borrowed(line)
    };
    Snippet::source(line)
        .line_start(before.bytes().filter(|byte| *byte == b'\n').count() + 1)
        .path(sources.path(span.source).as_str())
        .fold(true)
        .annotation(annotation)
}

/// The mistakes found so far.
#[derive(Debug, Clone, Default)]
pub struct Diagnostics {
    list: Vec<Diagnostic>,
    /// Errors beyond [`MOST`].
    more: usize,
}

/// The most that are kept: each is compared with each and shown from the whole text.
const MOST: usize = 100;

/// The most that are told of one place: one template may be wrong for each of a thousand hosts.
const MOST_OF_A_PLACE: usize = 3;

impl Diagnostics {
    /// Adds one, unless the same was said already: the same words, or once more that a place
    /// wants quotes.
    pub fn push(&mut self, diagnostic: Diagnostic) {
        let quoted = |known: &Diagnostic| known.quote && diagnostic.quote && known.span == diagnostic.span;
        if self.list.iter().any(|known| *known == diagnostic || quoted(known)) {
            return;
        }
        let of_this_place = self.list.iter().filter(|known| known.span == diagnostic.span);
        let is_place = diagnostic.span.source != SourceId::NONE;
        if is_place && of_this_place.count() >= MOST_OF_A_PLACE {
            self.more += usize::from(diagnostic.severity == Severity::Error);
        } else if self.list.len() < MOST {
            self.list.push(diagnostic);
        } else if diagnostic.severity == Severity::Error {
            match self.list.iter_mut().find(|known| known.severity == Severity::Warning) {
                Some(known) => *known = diagnostic,
                None => self.more += 1,
            }
        }
    }

    /// Adds one, if there is one.
    pub fn extend(&mut self, diagnostic: Option<Diagnostic>) {
        if let Some(diagnostic) = diagnostic {
            self.push(diagnostic);
        }
    }

    /// Whether the same is said of the same place already, whatever the notes.
    pub fn contains(&self, diagnostic: &Diagnostic) -> bool {
        self.list.iter().any(|known| known.span == diagnostic.span && known.message == diagnostic.message)
    }

    /// Gives other help to names that are not defined, where something is known of the name and the place.
    pub fn help_undefined(&mut self, known: impl Fn(&str, Span) -> Option<String>) {
        for diagnostic in &mut self.list {
            let Code::Undefined { name, .. } = &diagnostic.code else { continue };
            if let Some(help) = known(name, diagnostic.span) {
                diagnostic.help = Some(help);
            }
        }
    }

    /// Adds an error at a place.
    pub fn error(&mut self, span: Span, message: impl Into<String>) {
        self.push(Diagnostic::error(span, message));
    }

    /// Takes of another collection what is not [there](Self::contains) yet.
    pub fn append_new(&mut self, other: Self) {
        self.more += other.more;
        for diagnostic in other.list {
            if !self.contains(&diagnostic) {
                self.push(diagnostic);
            }
        }
    }

    /// Takes of another collection what stands where no error is yet and does not follow from one that is known.
    pub fn append_elsewhere(&mut self, other: Self) {
        self.more += other.more;
        let errors = self.list.iter().filter(|known| known.severity == Severity::Error);
        let known: Vec<(Span, Code)> = errors.map(|known| (known.span, known.code.clone())).collect();
        let is_new = |found: &Diagnostic| {
            found.span.source == SourceId::NONE
                || known.iter().all(|(span, code)| *span != found.span && !code.is_same(&found.code))
        };
        for diagnostic in other.list.into_iter().filter(is_new) {
            self.push(diagnostic);
        }
    }

    /// Takes all of another collection.
    pub fn append(&mut self, other: Self) {
        self.more += other.more;
        for diagnostic in other.list {
            self.push(diagnostic);
        }
    }

    /// Whether one of them is an error.
    pub fn has_errors(&self) -> bool {
        self.errors() > 0
    }

    /// Number of errors.
    pub fn errors(&self) -> usize {
        self.list.iter().filter(|d| d.severity == Severity::Error).count() + self.more
    }

    /// Whether nothing was found.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty() && self.more == 0
    }

    /// All of them in the order of the files and lines.
    pub fn sorted(&self) -> Vec<&Diagnostic> {
        let mut list: Vec<_> = self.list.iter().collect();
        list.sort_by_key(|d| d.span);
        list
    }

    /// Renders all of them, a blank line between two.
    pub fn render(&self, sources: &Sources, color: bool) -> String {
        let mut texts: Vec<_> = self.sorted().iter().map(|d| d.render(sources, color)).collect();
        if self.more > 0 {
            texts.push(format!("and {} more", self.more));
        }
        texts.join("\n\n")
    }
}
