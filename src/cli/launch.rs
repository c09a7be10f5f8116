//! From a loaded project to a finished run: transport, journal, lock, signals, reporters.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, BufWriter, Write as _};
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context as _;
use camino::{Utf8Path, Utf8PathBuf};
use secrecy::SecretString;
use serde::Serialize;
use sha2::{Digest as _, Sha256};
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::{Mutex, mpsc};

use super::args::{Connect, Reports, STDOUT};
use super::dispatch::Exit;
use super::settings::Settings;
use crate::disk;
use crate::engine::{self, Cancel, Consent, Context, Deadlines, Mode, Stop, Stopper};
use crate::events::{self, Emitter, EventKind, Record, Sink};
use crate::exit;
use crate::facts::Query;
use crate::inventory::{Become, Host};
use crate::journal::{self, Inventories, Journal, LockError, Outages, RunLock, RunLog};
use crate::plan::StageDigest;
use crate::project::Project;
use crate::relay;
use crate::report::said::last_said;
use crate::report::style::{CHANGE, paint, safe, safe_json, safe_line};
use crate::report::terminal::Terminal;
use crate::report::{Reporter as _, html, json, junit, log, output, prometheus, prompt};
use crate::secrets::Secrets;
use crate::transport::{ByHost, Keep, PasswordLogins, SshSettings, Transport, quote};

/// Name of the secret that `--ask-become-pass` fills.
const ASKED: &str = "become";

/// A run to start.
#[derive(Debug)]
pub(super) struct Launch<'a> {
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
    pub(super) fn new(command: &'a str, mode: Mode) -> Self {
        Self {
            command,
            mode,
            queries: BTreeSet::new(),
            expected: None,
            recorded: mode == Mode::Apply,
            yes: false,
            secrets: None,
            passwords: None,
            job: None,
            lines: false,
        }
    }
}

/// A finished run.
#[derive(Debug)]
pub(super) struct Finished {
    /// Report of the engine.
    pub report: engine::Report,
    /// Everything as one value.
    pub record: Record,
}

/// The directory of a cluster's runs and locks.
pub(super) fn cluster_dir(settings: &Settings, cluster: &str) -> Utf8PathBuf {
    settings.state.join(cluster)
}

/// Runs a project. `codes` turns the result into the exit codes of the command.
///
/// # Errors
/// What keeps the run from starting, as an [`Exit`](super::dispatch::Exit) where it has a code.
pub(super) async fn run(
    settings: &Settings,
    mut project: Project,
    connect: &Connect,
    reports: &Reports,
    launch: Launch<'_>,
    codes: impl FnOnce(&mut engine::Report, &Emitter) -> Vec<u8>,
) -> anyhow::Result<(Finished, u8)> {
    let started = std::time::Instant::now();
    one_on_stdout(reports.to_stdout())?;
    if let Some(parallel) = connect.parallel {
        project.rollout.parallel = parallel.max(1);
    }
    project.options.extend(connect.lasting());
    let secrets = match launch.secrets.clone() {
        Some(secrets) => secrets,
        None => secrets(&mut project, connect.ask_become_pass, launch.mode != Mode::Gather, settings)?,
    };
    let run = journal::new_run_id(events::now());
    let cluster = cluster_dir(settings, &project.cluster);
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
        let journal = Journal::create(&cluster, &run)?;
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
    all.extend(engine::exit_code(&report.stats, connect.allow_unreachable, report.locked));
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
    let record = reporter.await.context("the reporter ended early")?;
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
    if connect.allow_unreachable > 0
        && report.stats.unreachable > 0
        && report.stats.unreachable <= connect.allow_unreachable
    {
        output::say(&format!(
            "            {} unreachable, allowed by --allow-unreachable {}",
            report.stats.unreachable, connect.allow_unreachable
        ));
    }
    write_reports(reports, &record)?;
    Ok((Finished { report, record }, exit_code))
}

