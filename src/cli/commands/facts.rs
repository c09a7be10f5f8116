//! `provision facts`: gather and print.

use std::collections::BTreeSet;

use anyhow::Context as _;
use serde_json::{Map, Value as Json};

use crate::cli::args::FactsArgs;
use crate::cli::results;
use crate::cli::run::launched;
use crate::cli::{slurm_job, this_machine};
use crate::config::did_you_mean_text;
use crate::engine::Mode;
use crate::events::EventKind;
use crate::exit::{self, Exit};
use crate::facts;
use crate::launch::Launch;
use crate::put;
use crate::report::fold::by_value;
use crate::report::output;
use crate::report::style::{GOOD, paint, safe};
use crate::settings::Settings;

/// Runs the command; its exit code.
///
/// # Errors
/// An unknown fact, or what keeps the run from starting.
pub(crate) async fn run(settings: &Settings, args: FactsArgs) -> anyhow::Result<u8> {
    let names: Vec<&str> = facts::base::TABLE.iter().map(|fact| fact.name).collect();
    let wanted: Vec<&str> =
        if args.only.is_empty() { names.clone() } else { args.only.iter().map(String::as_str).collect() };
    let mut queries = BTreeSet::new();
    for name in &wanted {
        let Some(query) = facts::base(name) else {
            let error = Exit::new(exit::USAGE, format!("there is no fact `{name}`"));
            return Err(match did_you_mean_text(name, names.iter().copied()) {
                Some(hint) => error.hint(hint),
                None => error,
            }
            .into());
        };
        queries.insert(query);
    }
    let (mut project, _unpacked) = this_machine::load(settings, &args.target, &args.here)?;
    let to_controller = args.here.events;
    let mut launch = Launch { queries, lines: to_controller, ..Launch::new("facts", Mode::Gather) };
    let way = (&args.target, &args.carrier, &args.connect);
    let only = args.only.join(",");
    let words = if only.is_empty() { vec!["facts"] } else { vec!["facts", "--only", &only] };
    let _bundle = slurm_job::prepare(settings, &mut project, way, &words, &mut launch)?;
    let by_nodes = launch.job.is_some();
    let reports = crate::cli::args::Reports::default();
    let (finished, code) = launched(settings, project, &args.connect, &reports, launch, |report, emitter| {
        for session in report.sessions.iter().filter(|_| to_controller) {
            let (host, facts) = (session.name().to_owned(), session.facts().view());
            emitter.emit(EventKind::HostFacts { host, facts });
        }
        Vec::new()
    })
    .await?;
    let hosts: Vec<(String, Json)> = if by_nodes {
        finished.record.hosts.iter().map(|(name, host)| (name.clone(), host.facts.clone())).collect()
    } else {
        let sessions = finished.report.sessions.iter();
        sessions.map(|session| (session.name().to_owned(), session.facts().view())).collect()
    };
    if to_controller {
        return Ok(code);
    }
    if let Some(file) = &args.reports.json {
        let object: Map<String, Json> = hosts.into_iter().collect();
        results::write_json(file, &Json::Object(object))?;
        return Ok(code);
    }
    let mut text = String::new();
    // Nothing is known of a host that was not reached.
    let known = |facts: &Json| facts.as_object().is_some_and(|facts| !facts.is_empty());
    let texts = hosts.into_iter().filter(|(_, facts)| known(facts)).map(|(host, facts)| {
        let yaml = crate::config::yaml::to_string(&facts).unwrap_or_else(|| facts.to_string());
        (host, yaml)
    });
    for (hosts, facts) in by_value(texts) {
        put!(text, "{}\n{}\n", paint(GOOD, &hosts), safe(&facts));
    }
    output::data(&text).context("cannot write to stdout")?;
    Ok(code)
}
