//! `provision exec`: a command on many hosts.

use std::time::Duration;

use anyhow::Context as _;

use crate::cli::args::ExecArgs;
use crate::cli::load::{load, reachable, some_online};
use crate::cli::results;
use crate::exit;
use crate::launch::{self, Executed};
use crate::report::style::{BAD, paint};
use crate::report::{self, output};
use crate::settings::Settings;

/// Runs the command; its exit code.
///
/// # Errors
/// What keeps the run from starting.
pub(crate) async fn run(settings: &Settings, args: ExecArgs) -> anyhow::Result<u8> {
    let project = reachable(settings, &args.target, load(settings, &args.target)?)?;
    some_online(&project, false)?;
    let exec = args.connect.exec(&args.argv, Duration::from_secs(args.timeout));
    let stopping = |reason: &str| output::say(&format!("stopping: {reason}"));
    let record = match launch::exec(settings, project, &exec, None, stopping).await? {
        Executed::Ended(record) => record,
        Executed::Left(code) => {
            output::say("left at once: the command may still run on hosts");
            return Ok(code);
        }
    };
    let code = record.exit_code.unwrap_or(exit::BUG);
    if let Some(file) = &args.reports.json {
        results::write_json(file, &report::exec::object(&record))?;
        return Ok(code);
    }
    output::data(&report::exec::text(&record, &args.argv)).context("cannot write to stdout")?;
    if code != exit::OK {
        output::say(&paint(BAD, &report::exec::sum(&record)));
    }
    Ok(code)
}
