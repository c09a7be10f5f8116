//! `command`: a program or a script of the user's.

use std::sync::Arc;

use serde_json::{Value as Json, json};

use crate::config::read::Entries;
use crate::config::{Diagnostic, Diagnostics, FromNode, Node, Sp, Yaml};
use crate::facts::ask::{Asked, Command as Words, CommandQuery};
use crate::facts::file::PathQuery;
use crate::facts::{Facts, Object, Query, Touches};
use crate::resources::shared::known;
use crate::resources::shared::value::HostPath;
use crate::resources::{Built, Change, Context, Detail, Disruption, Planned, Resource, Unplannable};

/// A condition: a list is a program and its arguments, a string is a text for `sh`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Condition(Words);

impl Condition {
    /// Returns the command.
    pub(in crate::resources) fn words(self) -> Words {
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
    /// Form of the answer to a question.
    Parse {
        /// Its output, without the newlines at the end.
        Text = "text",
        /// The lines of its output.
        Lines = "lines",
        /// The value of the JSON that it prints.
        Json = "json",
        /// Its exit status as a number. No status counts as a failure then.
        Status = "status",
    }
}

crate::record! {
    /// Runs a program (`run`) or a script (`script`) in the C locale.
    ///
    /// The command is skipped if each of `creates`, `unless` and `check` that is given says that it is
    /// done. Without any of them it runs every time, and its success cannot be checked afterwards. With
    /// `changes: false` it is a question, which `plan` and `verify` ask too. `register` makes its
    /// answer available to later tasks. A question that ends with an exit status other than 0 fails,
    /// unless its `parse` is `status`. A command whose text has `daemon-reload` waits until no container on
    /// the host would lose its GPUs by it.
    CommandFields("a command" as Command) {
        /// A program and its arguments. No shell reads them.
        opt run: Vec<String>,
        /// A script for `sh`, or for the interpreter that its first line names. Pass data in `env`.
        opt script: String,
        /// A path that exists once the command is done.
        opt creates: HostPath,
        /// A command that succeeds if there is nothing to do.
        opt unless: Condition,
        /// A command that succeeds if the work is done. After the run it is the proof.
        opt check: Condition,
        /// Whether the command changes anything.
        def changes: bool = true,
        /// Form of the answer to a question: `text` is the output without the newlines at the end, `lines` a
        /// list of its lines, `json` the value of the JSON in it, and `status` the exit status as a number,
        /// whatever it is.
        opt parse: Sp<Parse>,
        /// Environment variables.
        def env: Entries<String> = Entries::default(),
        /// The working directory.
        opt chdir: HostPath,
    }
}

kind! { "command", CommandFields, runs_anything: true, secrets: &["env"] }

#[derive(Debug)]
struct Command {
    question: CommandQuery,
    creates: Option<String>,
    /// By the names of their fields.
    conditions: Vec<(&'static str, CommandQuery)>,
    changes: bool,
    parse: Parse,
}

/// Reports the part of a program and its arguments that is written for a shell.
fn for_a_shell(words: &[String]) -> Option<String> {
    // `;` ends what `find -exec` runs.
    const MARKS: [&str; 9] = ["|", "||", "&&", "&", ">", ">>", "<", "2>", "2>&1"];
    // These compare, and for what an option wants (`awk -F '|'`) it is a text.
    const COMPARE: [&str; 3] = ["expr", "test", "["];
    let program = words.first().filter(|program| program.trim().contains(char::is_whitespace));
    let program = program.map(|program| format!("`{program}` is not the name of a program"));
    let compares = words.first().is_some_and(|program| COMPARE.contains(&program.as_str()));
    let is_mark = |pair: &&[String]| matches!(pair, [before, word] if MARKS.contains(&word.as_str()) && !before.starts_with('-'));
    let mark = || words.windows(2).find(is_mark).and_then(<[String]>::last).filter(|_| !compares);
    program.or_else(|| Some(format!("`{}` is an argument like any other", mark()?)))
}

/// The first argument that a shell would put something else in place of; a program may want it as it is.
fn as_it_is(words: &[String]) -> Option<&String> {
    let is_variable = |word: &String| {
        let name = word.strip_prefix('$').map(|name| name.trim_start_matches('{')).unwrap_or_default();
        let name = name.split(|c: char| c != '_' && !c.is_ascii_alphanumeric()).next().unwrap_or_default();
        name.len() > 1 && name.bytes().all(|byte| byte == b'_' || byte.is_ascii_uppercase())
    };
    words.iter().skip(1).find(|word| word.starts_with("~/") || is_variable(word))
}

fn check_words(words: &Words, node: &Node, diagnostics: &mut Diagnostics) -> bool {
    let empty = match words {
        Words::Argv(words) => words.first().is_none_or(String::is_empty),
        Words::Script(text) => text.trim().is_empty(),
    };
    if empty {
        diagnostics.error(node.span, "the command is empty");
    }
    let shell = if let Words::Argv(words) = words { for_a_shell(words) } else { None };
    if let Some(what) = &shell {
        diagnostics.push(
            Diagnostic::error(node.span, format!("no shell reads this: {what}")).help(
                "a line for a shell is `script: LINE`; a program and its arguments are `run: [ls, -l]`",
            ),
        );
    }
    if let Words::Argv(words) = words
        && let Some(word) = as_it_is(words)
    {
        diagnostics.push(
            Diagnostic::warning(node.span, format!("no shell reads this: `{word}` stays as it is"))
                .help("write the value itself, or the line as `script: LINE`"),
        );
    }
    !empty && shell.is_none()
}

/// Whether a text can be the name of a variable of the shell or of make.
pub(in crate::resources) fn is_variable(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

pub(in crate::resources) fn read(node: &Node, context: &dyn Context, diagnostics: &mut Diagnostics) -> Built {
    let fields = CommandFields::from_node(node, diagnostics)?;
    let words = match (fields.run, fields.script) {
        (Some(run), None) => Words::Argv(run),
        (None, Some(script)) => Words::Script(script),
        (Some(_), Some(_)) => {
            diagnostics.error(node.span, "give either `run` or `script`");
            return None;
        }
        (None, None) => {
            diagnostics.push(
                Diagnostic::error(node.span, "a command needs `run` or `script`")
                    .help("`run` is a list of the program and its arguments; `script` is a shell script"),
            );
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
    let glob = fields.creates.as_ref().filter(|path| path.0.contains(['*', '?']));
    if let Some(path) = glob {
        good = false;
        let place = node.get("creates").map_or(node.span, |creates| creates.span);
        diagnostics.push(
            Diagnostic::error(
                place,
                format!("no shell reads this: a file called `{}` is looked for", path.0),
            )
            .help("name the file, or ask with `unless: \"ls /opt/x-*\"`"),
        );
    }
    let conditions: Vec<(&str, Words)> = [("unless", fields.unless), ("check", fields.check)]
        .into_iter()
        .filter_map(|(name, condition)| Some((name, condition?.0)))
        .collect();
    if !fields.changes && (fields.creates.is_some() || !conditions.is_empty()) {
        good = false;
        diagnostics.push(
            Diagnostic::error(
                node.span,
                "`changes: false` cannot be combined with `creates`, `unless` or `check`",
            )
            .help("it is a question and is asked every time"),
        );
    }
    if let Some(parse) = fields.parse.as_ref().filter(|_| fields.changes) {
        good = false;
        diagnostics.push(
            Diagnostic::error(parse.span, "`parse` needs `changes: false`")
                .help("if the command changes nothing, add `changes: false`"),
        );
    }
    let env: Vec<(String, String)> =
        fields.env.0.into_iter().map(|(name, value)| (name.value, value)).collect();
    let chdir = fields.chdir.map(|path| path.0);
    let user = context.user().map(str::to_owned);
    let limit = context.timeout();
    let question =
        |command| CommandQuery { command, env: env.clone(), chdir: chdir.clone(), user: user.clone(), limit };
    good.then(|| -> Arc<dyn Resource> {
        Arc::new(Command {
            question: question(words),
            creates: fields.creates.map(|path| path.0),
            conditions: conditions.into_iter().map(|(name, words)| (name, question(words))).collect(),
            changes: fields.changes,
            parse: fields.parse.map_or(Parse::Text, |parse| parse.value),
        })
    })
}

/// Whether systemd reads its units again by it, as far as its own text says.
fn reads_units_again(command: &Words) -> bool {
    let says = |text: &str| text.contains("daemon-reload") || text.contains("daemon-reexec");
    match command {
        Words::Argv(words) => words.iter().any(|word| says(word)),
        Words::Script(text) => says(text),
    }
}

impl Command {
    /// Returns what stands for it where a thing on the host is wanted: the path of `creates`, else its own
    /// command line.
    fn object(&self) -> Object {
        Object::Path(self.creates.clone().unwrap_or_else(|| format!("`{}`", self.question.command.display())))
    }

    fn asked<'a>(&self, facts: &'a Facts, question: &CommandQuery) -> Result<&'a Asked, Unplannable> {
        let asked = known::answer(facts, question, &self.object())?;
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
                .map_err(|error| format!("the output of `{line}` is not JSON: {error}")),
        }
    }

    /// Reports why it is not done: the first of `creates`, `unless` and `check` that does not hold.
    fn unmet(&self, facts: &Facts) -> Result<Option<String>, Unplannable> {
        if let Some(path) = &self.creates
            && known::path(facts, path)?.is_none()
        {
            let literal =
                if path.contains(['*', '?']) { "; a path is taken as it stands, with its `*`" } else { "" };
            return Ok(Some(format!("{path} (`creates`) is still not there{literal}")));
        }
        for (name, condition) in &self.conditions {
            let asked = match self.asked(facts, condition) {
                Ok(asked) => asked,
                Err(Unplannable::Unknown(object, reason)) => {
                    let reason = format!("its `{name}` does not answer: {reason}");
                    return Err(Unplannable::Unknown(object, reason));
                }
                Err(error) => return Err(error),
            };
            if asked.status != 0 {
                let (line, status) = (condition.command.display(), asked.status);
                return Ok(Some(format!("`{name}` still does not hold: `{line}` ends with status {status}")));
            }
        }
        Ok(None)
    }
}

impl Resource for Command {
    fn queries(&self) -> Vec<Query> {
        if !self.changes {
            return vec![self.question.clone().into()];
        }
        let conditions = self.conditions.iter().map(|(_, condition)| Query::from(condition.clone()));
        self.creates.iter().map(|path| PathQuery(path.clone()).into()).chain(conditions).collect()
    }

