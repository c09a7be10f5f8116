//! Source files and positions in them.

use std::fmt;
use std::ops::Deref;

use camino::Utf8Path;
use camino::Utf8PathBuf;

/// Number of a file in [`Sources`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SourceId(u32);

impl SourceId {
    /// Text that no file holds, such as a value from `--set`.
    pub const NONE: Self = Self(u32::MAX);
}

/// A byte range in one source file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Span {
    /// The file.
    pub source: SourceId,
    /// First byte.
    pub start: u32,
    /// One past the last byte.
    pub end: u32,
}

impl Span {
    /// A position outside of any file.
    pub const NONE: Self = Self { source: SourceId::NONE, start: 0, end: 0 };
}

/// Directories that paths in an inventory are relative to.
#[derive(Debug, Clone, Copy)]
pub struct Bases<'a> {
    /// Directory of the inventory's file.
    pub directory: &'a Utf8Path,
    /// Home directory of the user, for `~`.
    pub home: Option<&'a Utf8Path>,
}

impl Bases<'_> {
    /// An absolute path, as far as the directory is.
    pub fn resolve(&self, path: &str) -> Utf8PathBuf {
        match (path.strip_prefix("~/"), self.home) {
            (Some(rest), Some(home)) => home.join(rest),
            _ => self.directory.join(path.strip_prefix("./").unwrap_or(path)),
        }
    }
}

/// A value and where it was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sp<T> {
    /// The value.
    pub value: T,
    /// Its place.
    pub span: Span,
}

impl<T> Sp<T> {
    /// Joins a value with its place.
    pub fn new(value: T, span: Span) -> Self {
        Self { value, span }
    }
}

impl<T> Deref for Sp<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.value
    }
}

impl<T: fmt::Display> fmt::Display for Sp<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.value.fmt(f)
    }
}

#[derive(Debug, Clone)]
struct Source {
    path: Utf8PathBuf,
    text: String,
}

/// All files read in this run.
#[derive(Debug, Clone, Default)]
pub struct Sources {
    files: Vec<Source>,
}

impl Sources {
    /// Remembers a file and returns its number.
    pub fn add(&mut self, path: impl Into<Utf8PathBuf>, text: impl Into<String>) -> SourceId {
        let id = SourceId(u32::try_from(self.files.len()).unwrap_or(u32::MAX));
        self.files.push(Source { path: path.into(), text: text.into() });
        id
    }

    fn get(&self, id: SourceId) -> Option<&Source> {
        self.files.get(usize::try_from(id.0).ok()?)
    }

    /// Path of a file as the user named it; `(command line)` for text from nowhere.
    pub fn path(&self, id: SourceId) -> &Utf8Path {
        self.get(id).map_or(Utf8Path::new("(command line)"), |source| &source.path)
    }

    /// Text of a file.
    pub fn text(&self, id: SourceId) -> &str {
        self.get(id).map_or("", |source| &source.text)
    }

    /// Returns the text that is written at a position.
    pub fn snippet(&self, span: Span) -> &str {
        self.text(span.source).get(span.start as usize..span.end as usize).unwrap_or("")
    }

    /// Line and column of a byte, both from 1; columns count characters.
    pub fn line_column(&self, source: SourceId, byte: u32) -> (usize, usize) {
        let text = self.text(source);
        let before = text.get(..byte as usize).unwrap_or(text);
        let line = before.matches('\n').count() + 1;
        let column = before.rsplit('\n').next().unwrap_or("").chars().count() + 1;
        (line, column)
    }

    /// `FILE:LINE:COL` of a position.
    pub fn place(&self, span: Span) -> String {
        if span.source == SourceId::NONE {
            return self.path(span.source).to_string();
        }
        let (line, column) = self.line_column(span.source, span.start);
        format!("{}:{line}:{column}", self.path(span.source))
    }

    /// Paths and texts of all files, in the order they were read.
    pub fn iter(&self) -> impl Iterator<Item = (&Utf8Path, &str)> {
        self.files.iter().map(|source| (source.path.as_path(), source.text.as_str()))
    }
}
