//! Commands of a playbook that only look: `unless`, `check`, and `command` with `changes: false`.
//! Each is a part of its own, so that one that hangs costs only its own task.

use serde::{Deserialize, Serialize};

use super::{Answer, Answers, Query};
use crate::transport::{Arg, Script};

/// A command with its surroundings.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Question {
    /// What runs.
    pub command: Command,
    /// Variables; values may hold placeholders of secrets.
    pub env: Vec<(String, String)>,
    /// Working directory.
    pub chdir: Option<String>,
    /// Who asks, where it is not the login's user: `become_user` of the task.
    pub user: Option<String>,
}

/// What runs.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Command {
    /// A program and its arguments.
    Argv(Vec<String>),
    /// A text for `sh`, or for the interpreter that its first line names.
    Script(String),
}

/// How a command ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Asked {
    /// Its exit status.
    pub status: i32,
    /// What it wrote to standard output.
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
            Self::Script(text) => {
                // Comments and the usual first line of a script say nothing about it.
                let mut lines = text
                    .lines()
                    .map(str::trim)
                    .filter(|line| !line.is_empty() && !line.starts_with('#') && !line.starts_with("set -"));
                let first = lines.next().unwrap_or_default();
                if lines.next().is_some() { format!("{first} ...") } else { first.to_owned() }
            }
        }
    }
}

impl Question {
    /// The script that runs it, for asking and for changing alike; who runs it is not in there.
    pub fn script(&self) -> Script {
        let mut script = Script::new(crate::shell!("ask.sh"))
            .arg(self.chdir.as_deref().unwrap_or(""))
            .arg(self.env.len().to_string())
            .args(self.env.iter().map(|(name, value)| format!("{name}={value}")));
        match &self.command {
            Command::Argv(words) => script = script.arg("argv").args(words.iter().map(String::as_str)),
            Command::Script(text) => {
                let interpreter =
                    text.lines().next().and_then(|line| line.strip_prefix("#!")).map_or("", str::trim);
                script = script.arg("script").arg(interpreter).arg(Arg::Text(text.clone()));
            }
        }
        script
    }
}

pub(super) fn script(queries: &[Query]) -> Script {
    match queries.first() {
        Some(Query::Ask(question)) => question.script(),
        _ => Script::new(":"),
    }
}

pub(super) fn parse(queries: &[Query], output: &[u8], status: i32) -> Answers {
    let stdout = String::from_utf8_lossy(output).into_owned();
    queries
        .iter()
        .map(|query| (query.clone(), Answer::Asked(Asked { status, stdout: stdout.clone() })))
        .collect()
}
