//! From a loaded project to a finished run: transport, journal, lock, signals, reporters.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::sync::Arc;
use std::time::Duration;

use camino::Utf8Path;
use tokio::sync::{Mutex, mpsc};

use super::hosts::{controller, ssh_settings, start_transport};
use super::secrets::secrets;
use super::signals::{SIGNALLED, watch_signals};
use crate::disk;
use crate::engine::{self, Cancel, Consent, Context, Deadlines, Mode, Stop};
use crate::events::{self, Emitter, EventKind, Record, Sink};
use crate::exit::{self, Exit};
use crate::facts::Query;
use crate::inventory::Host;
use crate::journal::{self, Inventories, Journal, LockError, Outages, RunLock, RunLog};
use crate::plan::StageDigest;
use crate::project::Project;
use crate::relay;
use crate::report::last_line::last_said;
use crate::report::style::safe_line;
use crate::report::terminal::Terminal;
use crate::report::{Reporter as _, log, output, prompt};
use crate::secrets::Secrets;
use crate::settings::Settings;
use crate::transport::{PasswordLogins, SshSettings, quote};

/// A run to start.
#[derive(Debug)]
pub struct Launch<'a> {
    /// The subcommand, for the record.
    pub command: &'a str,
    /// Mode of the run: how far it goes.
    pub mode: Mode,
    /// Queries beyond those of the tasks.
    pub queries: BTreeSet<Query>,
    /// Digests that plans must have.
    pub expected: Option<BTreeMap<String, Vec<StageDigest>>>,
    /// Whether the run is kept for `report`.
    pub recorded: bool,
    /// Whether changes that interrupt something are agreed to.
    pub yes: bool,
    /// Hosts that are worked on at once; what the inventory says when left out.
    pub parallel: Option<usize>,
    /// Whether the password of sudo is asked for.
    pub ask_become_pass: bool,
    /// Number of hosts that may be unreachable without an exit code that says so.
    pub allow_unreachable: u64,
    /// Values of secrets, where they were asked for already.
    pub secrets: Option<Secrets>,
    /// Hosts that are logged in to by password.
    pub passwords: Option<PasswordLogins>,
    /// The job that carries it, where the hosts are not logged in to.
    pub job: Option<Box<relay::Job>>,
    /// Whether what happens is written as lines for another controller, and for nobody else.
    pub lines: bool,
}

impl<'a> Launch<'a> {
    /// A run that asks nothing more than its tasks do and agrees to nothing; only an apply is kept.
    pub fn new(command: &'a str, mode: Mode) -> Self {
        Self {
            command,
            mode,
            queries: BTreeSet::new(),
            expected: None,
            recorded: mode == Mode::Apply,
            yes: false,
            parallel: None,
            ask_become_pass: false,
            allow_unreachable: 0,
            secrets: None,
            passwords: None,
            job: None,
            lines: false,
        }
    }
}

/// A finished run.
#[derive(Debug)]
pub struct Finished {
    /// Report of the engine.
    pub report: engine::Report,
    /// Everything as one value.
    pub record: Record,
}

