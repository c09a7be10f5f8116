//! `wait_for`: something that comes about without us.

use std::sync::Arc;
use std::time::Duration;

use super::command::Condition;
use super::service::unit_name;
use super::value::{HostPath, Presence};
use super::{Change, Context, Detail, Disruption, Planned, Resource, Unplannable, known};
use crate::config::{Diagnostic, Diagnostics, FromNode as _, Node, Sp};
use crate::facts::ask::{Asked, Command, Question};
use crate::facts::{Answer, Facts, Object, Query, Touches};
use crate::playbook::file::Period;
use crate::transport::{Arg, Script};

crate::record! {
    /// Waits until something is there: an open port, a file, an active unit, a command that succeeds.
    ///
    /// It only looks. What is there already is unchanged and costs nothing; what is not is waited for
    /// in `apply`, for at most `within`. In `plan` and `verify` it is told as pending.
    WaitForFields("something to wait for") {
        /// A TCP port that somebody listens on.
        opt port: u16,
        /// Where the port is: a name or address as the host sees it. Default: the host itself.
        opt host: Sp<String>,
        /// A path that is there, or with `state: absent` is not.
        opt file: HostPath,
        /// A unit that is active.
        opt unit: Sp<String>,
        /// A command that succeeds: a list, or a text for `sh`. It must change nothing.
        opt command: Condition,
        /// Whether the file shall be there.
        def state: Presence = Presence::Present,
        /// How long it is waited for; 5m unless it is given. Longer than 10m needs a longer `timeout` of
        /// the task too.
        opt within: Period,
    }
}

/// How long something is waited for.
const USUAL: Duration = Duration::from_mins(5);

#[derive(Debug)]
struct WaitFor {
    question: Question,
    what: String,
    object: Object,
    within: Duration,
}

fn look(want: &str, what: &str, place: &str) -> (Command, Vec<(String, String)>) {
    let variable = |name: &str, value: &str| (name.to_owned(), value.to_owned());
    (
        Command::Script(crate::shell!("resources/wait_for.sh").to_owned()),
        vec![variable("WANT", want), variable("WHAT", what), variable("WHERE", place)],
    )
}

pub(super) fn read(
    node: &Node,
    context: &dyn Context,
    diagnostics: &mut Diagnostics,
) -> Option<Arc<dyn Resource>> {
    let fields = WaitForFields::from_node(node, diagnostics)?;
    let given =
        [fields.port.is_some(), fields.file.is_some(), fields.unit.is_some(), fields.command.is_some()];
    if given.iter().filter(|given| **given).count() != 1 {
        diagnostics.push(
            Diagnostic::error(node.span, "it is not clear what to wait for")
                .help("give one of `port`, `file`, `unit` and `command`"),
        );
        return None;
    }
    if fields.state == Presence::Absent && fields.file.is_none() {
        diagnostics.error(node.span, "`state: absent` goes with `file`");
        return None;
    }
    let place = fields.host.as_ref().map_or("", |host| host.value.as_str());
    if let Some(host) = &fields.host {
        let bad = host.is_empty()
            || host.starts_with('-')
            || host.contains(|c: char| c.is_whitespace() || c == '/');
        if bad || fields.port.is_none() {
            let message =
                if bad { format!("`{place}` is no host") } else { "`host` goes with `port`".to_owned() };
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
    let question = Question { command, env, chdir: None, user: context.user().map(str::to_owned) };
    Some(Arc::new(WaitFor { question, what, object, within: fields.within.map_or(USUAL, |period| period.0) }))
}

impl Resource for WaitFor {
    fn queries(&self) -> Vec<Query> {
        vec![Query::Ask(Box::new(self.question.clone()))]
    }

    fn plan(&self, facts: &Facts) -> Planned {
        let query = Query::Ask(Box::new(self.question.clone()));
        let Answer::Asked(Asked { status, stdout }) = known::answer(facts, &query, &self.object)? else {
            return Err(known::strange(&self.object));
        };
        match status {
            0 => Ok(Vec::new()),
            9 if !self.question.env.is_empty() => {
                Err(Unplannable::Unknown(self.object.clone(), stdout.trim().to_owned()))
            }
            _ => Ok(vec![Change {
                object: self.object.clone(),
                summary: format!("~ wait for {} (at most {} s)", self.what, self.within.as_secs()),
                detail: Detail::Attributes(Vec::new()),
                script: Script::new(crate::shell!("resources/wait.sh"))
                    .arg(self.within.as_secs().to_string())
                    .arg(self.what.as_str())
                    .arg(Arg::Script(Box::new(self.question.script()))),
                upload: None,
                disruption: Disruption::None,
            }]),
        }
    }

    /// It only looks, but what was waited for may be what others ask.
    fn touches(&self) -> Touches {
        Touches::one(self.object.clone())
    }

    fn manages(&self) -> Vec<(Object, String)> {
        Vec::new()
    }
}
