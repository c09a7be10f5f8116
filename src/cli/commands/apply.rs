//! `provision apply`: make it so.

use std::collections::BTreeMap;

use super::plan::PlanFile;
use crate::cli::args::{ApplyArgs, PlanArgs};
use crate::cli::run::launched;
use crate::cli::{slurm_job, this_machine};
use crate::engine::Mode;
use crate::exit::{self, Exit};
use crate::launch::Launch;
use crate::plan::StageDigest;
use crate::report::screen::Verbosity;
use crate::settings::Settings;

/// Runs the command; its exit code.
///
/// # Errors
/// What keeps the run from starting.
pub(crate) async fn run(settings: &Settings, args: ApplyArgs) -> anyhow::Result<u8> {
    if args.check {
        let plan = PlanArgs { run: args.run, exit_code: false, out: None };
        return super::plan::run(settings, plan).await;
    }
    let mut settings = settings.clone();
    if args.diff && settings.verbosity == Verbosity::Normal {
        settings.verbosity = Verbosity::Verbose;
    }
    let (mut project, _unpacked) = this_machine::load_to_run(&settings, &args.run.target, &args.run.here)?;
    if let Some(file) = &args.plan {
        project.options.extend(["--plan".to_owned(), file.to_string()]);
    }
    if args.yes {
        project.options.push("--yes".to_owned());
    }
    let expected = match &args.plan {
        Some(file) => Some(expected(file, &project)?),
        None => None,
    };
    let mut launch =
        Launch { expected, yes: args.yes, lines: args.run.here.events, ..Launch::new("apply", Mode::Apply) };
    let words: &[&str] = if args.yes { &["apply", "--yes"] } else { &["apply"] };
    let way = (&args.run.target, &args.run.carrier, &args.run.connect);
    let _bundle = slurm_job::prepare(&settings, &mut project, way, words, &mut launch)?;
    if launch.job.is_some() && args.plan.is_some() {
        return Err(Exit::new(exit::USAGE, "--plan is not for --engine slurm: each node plans anew").into());
    }
    let (_, code) =
        launched(&settings, project, &args.run.connect, &args.run.reports, launch, |report, _| {
            let reboot = report.sessions.iter().any(crate::engine::Session::needs_reboot);
            if report.stats.tasks.blocked > 0 || reboot || report.left_drained > 0 {
                vec![exit::PENDING]
            } else {
                Vec::new()
            }
        })
        .await?;
    Ok(code)
}

fn expected(
    file: &camino::Utf8Path,
    project: &crate::project::Project,
) -> anyhow::Result<BTreeMap<String, Vec<StageDigest>>> {
    let plan = PlanFile::read(file, project)?;
    Ok(plan.hosts.into_iter().map(|(host, plan)| (host, plan.stages)).collect())
}