/// Runs a project. `codes` turns the result into the exit codes of the command.
///
/// # Errors
/// When the run cannot start, or its display ended early.
pub async fn run(
    settings: &Settings,
    mut project: Project,
    launch: Launch<'_>,
    codes: impl FnOnce(&mut engine::Report, &Emitter) -> Vec<u8>,
) -> Result<(Finished, u8), Exit> {
    let started = std::time::Instant::now();
    if let Some(parallel) = launch.parallel {
        project.rollout.parallel = parallel.max(1);
    }
    let secrets = match launch.secrets.clone() {
        Some(secrets) => secrets,
        None => secrets(&mut project, launch.ask_become_pass, launch.mode != Mode::Gather, settings)?,
    };
    let run = journal::new_run_id(events::now());
    let cluster = settings.cluster_dir(&project.cluster);
    // A plan is made without it, too.
    let own = [&settings.state, &cluster].into_iter().try_for_each(|path| {
        disk::private_directory(path).map_err(|error| {
            Exit::new(exit::CONFIG, format!("cannot keep runs in {path}: {error}"))
                .hint("set XDG_STATE_HOME to keep them in another directory")
        })
    });
    let keeps = own.is_ok();
    if launch.recorded || launch.mode == Mode::Apply {
        own?;
    }
    let lock = match launch.mode {
        Mode::Apply => Some(take_lock(&cluster, &run, &project)?),
        Mode::Plan | Mode::Gather => None,
    };
    let inventories = Inventories::read(&cluster, &project.path);
    if keeps && launch.mode != Mode::Gather {
        tell_of_others(&cluster, &project.cluster, &inventories);
    }
    let mut kept = None;
    let (sink, config_dir): (Option<Box<dyn Sink>>, _) = if launch.recorded {
        let journal = Journal::create(&cluster, &run).map_err(Exit::of)?;
        let directory = journal.path().parent().map(Utf8Path::to_owned);
        kept = directory.as_deref().and_then(RunLog::create);
        (Some(Box::new(journal)), directory)
    } else {
        (None, None)
    };
    let (emitter, mut events) = Emitter::new(run, sink);
    let emitter = Arc::new(emitter.hiding(secrets.clone()));
    let at = launch.job.iter().map(|job| &job.at);
    let hosts: Vec<Host> =
        project.online().chain(&project.controller).chain(project.scheduler()).chain(at).cloned().collect();
    let parallel = project.rollout.parallel;
    let ssh = SshSettings {
        config_dir,
        passwords: launch.passwords,
        ..ssh_settings(settings, &project.cluster, parallel)
    };
    let transport = start_transport(ssh, &hosts, &secrets).await?;
    let (stopper, cancel) = engine::channel();
    let mut display = Terminal::new(settings.terminal());
    if let Some(log) = &kept {
        display.name_log(log.path());
    }
    log::keep_in(kept);
    let display = Arc::new(Mutex::new(display));
    let consent = consent(launch.yes, settings.interactive, &display, &cancel);
    let state = settings.state.clone();
    let mut fleet =
        if keeps { journal::FleetRecord::read(&cluster) } else { journal::FleetRecord::default() };
    let now = events::now().as_second();
    let shared = engine::SharedFacts::recorded(&fleet, now, |host| project.host(host).map(|host| host.index));
    // What nobody has read by then is old.
    let (watch, mut printed) = mpsc::channel(64);
    let hidden = secrets.clone();
    let context = Arc::new(Context {
        reboots: tokio::sync::Semaphore::new(project.policy.reboots()),
        project: Arc::new(project),
        transport,
        emitter: emitter.clone(),
        mode: launch.mode,
        deadlines: Deadlines::default(),
        cancel,
        secrets,
        controller: controller(settings),
        alive: Box::new(move |run| journal::is_alive_anywhere(&state, run)),
        queries: launch.queries,
        expected: launch.expected,
        consent,
        fleet: Arc::new(shared),
        watch: settings.progress.then_some(watch),
    });

    #[expect(clippy::disallowed_methods, reason = "a signal is taken whatever the run does")]
    let signals = tokio::spawn(watch_signals(stopper.clone(), emitter.clone()));
    let (applies, teller) = (launch.mode == Mode::Apply, emitter.clone());
    let mut lines = launch.lines.then(|| relay::Lines::new(io::stdout()));
    #[expect(clippy::disallowed_methods, reason = "the display goes on whatever the run does")]
    let reporter = tokio::spawn(async move {
        let mut record = Record::default();
        let mut tick = tokio::time::interval(Duration::from_millis(250));
        loop {
            tokio::select! {
                biased;
                event = events.recv() => match event {
                    Some(event) => {
                        match &mut lines {
                            // Without a controller it goes on: the journal of this machine has it.
                            Some(lines) => drop(lines.write(&event)),
                            None => display.lock().await.event(&event),
                        }
                        record.add(&event);
                        if matches!(event.kind, EventKind::RunFinished { .. }) {
                            return record;
                        }
                        if applies && matches!(event.kind, EventKind::JournalLost { .. }) {
                            // Nobody could say afterwards what was done.
                            let reason = "nothing new is started without a journal and running tasks may finish";
                            teller.emit(EventKind::Stopping { reason: reason.to_owned() });
                            stopper.ask(Stop::Finish);
                        }
                    }
                    None => return record,
                },
                Some((host, said)) = printed.recv() => display.lock().await.says(&host, &last_said(&said, &hidden)),
                _ = tick.tick(), if lines.is_none() => display.lock().await.tick(),
            }
        }
    });

    let (mut report, mut all) = match &launch.job {
        Some(job) => Box::pin(relay::run(context.clone(), launch.command, job)).await,
        None => (engine::run(context.clone(), launch.command).await, Vec::new()),
    };
    let project = context.project.clone();
    let members: BTreeSet<&str> = project.hosts.iter().map(|host| host.name.as_str()).collect();
    if keeps && launch.mode != Mode::Gather {
        context.fleet.record(&mut fleet, now);
        fleet.write(&cluster, &members, &inventories);
    }
    drop(context);
    all.extend(codes(&mut report, &emitter));
    all.extend(engine::exit_code(&report.stats, launch.allow_unreachable, report.locked));
    signals.abort();
    if let Ok(code) = signals.await {
        all.push(code);
    } else if let Some(code) = SIGNALLED.get() {
        all.push(*code);
    }
    let lost = |all: &mut Vec<u8>| {
        if launch.mode == Mode::Apply && emitter.has_lost_journal() {
            all.push(exit::CONFIG);
        }
        exit::choose(all)
    };
    let exit_code = lost(&mut all);
    emitter.emit(EventKind::RunFinished {
        stats: report.stats.clone(),
        exit_code,
        seconds: started.elapsed().as_secs_f64(),
    });
    let record = reporter.await.map_err(|error| Exit::caused("the reporter ended early", error))?;
    // This may be the event that found no room.
    let exit_code = lost(&mut all);
    if applies && project.maintenance.is_some() {
        let mut outages = Outages::read(&cluster);
        outages.note(&record);
        // The run is over and recorded; only the next plan misses this.
        if let Err(error) = outages.write(&cluster, &members, &inventories) {
            tracing::warn!(%cluster, %error, "how long hosts were out of service cannot be noted");
        }
    }
    drop(lock);
    Ok((Finished { report, record }, exit_code))
}

