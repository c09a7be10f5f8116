//! `provision validate`: parse, type-check and render everything; connect to nothing.

use anyhow::Context as _;
use serde_json::json;

use crate::cli::args::ValidateArgs;
use crate::cli::load::load_checked;
use crate::cli::results;
use crate::exit;
use crate::put;
use crate::report::fold::fold;
use crate::report::output;
use crate::report::style::{CHANGE, GOOD, paint, safe};
use crate::settings::Settings;
use crate::words::count;

/// Runs the command; its exit code.
///
/// # Errors
/// With exit code 3 what is wrong; it was shown already.
pub(crate) fn run(settings: &Settings, args: &ValidateArgs) -> anyhow::Result<u8> {
    let project = load_checked(settings, &args.target)?;
    let stages = project.stages();
    if let Some(file) = &args.reports.json {
        let stages: Vec<_> = stages
            .iter()
            .map(|range| {
                let names: Vec<_> = project
                    .steps
                    .get(range.clone())
                    .unwrap_or_default()
                    .iter()
                    .map(|step| &step.id)
                    .collect();
                json!({ "tasks": names })
            })
            .collect();
        let object = json!({
            "version": 1,
            "command": "validate",
            "cluster": project.cluster,
            "exit_code": exit::OK,
            "hosts": project.selected.len(),
            "tasks": project.steps.len(),
            "handlers": project.handlers.len(),
            "stages": stages,
        });
        results::write_json(file, &object)?;
        return Ok(exit::OK);
    }
    let mut text = format!(
        "{}  {}, {}, {}\n",
        paint(GOOD, "valid"),
        count(project.selected.len() as u64, "host"),
        count(project.playbooks.len() as u64, "playbook"),
        count(project.steps.len() as u64, "task"),
    );
    let warnings = project.warnings.sorted().len() as u64;
    if warnings > 0 {
        text.truncate(text.trim_end().len());
        put!(text, ", {}\n", paint(CHANGE, &count(warnings, "warning")));
    }
    for (number, range) in stages.iter().enumerate() {
        let steps = project.steps.get(range.clone()).unwrap_or_default();
        if stages.len() > 1 {
            put!(text, "stage {}: {}\n", number + 1, count(steps.len() as u64, "task"));
        }
        if settings.verbosity >= crate::report::screen::Verbosity::Verbose {
            for step in steps {
                let hosts: Vec<&str> = step
                    .hosts
                    .iter()
                    .filter_map(|index| project.at(*index))
                    .map(|host| host.name.as_str())
                    .collect();
                put!(text, "  {}  {}  {}\n", safe(&step.title), step.kind, fold(&hosts));
            }
        }
    }
    output::data(&text).context("cannot write to stdout")?;
    Ok(exit::OK)
}
