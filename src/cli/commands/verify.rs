//! `provision verify`: prove that every host is what the inventory says; touch nothing.

use std::collections::BTreeSet;

use anyhow::Context as _;

use super::load::load_to_run;
use crate::cli::args::VerifyArgs;
use crate::cli::launch::{self, Launch};
use crate::cli::settings::Settings;
use crate::engine::Mode;
use crate::exit;
use crate::report::{output, plan};

/// Runs the command; its exit code. Drift: the plan of every host must be empty.
///
/// # Errors
/// What keeps the run from starting.
pub(crate) async fn run(settings: &Settings, args: VerifyArgs) -> anyhow::Result<u8> {
    let project = load_to_run(settings, &args.target)?;
    let launch = Launch {
        command: "verify",
        mode: Mode::Plan,
        queries: BTreeSet::new(),
        expected: None,
        recorded: true,
        yes: false,
    };
    let (finished, code) = launch::run(settings, project, &args.connect, &args.reports, launch, |report| {
        let drift = report.sessions.iter().any(crate::engine::Session::has_drift);
        if drift { vec![exit::DRIFT] } else { Vec::new() }
    })
    .await?;
    if args.reports.json.as_deref() != Some("-") {
        output::data(&plan::text(&finished.record)).context("cannot write to stdout")?;
    }
    Ok(code)
}
