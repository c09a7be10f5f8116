//! A mistake in a user's file, and how it is shown.

use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};

use super::source::{SourceId, Sources, Span};
use crate::placeholder;

/// How bad it is.
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
    /// How bad it is.
    pub severity: Severity,
    /// What is wrong: a lowercase sentence without full stop.
    pub message: String,
    /// Where.
    pub span: Span,
    /// What stands at that place; may be empty.
    pub label: String,
    /// Other places that matter, such as the first of two hosts of one name.
    pub related: Vec<(Span, String)>,
    /// What is good to know.
    pub notes: Vec<String>,
    /// What to do.
    pub help: Option<String>,
    /// The help is to put the marked text in double quotes, which is then shown.
    pub quote: bool,
}

impl Diagnostic {
    /// An error at a place.
    pub fn error(span: Span, message: impl Into<String>) -> Self {
        Self {
            severity: Severity::Error,
            message: message.into(),
            span,
            label: String::new(),
            related: Vec::new(),
            notes: Vec::new(),
            help: None,
            quote: false,
        }
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

    /// Renders like rustc does; `color` adds ANSI styles.
    pub fn render(&self, sources: &Sources, color: bool) -> String {
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
            let mut group = title.element(snippet(sources, self.span.source).annotation(annotation(
                sources,
                self.span,
                &self.label,
                AnnotationKind::Primary,
            )));
            for (span, label) in &self.related {
                if span.source != SourceId::NONE {
                    group = group.element(snippet(sources, span.source).annotation(annotation(
                        sources,
                        *span,
                        label,
                        AnnotationKind::Context,
                    )));
                }
            }
            report.push(group);
        }
        if let Some(group) = report.pop() {
            let mut group = group;
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
        placeholder::shown(&renderer.render(&report)).into_owned()
    }
}

fn snippet(sources: &Sources, source: SourceId) -> Snippet<'_, annotate_snippets::Annotation<'_>> {
    Snippet::source(sources.text(source)).path(sources.path(source).as_str()).fold(true)
}

fn annotation<'a>(
    sources: &'a Sources,
    span: Span,
    label: &'a str,
    kind: AnnotationKind,
) -> annotate_snippets::Annotation<'a> {
    let text = sources.text(span.source);
    let start = text.floor_char_boundary(span.start as usize);
    // A block value runs over many lines: its first one says enough.
    let first_line = text.get(start..).unwrap_or("").find('\n').map_or(text.len(), |i| start + i);
    let end = text.floor_char_boundary((span.end as usize).clamp(start, first_line.max(start)));
    let annotation = kind.span(start..end);
    if label.is_empty() { annotation } else { annotation.label(label) }
}

/// The mistakes found so far.
#[derive(Debug, Clone, Default)]
pub struct Diagnostics {
    list: Vec<Diagnostic>,
}

impl Diagnostics {
    /// Adds one, unless the same was said already: the same words, or once more that a place
    /// wants quotes.
    pub fn push(&mut self, diagnostic: Diagnostic) {
        let quoted = |known: &Diagnostic| known.quote && diagnostic.quote && known.span == diagnostic.span;
        if !self.list.iter().any(|known| *known == diagnostic || quoted(known)) {
            self.list.push(diagnostic);
        }
    }

    /// Whether the same is said of the same place already, whatever the notes.
    pub fn says(&self, diagnostic: &Diagnostic) -> bool {
        self.list.iter().any(|known| known.span == diagnostic.span && known.message == diagnostic.message)
    }

    /// Adds an error at a place.
    pub fn error(&mut self, span: Span, message: impl Into<String>) {
        self.push(Diagnostic::error(span, message));
    }

    /// Takes of another collection what is not [said](Self::says) yet.
    pub fn append_new(&mut self, other: Self) {
        for diagnostic in other.list {
            if !self.says(&diagnostic) {
                self.push(diagnostic);
            }
        }
    }

    /// Takes all of another collection.
    pub fn append(&mut self, other: Self) {
        for diagnostic in other.list {
            self.push(diagnostic);
        }
    }

    /// Whether one of them is an error.
    pub fn has_errors(&self) -> bool {
        self.list.iter().any(|d| d.severity == Severity::Error)
    }

    /// Number of errors.
    pub fn errors(&self) -> usize {
        self.list.iter().filter(|d| d.severity == Severity::Error).count()
    }

    /// Whether nothing was found.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// All of them in the order of the files and lines.
    pub fn sorted(&self) -> Vec<&Diagnostic> {
        let mut list: Vec<_> = self.list.iter().collect();
        list.sort_by_key(|d| d.span);
        list
    }

    /// Renders all of them, a blank line between two.
    pub fn render(&self, sources: &Sources, color: bool) -> String {
        self.sorted().iter().map(|d| d.render(sources, color)).collect::<Vec<_>>().join("\n\n")
    }
}
