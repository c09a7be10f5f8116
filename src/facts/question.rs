//! Definition of a question: a type of its own that says what it asks, how, and what may change the answer.

use std::any::{Any, type_name};
use std::cmp::Ordering;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value as Json;

use super::Touches;
use crate::transport::Script;

/// One thing to know about a host.
pub trait Question: Clone + fmt::Debug + Ord + Send + Sync + 'static {
    /// Type of the answer.
    type Answer: Clone + PartialEq + fmt::Debug + Serialize + DeserializeOwned + Send + Sync + 'static;

    /// The questions that one script answers together with this one.
    const FAMILY: &'static Family;

    /// Whether runs record the answer for those tasks of later runs that need it of all hosts. Public
    /// things only.
    const RECORDED: bool = false;

    /// Itself in words, as cases and records write it: `package perftest`. The first word is the same
    /// for all questions of the type.
    fn label(&self) -> String;

    /// Whether a change of these things may change the answer.
    fn touched_by(&self, touches: &Touches) -> bool;

    /// Whether it may change this answer, where only the answer names what it stands on.
    fn answer_touched(_answer: &Self::Answer, _touches: &Touches) -> bool {
        false
    }

    /// Returns the user that asks on the host, where it is not the login's user: `become_user` of the task. A
    /// question is asked so when it runs something that a playbook or a user of the host names. Scripts of
    /// our own that read files, or give no more than a name to a tool of the system, are not, and all tasks
    /// share their answers.
    fn user(&self) -> Option<&str> {
        None
    }

    /// The longest that it may take, where that can be less than the deadline of its part: `timeout` of
    /// the task.
    fn limit(&self) -> Option<Duration> {
        None
    }
}

/// Cost of an answer for its host: the parts of a frame are in this order, cheap ones first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Cost {
    /// Files are read.
    Files,
    /// A tool of the system is started, or a few.
    Tools,
    /// Commands of playbooks, of vendors, and others that have deadlines of their own.
    Commands,
    /// It is not in the frame of questions: it is asked by itself, or the engine answers it.
    Apart,
}

/// Questions that one script answers: what is sent for many at once and how the output is read.
pub struct Family {
    /// Its name: that of the part of a frame, and of the folder of its cases.
    pub name: &'static str,
    /// Cost of an answer for its host.
    pub cost: Cost,
    /// Most questions that one part takes.
    pub chunk: usize,
    /// Bytes of output that one question may cause.
    pub output: usize,
    /// The deadline of one part, where it is not the usual one.
    pub deadline: Option<Duration>,
    /// The tools whose output its answers are made of, for who is told that it cannot be read.
    pub tools: &'static str,
    /// Whether what a question had printed before it was killed is an answer: a command of a playbook ends
    /// as it likes, and sections of a probe say themselves how each ended. In other output a name without
    /// its last letters looks whole.
    pub partial: bool,
    /// Builds the script that is sent.
    pub script: fn(&[Query]) -> Script,
    /// Reads the output and the exit status. Answers come in any order; what is left out is unknown.
    pub parse: fn(&[Query], &str, i32) -> Answers,
    /// The question that is written so; see [`Question::label`].
    pub read_label: fn(&str) -> Option<Query>,
}

impl Family {
    /// A family with the usual limits.
    pub const fn new(
        name: &'static str,
        script: fn(&[Query]) -> Script,
        parse: fn(&[Query], &str, i32) -> Answers,
        read_label: fn(&str) -> Option<Query>,
    ) -> Self {
        Self {
            name,
            cost: Cost::Tools,
            chunk: 1024,
            output: 64 << 10,
            deadline: None,
            tools: "",
            partial: false,
            script,
            parse,
            read_label,
        }
    }
}

impl fmt::Debug for Family {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Family").field("name", &self.name).finish_non_exhaustive()
    }
}