/// Says that what is kept of this cluster is of other inventories as well, where the last run was of one of them.
fn tell_of_others(cluster: &Utf8Path, name: &str, inventories: &Inventories) {
    match inventories.write(cluster) {
        Ok(true) => {
            let others: Vec<String> = inventories.others().map(|other| safe_line(other.as_str())).collect();
            output::say(&format!(
                "runs, locks and facts of cluster `{name}` are also those of {}: where that is another cluster, give it another `cluster:`",
                others.join(", ")
            ));
        }
        Ok(false) => {}
        Err(error) => {
            tracing::warn!(%cluster, %error, "which inventories share this cluster cannot be noted");
        }
    }
}

fn take_lock(cluster: &Utf8Path, run: &str, project: &Project) -> Result<RunLock, Exit> {
    let hosts = project
        .selected
        .iter()
        .filter_map(|index| project.hosts.get(*index))
        .map(|host| host.name.clone())
        .collect();
    RunLock::take(cluster, run, &hosts).map_err(|error| match error {
        LockError::Held { .. } => Exit::new(exit::LOCKED, error.to_string()).hint(format!(
            "wait for it; `provision report list {}` shows when it started",
            quote(project.path.as_str())
        )),
        LockError::Unusable { .. } => Exit::of(error),
    })
}

/// Returns the consent to changes that interrupt something: given, refused, or asked for when it is needed.
fn consent(yes: bool, interactive: bool, display: &Arc<Mutex<Terminal>>, cancel: &Cancel) -> Consent {
    if yes || !interactive {
        return if yes { Consent::given() } else { Consent::refused() };
    }
    let (display, cancel) = (display.clone(), cancel.clone());
    Consent::ask(move |what| {
        let (display, cancel) = (display.clone(), cancel.clone());
        async move {
            let question = |terminal: &Terminal| match terminal.interrupting() {
                lines if lines.is_empty() => {
                    format!("{what}\nMake this and all other such changes of the run?")
                }
                lines => format!(
                    "These changes interrupt something, as far as they are planned by now:\n{}\n\
                     Make them, and all other such changes of the run?",
                    lines.join("\n")
                ),
            };
            prompt::confirm_during(&display, question, cancel.reached(Stop::Finish)).await
        }
    })
}