    fn plan(&self, facts: &Facts) -> Planned {
        if !self.changes {
            let answer = self.answer(self.asked(facts, &self.question)?);
            // What an earlier task brings may be what it asks about.
            return answer.map(|_| Vec::new()).map_err(|text| Unplannable::Missing(self.object(), text));
        }
        if self.provable() && self.unmet(facts)?.is_none() {
            return Ok(Vec::new());
        }
        let line = self.question.command.display();
        let whole = match &self.question.command {
            Words::Argv(_) => line.clone(),
            Words::Script(text) => text.clone(),
        };
        let change =
            Change::new(self.object(), format!("! {line}"), Detail::Command(whole), self.question.script());
        let interrupts =
            if reads_units_again(&self.question.command) { Disruption::Reload } else { Disruption::None };
        Ok(vec![change.disrupting(interrupts)])
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

    fn hopeless(&self, facts: &Facts) -> Option<String> {
        self.unmet(facts).ok()?.map(|why| format!("it ended well, and {why}"))
    }

    fn provable(&self) -> bool {
        !self.changes || self.creates.is_some() || !self.conditions.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_only_a_shell_reads() {
        let said = |line: &str| {
            let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
            for_a_shell(&words)
        };
        for line in [
            "find /x -exec rm {} ;",
            "awk -F | {print} /etc/x",
            "cut -d | -f 1 /etc/x",
            "expr 1 | 2",
            "[ a < b ]",
            "printf a&&b",
        ] {
            assert_eq!(said(line), None, "{line}");
        }
        for line in ["cat /etc/x | grep a", "ls && true", "true || ls", "ls > /x", "sort < /x", "ls 2>&1"] {
            assert!(said(line).is_some(), "{line}");
        }
        assert!(for_a_shell(&["ls -l".to_owned()]).is_some());
        let stays = |line: &str| {
            let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
            as_it_is(&words).cloned()
        };
        for line in ["ls ~", "awk $1", "awk $NF{x}", "sed $d", "ls a~/b", "grep x$HOME", "$HOME/x a"] {
            assert_eq!(stays(line), (line == "awk $NF{x}").then(|| "$NF{x}".to_owned()), "{line}");
        }
        for line in ["ls ~/x", "ls $HOME/x", "ls -l ${HOME}"] {
            assert!(stays(line).is_some(), "{line}");
        }
    }
}