/// An answer of any type.
pub trait Value: fmt::Debug + Send + Sync {
    #[doc(hidden)]
    fn any(&self) -> &dyn Any;
    #[doc(hidden)]
    fn same(&self, other: &dyn Value) -> bool;
    /// As cases and records have it.
    fn json(&self) -> Json;
}

impl<T: PartialEq + fmt::Debug + Serialize + Send + Sync + 'static> Value for T {
    fn any(&self) -> &dyn Any {
        self
    }

    fn same(&self, other: &dyn Value) -> bool {
        other.any().downcast_ref::<T>() == Some(self)
    }

    fn json(&self) -> Json {
        serde_json::to_value(self).unwrap_or_default()
    }
}

impl dyn Value {
    /// The answer, when it is of this type.
    pub fn known<T: 'static>(&self) -> Option<&T> {
        self.any().downcast_ref()
    }
}

/// Outcome of a question.
#[derive(Debug, Clone)]
pub enum Answer {
    /// The answer, of the type that the question says.
    Known(Arc<dyn Value>),
    /// The known answers of all hosts, by their names; hosts without one are left out.
    OfAll(OfAll),
    /// Nothing was asked: the user who should ask is not on the host.
    NoUser(String),
    /// It was asked and there is no answer: why.
    Unknown(String),
    /// The script of the question ended and said nothing of it, why: the host may be going down.
    Silent(String),
    /// It was asked, and what the host said of it cannot be read: whose words those are.
    Unreadable(String),
}

/// Answers to one question by the names of hosts.
pub type OfAll = Arc<std::collections::BTreeMap<String, Arc<dyn Value>>>;

impl Answer {
    /// The answer, when it is known and of this type.
    pub fn known<T: 'static>(&self) -> Option<&T> {
        if let Self::Known(value) = self { value.known() } else { None }
    }
}

/// Queries with what is known about them.
pub(crate) type Answers = Vec<(Query, Answer)>;

/// The answer, or why there is none.
pub(crate) type Told<T> = Result<T, String>;

/// Answers for those of the queries that are of one type.
pub(crate) fn answers<Q: Question>(
    queries: &[Query],
    mut answer: impl FnMut(&Q) -> Option<Told<Q::Answer>>,
) -> Answers {
    queries
        .iter()
        .filter_map(|query| {
            let answer = match answer(query.get()?)? {
                Ok(value) => Answer::Known(Arc::new(value)),
                Err(reason) => Answer::Unknown(reason),
            };
            Some((query.clone(), answer))
        })
        .collect()
}

/// Returns the queries that are of one type.
pub(crate) fn of_type<Q: Question>(queries: &[Query]) -> impl Iterator<Item = &Q> {
    queries.iter().filter_map(Query::get)
}

/// A question of any type, to one host or to all.
#[derive(Clone)]
pub struct Query {
    question: Arc<dyn Erased>,
    of_all: bool,
}

impl<Q: Question> From<Q> for Query {
    fn from(question: Q) -> Self {
        Self { question: Arc::new(question), of_all: false }
    }
}

impl Query {
    /// The same question to every host of the inventory. The engine answers it with what it knows by
    /// then, of this run or an earlier one; of this host it is asked.
    pub fn of_all(question: impl Into<Self>) -> Self {
        Self { of_all: true, ..question.into() }
    }

    /// Whether it is asked of all hosts.
    pub fn is_of_all(&self) -> bool {
        self.of_all
    }

    /// Returns the question to this very host: a question to all is one to it, too.
    #[must_use]
    pub fn own(&self) -> Self {
        Self { of_all: false, ..self.clone() }
    }

    /// The question, when it is to one host and of this type.
    pub fn get<Q: Question>(&self) -> Option<&Q> {
        if self.of_all { None } else { self.question.any().downcast_ref() }
    }

    /// Whether it is a question to one host of this type.
    pub fn is<Q: Question>(&self) -> bool {
        self.get::<Q>().is_some()
    }

