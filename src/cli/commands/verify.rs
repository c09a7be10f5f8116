//! `provision verify`: prove that every host is what the inventory says; touch nothing.

use std::collections::BTreeMap;

use anyhow::Context as _;
use camino::Utf8Path;
use jiff::civil::Date;

use super::acknowledge;
use super::parts::against;
use super::plan::next;
use crate::active::{self, Fleet};
use crate::checks::{self, Acknowledgements, Baseline, Baselines, JobView};
use crate::cli::args::{Carrier, Connect, Engine, Reports, Target, ThisMachine, VerifyArgs};
use crate::cli::on_hosts::{self, Stopped};
use crate::cli::run::launched;
use crate::cli::{slurm_job, this_machine};
use crate::engine::{self, Mode, Session};
use crate::events::{CheckCounts, CheckResult, CheckStatus, Emitter, EventKind, SeenThrough};
use crate::exit::{self, Exit};
use crate::facts::Facts;
use crate::inventory::{Host, Promises};
use crate::journal;
use crate::launch::{self, Finished, Launch, Signals};
use crate::project::{Inputs, Project};
use crate::report::screen::Verbosity;
use crate::report::style::{CALM, paint};
use crate::report::{self, output, plan};
use crate::secrets::Secrets;
use crate::settings::Settings;
use crate::through::Through;

/// Runs the command; its exit code. Drift: the plan of every host must be empty. Health: no check
/// may fail.
///
/// # Errors
/// What keeps the run from starting.
pub(crate) async fn run(settings: &Settings, args: VerifyArgs) -> anyhow::Result<u8> {
    let active = if args.active { Active::Yes } else { Active::No };
    let through =
        args.through.as_deref().map(|text| Through::read(text, args.through_at.as_deref())).transpose()?;
    let look = Look { active, through: through.as_ref(), carrier: Some(&args.run.carrier) };
    if args.run.carrier.engine == Engine::Slurm && (args.active || args.through.is_some()) {
        let message = "--active and --through are not for --engine slurm: they start jobs of their own";
        return Err(Exit::new(exit::USAGE, message).into());
    }
    let (finished, code) = once(
        settings,
        (&args.run.target, &args.run.here),
        &args.run.connect,
        &args.run.reports,
        look,
        Kept::Recorded,
    )
    .await?;
    if args.run.reports.to_stdout() == 0 && !args.run.here.events {
        let text = plan::text(&finished.record, output::stdout_width())
            + &report::checks::text(
                &finished.record,
                settings.verbosity == Verbosity::Verbose,
                output::stdout_width(),
            );
        output::data(&text).context("cannot write to stdout")?;
        let sessions = &finished.report.sessions;
        // Options of a verify alone are none of an apply.
        let plain = active == Active::No && through.is_none();
        if let Some(project) = sessions.first().map(Session::project)
            && finished.report.stats.pending > 0
            && plain
        {
            output::say(&next(project, None));
        }
    }
    if let Some(file) = &args.against {
        return Ok(match against(settings, &args.run.target, &args.run.connect, file).await? {
            Ok(against) if code == exit::OK => against,
            Ok(_) => code,
            Err(Stopped(code)) => code,
        });
    }
    Ok(code)
}

/// Whether hosts are tested with each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Active {
    /// They are.
    Yes,
    /// They are only looked at.
    No,
}

/// Parts of a verify beyond looking at hosts over their logins.
#[derive(Debug, Clone, Copy)]
pub(super) struct Look<'a> {
    /// Whether hosts are tested with each other.
    pub active: Active,
    /// A launcher behind which they are looked at as well.
    pub through: Option<&'a Through>,
    /// Way in which the run reaches its hosts; their own logins when left out.
    pub carrier: Option<&'a Carrier>,
}

impl Look<'_> {
    /// Nothing.
    pub(super) const NOTHING: Self = Self { active: Active::No, through: None, carrier: None };
}

/// Records that a verify leaves behind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kept {
    /// A recorded run, and the counters for the next one.
    Recorded,
    /// Counters of its own. Every few minutes a record would push out those of people, and what counters have
    /// grown since the last verify is theirs to see.
    Watched,
}

