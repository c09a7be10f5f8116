//! A run as the commands start it, with their options and results.

use super::args::{Connect, Reports};
use super::results::{one_on_stdout, write_reports};
use crate::engine;
use crate::events::Emitter;
use crate::launch::{self, Finished, Launch};
use crate::project::Project;
use crate::report::output;
use crate::settings::Settings;

/// Runs a project and writes the files that are asked for. `codes` turns the result into the exit codes of the
/// command.
///
/// # Errors
/// When the run cannot start, or a file cannot be written.
pub(super) async fn launched(
    settings: &Settings,
    mut project: Project,
    connect: &Connect,
    reports: &Reports,
    launch: Launch<'_>,
    codes: impl FnOnce(&mut engine::Report, &Emitter) -> Vec<u8>,
) -> anyhow::Result<(Finished, u8)> {
    one_on_stdout(reports.to_stdout())?;
    project.options.extend(connect.lasting());
    let launch = Launch {
        parallel: connect.parallel,
        ask_become_pass: connect.ask_become_pass,
        allow_unreachable: connect.allow_unreachable,
        ..launch
    };
    let (finished, code) = Box::pin(launch::run(settings, project, launch, codes)).await?;
    let (unreachable, allowed) = (finished.report.stats.unreachable, connect.allow_unreachable);
    if (1..=allowed).contains(&unreachable) {
        output::say(&format!(
            "            {unreachable} unreachable, allowed by --allow-unreachable {allowed}"
        ));
    }
    write_reports(reports, &finished.record)?;
    Ok((finished, code))
}
