//! Commands of a playbook that only look: `unless`, `check`, and `command` with `changes: false`.
//! Each is a part of its own, so that one that hangs costs only its own task.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::{Answers, Cost, Family, Query, Question, Touches, answers, of_type};
use crate::transport::{Arg, Script};
use crate::words::command_line;

/// A command with its surroundings. A command may look at anything.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct CommandQuery {
    /// Program or script that runs.
    pub command: Command,
    /// Variables; values may hold placeholders of secrets.
    pub env: Vec<(String, String)>,
    /// Working directory.
    pub chdir: Option<String>,
    /// User that asks, where it is not the login's user: `become_user` of the task.
    pub user: Option<String>,
    /// The longest that it may take: `timeout` of the task.
    pub limit: Option<Duration>,
}

/// A program or a script to run.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Command {
    /// A program and its arguments.
    Argv(Vec<String>),
    /// A text for `sh`, or for the interpreter that its first line names.
    Script(String),
}

/// Outcome of a command.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Asked {
    /// Its exit status.
    pub status: i32,
    /// Its standard output.
    pub stdout: String,
}

impl Command {
    /// One line for people.
    pub fn display(&self) -> String {
        match self {
            Self::Argv(words) => words
                .iter()
                .map(|word| {
                    shlex::try_quote(word).map_or_else(|_| word.clone(), std::borrow::Cow::into_owned)
                })
                .collect::<Vec<_>>()
                .join(" "),
            Self::Script(text) => command_line(text),
        }
    }
}

impl CommandQuery {
    /// The script that runs it, for asking and for changing alike; who runs it is not in there.
    pub fn script(&self) -> Script {
        self.script_of(crate::shell!("shell/base64.sh", "facts/ask/ask.sh"))
    }

    fn script_of(&self, text: &'static str) -> Script {
        let mut script = Script::new(text)
            .named("directory", self.chdir.as_deref().unwrap_or(""))
            .named("variables", self.env.len().to_string())
            .list("variable", self.env.iter().map(|(name, value)| format!("{name}={value}")));
        match &self.command {
            Command::Argv(words) => {
                script = script.named("kind", "argv").list("word", words.iter().map(String::as_str));
            }
            Command::Script(text) => {
                let interpreter =
                    text.lines().next().and_then(|line| line.strip_prefix("#!")).map_or("", str::trim);
                script = script
                    .named("kind", "script")
                    .named("interpreter", interpreter)
                    .named("text", Arg::Packed(text.clone()));
            }
        }
        script
    }
}

impl Question for CommandQuery {
    type Answer = Asked;
    const FAMILY: &'static Family = FAMILY;

    fn label(&self) -> String {
        format!("asked {}", self.command.display())
    }

    fn touched_by(&self, touches: &Touches) -> bool {
        touches.any(|_| true)
    }

    fn user(&self) -> Option<&str> {
        self.user.as_deref()
    }

    fn limit(&self) -> Option<Duration> {
        self.limit
    }
}

// What a command was asked with is more than its label tells.
pub(crate) const FAMILY: &Family = &Family {
    cost: Cost::Commands,
    chunk: 1,
    output: 1 << 20,
    partial: true,
    ..Family::new("ask", script, parse, |_| None)
};

fn script(queries: &[Query]) -> Script {
    let Some(query) = of_type::<CommandQuery>(queries).next() else { return Script::new(":") };
    // It is run where the functions of base64.sh are: they are sent once.
    let script = query.script_of(include_str!("ask.sh"));
    Script::new(crate::shell!("shell/base64.sh", "facts/ask/asked.sh"))
        .named("script", Arg::Script(Box::new(script)))
}

fn parse(queries: &[Query], output: &str, status: i32) -> Answers {
    // A command that was never run has not said no. Behind what `ask.sh` says of it stands a line feed of asked.sh.
    let last = output.trim_end_matches('\n').lines().next_back().unwrap_or_default();
    let failed = last.strip_prefix("this could not be run: ").filter(|_| status == 126);
    answers(queries, |_: &CommandQuery| {
        Some(match failed {
            Some(reason) => Err(format!("it could not be run: {}", reason.trim())),
            // One line feed is of asked.sh.
            None => Ok(Asked { status, stdout: output.strip_suffix('\n').unwrap_or(output).to_owned() }),
        })
    })
}