/// Writes what `--json`, `--junit`, `--html` and `--prometheus` ask for.
///
/// # Errors
/// When a file cannot be written.
pub(super) fn write_reports(reports: &Reports, record: &Record) -> anyhow::Result<()> {
    let json = reports.json.as_ref().map(|file| write_json(file, &json::object(record)));
    let junit = reports.junit.as_ref().map(|file| write_result(file, &junit::xml(record)?));
    let html = reports.html.as_ref().map(|file| write_result(file, &html::page(record)?));
    let prometheus = reports.prometheus.as_ref().map(|file| {
        let text = prometheus::text(record);
        if file == STDOUT {
            return to_stdout(&safe(&text));
        }
        // The collector that reads it is another user.
        disk::replace_with_mode(file, text.as_bytes(), 0o644).with_context(|| format!("cannot write {file}"))
    });
    // One that cannot be written keeps none of the others from being written.
    let mut failed: Vec<anyhow::Error> =
        [json, junit, html, prometheus].into_iter().flatten().filter_map(Result::err).collect();
    let all = failed.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ");
    match failed.pop() {
        None => Ok(()),
        Some(only) if failed.is_empty() => Err(only),
        Some(last) => Err(last.context(all)),
    }
}

/// Writes a file that the user asked for, or to stdout for `-`.
///
/// # Errors
/// When it cannot be written.
pub(super) fn write_result(file: &Utf8Path, text: &str) -> anyhow::Result<()> {
    if file == STDOUT {
        return to_stdout(&safe(text));
    }
    disk::create_result(file)
        .and_then(|mut out| out.write_all(text.as_bytes()))
        .with_context(|| format!("cannot write {file}"))
}

/// Writes something as JSON to a file, or to stdout for `-`.
///
/// # Errors
/// When it cannot be written.
pub(super) fn write_json(file: &str, value: &impl Serialize) -> anyhow::Result<()> {
    if file == STDOUT {
        let text = serde_json::to_string_pretty(value)? + "\n";
        return to_stdout(&safe_json(&text));
    }
    let write = || {
        let mut file = BufWriter::new(disk::create_result(Utf8Path::new(file))?);
        serde_json::to_writer_pretty(&mut file, value)?;
        file.write_all(b"\n")?;
        file.flush()
    };
    write().with_context(|| format!("cannot write {file}"))
}

/// Refuses more than one text on stdout.
///
/// # Errors
/// When there would be more than one.
pub(super) fn one_on_stdout(number: usize) -> anyhow::Result<()> {
    if number < 2 {
        return Ok(());
    }
    Err(Exit::new(exit::USAGE, format!("{number} texts would be mixed on stdout: only one file can be `-`"))
        .into())
}

