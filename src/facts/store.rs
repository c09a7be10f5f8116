//! The answers for one host.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value as Json};

use super::{Answer, BatchPart, Object, Query, Touches, as_user, kind_of};
use crate::transport::PartEnd;

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

    /// Puts an answer in.
    pub fn insert(&mut self, query: Query, answer: Answer) {
        self.answers.insert(query, answer);
    }

    /// Takes the output of a part; what cannot be understood is [`Answer::Unknown`].
    pub fn absorb(&mut self, part: &BatchPart, end: &PartEnd) {
        if end.dropped > 0 {
            return self.unknown(part, &format!("the answer was too long by {} bytes", end.dropped));
        }
        self.unknown(part, &format!("no answer from the host (status {})", end.status));
        let Some(kind) = part.queries.first().and_then(kind_of) else { return };
        match as_user::output(part.queries.first().and_then(Query::user), &end.output) {
            Ok(output) => self.answers.extend((kind.parse)(&part.queries, output, end.status)),
            Err(answer) => {
                self.answers.extend(part.queries.iter().map(|query| (query.clone(), (*answer).clone())));
            }
        }
    }

    /// Notes that a part gave no answer and why.
    pub fn unknown(&mut self, part: &BatchPart, reason: &str) {
        for query in &part.queries {
            self.answers.insert(query.clone(), Answer::Unknown(reason.to_owned()));
        }
    }

    /// Drops and returns the queries that a change may have touched.
    pub fn forget(&mut self, touches: &Touches) -> BTreeSet<Query> {
        let touched: BTreeSet<Query> = self
            .answers
            .iter()
            .filter(|(query, answer)| query.touched_by(touches) || keys_touched(answer, touches))
            .map(|(query, _)| query.clone())
            .collect();
        self.answers.retain(|query, _| !touched.contains(query));
        touched
    }

    /// The value of a basic fact, when it is known.
    pub fn base(&self, name: &'static str) -> Option<&Json> {
        match self.answers.get(&Query::Base(name)) {
            Some(Answer::Base(value)) => Some(value),
            _ => None,
        }
    }

    /// Where a path is, by a name that all hosts share that see the same file there: see
    /// [`Filesystems::location`](super::filesystem::Filesystems::location).
    pub fn location(&self, path: &str) -> Option<String> {
        match self.answers.get(&Query::Filesystems) {
            Some(Answer::Filesystems(seen)) => seen.location(path),
            _ => None,
        }
    }

    /// Drops what commands answered: a new session may answer otherwise.
    pub fn forget_asked(&mut self) {
        self.answers.retain(|query, _| !matches!(query, Query::Ask(_)));
    }

    /// Drops all answers but those of these queries.
    pub fn keep(&mut self, queries: &BTreeSet<Query>) {
        self.answers.retain(|query, _| queries.contains(query));
    }

    /// What templates see as `facts`: the base facts that were answered.
    pub fn view(&self) -> Json {
        let mut view = Map::new();
        for (query, answer) in &self.answers {
            if let (Query::Base(name), Answer::Base(value)) = (query, answer) {
                view.insert((*name).to_owned(), value.clone());
            }
        }
        Json::Object(view)
    }
}

fn keys_touched(answer: &Answer, touches: &Touches) -> bool {
    if let Answer::AuthorizedKeys(Some(keys)) = answer {
        return touches.meets(&Object::Path(keys.path.clone()));
    }
    false
}
