//! One line of a run, with its parts.

use super::style::{BAD, CALM, CHANGE, DIM, GOOD, VERB, paint};

/// A line of one host or of several that say the same. What a failed command printed may differ: times and numbers of
/// processes stand in it.
#[derive(Debug, Clone)]
pub(super) struct Line {
    pub(super) verb: &'static str,
    pub(super) tone: Tone,
    pub(super) task: String,
    /// Id of the step, to know how many hosts may say the same.
    pub(super) step: String,
    pub(super) text: String,
    pub(super) more: Vec<String>,
}

/// Beginning of a line of a command's output.
pub(super) const OUTPUT: &str = "| ";

impl PartialEq for Line {
    fn eq(&self, other: &Self) -> bool {
        self.said() == other.said()
    }
}

impl Eq for Line {}

impl std::hash::Hash for Line {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.said().hash(state);
    }
}

impl Line {
    /// Returns the parts that must be the same for several hosts.
    fn said(&self) -> (&str, Tone, [&str; 3], Vec<&str>) {
        let failed = self.tone == Tone::Bad;
        let more = self.more.iter().map(String::as_str).filter(|line| !(failed && line.starts_with(OUTPUT)));
        (self.verb, self.tone, [&self.task, &self.step, &self.text], more.collect())
    }

    /// Says whose output stands there, where it is that of several hosts.
    pub(super) fn of(&mut self, host: &str, hosts: &str) {
        let output = self.more.iter().position(|line| line.starts_with(OUTPUT));
        if let Some(at) = output.filter(|_| self.tone == Tone::Bad && host != hosts) {
            self.more.insert(at, format!("{host} printed:"));
        }
    }

    /// One that is no task's: a sentence stands in the place of its name.
    pub(super) fn new(verb: &'static str, tone: Tone, task: String) -> Self {
        Self { verb, tone, task, step: String::new(), text: String::new(), more: Vec::new() }
    }
}

/// Kind of news in a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Tone {
    Good,
    Change,
    Bad,
    Calm,
    Dim,
}

impl Tone {
    /// Its colour.
    fn style(self) -> anstyle::Style {
        match self {
            Self::Good => GOOD,
            Self::Change => CHANGE,
            Self::Bad => BAD,
            Self::Calm => CALM,
            Self::Dim => DIM,
        }
    }
}

/// The verb, at the right of its column.
pub(super) fn verb_column(verb: &str, tone: Tone) -> String {
    let gap = " ".repeat(VERB.saturating_sub(verb.chars().count()));
    format!("{gap}{}", paint(tone.style(), verb))
}
