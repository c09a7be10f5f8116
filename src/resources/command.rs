//! `command`: a program or a script of the user's.

use std::sync::Arc;

use serde_json::{Value as Json, json};

use super::value::HostPath;
use super::{Change, Context, Detail, Disruption, Planned, Resource, Unplannable, known};
use crate::config::read::Entries;
use crate::config::{Diagnostic, Diagnostics, FromNode, Node, Sp, Yaml};
use crate::facts::ask::{Asked, Command as Words, Question};
use crate::facts::{Answer, Facts, Object, Query, Touches};
use crate::placeholder;

/// A condition: a list is a program and its arguments, a string is a text for `sh`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Condition(Words);

impl Condition {
    /// What runs.
    pub(super) fn words(self) -> Words {
        self.0
    }
}

impl FromNode for Condition {
    fn from_node(node: &Node, diagnostics: &mut Diagnostics) -> Option<Self> {
        let words = if matches!(node.value, Yaml::List(_)) {
            Words::Argv(Vec::from_node(node, diagnostics)?)
        } else {
            Words::Script(String::from_node(node, diagnostics)?)
        };
        check_words(&words, node, diagnostics).then_some(Self(words))
    }

    fn schema() -> Json {
        json!({ "anyOf": [{ "type": "string" }, { "type": "array", "items": { "type": "string" } }] })
    }
}

crate::choice! {
    /// What the answer of a question is.
    Parse {
        /// What it prints, without the newlines at its end.
        Text = "text",
        /// The lines that it prints.
        Lines = "lines",
        /// What it prints is JSON: its value.
        Json = "json",
        /// Its exit status, a number; none is a failure then.
        Status = "status",
    }
}

crate::record! {
    /// Runs a program (`run`) or a text (`script`), as the C locale sees it.
    ///
    /// It runs when one of `creates`, `unless` and `check` that are given says that it is not
    /// done yet; without any of them it runs every time and cannot be proven. With
    /// `changes: false` it is a question, asked whenever the host is looked at: by `plan` and `verify`,
    /// too. `register` makes its answer known to later tasks. A question that ends with another exit
    /// status than 0 is a failure, unless its `parse` is `status`.
    CommandFields("a command") {
        /// A program and its arguments; no shell is between.
        opt run: Vec<String>,
        /// A text for `sh`, or for the interpreter that its first line names; data comes by `env`.
        opt script: String,
        /// A path that is there when it is done.
        opt creates: HostPath,
        /// A command that succeeds when there is nothing to do.
        opt unless: Condition,
        /// A command that succeeds when it is done; the proof after it ran.
        opt check: Condition,
        /// Whether it changes anything.
        def changes: bool = true,
        /// What the answer of a question is: what it prints (`text`, without the newlines at the end), a
        /// list of its `lines`, the value of the `json` that it prints, or its exit `status` as a
        /// number, whatever it is. `text`, when it is left out.
        opt parse: Sp<Parse>,
        /// Environment variables.
        def env: Entries<String> = Entries::default(),
        /// Where it runs.
        opt chdir: HostPath,
    }
}

#[derive(Debug)]
struct Command {
    question: Question,
    creates: Option<String>,
    conditions: Vec<Question>,
    changes: bool,
    parse: Parse,
}

fn check_words(words: &Words, node: &Node, diagnostics: &mut Diagnostics) -> bool {
    let (empty, secret) = match words {
        Words::Argv(words) => {
            (words.first().is_none_or(String::is_empty), words.iter().any(|w| placeholder::is_in(w)))
        }
        Words::Script(text) => (text.trim().is_empty(), placeholder::is_in(text)),
    };
    if empty {
        diagnostics.error(node.span, "there is nothing to run");
    }
    if secret {
        diagnostics.push(
            Diagnostic::error(
                node.span,
                "a command line cannot hold a secret: every user of the host can read it",
            )
            .help("give it in `env` and read the variable"),
        );
    }
    !empty && !secret
}

