//! Questions, answers, and the outcome.

use serde::{Deserialize, Serialize};

/// The result of a test of some hosts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Answer {
    /// As fast as it should be.
    Good,
    /// Slower.
    Slow,
    /// It ended with a mistake.
    Failed,
    /// It did not end within its time.
    Hung,
}

impl Answer {
    /// Whether something is wrong.
    pub(super) fn is_bad(self) -> bool {
        match self {
            Self::Good => false,
            Self::Slow | Self::Failed | Self::Hung => true,
        }
    }

    fn word(self) -> &'static str {
        match self {
            Self::Good => "good",
            Self::Slow => "slow",
            Self::Failed => "failing",
            Self::Hung => "hung",
        }
    }
}

/// The next thing to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    /// These hosts are to be tested together.
    Test(Vec<String>),
    /// It is over.
    Done(Outcome),
}

/// The end of a bisection.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Outcome {
    /// Culprits; none where nothing was bad again.
    pub culprits: Vec<Culprit>,
    /// Whether the group was bad again at all.
    pub is_reproduced: bool,
    /// Whether all that is left is good.
    pub is_complete: bool,
    /// The number of tests that it took.
    pub tests: usize,
}

/// A part of the cluster that is to blame.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Culprit {
    /// A host that is bad with all others that it was tested with.
    Host {
        /// Its name.
        host: String,
        /// The result of the test.
        how: Answer,
    },
    /// Two hosts that are good with others and bad together.
    Link {
        /// One of them.
        from: String,
        /// The other one.
        to: String,
        /// The result of the test.
        how: Answer,
    },
    /// Hosts of two places that are good among themselves and bad together.
    Boundary {
        /// Kind of the label: `leaf`.
        kind: String,
        /// The label of one place.
        from: String,
        /// The label of the other.
        to: String,
        /// The result of the test.
        how: Answer,
    },
    /// Two groups that are bad together and in no smaller part: what joins them is too narrow.
    Crossing {
        /// Hosts of one group.
        from: Vec<String>,
        /// Hosts of the other one.
        to: Vec<String>,
        /// The result of the test.
        how: Answer,
    },
    /// Hosts of which one is bad or the way between them; there was nobody good to test them with.
    OneOf {
        /// Their names.
        hosts: Vec<String>,
        /// The result of the test.
        how: Answer,
    },
    /// Hosts that were bad together, and then good.
    Unsteady {
        /// Their names.
        hosts: Vec<String>,
    },
}

impl Culprit {
    /// A sentence.
    pub fn text(&self) -> String {
        match self {
            Self::Host { host, how } => format!("{host} is {} with each host it was tested with", how.word()),
            Self::Link { from, to, how } => {
                format!("{from} and {to} are {} together, and each is good with others", how.word())
            }
            Self::Boundary { kind, from, to, how } => {
                format!(
                    "{kind} {from} and {kind} {to} are {} together, and each is good by itself",
                    how.word()
                )
            }
            Self::Crossing { from, to, how } => format!(
                "{} hosts from {} on and {} hosts from {} on are {} together, and in no smaller part of both: what joins \
                 them is too narrow",
                from.len(),
                from.first().map_or("", String::as_str),
                to.len(),
                to.first().map_or("", String::as_str),
                how.word()
            ),
            Self::OneOf { hosts, how } => format!(
                "{} are {} together, and nobody is known to be good to test them with: one of them is bad, or the way \
                 between them",
                hosts.join(" and "),
                how.word()
            ),
            Self::Unsteady { hosts } => {
                format!("{} hosts were bad together and then good: {}", hosts.len(), hosts.join(", "))
            }
        }
    }
}
