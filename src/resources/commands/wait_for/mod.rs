//! `wait_for`: something that comes about without us.

use std::sync::Arc;
use std::time::Duration;

use crate::config::{Diagnostic, Diagnostics, FromNode as _, Node, Period, Sp};
use crate::facts::ask::{Asked, Command, CommandQuery};
use crate::facts::{Facts, Object, Query, Touches};
use crate::resources::commands::command::Condition;
use crate::resources::services::service::unit_name;
use crate::resources::shared::known;
use crate::resources::shared::value::{HostPath, Presence};
use crate::resources::{Built, Change, Context, Detail, Planned, Resource, Unplannable};
use crate::transport::{Arg, Script};

crate::record! {
    /// Waits for an open port, a file, an active unit, or a command that succeeds.
    ///
    /// It changes nothing. If the condition holds already, the task is unchanged and costs nothing.
    /// Otherwise `apply` waits for at most `within`; `plan` and `verify` report it as pending.
    WaitForFields("something to wait for") {
        /// A TCP port that must be open.
        opt port: u16,
        /// The host of the port: a name or address as seen from this host. Left out: this host.
        opt host: Sp<String>,
        /// A path that must exist, or with `state: absent` must not.
        opt file: HostPath,
        /// A unit that must be active.
        opt unit: Sp<String>,
        /// A command that must succeed: a list, or a script for `sh`. It must change nothing.
        opt command: Condition,
        /// Whether the file must exist (`present`) or must not (`absent`).
        def state: Presence = Presence::Present,
        /// Longest time to wait. Left out: 5m. For more than 10m, also raise the `timeout` of the task.
        opt within: Period,
    }
}

kind! { "wait_for", WaitForFields }

/// Longest time to wait where the task gives none.
const USUAL: Duration = Duration::from_mins(5);

#[derive(Debug)]
struct WaitFor {
    question: CommandQuery,
    what: String,
    object: Object,
    within: Duration,
}

fn look(want: &str, what: &str, place: &str) -> (Command, Vec<(String, String)>) {
    let variable = |name: &str, value: &str| (name.to_owned(), value.to_owned());
    (
        Command::Script(crate::shell!("resources/commands/wait_for/wait_for.sh").to_owned()),
        vec![variable("WANT", want), variable("WHAT", what), variable("WHERE", place)],
    )
}

pub(in crate::resources) fn read(node: &Node, context: &dyn Context, diagnostics: &mut Diagnostics) -> Built {
    let fields = WaitForFields::from_node(node, diagnostics)?;
    let given =
        [fields.port.is_some(), fields.file.is_some(), fields.unit.is_some(), fields.command.is_some()];
    if given.iter().filter(|given| **given).count() != 1 {
        diagnostics.push(
            Diagnostic::error(node.span, "nothing to wait for is given, or more than one thing")
                .help("give exactly one of `port`, `file`, `unit` and `command`"),
        );
        return None;
    }
    if fields.state == Presence::Absent && fields.file.is_none() {
        diagnostics.error(node.span, "`state: absent` needs `file`");
        return None;
    }
    let place = fields.host.as_ref().map_or("", |host| host.value.as_str());
    if let Some(host) = &fields.host {
        let bad = host.is_empty()
            || host.starts_with('-')
            || host.contains(|c: char| c.is_whitespace() || c == '/');
        if bad || fields.port.is_none() {
            let message = if bad {
                format!("`{place}` is not the name or address of a host")
            } else {
                "`host` needs `port`".to_owned()
            };
            diagnostics.error(host.span, message);
            return None;
        }
    }
    let ((command, env), what, object) = if let Some(port) = fields.port {
        let what = if place.is_empty() { format!("port {port}") } else { format!("port {port} of {place}") };
        (look("port", &port.to_string(), place), what.clone(), Object::Path(what))
    } else if let Some(path) = fields.file {
        let (want, what) = match fields.state {
            Presence::Present => ("file", path.0.clone()),
            Presence::Absent => ("gone", format!("no {}", path.0)),
        };
        (look(want, path.as_str(), ""), what, Object::Path(path.0))
    } else if let Some(unit) = fields.unit {
        let name = unit_name(&unit, diagnostics)?;
        (look("unit", &name, ""), name.clone(), Object::Unit(name))
    } else {
        let command = fields.command?.words();
        let what = format!("`{}`", command.display());
        ((command, Vec::new()), what.clone(), Object::Path(what))
    };
    let user = context.user().map(str::to_owned);
    let question = CommandQuery { command, env, chdir: None, user, limit: context.timeout() };
    Some(Arc::new(WaitFor { question, what, object, within: fields.within.map_or(USUAL, |period| period.0) }))
}

impl Resource for WaitFor {
    fn queries(&self) -> Vec<Query> {
        vec![self.question.clone().into()]
    }

    fn plan(&self, facts: &Facts) -> Planned {
        let Asked { status, stdout } = known::answer(facts, &self.question, &self.object)?;
        match status {
            0 => Ok(Vec::new()),
            9 if !self.question.env.is_empty() => {
                Err(Unplannable::Unknown(self.object.clone(), stdout.trim().to_owned()))
            }
            _ => Ok(vec![Change::new(
                self.object.clone(),
                format!("~ wait for {} (at most {} s)", self.what, self.within.as_secs()),
                Detail::Attributes(Vec::new()),
                Script::new(crate::shell!("shell/base64.sh", "resources/commands/wait_for/wait.sh"))
                    .named("seconds", self.within.as_secs().to_string())
                    .named("what", self.what.as_str())
                    .named("look", Arg::Script(Box::new(self.question.script()))),
            )]),
        }
    }

    /// Returns the time that the task may wait: what came about may be away for a moment, such as a server
    /// that is started anew by somebody.
    fn settle(&self) -> Option<Duration> {
        Some(self.within)
    }

    /// It only looks, but what was waited for may be what others ask.
    fn touches(&self) -> Touches {
        Touches::one(self.object.clone())
    }

    fn manages(&self) -> Vec<(Object, String)> {
        Vec::new()
    }
}