    /// The questions that are asked together with it.
    pub fn family(&self) -> &'static Family {
        self.question.family()
    }

    /// See [`Question::label`].
    pub fn label(&self) -> String {
        let label = self.question.label();
        if self.of_all { format!("fleet {label}") } else { label }
    }

    /// See [`Question::user`].
    pub fn user(&self) -> Option<&str> {
        self.question.user()
    }

    /// See [`Question::limit`].
    pub fn limit(&self) -> Option<Duration> {
        self.question.limit()
    }

    /// See [`Question::RECORDED`].
    pub fn recorded(&self) -> bool {
        self.question.recorded()
    }

    /// See [`Question::touched_by`]. The engine knows itself when what all hosts answer changes.
    pub fn touched_by(&self, touches: &Touches) -> bool {
        !self.of_all && self.question.touched_by(touches)
    }

    /// Whether a change of these things may change this answer.
    pub(crate) fn answer_touched(&self, answer: &Answer, touches: &Touches) -> bool {
        self.touched_by(touches)
            || matches!(answer, Answer::Known(value) if self.question.answer_touched(&**value, touches))
    }

    /// The answer that is written so; `None` when it is none to this question.
    pub fn read(&self, json: &Json) -> Option<Answer> {
        if !self.of_all {
            return self.question.read(json).map(Answer::Known);
        }
        let read = |(host, json): (&String, &Json)| Some((host.clone(), self.question.read(json)?));
        Some(Answer::OfAll(Arc::new(json.as_object()?.iter().map(read).collect::<Option<_>>()?)))
    }
}

impl fmt::Debug for Query {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.of_all { "of all: " } else { "" })?;
        self.question.fmt(f)
    }
}

impl Ord for Query {
    fn cmp(&self, other: &Self) -> Ordering {
        let (one, two) = (&*self.question, &*other.question);
        self.of_all
            .cmp(&other.of_all)
            .then_with(|| one.family().name.cmp(two.family().name))
            .then_with(|| one.type_name().cmp(two.type_name()))
            .then_with(|| one.compare(two))
    }
}

impl PartialOrd for Query {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Query {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Query {}

/// A question without its type.
trait Erased: fmt::Debug + Send + Sync {
    fn any(&self) -> &dyn Any;
    fn type_name(&self) -> &'static str;
    fn compare(&self, other: &dyn Erased) -> Ordering;
    fn family(&self) -> &'static Family;
    fn recorded(&self) -> bool;
    fn label(&self) -> String;
    fn touched_by(&self, touches: &Touches) -> bool;
    fn answer_touched(&self, answer: &dyn Value, touches: &Touches) -> bool;
    fn user(&self) -> Option<&str>;
    fn limit(&self) -> Option<Duration>;
    fn read(&self, json: &Json) -> Option<Arc<dyn Value>>;
}

impl<Q: Question> Erased for Q {
    fn any(&self) -> &dyn Any {
        self
    }

    fn type_name(&self) -> &'static str {
        type_name::<Q>()
    }

    fn compare(&self, other: &dyn Erased) -> Ordering {
        other.any().downcast_ref().map_or(Ordering::Equal, |other| self.cmp(other))
    }

    fn family(&self) -> &'static Family {
        Q::FAMILY
    }

    fn recorded(&self) -> bool {
        Q::RECORDED
    }

    fn label(&self) -> String {
        Question::label(self)
    }

    fn touched_by(&self, touches: &Touches) -> bool {
        Question::touched_by(self, touches)
    }

    fn answer_touched(&self, answer: &dyn Value, touches: &Touches) -> bool {
        answer.any().downcast_ref().is_some_and(|answer| Q::answer_touched(answer, touches))
    }

    fn user(&self) -> Option<&str> {
        Question::user(self)
    }

    fn limit(&self) -> Option<Duration> {
        Question::limit(self)
    }

    fn read(&self, json: &Json) -> Option<Arc<dyn Value>> {
        Some(Arc::new(serde_json::from_value::<Q::Answer>(json.clone()).ok()?))
    }
}
