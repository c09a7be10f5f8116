//! A command on all hosts, as it was typed: without lock, journal and display.

use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use super::hosts::{beside, open_transport};
use super::secrets::secrets;
use super::signals::Signals;
use crate::engine::{self, Stop};
use crate::events::{self, Emitter, Event, EventKind, Record};
use crate::exit::{self, Exit};
use crate::inventory::Host;
use crate::journal;
use crate::project::Project;
use crate::settings::Settings;

/// A command for all selected hosts of a project.
#[derive(Debug)]
pub struct Exec<'a> {
    /// Its words.
    pub argv: &'a [String],
    /// Time limit on each host.
    pub deadline: Duration,
    /// Hosts that are worked on at once; what the inventory says when left out.
    pub parallel: Option<usize>,
    /// Whether the password of sudo is asked for.
    pub ask_become_pass: bool,
}

/// Takes the output of a host, with its name and the status of the command, in place of the record: of many hosts that
/// print much, nothing else has to be kept.
pub type TakeOutput<'a> = &'a mut (dyn FnMut(&str, i32, String) + Send);

/// End of a command that was run on hosts.
#[derive(Debug)]
pub enum Executed {
    /// It ended on all of them.
    Ended(Box<Record>),
    /// Left at once, with this exit code.
    Left(u8),
}

/// Runs a command on the hosts. The first signal ends it there, `stopping` is told so; the second one leaves at
/// once.
///
/// # Errors
/// When it cannot start.
pub async fn exec(
    settings: &Settings,
    mut project: Project,
    exec: &Exec<'_>,
    mut take: Option<TakeOutput<'_>>,
    stopping: impl Fn(&str),
) -> Result<Executed, Exit> {
    let began = std::time::Instant::now();
    let parallel = exec.parallel.unwrap_or(project.rollout.parallel).max(1);
    project.rollout.parallel = parallel;
    let secrets = secrets(&mut project, exec.ask_become_pass, false, settings)?;
    let hosts: Vec<Host> = project.online().cloned().collect();
    let transport = open_transport(settings, &project.cluster, &hosts, &secrets, parallel).await?;
    let (emitter, mut events) = Emitter::new(journal::new_run_id(events::now()), None);
    let (stopper, cancel) = engine::channel();
    let context = Arc::new(beside(settings, project, transport, &secrets, emitter, cancel));
    let mut signals = Signals::new().map_err(|error| Exit::caused("cannot take signals", error))?;
    let mut stopped = None;
    let mut record = Record::default();
    let mut keep = |mut event: Event| {
        if let (Some(take), EventKind::CommandEnded { host, command }) = (&mut take, &mut event.kind) {
            take(host, command.status, std::mem::take(&mut command.output));
        }
        record.add(&event);
    };
    let mut run = pin!(engine::exec(context.clone(), exec.argv, exec.deadline));
    let stats = loop {
        tokio::select! {
            stats = &mut run => break stats,
            Some(event) = events.recv() => keep(event),
            code = signals.any() => {
                if let Some(code) = stopped {
                    return Ok(Executed::Left(code));
                }
                let reason = "the command is ended on the hosts; a second Ctrl-C leaves at once";
                context.emitter.emit(EventKind::Stopping { reason: reason.to_owned() });
                stopping(reason);
                stopped = Some(code);
                stopper.ask(Stop::End);
            }
        }
    };
    let exit_code = stopped.unwrap_or_else(|| exit::choose(&engine::exit_code(&stats, 0, false)));
    context.emitter.emit(EventKind::RunFinished { stats, exit_code, seconds: began.elapsed().as_secs_f64() });
    while let Ok(event) = events.try_recv() {
        keep(event);
    }
    Ok(Executed::Ended(Box::new(record)))
}