fn to_stdout(text: &str) -> anyhow::Result<()> {
    output::data(text).context("cannot write to stdout")
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

fn take_lock(cluster: &Utf8Path, run: &str, project: &Project) -> anyhow::Result<RunLock> {
    let hosts = project
        .selected
        .iter()
        .filter_map(|index| project.hosts.get(*index))
        .map(|host| host.name.clone())
        .collect();
    RunLock::take(cluster, run, &hosts).map_err(|error| match error {
        LockError::Held { .. } => Exit::new(exit::LOCKED, error.to_string())
            .hint(format!(
                "wait for it; `provision report list {}` shows when it started",
                quote(project.path.as_str())
            ))
            .into(),
        LockError::Unusable { .. } => anyhow::Error::from(error),
    })
}

/// Values of the secrets that logins need, and tasks where `tasks` says so, and the password that was
/// asked for.
pub(super) fn secrets(
    project: &mut Project,
    ask: bool,
    tasks: bool,
    settings: &Settings,
) -> anyhow::Result<Secrets> {
    if ask {
        for host in &mut project.hosts {
            if let Become::Sudo { password } = &mut host.ssh.become_method {
                *password = Some(ASKED.to_owned());
            }
        }
    }
    let mut needed = project.needed_secrets(tasks);
    let given: Vec<String> =
        needed.keys().filter(|name| project.given.get(name).is_some()).cloned().collect();
    needed.retain(|name, _| !given.contains(name));
    let mut resolved = crate::secrets::resolve(&needed)
        .map_err(|error| Exit::new(exit::CONFIG, format!("{:#}", anyhow::Error::from(error))))?;
    for (name, source) in &needed {
        if let Some(path) = source.lies_open() {
            let warning = paint(CHANGE, "warning");
            output::say(&format!(
                "{warning}: every user of this machine can read the secret `{name}`: chmod 600 {path}"
            ));
        }
    }
    for name in given {
        if let Some(value) = project.given.get(&name) {
            resolved = resolved.with(&name, value.clone());
        }
    }
    log::hide(&resolved);
    if !ask {
        return Ok(resolved);
    }
    let password = ask_password(settings, "sudo password")?;
    let secrets = resolved.with(ASKED, password);
    log::hide(&secrets);
    Ok(secrets)
}

/// Asks for a password, or reads a line where nobody types. One that is empty is none: it would be
/// refused by every host, and counted there.
///
/// # Errors
/// When it cannot be read, or is empty.
pub(super) fn ask_password(settings: &Settings, what: &str) -> anyhow::Result<SecretString> {
    let password = if settings.typed {
        prompt::password(&format!("{what}: ")).map_err(|error| {
            // Whoever starts this may ignore the signal.
            if error.kind() == io::ErrorKind::Interrupted {
                return Exit::new(exit::INTERRUPTED, "stopped at the password").into();
            }
            anyhow::Error::from(error).context("cannot read the password")
        })?
    } else {
        let mut line = String::new();
        io::stdin()
            .read_line(&mut line)
            .with_context(|| format!("cannot read the {what} from standard input"))?;
        line.trim_end_matches(['\n', '\r']).to_owned()
    };
    if password.is_empty() {
        return Err(Exit::new(exit::CONFIG, format!("the {what} is empty; nothing was sent")).into());
    }
    Ok(password.into())
}

/// This controller as it is called in the locks of hosts. Only who sees the same locks can tell
/// whether a run is dead, so the state directory is a part of it.
pub(super) fn controller(settings: &Settings) -> String {
    let machine = std::fs::read_to_string("/etc/machine-id").unwrap_or_default();
    let host = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    let machine = Sha256::digest(format!("{}\n{}", machine.trim(), settings.state));
    let machine = crate::words::hex(&machine);
    let text = format!("{}@{}/{}", settings.user.trim(), host.trim(), machine.get(..8).unwrap_or(""));
    text.chars().filter(|c| c.is_ascii_alphanumeric() || "@/._-".contains(*c)).collect()
}

/// The signals that end what is no run.
pub(crate) struct Signals(Signal, Signal);

impl Signals {
    /// From now on they end nothing by themselves.
    ///
    /// # Errors
    /// When they cannot be taken.
    pub(crate) fn new() -> io::Result<Self> {
        Ok(Self(signal(SignalKind::interrupt())?, signal(SignalKind::terminate())?))
    }

    /// The exit code of the next one.
    pub(crate) async fn any(&mut self) -> u8 {
        tokio::select! {
            _ = self.0.recv() => exit::INTERRUPTED,
            _ = self.1.recv() => exit::TERMINATED,
        }
    }
}

static SIGNALLED: std::sync::OnceLock<u8> = std::sync::OnceLock::new();

/// First signal: start nothing new. Second: end the tasks. Third: leave at once.
async fn watch_signals(stopper: Stopper, emitter: Arc<Emitter>) -> u8 {
    let (Ok(mut interrupt), Ok(mut terminate)) =
        (signal(SignalKind::interrupt()), signal(SignalKind::terminate()))
    else {
        return std::future::pending().await;
    };
    // Under `nohup` it stays ignored.
    let mut hang_up = if is_hang_up_ignored() { None } else { signal(SignalKind::hangup()).ok() };
    let mut number = 0;
    loop {
        let (code, name) = tokio::select! {
            _ = interrupt.recv() => (exit::INTERRUPTED, "Ctrl-C"),
            _ = terminate.recv() => (exit::TERMINATED, "SIGTERM"),
            Some(()) = async { hang_up.as_mut()?.recv().await } => (exit::TERMINATED, "the terminal is gone"),
        };
        let code = *SIGNALLED.get_or_init(|| code);
        number += 1;
        match number {
            1 => {
                emitter.emit(EventKind::Stopping {
                    reason: format!(
                        "{name}: nothing new is started, and running tasks are finished; a second one ends them"
                    ),
                });
                stopper.ask(Stop::Finish);
            }
            2 => {
                emitter.emit(EventKind::Stopping {
                    reason: format!("{name}: tasks are being ended; a third one exits at once"),
                });
                stopper.ask(Stop::End);
            }
            _ => leave(code),
        }
    }
}

/// Whether whoever started this program let it ignore that its terminal goes, as `nohup` does.
fn is_hang_up_ignored() -> bool {
    // proc_pid_status(5): a mask, in which SIGHUP is the first bit.
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).is_some_and(|mask| mask & 1 == 1)
}