/// Whether a text can be the name of a variable of the shell or of make.
pub(super) fn is_variable(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

pub(super) fn read(
    node: &Node,
    context: &dyn Context,
    diagnostics: &mut Diagnostics,
) -> Option<Arc<dyn Resource>> {
    let fields = CommandFields::from_node(node, diagnostics)?;
    let words = match (fields.run, fields.script) {
        (Some(run), None) => Words::Argv(run),
        (None, Some(script)) => Words::Script(script),
        (Some(_), Some(_)) => {
            diagnostics.error(node.span, "a command has `run` or `script`, not both");
            return None;
        }
        (None, None) => {
            diagnostics
                .push(Diagnostic::error(node.span, "a command needs `run` or `script`").help(
                    "`run` is a list: the program and its arguments; `script` is a text for the shell",
                ));
            return None;
        }
    };
    let mut good = check_words(&words, node, diagnostics);
    for (name, value) in &fields.env.0 {
        if !is_variable(name) {
            good = false;
            diagnostics.error(name.span, format!("`{}` is not the name of an environment variable", **name));
        }
        if value.contains('\0') {
            good = false;
            diagnostics.error(name.span, "a value cannot hold a NUL byte");
        }
    }
    let conditions: Vec<Words> =
        [fields.unless, fields.check].into_iter().flatten().map(|condition| condition.0).collect();
    if !fields.changes && (fields.creates.is_some() || !conditions.is_empty()) {
        good = false;
        diagnostics.push(
            Diagnostic::error(
                node.span,
                "a command that changes nothing needs no `creates`, `unless` or `check`",
            )
            .help("it is a question and asked every time"),
        );
    }
    if let Some(parse) = fields.parse.as_ref().filter(|_| fields.changes) {
        good = false;
        diagnostics.push(
            Diagnostic::error(parse.span, "`parse` is about the answer of a question")
                .help("if the command only asks, say `changes: false`"),
        );
    }
    let env: Vec<(String, String)> =
        fields.env.0.into_iter().map(|(name, value)| (name.value, value)).collect();
    let chdir = fields.chdir.map(|path| path.0);
    let user = context.user().map(str::to_owned);
    let question = |command| Question { command, env: env.clone(), chdir: chdir.clone(), user: user.clone() };
    good.then(|| -> Arc<dyn Resource> {
        Arc::new(Command {
            question: question(words),
            creates: fields.creates.map(|path| path.0),
            conditions: conditions.into_iter().map(question).collect(),
            changes: fields.changes,
            parse: fields.parse.map_or(Parse::Text, |parse| parse.value),
        })
    })
}

impl Command {
    /// What it is called where a thing on the host is wanted: its own command line.
    fn object(&self) -> Object {
        Object::Path(self.creates.clone().unwrap_or_else(|| format!("`{}`", self.question.command.display())))
    }

    fn asked<'a>(&self, facts: &'a Facts, question: &Question) -> Result<&'a Asked, Unplannable> {
        let Answer::Asked(asked) =
            known::answer(facts, &Query::Ask(Box::new(question.clone())), &self.object())?
        else {
            return Err(known::strange(&self.object()));
        };
        Ok(asked)
    }

    /// The answer of a question; a text for the user when it gave none.
    fn answer(&self, asked: &Asked) -> Result<Json, String> {
        let line = self.question.command.display();
        match self.parse {
            Parse::Status => Ok(Json::from(asked.status)),
            _ if asked.status != 0 => Err(format!("`{line}` ended with status {}", asked.status)),
            Parse::Text => Ok(Json::from(asked.stdout.trim_end_matches('\n'))),
            Parse::Lines => Ok(asked.stdout.lines().collect()),
            Parse::Json => serde_json::from_str(&asked.stdout)
                .map_err(|error| format!("what `{line}` printed is not JSON: {error}")),
        }
    }

    fn is_done(&self, facts: &Facts) -> Result<bool, Unplannable> {
        if !self.provable() {
            return Ok(false);
        }
        if let Some(path) = &self.creates
            && known::path(facts, path)?.is_none()
        {
            return Ok(false);
        }
        for condition in &self.conditions {
            if self.asked(facts, condition)?.status != 0 {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

impl Resource for Command {
    fn queries(&self) -> Vec<Query> {
        if !self.changes {
            return vec![Query::Ask(Box::new(self.question.clone()))];
        }
        let conditions = self.conditions.iter().map(|condition| Query::Ask(Box::new(condition.clone())));
        self.creates.iter().map(|path| Query::Path(path.clone())).chain(conditions).collect()
    }

    fn plan(&self, facts: &Facts) -> Planned {
        if !self.changes {
            let answer = self.answer(self.asked(facts, &self.question)?);
            // What an earlier task brings may be what it asks about.
            return answer.map(|_| Vec::new()).map_err(|text| Unplannable::Missing(self.object(), text));
        }
        if self.is_done(facts)? {
            return Ok(Vec::new());
        }
        let line = self.question.command.display();
        let whole = match &self.question.command {
            Words::Argv(_) => line.clone(),
            Words::Script(text) => text.clone(),
        };
        Ok(vec![Change {
            object: self.object(),
            summary: format!("! {line}"),
            detail: Detail::Command(whole),
            script: self.question.script(),
            upload: None,
            disruption: Disruption::None,
        }])
    }

    fn registered(&self, facts: &Facts) -> Option<Json> {
        if self.changes {
            return None;
        }
        self.answer(self.asked(facts, &self.question).ok()?).ok()
    }

    fn touches(&self) -> Touches {
        if self.changes { Touches::Everything } else { Touches::Objects(std::collections::BTreeSet::new()) }
    }

    fn manages(&self) -> Vec<(Object, String)> {
        Vec::new()
    }

    fn provable(&self) -> bool {
        !self.changes || self.creates.is_some() || !self.conditions.is_empty()
    }
}
