//! Losses of an import: everything that is not taken over, told once for each kind with the first place.

use indexmap::IndexMap;

use crate::config::{Sources, Span};

/// The most that are told one by one.
const MOST: usize = 500;

#[derive(Debug, Default)]
pub(super) struct Losses {
    list: IndexMap<String, (Span, usize)>,
    more: usize,
}

impl Losses {
    /// Adds one. The text names no value: any of them may be a secret.
    pub(super) fn add(&mut self, span: Span, what: String) {
        if let Some((_, times)) = self.list.get_mut(&what) {
            *times += 1;
        } else if self.list.len() < MOST {
            self.list.insert(what, (span, 1));
        } else {
            self.more += 1;
        }
    }

    /// One line each, in the order of the files.
    pub(super) fn lines(&self, sources: &Sources) -> Vec<String> {
        let line = |(what, (span, times)): (&String, &(Span, usize))| {
            let (path, (line, _)) = (sources.path(span.source), sources.line_column(span.source, span.start));
            let more = if *times > 1 { format!(" ({times} times)") } else { String::new() };
            format!("{path}:{line}: {what}{more}")
        };
        let mut list: Vec<_> = self.list.iter().collect();
        list.sort_by_key(|(_, (span, _))| *span);
        let mut lines: Vec<String> = list.into_iter().map(line).collect();
        if self.more > 0 {
            lines.push(format!("and {} more", self.more));
        }
        lines
    }
}