/// Leaves without waiting for anything: what runs on hosts goes on in their spools.
#[expect(clippy::exit, clippy::disallowed_methods, reason = "the third signal asks for exactly this")]
fn leave(code: u8) -> ! {
    output::undraw();
    output::say(
        "left at once: tasks that run on hosts go on there, and the same command again goes on from them",
    );
    std::process::exit(i32::from(code))
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

/// The transport for some hosts, beside a run.
///
/// # Errors
/// When `ssh` or its configuration cannot be used.
pub(super) async fn open_transport(
    settings: &Settings,
    cluster: &str,
    hosts: &[Host],
    secrets: &Secrets,
    parallel: usize,
) -> anyhow::Result<Arc<dyn Transport>> {
    start_transport(ssh_settings(settings, cluster, parallel), hosts, secrets).await
}

/// Asks hosts beside a run, quietly: what came out is in the report. `start` is how long a host may take to
/// give a shell.
pub(super) async fn look(
    settings: &Settings,
    project: Project,
    transport: Arc<dyn Transport>,
    queries: BTreeSet<Query>,
    secrets: &Secrets,
    start: Duration,
) -> engine::Report {
    let (emitter, events) = Emitter::new(journal::new_run_id(events::now()), None);
    // Nobody listens.
    drop(events);
    let (stopper, cancel) = engine::channel();
    let state = settings.state.clone();
    let fleet = engine::SharedFacts::recorded(&journal::FleetRecord::default(), 0, |_| None);
    let context = Arc::new(Context {
        reboots: tokio::sync::Semaphore::new(1),
        project: Arc::new(project),
        transport,
        emitter: Arc::new(emitter.hiding(secrets.clone())),
        mode: Mode::Gather,
        deadlines: Deadlines { connect: start, reconnect: Duration::ZERO, ..Deadlines::default() },
        cancel,
        secrets: secrets.clone(),
        controller: controller(settings),
        alive: Box::new(move |run| journal::is_alive_anywhere(&state, run)),
        queries,
        expected: None,
        consent: Consent::refused(),
        fleet: Arc::new(fleet),
        watch: None,
    });
    let report = engine::run(context, "verify").await;
    drop(stopper);
    report
}

/// Ways to some hosts, beside a run.
///
/// # Errors
/// When `ssh` or its configuration cannot be used.
pub(super) async fn ways(
    settings: &Settings,
    cluster: &str,
    hosts: &[Host],
    secrets: &Secrets,
    parallel: usize,
) -> anyhow::Result<ByHost> {
    let ways = ByHost::start(ssh_settings(settings, cluster, parallel), hosts, secrets.clone()).await;
    ways.map_err(|error| Exit::new(exit::CONFIG, error.to_string()).into())
}

fn ssh_settings(settings: &Settings, cluster: &str, parallel: usize) -> SshSettings {
    SshSettings {
        runtime_dir: settings.runtime_dir.clone(),
        logins: parallel.min(64),
        terminal: settings.interactive,
        keep: Some(Keep { cluster: cluster.to_owned(), home: settings.home.clone() }),
        ..SshSettings::default()
    }
}

async fn start_transport(
    ssh: SshSettings,
    hosts: &[Host],
    secrets: &Secrets,
) -> anyhow::Result<Arc<dyn Transport>> {
    let transport = ByHost::start(ssh, hosts, secrets.clone()).await;
    Ok(Arc::new(transport.map_err(|error| Exit::new(exit::CONFIG, error.to_string()))?))
}