/// Key of the user who starts jobs: it must be known before a host is asked, because the loader is asked in
/// that login.
const MPI_USER: &str = "software.mpi_user";

/// Tests hosts with each other before they are looked at: it is traffic, and shows in counters.
async fn between_hosts(
    settings: &Settings,
    project: &Project,
    connect: &Connect,
    secrets: &Secrets,
) -> anyhow::Result<active::Traffic> {
    let parallel = connect.parallel.unwrap_or(project.rollout.parallel).max(1);
    let hosts = active::members(project, project.online());
    let only: Vec<Host> = hosts.iter().map(|(host, _)| host.clone()).collect();
    let transport = launch::open_transport(settings, &project.cluster, &only, secrets, parallel).await?;
    let say = teller(settings, "    Active");
    let mut signals = Signals::new().map_err(|error| Exit::caused("cannot take signals", error))?;
    let stopped = |code| Exit::new(code, "stopped before hosts were tested with each other");
    let opened = tokio::select! {
        opened = Fleet::open(transport.as_ref(), &hosts, secrets, parallel) => Ok(opened),
        code = signals.any() => Err(stopped(code)),
    };
    let traffic = match opened {
        Ok((fleet, silent)) => tokio::select! {
            traffic = active::run(&fleet, silent, &say) => {
                fleet.close().await;
                Ok(traffic)
            }
            code = signals.any() => {
                let left = on_hosts::stop(fleet.stop(), &mut signals).await;
                Err(Exit::new(code, format!("stopped: the tests between hosts are ended{left}")))
            }
        },
        Err(stopped) => Err(stopped),
    };
    transport.close().await;
    Ok(traffic?)
}

/// Tells what a part of the command does, unless only failures are shown.
fn teller(settings: &Settings, part: &'static str) -> impl Fn(&str) + Send + Sync + use<> {
    let quiet = settings.verbosity == Verbosity::Quiet;
    move |text| {
        if !quiet {
            output::say(&format!("{}  {text}", paint(CALM, part)));
        }
    }
}

/// Says to hosts who starts jobs on them, where a task of theirs promises it.
pub(super) fn name_starters(project: &mut Project) {
    let silent = project.online().filter(|host| host.mpi_user().is_none());
    let promised = |host: &Host| project.promises(host, &Inputs::none(), &Facts::default(), &[MPI_USER]);
    let users: Vec<(usize, Promises)> = silent.map(|host| (host.index, promised(host))).collect();
    for (index, promises) in users {
        if let Some(host) = project.hosts.get_mut(index) {
            host.mesh_user = promises.of_host(MPI_USER);
        }
    }
}

