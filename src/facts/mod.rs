//! What is: queries, the batched script that asks them, and their typed answers.
//!
//! A [`Query`] names one thing to know. All queries of a host are grouped by kind; each kind has
//! one file here with the shell text that asks all its queries at once and a pure parser. The
//! kinds become the parts of one frame, cheap ones first ([`batch`]). Answers live in [`Facts`].
//!
//! To add a fact: one file with a script, a parser and its cases, one variant in [`Query`] and
//! [`Answer`], one line in [`batch`].

pub mod object;

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use serde_json::Value as Json;

pub use object::{Object, Touches};

use crate::transport::{Part, PartEnd};

/// One thing to know about a host.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Query {
    /// A group of basic facts: `facts.os`, `facts.kernel` ... by its name in templates.
    Base(&'static str),
    /// What the host's state directory says of earlier runs (see `engine::state`).
    State,
}

/// What is known about a query.
#[derive(Debug, Clone, PartialEq)]
pub enum Answer {
    /// Its value as templates see it.
    Base(Json),
    /// Text of the state directory.
    State(String),
    /// It was asked and there is no answer: why.
    Unknown(String),
}

/// One part of a gather frame with the queries that it answers.
#[derive(Debug, Clone)]
pub struct BatchPart {
    /// The queries.
    pub queries: Vec<Query>,
    /// What is sent.
    pub part: Part,
}

/// Groups queries by kind into the parts of one frame, cheap kinds first. `deadline` is that of
/// one kind. No query, no part.
pub fn batch(queries: &BTreeSet<Query>, deadline: Duration) -> Vec<BatchPart> {
    let _ = (queries, deadline);
    Vec::new()
}

/// The query behind `facts.NAME` in templates and conditions; `None` when there is no such fact.
pub fn base(name: &str) -> Option<Query> {
    let _ = name;
    None
}

/// Specimen facts (the whole `facts` object) for each supported OS family, by a name for
/// messages ("debian", "rhel"). Every field that can exist is there, so they are also the schema.
pub fn specimens() -> Vec<(&'static str, Json)> {
    Vec::new()
}

/// The answers for one host.
#[derive(Debug, Clone, Default)]
pub struct Facts {
    answers: BTreeMap<Query, Answer>,
}

impl Facts {
    /// The answer to a query, when it was asked.
    pub fn get(&self, query: &Query) -> Option<&Answer> {
        self.answers.get(query)
    }

    /// Takes the output of a part; what cannot be understood is [`Answer::Unknown`].
    pub fn absorb(&mut self, part: &BatchPart, end: &PartEnd) {
        let _ = (part, end);
    }

    /// Notes that a part gave no answer and why.
    pub fn unknown(&mut self, part: &BatchPart, reason: &str) {
        for query in &part.queries {
            self.answers.insert(query.clone(), Answer::Unknown(reason.to_owned()));
        }
    }

    /// Drops and returns the queries that a change may have touched.
    pub fn forget(&mut self, touches: &Touches) -> BTreeSet<Query> {
        let _ = touches;
        BTreeSet::new()
    }

    /// What templates see as `facts`: the base facts that were answered.
    pub fn view(&self) -> Json {
        Json::Null
    }
}
