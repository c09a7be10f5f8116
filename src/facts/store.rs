//! The answers for one host.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde_json::{Map, Value as Json};

use super::base::{BaseValue, Fact};
use super::filesystem::FilesystemsQuery;
use super::{Answer, BaseQuery, BatchPart, CommandQuery, Query, Question, Touches, as_user};
use crate::transport::PartEnd;

/// The answers for one host.
#[derive(Debug, Clone, Default)]
pub struct Facts {
    answers: BTreeMap<Query, Answer>,
}

/// Outcome of a question, as [`Facts::get`] returns it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Known<'a, T> {
    /// The answer.
    Answer(&'a T),
    /// It was asked and there is no answer: why.
    Unknown(&'a str),
    /// It was asked, and what the host said of it cannot be read: whose words those are.
    Unreadable(&'a str),
    /// Nothing was asked: this user, who should ask, is not on the host.
    NoUser(&'a str),
    /// It was not asked.
    NotAsked,
}

impl<'a, T> Known<'a, T> {
    /// The answer, when there is one.
    pub fn answer(self) -> Option<&'a T> {
        if let Self::Answer(answer) = self { Some(answer) } else { None }
    }
}

/// Describes an answer that nobody understands. The output of a tool may hold what a file does, so it is not
/// shown.
fn unreadable(family: &str, tools: &str) -> String {
    let who = if tools.is_empty() { "the host" } else { tools };
    format!("{who} said nothing of it that can be read (question `{family}`)")
}

impl Facts {
    /// Returns what is known about a question.
    pub fn get<Q: Question>(&self, question: &Q) -> Known<'_, Q::Answer> {
        match self.answers.get(&Query::from(question.clone())) {
            Some(Answer::Unknown(reason) | Answer::Silent(reason)) => Known::Unknown(reason),
            Some(Answer::Unreadable(reason)) => Known::Unreadable(reason),
            Some(Answer::NoUser(user)) => Known::NoUser(user),
            answer => answer.and_then(Answer::known).map_or(Known::NotAsked, Known::Answer),
        }
    }

    /// Returns the known answers of all hosts to a question, by their names; `None` when it was not asked.
    pub fn of_all<'a, Q: Question>(
        &'a self,
        question: &Q,
    ) -> Option<impl Iterator<Item = (&'a str, &'a Q::Answer)> + use<'a, Q>> {
        let Some(Answer::OfAll(answers)) = self.answers.get(&Query::of_all(question.clone())) else {
            return None;
        };
        Some(answers.iter().filter_map(|(host, value)| Some((host.as_str(), value.known()?))))
    }

    /// Returns what is known about a question of any type, when it was asked.
    pub fn find(&self, query: &Query) -> Option<&Answer> {
        self.answers.get(query)
    }

    /// Whether a query was asked and is answered.
    pub fn knows(&self, query: &Query) -> bool {
        matches!(self.answers.get(query), Some(Answer::Known(_) | Answer::OfAll(_) | Answer::NoUser(_)))
    }

    /// Whether the script of a query ended and said nothing of it.
    pub fn was_silent(&self, query: &Query) -> bool {
        // Where it cannot be read, its tools may have been ended, and the script went on.
        matches!(self.answers.get(query), Some(Answer::Silent(_) | Answer::Unreadable(_)))
    }

    /// Puts an answer in.
    pub fn put<Q: Question>(&mut self, question: Q, answer: Q::Answer) {
        self.insert(question.into(), Answer::Known(Arc::new(answer)));
    }

    /// Puts an answer to a question of any type in.
    pub fn insert(&mut self, query: Query, answer: Answer) {
        self.answers.insert(query, answer);
    }

    /// Takes the output of a part; what cannot be understood is [`Answer::Unknown`].
    pub fn absorb(&mut self, part: &BatchPart, end: &PartEnd) {
        if let Some(gap) = end.gap {
            return self.unknown(part, &format!("the answer of the host is {} bytes too long", gap.bytes));
        }
        let Some(first) = part.queries.first() else { return };
        if end.status > 128 && !first.family().partial {
            return self.unknown(part, &format!("signal {} ended the question", end.status - 128));
        }
        self.put_all(part, &Answer::Silent(format!("the host gave no answer (status {})", end.status)));
        if end.status == 0 {
            // A script that went to its end has said something of each question.
            self.put_all(part, &Answer::Unreadable(unreadable(first.family().name, first.family().tools)));
        }
        match as_user::output(first.user(), &end.output) {
            Ok(output) => {
                let output = String::from_utf8_lossy(output);
                self.answers.extend((first.family().parse)(&part.queries, &output, end.status));
            }
            Err(answer) => self.put_all(part, &answer),
        }
    }

    /// Notes that a part gave no answer and why.
    pub fn unknown(&mut self, part: &BatchPart, reason: &str) {
        self.put_all(part, &Answer::Unknown(reason.to_owned()));
    }

    fn put_all(&mut self, part: &BatchPart, answer: &Answer) {
        self.answers.extend(part.queries.iter().map(|query| (query.clone(), answer.clone())));
    }

    /// Drops and returns the queries that a change may have touched.
    pub fn forget(&mut self, touches: &Touches) -> BTreeSet<Query> {
        let touched: BTreeSet<Query> = self
            .answers
            .iter()
            .filter(|(query, answer)| query.answer_touched(answer, touches))
            .map(|(query, _)| query.clone())
            .collect();
        self.answers.retain(|query, _| !touched.contains(query));
        touched
    }

    /// The value of a basic fact, when it is known.
    pub fn base<F: Fact>(&self) -> Option<&F> {
        self.get(&BaseQuery(F::NAME)).answer()?.get()
    }

    /// Returns the location of a path, by a name that all hosts share that see the same file there: see
    /// [`Filesystems::location`](super::filesystem::Filesystems::location).
    pub fn location(&self, path: &str) -> Option<String> {
        self.get(&FilesystemsQuery).answer()?.location(path)
    }

    /// Drops what commands answered: a new session may answer otherwise.
    pub fn forget_asked(&mut self) {
        self.answers.retain(|query, _| !query.is::<CommandQuery>());
    }

    /// Drops all answers but those of these queries.
    pub fn keep(&mut self, queries: &BTreeSet<Query>) {
        self.answers.retain(|query, _| queries.contains(query));
    }

    /// Returns what templates see as `facts`: the base facts that were answered.
    pub fn view(&self) -> Json {
        let mut view = Map::new();
        for (query, answer) in &self.answers {
            if let (Some(BaseQuery(name)), Some(value)) = (query.get(), answer.known::<BaseValue>()) {
                view.insert((*name).to_owned(), value.json().clone());
            }
        }
        Json::Object(view)
    }
}