/// Verifies without saying what came out; with the exit code.
///
/// # Errors
/// What keeps the run from starting.
pub(super) async fn once(
    settings: &Settings,
    (target, here): (&Target, &ThisMachine),
    connect: &Connect,
    reports: &Reports,
    Look { active, through, carrier }: Look<'_>,
    kept: Kept,
) -> anyhow::Result<(Finished, u8)> {
    let (mut project, _unpacked) = this_machine::load_to_run(settings, target, here)?;
    if active == Active::Yes {
        project.options.push("--active".to_owned());
    }
    project.options.extend(through.iter().flat_map(|through| through.lasting()));
    let secrets = launch::secrets(&mut project, connect.ask_become_pass, true, settings)?;
    name_starters(&mut project);
    let traffic = match active {
        Active::Yes => between_hosts(settings, &project, connect, &secrets).await?,
        Active::No => active::Traffic::default(),
    };
    let seen = match through {
        Some(through) => {
            let parallel = connect.parallel.unwrap_or(project.rollout.parallel).max(1);
            let load = || this_machine::load_to_run(settings, target, here);
            let say = teller(settings, "   Through");
            Box::pin(through.look(settings, (&project, &secrets), parallel, load, &say)).await?
        }
        None => BTreeMap::new(),
    };
    let hosts: BTreeMap<usize, Host> = project.online().map(|host| (host.index, host.clone())).collect();
    let mut launch = Launch {
        queries: checks::queries(),
        recorded: kept == Kept::Recorded,
        secrets: Some(secrets),
        lines: here.events,
        ..Launch::new("verify", Mode::Plan)
    };
    let mut _bundle = None;
    if let Some(carrier) = carrier {
        let way = (target, carrier, connect);
        _bundle = slurm_job::prepare(settings, &mut project, way, &["verify"], &mut launch)?;
    }
    let by_nodes = launch.job.is_some();
    let mut broken = None;
    let now = crate::events::now().to_string();
    let file = match kept {
        Kept::Recorded => "counters.json",
        Kept::Watched => "watch-counters.json",
    };
    let cluster = settings.cluster_dir(&project.cluster);
    let counters = cluster.join(file);
    // Hosts of a lab have the names of others, and faults of their own.
    let known: Acknowledgements = if target.lab {
        Acknowledgements::default()
    } else {
        journal::read_state(&cluster.join(acknowledge::FILE))
    };
    let (finished, code) = launched(settings, project, connect, reports, launch, |report, emitter| {
        let mut codes = Vec::new();
        if by_nodes {
            // They have judged what they saw.
            return codes;
        }
        if report.sessions.iter().any(Session::has_drift) {
            codes.push(exit::DRIFT);
        }
        if report.stats.tasks.blocked > 0 {
            codes.push(exit::PENDING);
        }
        let known = (&known, settings.today);
        match check(&hosts, report, (&traffic, &seen), emitter, (&counters, &now), known) {
            Ok(true) => {}
            Ok(false) => codes.push(exit::DRIFT),
            Err(error) => broken = Some(error),
        }
        codes
    })
    .await?;
    if let Some(error) = broken {
        return Err(error);
    }
    Ok((finished, code))
}

/// Makes the checks on the hosts that were reached and says what they found; whether all is well.
/// Counters are kept in `file` for the next `verify`.
fn check(
    hosts: &BTreeMap<usize, Host>,
    report: &mut engine::Report,
    (traffic, seen): (&active::Traffic, &BTreeMap<usize, JobView>),
    emitter: &Emitter,
    (file, now): (&Utf8Path, &str),
    (known, today): (&Acknowledgements, Date),
) -> anyhow::Result<bool> {
    let before = journal::read_state::<Baselines>(file);
    let mut subjects = Vec::new();
    for session in report.sessions.iter().filter(|session| session.was_gathered()) {
        let Some(host) = hosts.get(&session.index()) else { continue };
        let mut subject = session.subject();
        subject.baseline = before.0.get(&host.name);
        subject.job = seen.get(&host.index);
        if let Some(JobView { launcher, login: Ok(login), view: Ok(view), .. }) = subject.job {
            let seen =
                SeenThrough { launcher: launcher.clone(), differences: checks::job::compare(login, view) };
            emitter.emit(EventKind::HostSeenThrough { host: host.name.clone(), seen });
        }
        subjects.push(subject);
    }
    let mut after = before.clone();
    for subject in &subjects {
        if let Some(baseline) = Baseline::of(subject, now) {
            after.0.insert(subject.host.name.clone(), baseline);
        }
    }
    if !traffic.pairs.is_empty() {
        emitter.emit(EventKind::PairsTested { pairs: traffic.pairs.clone() });
    }
    let mut counts = CheckCounts::default();
    let mut verified = true;
    for mut conclusion in checks::evaluate(&mut subjects) {
        let tested: &[CheckResult] = traffic.results.get(&conclusion.host).map_or(&[], Vec::as_slice);
        for found in tested {
            if let Some(place) = conclusion.results.iter_mut().find(|result| result.check == found.check) {
                place.clone_from(found);
            }
        }
        conclusion.acknowledge(known, today);
        // Who asks for it wants to know: an unknown result is no proof.
        conclusion.verified &= !conclusion.results.iter().any(|result| {
            result.status == CheckStatus::Unknown && tested.iter().any(|found| found.check == result.check)
        });
        for result in &conclusion.results {
            counts.count(result.status);
        }
        verified &= conclusion.verified;
        emitter.emit(EventKind::HostChecked { host: conclusion.host, checks: conclusion.results });
    }
    report.stats.checks = counts;
    journal::write_state(file, &after)?;
    Ok(verified)
}
