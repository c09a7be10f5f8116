//! `provision expect learn`: what `verify` is to expect, taken from a host that is as it should be.

use anyhow::Context as _;
use serde_json::{Map, Value as Json, json};

use super::verify;
use crate::checks::{self, Learned};
use crate::cli::args::{LearnArgs, Reports, Target};
use crate::cli::load::{load, reachable, some_online};
use crate::cli::results;
use crate::cli::run::launched;
use crate::config::yaml;
use crate::engine::Mode;
use crate::exit::{self, Exit};
use crate::launch::Launch;
use crate::put;
use crate::report::output;
use crate::report::style::safe;
use crate::settings::Settings;

/// Runs the command; its exit code.
///
/// # Errors
/// When it is not one host, or what keeps the run from starting.
pub(crate) async fn run(settings: &Settings, args: LearnArgs) -> anyhow::Result<u8> {
    let mut target = Target::of(args.inventory.clone(), Vec::new());
    (target.hosts, target.lab) = (Some(args.host.clone()), args.lab);
    let mut project = reachable(settings, &target, load(settings, &target)?)?;
    some_online(&project, false)?;
    let names: Vec<String> = project.online().map(|host| host.name.clone()).collect();
    let [name] = names.as_slice() else {
        return Err(Exit::new(exit::USAGE, format!("{} is more than one host", args.host)).into());
    };
    // The loader is asked in the login of who starts jobs, as for verify.
    verify::name_starters(&mut project);
    let launch = Launch { queries: checks::queries(), ..Launch::new("expect", Mode::Gather) };
    let mut learned = None;
    let (_, code) = launched(settings, project, &args.connect, &Reports::default(), launch, |report, _| {
        let session = report.sessions.iter().find(|session| session.was_gathered());
        learned = session.map(|session| checks::learn(&session.subject()));
        Vec::new()
    })
    .await?;
    let Some(learned) = learned else { return Ok(code) };
    if let Some(file) = &args.json {
        let left_out: Map<String, Json> =
            learned.left_out.iter().map(|(key, why)| ((*key).to_owned(), json!(why))).collect();
        let object = json!({ "version": 1, "host": name, "expect": learned.to_json(), "left_out": left_out });
        results::write_json(file, &object)?;
        return Ok(code);
    }
    output::data(&safe(&text(name, &learned, settings)?)).context("cannot write to stdout")?;
    Ok(code)
}

/// The block for an inventory, with a comment for each value that was not taken.
fn text(host: &str, learned: &Learned, settings: &Settings) -> anyhow::Result<String> {
    let mut text = format!(
        "# As {host} was on {}. Read it, and put it under the group of the hosts that are to be like it.\n",
        settings.today
    );
    if learned.values.is_empty() {
        text = format!("# Nothing could be taken from {host}.\n");
    } else {
        let block = json!({ "expect": learned.to_json() });
        text.push_str(&yaml::to_string(&block).context("cannot be written as YAML")?);
    }
    if !learned.left_out.is_empty() {
        text.push_str("# Not taken:\n");
    }
    for (key, why) in &learned.left_out {
        put!(text, "#   {key}: {}\n", why.replace('\n', " "));
    }
    Ok(text)
}
