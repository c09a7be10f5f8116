//! Lines of a run on a terminal: their columns and their width.

use super::line::{Line, Tone, verb_column};
use super::output;
use super::rows::{self, Columns, wrap};
use super::style::{DIM, HINT, VERB, paint, seconds, style_diff, width_of};

/// Verbosity of the display.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verbosity {
    /// Failures and the end only.
    Quiet,
    /// Changes too.
    Normal,
    /// Diffs, output and skipped tasks too.
    Verbose,
}

/// Settings and limits of the display.
#[derive(Debug, Clone, Copy)]
pub struct TerminalSettings {
    /// Verbosity of the display.
    pub verbosity: Verbosity,
    /// Columns of the terminal; `None` does not cut.
    pub width: Option<usize>,
    /// Whether the bar is drawn.
    pub progress: bool,
}

/// Destination of lines.
#[derive(Debug)]
enum Out {
    Stderr,
    Kept(String),
}

/// Puts lines where a person sees them.
#[derive(Debug)]
pub(super) struct Screen {
    pub(super) settings: TerminalSettings,
    out: Out,
    pub(super) columns: Columns,
    /// Lines that were shown.
    pub(super) shown: usize,
}

impl Screen {
    /// Lines go to stderr.
    pub(super) fn new(settings: TerminalSettings) -> Self {
        Self { settings, out: Out::Stderr, columns: Columns::new(settings.width), shown: 0 }
    }

    /// Lines go nowhere: [`Self::kept`] has them.
    pub(super) fn keeping(settings: TerminalSettings) -> Self {
        Self { out: Out::Kept(String::new()), ..Self::new(settings) }
    }

    /// Returns the lines that were shown, when the display keeps them.
    pub(super) fn kept(&self) -> &str {
        match &self.out {
            Out::Kept(text) => text,
            Out::Stderr => "",
        }
    }

    pub(super) fn print(&mut self, line: &str) {
        self.shown += 1;
        match &mut self.out {
            Out::Kept(text) => {
                text.push_str(line);
                text.push('\n');
            }
            Out::Stderr => output::say(line),
        }
    }

    /// A line of a phase, with its time at the right.
    pub(super) fn phase(&mut self, verb: &str, tone: Tone, text: &str, time: Option<f64>) {
        if self.settings.verbosity == Verbosity::Quiet && tone != Tone::Bad {
            return;
        }
        let indent = VERB + 2;
        let time = time.map(seconds).unwrap_or_default();
        // The text leaves the time its place.
        let right = self.settings.width.unwrap_or(80).min(100).saturating_sub(time.len() + 1);
        let room = match self.settings.width {
            Some(_) if !time.is_empty() => right.saturating_sub(indent + 2),
            Some(width) => width.saturating_sub(indent),
            None => usize::MAX,
        };
        // What does not fit is broken where it has a pause.
        let pieces = if width_of(text) > room { text.split_inclusive("; ").collect() } else { vec![text] };
        let mut lines = pieces.into_iter().flat_map(|piece| wrap(piece, room));
        let mut first = lines.next().unwrap_or_default();
        if !time.is_empty() {
            let gap = right.saturating_sub(indent + width_of(&first)).max(2);
            first.push_str(&" ".repeat(gap));
            first.push_str(&paint(DIM, &time));
        }
        self.print(&format!("{}  {first}", verb_column(verb, tone)));
        for line in lines {
            self.print(&format!("{}{line}", " ".repeat(indent)));
        }
    }

    pub(super) fn line(&mut self, hosts: &str, line: &Line) {
        self.columns.fit_hosts(hosts);
        // Only changes are a list; a reason is read to its end.
        let list = matches!(line.verb, "Changed" | "Ran");
        let row = self.columns.row(hosts, &line.task, &line.text, list);
        self.print(format!("{}  {}", verb_column(line.verb, line.tone), row.first).trim_end());
        for text in row.below {
            self.print(&text);
        }
        for text in &line.more {
            let hint = text.starts_with(rows::HINT);
            for text in self.columns.under(text) {
                let (indent, text) = text.split_at(VERB + 2);
                let text = if hint { paint(HINT, text) } else { style_diff(text) };
                self.print(&format!("{indent}{text}"));
            }
        }
    }

    /// A line that is to be copied: it is never broken or cut.
    pub(super) fn whole(&mut self, lead: &str, text: &str) {
        let indent = " ".repeat(VERB + 2);
        let fits = |width: usize| indent.len() + lead.len() + width_of(text) <= width;
        if self.settings.width.is_none_or(fits) {
            self.print(&format!("{indent}{}", paint(HINT, &format!("{lead}{text}"))));
        } else {
            self.print(&format!("{indent}{}", paint(HINT, lead.trim_end())));
            self.print(&format!("  {}", paint(HINT, text)));
        }
    }
}
