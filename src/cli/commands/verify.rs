//! `provision verify`: prove that every host is what the inventory says; touch nothing.

use std::collections::BTreeMap;

use anyhow::Context as _;

use super::load::load_to_run;
use crate::checks::{self, Subject};
use crate::cli::args::{Connect, Reports, Target, VerifyArgs};
use crate::cli::dispatch::Exit;
use crate::cli::launch::{self, Finished, Launch};
use crate::cli::settings::Settings;
use crate::engine::{self, Mode, Session};
use crate::events::{CheckCounts, Emitter, EventKind};
use crate::exit;
use crate::inventory::Host;
use crate::report::terminal::Verbosity;
use crate::report::{self, output, plan};

/// Runs the command; its exit code. Drift: the plan of every host must be empty. Health: no check
/// may fail.
///
/// # Errors
/// What keeps the run from starting.
pub(crate) async fn run(settings: &Settings, args: VerifyArgs) -> anyhow::Result<u8> {
    let (finished, code) = once(settings, &args.target, &args.connect, &args.reports).await?;
    if args.reports.json.as_deref() != Some("-") {
        let text = plan::text(&finished.record)
            + &report::checks::text(&finished.record, settings.verbosity == Verbosity::Verbose);
        output::data(&text).context("cannot write to stdout")?;
    }
    Ok(code)
}

/// Verifies without saying what came out; with the exit code.
///
/// # Errors
/// What keeps the run from starting.
pub(super) async fn once(
    settings: &Settings,
    target: &Target,
    connect: &Connect,
    reports: &Reports,
) -> anyhow::Result<(Finished, u8)> {
    let project = load_to_run(settings, target)?;
    let hosts: BTreeMap<usize, Host> = project.online().map(|host| (host.index, host.clone())).collect();
    let launch = Launch {
        command: "verify",
        mode: Mode::Plan,
        queries: checks::queries(),
        expected: None,
        recorded: true,
        yes: false,
    };
    let mut broken = None;
    let (finished, code) =
        launch::run(settings, project, connect, reports, launch, |report, emitter| {
            let mut codes = Vec::new();
            if report.sessions.iter().any(Session::has_drift) {
                codes.push(exit::DRIFT);
            }
            match check(&hosts, report, emitter) {
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
fn check(
    hosts: &BTreeMap<usize, Host>,
    report: &mut engine::Report,
    emitter: &Emitter,
) -> anyhow::Result<bool> {
    let mut subjects = Vec::new();
    for session in report.sessions.iter().filter(|session| session.was_gathered()) {
        let Some(host) = hosts.get(&session.index()) else { continue };
        let subject = Subject::new(host, session.facts(), session.result().1.unchanged)
            .map_err(|error| Exit::new(exit::CONFIG, format!("`expect` of {}: {error}", host.name)))?;
        subjects.push(subject);
    }
    let mut counts = CheckCounts::default();
    let mut verified = true;
    for conclusion in checks::evaluate(&subjects) {
        for result in &conclusion.results {
            counts.count(result.status);
        }
        verified &= conclusion.verified;
        emitter.emit(EventKind::HostChecked { host: conclusion.host, checks: conclusion.results });
    }
    report.stats.checks = counts;
    Ok(verified)
}
