//! What one line of a run is made of.

use super::style::{BAD, CALM, CHANGE, DIM, GOOD, VERB, paint};

/// A line of one host or of several that say the same.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Line {
    pub(super) verb: &'static str,
    pub(super) tone: Tone,
    pub(super) task: String,
    /// Id of the step, to know how many hosts may say the same.
    pub(super) step: String,
    pub(super) text: String,
    pub(super) more: Vec<String>,
}

impl Line {
    /// One that is no task's: a sentence stands in the place of its name.
    pub(super) fn new(verb: &'static str, tone: Tone, task: String) -> Self {
        Self { verb, tone, task, step: String::new(), text: String::new(), more: Vec::new() }
    }
}

/// What kind of news it is.
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
